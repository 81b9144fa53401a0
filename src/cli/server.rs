//! The choice of a model and its server: as typed, as configured, and as stored in a job.

use super::{AppContext, CliError, job_request::DEFAULT_MODEL, job_request::joined, out};
use crate::{
    batch::BatchSettings,
    config::{Flags, Origin, Setting, Settings, text_file},
    model::{
        Model,
        endpoint::RateLimits,
        remote::{CallPosting, GatherPace, Key, Timeouts, wire_of},
        table::{Api, ModelTable},
    },
    runner::{MODELS_ASSET, ModelOptions, OpenJob, open_model},
    worker::JobModels,
};
use overnight_core::{
    job::{
        instructions::{EffortSteps, Instructions},
        models::{ModelChoice, Tier, provider},
    },
    machine::effect::Command,
    message::Usage,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// The model's server, as typed.
#[derive(Clone, Default, clap::Args)]
pub(super) struct ServerArgs {
    /// Where the model's server is: http://localhost:8080/v1, or 'default' for its provider's own. A job's server stays until another is named
    #[arg(long, value_name = "URL", help_heading = "Model")]
    base_url: Option<String>,
    /// The environment variable that holds the key; it is sent to this server only
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    api_key_env: Option<String>,
    /// Let the key go over plain HTTP to a server that is neither on this machine nor in a private network
    #[arg(long, help_heading = "Model")]
    allow_http: bool,
    /// Sent with every call of the model; may be repeated
    #[arg(long = "header", value_name = "NAME=VALUE", help_heading = "Model")]
    headers: Vec<String>,
    /// A table of models that goes over the shipped one: windows, prices, quirks
    #[arg(long = "models", value_name = "FILE", help_heading = "Model")]
    models_file: Option<String>,
    /// Write each call of the model into this folder, without its key
    #[arg(long, value_name = "FOLDER", help_heading = "Model")]
    record: Option<PathBuf>,
}

/// Not derived: a header may hold a key.
impl std::fmt::Debug for ServerArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerArgs").finish_non_exhaustive()
    }
}

impl ServerArgs {
    /// Resolves relative paths against `folder`.
    pub(super) fn below(mut self, folder: &Path) -> Self {
        self.models_file = self.models_file.map(|file| joined(folder, &file));
        self.record = self.record.map(|record| folder.join(record));
        self
    }

    /// The same with another table of models.
    pub(super) fn with_models_file(self, file: &Path) -> Self {
        Self { models_file: Some(file.display().to_string()), ..self }
    }

    /// The command line words for what only the settings say of the server, so that other settings don't change it later.
    pub(super) fn pinned_words(settings: &Settings) -> Vec<String> {
        let is_typed = |origin: &Origin| matches!(origin, Origin::Flag | Origin::Default);
        let choice = Target::new("", settings).choice;
        let base_url = choice.base_url.filter(|_| !is_typed(&settings.base_url.origin));
        let key = choice.api_key_env.filter(|_| !is_typed(&settings.api_key_env.origin));
        let words = [("--base-url", base_url), ("--api-key-env", key)];
        words.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value?])).flatten().collect()
    }

    /// Adds what was typed to `flags`.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            base_url: self.base_url.clone(),
            api_key_env: self.api_key_env.clone(),
            allow_http: self.allow_http.then(|| true.to_string()),
            headers: self.headers.clone(),
            models_file: self.models_file.clone(),
            record: self.record.clone(),
            ..flags
        }
    }
}

/// A model, its server, and its call options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) choice: ModelChoice,
    /// The table of models that the job began with; `None`: that of the settings.
    pub(super) models: Option<String>,
    /// Whether the headers of the command line are meant for its server.
    pub(super) is_theirs: bool,
    /// Whether the model is never called, so that no key is needed.
    pub(super) is_never_called: bool,
    /// The tier for its calls, if its provider has it.
    pub(super) tier: Tier,
    /// Whether it works on many jobs with the same beginning.
    pub(super) is_wave: bool,
}

impl Target {
    /// The target of `choice`.
    pub(super) fn for_choice(choice: ModelChoice, models: Option<String>) -> Self {
        let tier = Tier::Standard;
        Self { choice, models, is_theirs: true, is_never_called: false, tier, is_wave: false }
    }

