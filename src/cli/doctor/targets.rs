//! The models that will be used: those named by the configuration, by the instructions in the folder, by schedules that
//! are not paused, and by jobs that have not ended.

use crate::{
    batch::BatchSettings,
    blocking::run_blocking,
    cli::{
        AppContext, CliError, instructions,
        job_or_batch::batch_title,
        job_request::DEFAULT_MODEL,
        out,
        server::{self, Target},
        submit::SubmitArgs,
    },
    config::{Flags, Settings},
    model::{
        remote::wire_of,
        table::{Api, ModelTable},
    },
    runner::{MODELS_ASSET, load},
    store::{BatchRow, JOBS_AT_ONCE, JobFilter, JobRow},
};
use overnight_core::job::{
    instructions::Instructions,
    models::{ModelChoice, provider},
    record::JobStatus,
};
use std::{collections::BTreeSet, path::Path};

/// A model at its server, and its users.
#[derive(Debug)]
pub(super) struct NamedTarget {
    pub(super) target: Target,
    pub(super) used_by: Vec<String>,
}

/// All targets, without duplicates.
#[derive(Debug, Default)]
pub(super) struct NamedTargets {
    pub(super) targets: Vec<NamedTarget>,
    /// The sources that couldn't be read: their kind, and a sentence.
    pub(super) faults: Vec<(&'static str, String)>,
}

/// Without an `app`, schedules and jobs are left out.
pub(super) async fn all(flags: &Flags, settings: &Settings, app: Option<&AppContext>) -> NamedTargets {
    let mut named = NamedTargets::default();
    if let Some(model) = &settings.model.value {
        named.add("configuration", settings, vec![Target::new(model, settings)]);
    }
    let folder = &settings.instructions.value;
    // Files that can't be read are reported elsewhere.
    for found in instructions::files(folder).iter().filter_map(|path| instructions::from_file(path).ok()) {
        let found = found.instructions;
        if found.model.is_some() || !found.fallback.is_empty() || !found.named_models().is_empty() {
            named.add(&format!("instructions {}", found.name), settings, of_instructions(&found, settings));
        }
    }
    if let Some(app) = app {
        let read = [named.add_schedules(flags, app).await, named.add_jobs(app).await];
        named.faults.extend(read.into_iter().filter_map(Result::err).map(|error| ("database", error.to_string())));
    }
    if named.targets.is_empty() {
        named.add("default", settings, vec![Target::new(DEFAULT_MODEL, settings)]);
    }
    named
}

impl NamedTargets {
    /// Adds targets; those without a table of models get that of `settings`.
    fn add(&mut self, used_by: &str, settings: &Settings, targets: Vec<Target>) {
        // An invalid file is reported when the model is opened.
        let table = server::models_text(settings).ok().flatten();
        let table = table.filter(|(file, text)| ModelTable::parse(file, text).is_ok()).map(|(_, text)| text);
        for mut target in targets {
            if wire_of(provider(&target.choice.model), Api::Chat).is_none() {
                // A model inside this program has no server.
                target.choice = ModelChoice { base_url: None, api_key_env: None, ..target.choice };
            }
            target.models = target.models.or_else(|| table.clone());
            let is_same =
                |one: &&mut NamedTarget| one.target.choice == target.choice && one.target.models == target.models;
            match self.targets.iter_mut().find(is_same) {
                Some(one) if one.used_by.iter().any(|user| user == used_by) => {}
                Some(one) => one.used_by.push(used_by.to_owned()),
                None => self.targets.push(NamedTarget { target, used_by: vec![used_by.to_owned()] }),
            }
        }
    }

    async fn add_schedules(&mut self, flags: &Flags, app: &AppContext) -> Result<(), CliError> {
        for row in app.store.schedules().await?.into_iter().filter(|row| row.enabled) {
            let (name, command) = (row.schedule.name, row.schedule.command);
            let read = SubmitArgs::of_words(&command.words, Path::new(&command.folder))
                .and_then(|args| args.named(flags.clone()));
            match read {
                Ok((settings, found)) => {
                    let targets = found.iter().flat_map(|found| of_instructions(found, &settings)).collect();
                    self.add(&format!("schedule {name}"), &settings, targets);
                }
                Err(error) => self.faults.push(("schedule", format!("{name}: {error}"))),
            }
        }
        Ok(())
    }

    async fn add_jobs(&mut self, app: &AppContext) -> Result<(), CliError> {
        let mut batches = BTreeSet::new();
        for status in [JobStatus::Queued, JobStatus::Running, JobStatus::Waiting, JobStatus::Held] {
            let ids = app.store.job_ids(&JobFilter { status: Some(status), ..JobFilter::default() }).await?;
            for page in ids.chunks(JOBS_AT_ONCE) {
                for row in app.store.jobs(page).await? {
                    match &row.queue {
                        Some(queue) => drop(batches.insert(queue.batch)),
                        None => match of_job(app, &row).await {
                            Ok(targets) => self.add(&format!("job {}", row.job.id), &app.settings, targets),
                            Err(error) => out::note(&format!("job {} is left out: {error}", row.job.id)),
                        },
                    }
                }
            }
        }
        for id in batches {
            let row = app.store.batch(&id.to_string()).await?;
            let title = batch_title(&row);
            match of_batch(row) {
                Ok(targets) => self.add(&title, &app.settings, targets),
                Err(error) => {
                    let cause = "was it submitted by another version of overnight?";
                    self.faults.push(("batch", format!("the settings of {title} can't be read ({error}): {cause}")));
                }
            }
        }
        Ok(())
    }
}

/// The models of a new job with these instructions.
fn of_instructions(found: &Instructions, settings: &Settings) -> Vec<Target> {
    Target::of_instructions(found, settings).and_others(found)
}

fn of_batch(row: BatchRow) -> Result<Vec<Target>, serde_json::Error> {
    let BatchSettings { instructions, base_url, api_key_env, models, closing, .. } =
        serde_json::from_value(row.batch.settings)?;
    let choice = ModelChoice { model: row.batch.model, base_url, api_key_env };
    let mut targets = Target::for_choice(choice, models.clone()).and_others(&instructions);
    if let Some(closing) = closing {
        let (base_url, api_key_env) = (closing.base_url, closing.api_key_env);
        let choice = ModelChoice { model: closing.model, base_url, api_key_env };
        targets.extend(Target::for_choice(choice, models).and_others(&closing.instructions));
    }
    Ok(targets)
}

/// The models of a job that belongs to no batch: only its workspace knows them.
async fn of_job(app: &AppContext, row: &JobRow) -> Result<Vec<Target>, CliError> {
    let path = app.workspace(&app.database_job(row.clone()).await?)?;
    let job = run_blocking(|| load(&path))?.job;
    let models = std::fs::read_to_string(path.join(MODELS_ASSET)).ok();
    Ok(Target::for_choice(job.choice, models).and_others(&job.spec.instructions))
}
