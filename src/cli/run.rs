//! `overnight run`: creates one job and works on it in this process.

use super::{
    AppContext, CliError, instructions,
    job_request::{LimitArgs, MOST_LEFT_OUT, fit_budget, list_left_out, with_limits, workspaces},
    out, run_job, server, stop, submit,
    submit::SubmitArgs,
};
use crate::{
    config::Flags,
    runner::{NewJobRequest, OpenJob, RunError, create},
    workspace::lock::LockError,
};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// How often, and at which interval, the lock of a new job is tried while another command holds it for a moment.
const LOCK_TRIES: usize = 20;
const LOCK_RETRY_AFTER: Duration = Duration::from_millis(50);

const EXAMPLES: &str = "\
Examples:
  overnight run extract-requirements --documents spec.md
  overnight run summarize-documents --documents reports/ notes.txt --wall-clock 2h
  overnight run ./my-task.md --documents contracts/ --json > result.json

Ctrl-C (or SIGTERM, or a closed terminal) drops the turn in hand, holds the job and exits with 130; `overnight resume last` goes on.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RunArgs {
    /// Name of instructions (in the instructions folder, or shipped), or a path to a .md file
    instructions: String,
    /// Files and folders to work on
    #[arg(long, short, required = true, num_args = 1.., value_name = "PATH")]
    documents: Vec<PathBuf>,
    #[command(flatten)]
    bounds: LimitArgs,
    #[command(flatten)]
    server: server::ServerArgs,
    /// Tokens that a prompt may have
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    budget_tokens: Option<String>,
    /// Say what would be worked, what it may cost, and which files can't be read; make nothing, call nobody
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    show: run_job::OutputArgs,
}

impl RunArgs {
    /// A request without further options.
    pub(super) fn of(instructions: String, documents: Vec<PathBuf>) -> Self {
        let (bounds, server) = (LimitArgs::default(), server::ServerArgs::default());
        let show = run_job::OutputArgs { json: false };
        Self { instructions, documents, bounds, server, budget_tokens: None, dry_run: false, show }
    }

    /// The same job, as it would be submitted.
    fn as_dry_submission(&self) -> SubmitArgs {
        SubmitArgs {
            instructions: self.instructions.clone(),
            documents: self.documents.clone(),
            dry_run: true,
            json: self.show.json,
            bounds: self.bounds.clone(),
            server: self.server.clone(),
            budget_tokens: self.budget_tokens.clone(),
            ..SubmitArgs::default()
        }
    }
}

/// Creates the job and works on it. The order is workspace, row, claim, so a job that is in no database yet has a whole workspace.
pub(super) async fn run(flags: Flags, args: &RunArgs) -> Result<u8, CliError> {
    if args.dry_run {
        return Box::pin(submit::run(flags, &args.as_dry_submission())).await;
    }
    let flags = Flags { budget_tokens: args.budget_tokens.clone(), ..args.server.add_to(args.bounds.add_to(flags)) };
    let settings = super::settings(&flags)?;
    let found = instructions::find(&settings.instructions.value, &args.instructions)?;
    let mut instructions = with_limits(found.instructions, &settings);
    if instructions.cascade.is_some() {
        return Err(CliError::usage("a cascade is for the documents of a batch: submit them with --each"));
    }
    let workspaces = workspaces(&settings)?;
    let app = AppContext::open(settings).await?;
    // Done before the new job exists: only the newest workspaces are checked.
    app.adopt().await;
    let target = server::Target::of_instructions(&instructions, &app.settings);
    let models = server::open_all(&app, &target, &instructions).await?;
    server::refuse_unpriced(&models, instructions.limits.cost_usd, &app.settings)?;
    fit_budget(&mut instructions, &models);
    let table = server::models_text(&app.settings)?;
    let extractor = super::documents::extractor(&app.settings)?;
    let request = NewJobRequest {
        models: table.as_ref().map(|(_, text)| text.as_str()),
        instructions_text: &found.text,
        documents: &args.documents,
        own: &super::documents::own(&app.settings)?,
        extractor: &extractor,
        model: models.first.as_ref(),
        eyes: models.eyes(&instructions, extractor.vision()).map_err(CliError::usage)?,
        instructions,
        base_url: target.choice.base_url.as_deref(),
        api_key_env: target.choice.api_key_env.as_deref(),
        earlier: None,
    };
    for key in request.instructions.not_acted_on() {
        out::note(&format!("`{key}` in the instructions has no effect in this version"));
    }
    stop::ends_with("interrupted before there was a job: nothing is kept")?;
    let created = create(&workspaces, &request)?;
    stop::ends_with("interrupted when the job was just made: `overnight resume last` begins with it")?;
    list_left_out(&created.left_out);
    list_unread(&created.unread);
    let mut opened = open_new(&created.path).await?;
    let words = vec![opened.opening(models.first.name())];
    run_job::run_job(&app, &mut opened, &created.path, models, words, args.show).await
}

/// Names the documents from which no text was extracted, up to a bound.
fn list_unread(unread: &[(String, String)]) {
    for (name, why) in unread.iter().take(MOST_LEFT_OUT) {
        out::note(&format!("not read: {} ({})", out::one_line(name), out::one_line(why)));
    }
    if unread.len() > MOST_LEFT_OUT {
        out::note(&format!("not read: {} more", unread.len() - MOST_LEFT_OUT));
    }
}

/// Opens the workspace that was just created. Another command may hold its lock for a moment.
async fn open_new(path: &Path) -> Result<OpenJob, RunError> {
    for _ in 0..LOCK_TRIES {
        match OpenJob::open(path, None) {
            Err(RunError::Lock(LockError::Held { .. })) => tokio::time::sleep(LOCK_RETRY_AFTER).await,
            other => return other,
        }
    }
    OpenJob::open(path, None)
}