    /// The model `name`, at the server of the settings. A key of lower precedence than the server was meant for another server.
    pub(super) fn new(name: impl Into<String>, settings: &Settings) -> Self {
        let server = settings.base_url.origin.distance();
        let is_its_key =
            |_: &String| settings.base_url.value.is_none() || settings.api_key_env.origin.distance() <= server;
        Self::for_choice(
            ModelChoice {
                model: name.into(),
                base_url: settings.base_url.value.clone().and_then(|base_url| base_url.0),
                api_key_env: settings.api_key_env.value.clone().filter(is_its_key),
            },
            None,
        )
    }

    /// The model of a new job with these instructions: the settings override them.
    pub(super) fn of_instructions(instructions: &Instructions, settings: &Settings) -> Self {
        let name = settings.model.value.as_deref().or(instructions.model.as_deref());
        Self::new(name.unwrap_or(DEFAULT_MODEL), settings)
    }

    /// The model `name` for the jobs of a batch.
    pub(super) fn of_batch(name: &str, settings: &BatchSettings) -> Self {
        let (base_url, api_key_env) = (settings.base_url.clone(), settings.api_key_env.clone());
        Self::for_choice(ModelChoice { model: name.to_owned(), base_url, api_key_env }, settings.models.clone())
    }

    /// The target of a job that is resumed: what this command line names, else what the job used before. The server stays until another is
    /// named, and a key is only sent to the server that it was named for.
    pub(super) fn of(opened: &OpenJob, settings: &Settings) -> Result<Self, CliError> {
        let (job, before) = (&opened.job, &opened.job.choice);
        let models = if typed_value(&settings.models_file).is_some() { None } else { opened.models() };
        let model = typed_value(&settings.model).unwrap_or(&before.model).clone();
        let remote = |name: &str| wire_of(name, Api::Chat).is_some();
        // The providers whose own servers have received, or were to receive, the job's documents.
        let mut own: Vec<&str> = job.answered.servers.iter().map(String::as_str).collect();
        own.extend(before.base_url.is_none().then(|| provider(&before.model)));
        own.retain(|name| remote(name));
        let base_url = match typed_value(&settings.base_url) {
            Some(named) => named.0.clone(),
            None if before.base_url.is_none() && own.is_empty() && remote(provider(&model)) => {
                return Ok(Self { models, ..Self::new(model, settings) });
            }
            None if before.base_url.is_none() && remote(provider(&model)) && !own.contains(&provider(&model)) => {
                return Err(CliError::usage(format!(
                    "{model} is at another server than the one that has the documents of job {} ({}): to send them there, add --base-url default, or the server's address",
                    job.spec.id, own[0]
                )));
            }
            None => before.base_url.clone(),
        };
        let mut choice = ModelChoice { model, base_url, api_key_env: typed_value(&settings.api_key_env).cloned() };
        if choice.api_key_env.is_none() && choice.server() == before.server() {
            choice.api_key_env.clone_from(&before.api_key_env);
        }
        Ok(Self::for_choice(choice, models))
    }

    /// The commands that open the job with these models, and record the choice of another model or server.
    pub(super) fn commands(&self, models: &JobModels, opened: &OpenJob) -> Vec<Command> {
        let mut words = vec![opened.opening(models.first.name())];
        if self.choice != opened.job.choice {
            words.push(Command::Choose { choice: self.choice.clone() });
        }
        words
    }

    /// The target with the typed tier, else that of the instructions.
    fn at_tier(&self, settings: &Settings, instructions: &Instructions) -> Self {
        Self { tier: typed_value(&settings.tier).copied().unwrap_or(instructions.tier), ..self.clone() }
    }

    /// The target, and those of the other models that the instructions name: fallbacks, and sub-agents' own.
    pub(super) fn and_others(self, instructions: &Instructions) -> Vec<Self> {
        let names = instructions.fallback.iter().map(String::as_str).chain(instructions.named_models());
        let others: Vec<Self> = names.map(|name| self.other(name)).collect();
        std::iter::once(self).chain(others).collect()
    }

    /// The target of another model of the same job: at the same server if one was named, else at its provider's own.
    fn other(&self, name: &str) -> Self {
        let choice = ModelChoice { model: name.to_owned(), ..self.choice.clone() };
        if choice.server() == self.choice.server() {
            return Self { choice, ..self.clone() };
        }
        Self { choice: ModelChoice { api_key_env: None, ..choice }, is_theirs: false, ..self.clone() }
    }
}

/// A value from this command line. Values of the environment and the file applied when the job began; now they could lower what a `resume` raised.
pub(super) fn typed_value<T>(setting: &Setting<Option<T>>) -> Option<&T> {
    match setting.origin {
        Origin::Flag => setting.value.as_ref(),
        Origin::Environment(_) | Origin::File { .. } | Origin::Default => None,
    }
}

