//! `overnight serve`: the pages of `crate::web`. This file implements the operations that only the command line can do.

use super::{
    AppContext, CliError, assign,
    cancel::{cancel, pause},
    documents, eval, exit, export, instructions,
    job_or_batch::JobOrBatch,
    local_time, out,
    queue::{DatabaseJob, with_name},
    report,
    resume::resume,
    retry::retry,
    review::{self, ReviewerArgs},
    show, stop,
    submit::{self, EachUnit, SubmitArgs},
    token, workspace_store,
};
use crate::{
    config::{Flags, Settings},
    eval::Evaluation,
    export::TableFormat,
    extraction::Extractor,
    review::AssignmentWanted,
    runner::{ReviewAction, review_job},
    store::{BatchRow, JobRow, Role},
    view::{AssignmentsView, RequestOutcome},
    web::{
        self, BulkAction, BulkOutcome, EvaluatedSet, FoundJob, RequestTarget, ServeError, WantedBatch, WebBackend,
        WebConfig, WebError,
    },
};
use async_trait::async_trait;
use axum::http::HeaderName;
use overnight_core::job::id::JobId;
use std::{
    collections::HashMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::net::TcpListener;
use uuid::Uuid;

const EXAMPLES: &str = "\
Examples:
  overnight serve
  overnight serve --read-only --listen 127.0.0.1:9000
  overnight serve --token-env WEB_TOKEN --host jobs.example.org --user-header X-Remote-User    # behind a proxy

The link that is printed carries a token: who has it may see everything, and without --read-only decide and submit.
Other people and programs come with tokens of their own: `overnight token add`. TLS is a proxy's business.";

const AGENT_EXAMPLES: &str = "\
Examples:
  overnight mcp
  overnight mcp --role operator --documents-root /srv/contracts

It speaks the Model Context Protocol on standard input and output: name this command in the agent's settings. An agent that asks from
elsewhere comes to `overnight serve --mcp`, at /mcp, with a token of its own.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServeArgs {
    /// Where to listen; another address than a loopback one is reached from other machines
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8787")]
    listen: SocketAddr,
    /// A name under which the server may be asked, beside localhost and its own address; may be repeated
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// The environment variable that holds the token [default: a new one at each start]
    #[arg(long, value_name = "NAME")]
    token_env: Option<String>,
    /// Only show: nothing can be decided or submitted
    #[arg(long)]
    read_only: bool,
    /// Let agents ask as well, by the Model Context Protocol, at /mcp
    #[arg(long)]
    mcp: bool,
    #[command(flatten)]
    reviewer: ReviewerArgs,
    /// The request's header in which a proxy names the person, such as X-Remote-User
    #[arg(long, value_name = "HEADER", conflicts_with = "reviewer")]
    user_header: Option<HeaderName>,
    /// MB that one upload may have
    #[arg(long, value_name = "MB", default_value_t = 64)]
    max_upload: u64,
    /// Folder for uploaded documents [default: uploads, beside the workspaces]
    #[arg(long, value_name = "FOLDER")]
    uploads: Option<PathBuf>,
    /// Documents in this folder may be named for a batch, beside those that are uploaded
    #[arg(long, value_name = "FOLDER")]
    documents_root: Option<PathBuf>,
}

/// `overnight mcp`: the same for one agent, which has started this process.
#[derive(Debug, clap::Args)]
#[command(after_help = AGENT_EXAMPLES)]
pub(super) struct McpArgs {
    /// What the agent may do: reader looks at everything, reviewer also says what is right, operator also submits
    #[arg(long, value_parser = token::role, default_value = "reader")]
    role: Role,
    #[command(flatten)]
    reviewer: ReviewerArgs,
    /// Folder below which the agent may name documents for a batch
    #[arg(long, value_name = "FOLDER")]
    documents_root: Option<PathBuf>,
}

pub(super) async fn run_mcp(flags: Flags, args: &McpArgs) -> Result<u8, CliError> {
    let settings = super::settings(&flags)?;
    let uploads = settings.workspaces.value.with_file_name("uploads");
    let app = Arc::new(AppContext { only_reads: true, ..AppContext::open(settings).await? });
    let config = WebConfig {
        hosts: Vec::new(),
        read_only: false,
        reviewer: Some(args.reviewer.name()),
        user_header: None,
        uploads,
        most_upload_mb: 0,
        documents_root: args.documents_root.clone(),
        agents: true,
        note: out::note,
        minute: local_time::minute,
    };
    let store = app.store.clone();
    web::serve_agent(config, args.role, store, Arc::new(CommandBackend { app, flags })).await?;
    Ok(exit::COMPLETED)
}

pub(super) async fn run(flags: Flags, args: &ServeArgs) -> Result<u8, CliError> {
    let settings = super::settings(&flags)?;
    let (token, is_new) = token(&settings, args)?;
    let uploads = args.uploads.clone().unwrap_or_else(|| settings.workspaces.value.with_file_name("uploads"));
    let app = if args.read_only { AppContext::read(settings).await? } else { AppContext::open(settings).await? };
    // A page repairs nothing: it shows the current state.
    let app = Arc::new(AppContext { only_reads: true, ..app });
    let listener = TcpListener::bind(args.listen).await.map_err(ServeError::Listen)?;
    let listen = listener.local_addr().map_err(ServeError::Listen)?;
    if !listen.ip().is_loopback() {
        out::note(
            "other machines can reach this address, and what is said there is not encrypted: put a proxy with TLS before it",
        );
    }
    if !args.read_only {
        web::sweep(&uploads, &*app.store).await;
    }
    // A reviewer's name is not needed if the pages are read-only, or if a proxy names the person.
    let reviewer = if args.read_only || args.user_header.is_some() { None } else { Some(args.reviewer.name()) };
    let config = WebConfig {
        hosts: args.hosts.clone(),
        read_only: args.read_only,
        reviewer,
        user_header: args.user_header.clone(),
        uploads,
        most_upload_mb: args.max_upload,
        documents_root: args.documents_root.clone(),
        agents: args.mcp,
        note: out::note,
        minute: local_time::minute,
    };
    let name = if listen.ip().is_unspecified() { format!("localhost:{}", listen.port()) } else { listen.to_string() };
    let stop = stop::listen()?;
    // A token from the environment is not printed.
    out::result(&if is_new { format!("http://{name}/?token={token}\n") } else { format!("http://{name}/\n") })?;
    let store = app.store.clone();
    web::serve(listener, token, config, store, Arc::new(CommandBackend { app, flags }), stop).await?;
    Ok(exit::COMPLETED)
}

/// The token, and whether it is a new one.
fn token(settings: &Settings, args: &ServeArgs) -> Result<(String, bool), CliError> {
    let Some(name) = &args.token_env else {
        let token = crate::store::random_token();
        let failed = |error| CliError::failed(format!("the system gives no random numbers for a token ({error})"));
        return token.map(|token| (token, true)).map_err(failed);
    };
    let token = settings.key(name).map(|key| key.reveal().to_owned());
    token.map(|token| (token, false)).ok_or_else(|| {
        CliError::usage(format!(
            "there is no environment variable {name}: put the token into it, or leave --token-env out"
        ))
    })
}

/// The command line's implementation of the pages' backend.
#[derive(Debug)]
struct CommandBackend {
    app: Arc<AppContext>,
    flags: Flags,
}

impl CommandBackend {
    fn args(wanted: &WantedBatch, dry_run: bool) -> SubmitArgs {
        SubmitArgs {
            instructions: wanted.instructions.clone(),
            documents: wanted.documents.clone(),
            each: wanted.each.then_some(EachUnit::Document),
            batch: wanted.name.clone(),
            budget_usd: wanted.budget_usd.clone(),
            dedupe: wanted.dedupe,
            dry_run,
            ..SubmitArgs::default()
        }
    }

    async fn job_named(&self, job: JobId) -> Result<JobOrBatch, CliError> {
        Ok(JobOrBatch::Job(Box::new(self.app.job_with(job).await?)))
    }

    /// Carries out the command of the same name.
    async fn requested(&self, action: BulkAction, named: &JobOrBatch) -> Result<RequestOutcome, CliError> {
        let app = &self.app;
        match action {
            BulkAction::Retry => retry(app, named).await,
            BulkAction::Cancel => cancel(app, named).await,
            BulkAction::Pause => {
                let (job, batch) = named.ids();
                let typed = batch.or(job.map(|job| job.0)).unwrap_or_default().to_string();
                pause(app, named, &typed).await
            }
            BulkAction::Resume => resume(app, named).await,
        }
    }
}

#[async_trait]
impl WebBackend for CommandBackend {
    async fn job(&self, id: JobId) -> Result<Option<FoundJob>, WebError> {
        let Some(row) = self.app.store.job(id).await? else { return Ok(None) };
        let job = self.app.database_job(row).await?;
        let app = self.app.clone();
        let look = move || {
            let location = app.whereabouts(&job, job.is_stored());
            let interrupted = app.is_interrupted(&job);
            FoundJob { row: job.row, queue: job.queue, location, interrupted }
        };
        Ok(Some(tokio::task::spawn_blocking(look).await?))
    }

    async fn interrupted(&self, rows: Vec<JobRow>) -> Result<Vec<JobId>, WebError> {
        let app = self.app.clone();
        let look = move || {
            let jobs = rows.into_iter().map(|row| with_name(row, &HashMap::new()));
            jobs.filter(|job| app.is_interrupted(job)).map(|job: DatabaseJob| job.id()).collect()
        };
        Ok(tokio::task::spawn_blocking(look).await?)
    }

    fn instructions(&self) -> Vec<String> {
        instructions::names(&self.app.settings.instructions.value)
    }

    async fn dry_run(&self, wanted: &WantedBatch) -> Result<String, WebError> {
        let ready = Box::pin(submit::ready(self.flags.clone(), &Self::args(wanted, true), wanted.id, None)).await?;
        Ok(ready.told())
    }

    async fn review(&self, found: &FoundJob, path: &Path, by: &str, action: ReviewAction) -> Result<(), WebError> {
        let uploader = workspace_store::uploader(&self.app, &found.row).await?;
        review_job(&*self.app.store, &found.row, path, by, action, uploader).await?;
        review::draw_goes_on(&self.app, &found.row).await;
        Ok(())
    }

    async fn act(&self, action: BulkAction, job: JobId) -> Result<BulkOutcome, WebError> {
        match self.requested(action, &self.job_named(job).await?).await {
            Ok(outcome) => Ok(if outcome.done > 0 { BulkOutcome::Done } else { BulkOutcome::Asked }),
            Err(error) if error.code == exit::USAGE => Ok(BulkOutcome::Unchanged),
            Err(error) => Err(error.into()),
        }
    }

    async fn evaluated_sets(&self) -> Result<Vec<EvaluatedSet>, WebError> {
        Ok(eval::evaluated_sets(&self.app).await?)
    }

    async fn evaluation(&self, id: &str) -> Result<Option<Evaluation>, WebError> {
        Ok(eval::standing_evaluation(&self.app, id).await?)
    }

    async fn correct_gold(
        &self,
        id: &str,
        file: (&str, Option<&str>),
        right: (&str, &str),
        by: &str,
    ) -> Result<(), WebError> {
        Ok(eval::correct_evaluated(&self.app, id, file, right, by).await?)
    }

    async fn table(&self, named: &str, format: TableFormat) -> Result<Option<Vec<u8>>, WebError> {
        Ok(export::table(&self.app, named, format).await?)
    }

    async fn job_view(&self, id: JobId) -> Result<String, WebError> {
        Ok(show::job_json(&self.app, self.app.job_with(id).await?).await?)
    }

    async fn batch_view(&self, batch: &BatchRow) -> Result<String, WebError> {
        Ok(show::batch::batch_json(&self.app, batch).await?)
    }

    async fn assign(&self, batch: &BatchRow, wanted: &AssignmentWanted) -> Result<AssignmentsView, WebError> {
        let assigned = assign::assign(&self.app, batch, wanted).await;
        assigned.map_err(|error| match error.code {
            exit::USAGE => WebError::usage(error.message),
            _ => error.into(),
        })?;
        Ok(assign::view(&self.app, batch).await?)
    }

    async fn request(&self, action: BulkAction, named: RequestTarget) -> Result<RequestOutcome, WebError> {
        let named = match named {
            RequestTarget::Job(job) => self.job_named(job).await?,
            RequestTarget::Batch(batch) => JobOrBatch::Batch(batch),
        };
        self.requested(action, &named).await.map_err(|error| match error.code {
            exit::USAGE => WebError::conflict(error.message),
            _ => error.into(),
        })
    }

    async fn report(&self, batch: Uuid) -> Result<Vec<u8>, WebError> {
        Ok(report::page_of_batch(&self.app, &batch.to_string()).await?.into_bytes())
    }

    fn extractor(&self) -> Result<Extractor, WebError> {
        Ok(documents::extractor(&self.app.settings)?.with_read_only_cache())
    }

    async fn submit(&self, wanted: &WantedBatch) -> Result<(), WebError> {
        let store = Some(self.app.store.clone());
        let ready = Box::pin(submit::ready(self.flags.clone(), &Self::args(wanted, false), wanted.id, store)).await?;
        Ok(ready.enqueue(&*self.app.store).await?)
    }
}

impl From<CliError> for WebError {
    fn from(error: CliError) -> Self {
        if error.code == exit::USAGE { Self::usage(error.message) } else { Self::failed(error.message) }
    }
}

impl From<ServeError> for CliError {
    fn from(error: ServeError) -> Self {
        Self::usage(error.to_string())
    }
}
