//! `overnight run`: creates one job and works on it in this process.

use super::{
    AppContext, CliError, instructions, out, run_job, server, stop, submit,
    submit::{SubmitArgs, joined},
};
use crate::{
    config::{Flags, Settings},
    runner::{NewJobRequest, OpenJob, RunError, create},
    worker::JobModels,
    workspace::lock::LockError,
};
use overnight_core::job::{instructions::Instructions, models::Tier};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// The embedded model.
pub(super) const DEFAULT_MODEL: &str = "offline";
/// How often, and at which interval, the lock of a new job is tried while another command holds it for a moment.
const LOCK_TRIES: usize = 20;
const LOCK_RETRY_AFTER: Duration = Duration::from_millis(50);
/// How long one model call may take at the tier `flex`.
const FLEX_CALL_MS: u64 = 20 * 60_000;
/// The most left-out files that are named one by one.
const MOST_LEFT_OUT: usize = 10;

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

/// The model and the limits of a job, as typed.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct LimitArgs {
    /// Who does the work: offline, openai:NAME, anthropic:NAME, gemini:NAME, ollama:NAME, scripted:FILE or replay:JOB
    #[arg(long, short)]
    model: Option<String>,
    /// When the model answers: standard, or flex (when its provider has room, for less)
    #[arg(long, value_name = "TIER")]
    tier: Option<String>,
    /// Model calls of the whole job
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    turns: Option<String>,
    /// USD of the whole job
    #[arg(long, value_name = "USD", allow_negative_numbers = true, help_heading = "Limits")]
    cost: Option<String>,
    /// Time of work of the whole job, such as 90m or 8h; holds don't count
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    wall_clock: Option<String>,
    /// Input and output tokens of the whole job, such as 500k or 20M
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    tokens: Option<String>,
}

impl RunArgs {
    /// With nothing else said.
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

impl LimitArgs {
    /// With paths that began in `folder`.
    pub(super) fn below(mut self, folder: &Path) -> Self {
        self.model = self.model.map(|model| match model.strip_prefix("scripted:") {
            Some(file) => format!("scripted:{}", joined(folder, file)),
            None => model,
        });
        self
    }

    /// Adds what was typed to `flags`.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            model: self.model.clone(),
            tier: self.tier.clone(),
            turns: self.turns.clone(),
            cost: self.cost.clone(),
            wall_clock: self.wall_clock.clone(),
            tokens: self.tokens.clone(),
            ..flags
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
    let workspaces = workspaces(&settings)?;
    let app = AppContext::open(settings).await?;
    // Before the new job exists: only the newest workspaces are looked at.
    app.adopt().await;
    let target = server::Target::of_instructions(&instructions, &app.settings);
    let models = server::open_all(&app, &target, &instructions).await?;
    fit_budget(&mut instructions, &models);
    let table = server::models_text(&app.settings)?;
    let extractor = super::documents::extractor(&app.settings)?;
    let request = NewJobRequest {
        models: table.as_ref().map(|(_, text)| text.as_str()),
        instructions,
        instructions_text: &found.text,
        documents: &args.documents,
        own: &super::documents::own(&app.settings)?,
        extractor: &extractor,
        model: models.first.as_ref(),
        base_url: target.choice.base_url.as_deref(),
        api_key_env: target.choice.api_key_env.as_deref(),
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

/// Helpers of other models have the same budget as the job.
pub(super) fn fit_budget(instructions: &mut Instructions, models: &JobModels) {
    let budget = &mut instructions.context.budget_tokens;
    *budget = models.named.values().map(|model| model.window_tokens()).fold(*budget, u64::min);
}

/// The folder of workspaces, absolute.
pub(super) fn workspaces(settings: &Settings) -> Result<PathBuf, CliError> {
    let folder = &settings.workspaces.value;
    std::path::absolute(folder)
        .map_err(|error| CliError::usage(format!("the workspaces folder {} can't be used ({error})", folder.display())))
}

/// Names the files that are not among the documents, up to a bound.
pub(super) fn list_left_out(left_out: &[(PathBuf, String)]) {
    for (path, why) in left_out.iter().take(MOST_LEFT_OUT) {
        out::note(&format!("left out: {} ({})", out::one_line(&path.display().to_string()), out::one_line(why)));
    }
    if left_out.len() > MOST_LEFT_OUT {
        out::note(&format!("left out: {} more", left_out.len() - MOST_LEFT_OUT));
    }
}

/// Names the documents that no text was got from, up to a bound.
fn list_unread(unread: &[(String, String)]) {
    for (name, why) in unread.iter().take(MOST_LEFT_OUT) {
        out::note(&format!("not read: {} ({})", out::one_line(name), out::one_line(why)));
    }
    if unread.len() > MOST_LEFT_OUT {
        out::note(&format!("not read: {} more", unread.len() - MOST_LEFT_OUT));
    }
}

/// Opens the workspace that was just made. Another command may be looking at it in this moment.
async fn open_new(path: &Path) -> Result<OpenJob, RunError> {
    for _ in 0..LOCK_TRIES {
        match OpenJob::open(path, None) {
            Err(RunError::Lock(LockError::Held { .. })) => tokio::time::sleep(LOCK_RETRY_AFTER).await,
            other => return other,
        }
    }
    OpenJob::open(path, None)
}

/// The instructions with the limits of flags, environment and file, which take precedence over theirs.
pub(super) fn with_limits(mut instructions: Instructions, settings: &Settings) -> Instructions {
    let limits = &mut instructions.limits;
    limits.turns = settings.turns.value.unwrap_or(limits.turns);
    limits.tokens = settings.tokens.value.or(limits.tokens);
    limits.cost_usd = settings.cost_usd.value.or(limits.cost_usd);
    limits.wall_clock_ms = settings.wall_clock_ms.value.or(limits.wall_clock_ms);
    instructions.tier = settings.tier.value.unwrap_or(instructions.tier);
    if instructions.tier == Tier::Flex {
        limits.model_call_ms = limits.model_call_ms.max(FLEX_CALL_MS);
    }
    let context = &mut instructions.context;
    context.budget_tokens = settings.budget_tokens.value.unwrap_or(context.budget_tokens);
    instructions
}