/// Opens a model.
pub(super) async fn open(app: &AppContext, target: &Target) -> Result<Arc<dyn Model>, CliError> {
    let settings = &app.settings;
    let Some(job) = target.choice.model.strip_prefix("replay:") else {
        let posting = CallPosting { store: app.store.clone(), pace: GatherPace::default() };
        return open_target(settings, target, &no_jobs, Some(posting));
    };
    // By its full id: `last` would mean another job when this one is resumed.
    let job = app.job(job).await?;
    let replayed = app.own_workspace(&job)?;
    let mut target = target.clone();
    target.choice.model = format!("replay:{}", job.id());
    open_target(settings, &target, &|_| Ok(replayed.clone()), None)
}

/// Opens a model, and its fallbacks for outages and refusals.
pub(super) async fn open_all(
    app: &AppContext,
    target: &Target,
    instructions: &Instructions,
) -> Result<JobModels, CliError> {
    let target = &target.at_tier(&app.settings, instructions);
    let first = open(app, target).await?;
    note_missing_tier(target, &*first);
    note_missing_effort(instructions, &*first);
    let mut others = Vec::new();
    for name in &instructions.fallback {
        let model = open(app, &target.other(name)).await;
        others.push(model.map_err(|error| of_name("fallback", name, &error))?);
    }
    let mut named = BTreeMap::new();
    // The record of a job has the answers of all its models.
    let sub_agents = instructions.named_models().into_iter().filter(|_| !first.name().starts_with("replay:"));
    for name in sub_agents {
        let model = open(app, &target.other(name)).await.map_err(|error| of_name("model", name, &error))?;
        named.insert(name.to_owned(), model);
    }
    Ok(JobModels { first, others, named })
}

/// As [`open_all`], where none of them replays a job.
pub(super) fn all_without_jobs(
    settings: &Settings,
    target: &Target,
    instructions: &Instructions,
) -> Result<JobModels, CliError> {
    let target = &target.at_tier(settings, instructions);
    let first = without_jobs(settings, target)?;
    note_missing_tier(target, &*first);
    note_missing_effort(instructions, &*first);
    let open = |what: &'static str, name: &str| {
        without_jobs(settings, &target.other(name)).map_err(|error| of_name(what, name, &error))
    };
    let others = instructions.fallback.iter().map(|name| open("fallback", name)).collect::<Result<_, _>>()?;
    let sub_agents = instructions.named_models().into_iter();
    let named = sub_agents.map(|name| Ok((name.to_owned(), open("model", name)?))).collect::<Result<_, CliError>>()?;
    Ok(JobModels { first, others, named })
}

/// Reports that the requested tier is not available.
fn note_missing_tier(target: &Target, model: &dyn Model) {
    if target.tier != model.tier() && model.endpoint().is_some() {
        out::note(&format!(
            "{} has no {} tier that is known: it is called at the standard one (a table of models can say `{}`)",
            model.name(),
            target.tier.name(),
            target.tier.name()
        ));
    }
}

/// Reports that the model has no such level of reasoning.
fn note_missing_effort(instructions: &Instructions, model: &dyn Model) {
    let Some(EffortSteps { first, again }) = &instructions.effort else { return };
    let levels = model.effort_levels();
    for level in [Some(first), again.as_ref()].into_iter().flatten().filter(|level| !levels.contains(level)) {
        let known = if levels.is_empty() { "none are".to_owned() } else { format!("{} are", levels.join(", ")) };
        out::note(&format!(
            "{} has no level of reasoning '{level}' that is known ({known}): it reasons as usual there (a table of models can say `reasoning`)",
            model.name()
        ));
    }
}

fn of_name(what: &str, name: &str, error: &CliError) -> CliError {
    CliError { message: format!("{what} {name}: {error}"), code: error.code }
}

/// Opens a model that replays no job.
pub(super) fn without_jobs(settings: &Settings, target: &Target) -> Result<Arc<dyn Model>, CliError> {
    open_target(settings, target, &no_jobs, None)
}

fn no_jobs(job: &str) -> Result<PathBuf, String> {
    Err(format!("the job '{job}' can't be found without the database"))
}

/// Tests a model with a short conversation; a model that is not behind HTTP has no tests.
#[cfg(feature = "network")]
pub(super) async fn probe_target(
    settings: &Settings,
    target: &Target,
) -> Result<Vec<crate::runner::ProbeResult>, CliError> {
    let find_key = |name: &str| settings.key(name);
    let find_job = |job: &str| Err(format!("the job '{job}' is not looked for here"));
    Ok(crate::runner::probe(&target.choice.model, &options(settings, target, &find_job, &find_key)?).await?)
}

fn open_target(
    settings: &Settings,
    target: &Target,
    find_job: &dyn Fn(&str) -> Result<PathBuf, String>,
    posting: Option<CallPosting>,
) -> Result<Arc<dyn Model>, CliError> {
    let find_key = |name: &str| settings.key(name);
    let options = ModelOptions { posting, ..options(settings, target, find_job, &find_key)? };
    Ok(open_model(&target.choice.model, &options)?)
}

fn options<'a>(
    settings: &Settings,
    target: &Target,
    find_job: &'a dyn Fn(&str) -> Result<PathBuf, String>,
    find_key: &'a dyn Fn(&str) -> Option<Key>,
) -> Result<ModelOptions<'a>, CliError> {
    Ok(ModelOptions {
        find_job,
        find_key,
        base_url: target.choice.base_url.clone(),
        api_key_env: target.choice.api_key_env.clone(),
        allow_http: settings.allow_http.value,
        is_never_called: target.is_never_called,
        headers: if target.is_theirs { settings.headers.reveal().to_vec() } else { Vec::new() },
        record: settings.record.clone(),
        models: models(settings, target)?,
        pace: RateLimits {
            requests_per_minute: settings.requests_per_minute.value,
            tokens_per_minute: settings.tokens_per_minute.value,
            parallel_calls: settings.parallel_calls.value,
        },
        timeouts: timeouts(settings),
        tier: target.tier,
        is_wave: target.is_wave,
        posting: None,
    })
}

/// The user's table of models, as the job began with it, else as the settings name it.
fn models(settings: &Settings, target: &Target) -> Result<Option<ModelTable>, CliError> {
    match &target.models {
        Some(kept) => parsed(MODELS_ASSET, kept).map(Some),
        None => models_table(settings),
    }
}

/// The table of models that the settings name.
pub(super) fn models_table(settings: &Settings) -> Result<Option<ModelTable>, CliError> {
    models_text(settings)?.map(|(file, text)| parsed(&file, &text)).transpose()
}

fn parsed(file: &str, text: &str) -> Result<ModelTable, CliError> {
    ModelTable::parse(file, text).map_err(|error| CliError::usage(error.to_string()))
}

/// Name and text of the table's file that the settings name.
pub(super) fn models_text(settings: &Settings) -> Result<Option<(String, String)>, CliError> {
    let Some(path) = &settings.models_file.value else { return Ok(None) };
    let file = path.display().to_string();
    let text = text_file(path).map_err(|why| CliError::usage(format!("{file} can't be used as models file: {why}")))?;
    Ok(Some((file, text)))
}

/// Warns if a limit on the cost can't be enforced, because the price of a call is unknown.
pub(super) fn warn_of_price(models: &JobModels, limit: Option<f64>) {
    for model in models.all().filter(|model| limit.is_some() && is_unpriced(model)) {
        out::note(&format!(
            "no price is known for {}: tokens are counted, and the limit on the cost can't hold them; give the price with --models",
            model.name()
        ));
    }
}

/// Refuses a limit on the cost that can't be enforced, unless the settings allow it.
pub(super) fn refuse_unpriced(models: &JobModels, limit: Option<f64>, settings: &Settings) -> Result<(), CliError> {
    let Some(limit) = limit.filter(|_| !settings.unpriced.value) else { return Ok(()) };
    match models.all().find(|model| is_unpriced(model)) {
        None => Ok(()),
        Some(model) => Err(CliError::usage(format!(
            "no price is known for {}, so that the limit of {limit:.2} USD can't be held: give the price with --models, or --unpriced to go on without holding it",
            model.name()
        ))),
    }
}

fn is_unpriced(model: &Arc<dyn Model>) -> bool {
    model.cost(&Usage::default()).is_none()
}

/// The other timeouts are at least as long as the one between two pieces of a reply.
fn timeouts(settings: &Settings) -> Timeouts {
    let timeouts = Timeouts::default();
    let Some(idle) = settings.idle_timeout_ms.value.map(Duration::from_millis) else { return timeouts };
    Timeouts { idle, first_byte: timeouts.first_byte.max(idle), whole: timeouts.whole.max(idle) }
}
