//! `overnight work`: a worker of the queue.
//!
//! - `progress`: the worker's progress with the queue

mod progress;

use super::{
    AppContext, CliError,
    app_context::connect,
    exit, out, result,
    schedule::Scheduler,
    server::{self, ServerArgs, Target},
    stop,
    traces::Traces,
    workspace_store::WorkspaceStoreArgs,
};
use crate::{
    batch::{BatchSettings, schedule::Submit, window::Window},
    config::{Flags, Settings},
    notify::{NoticeChannel, NoticeTarget},
    store::{Store, StoreError},
    worker::{ClaimOutcome, JobModels, Supply, Worker, WorkerConfig, WorkerEvent, WorkerSummary, WorkerTimes},
    workspace::lock::host,
};
use async_trait::async_trait;
use overnight_core::job::record::JobStatus;
use progress::QueueProgress;
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::{net::TcpListener, sync::watch};
use uuid::Uuid;

/// The wait before another attempt to connect to the database.
const RECONNECT_AFTER: Duration = Duration::from_secs(2);

const EXAMPLES: &str = "\
Examples:
  overnight work                                   until it is stopped
  overnight work --concurrency 8 --until-empty
  overnight work --window \"22:00-06:00 Europe/Berlin\"

SIGTERM or Ctrl-C drops the turns in hand and gives the jobs back to the queue; other workers go on with them.

Exit codes: 0 at the end of the work. With --until-empty the first of these that is so: 1 a command or address of
--on-batch-end failed; 3 a job ended otherwise than completed, or was left to another worker; 4 a job waits for a person (review,
budget, limit, paused); 130 interrupted, and jobs were given back; 0 all jobs that it worked are completed.";

/// The largest `--concurrency`: more jobs at once are of no use to one process.
const MOST_AT_ONCE: u32 = 10_000;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct WorkArgs {
    /// Jobs at once
    #[arg(long, short = 'n', value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_AT_ONCE)))]
    concurrency: u32,
    /// Work only then: "22:00-06:00 Europe/Berlin"; what runs when it closes is held until it opens
    #[arg(long, value_name = "WINDOW", value_parser = Window::parse)]
    window: Option<Window>,
    /// End when nothing is left in the queue
    #[arg(long)]
    until_empty: bool,
    /// Begin nothing more after this time, such as 90m or 8h, and end when what runs is done
    #[arg(long, value_name = "TIME", value_parser = duration)]
    drain_after: Option<Duration>,
    /// When a batch has ended, run this command with what became of it as JSON on its stdin, or send that to this address; the
    /// command gets PATH, HOME, LANG, TZ and TMPDIR, and no other variable
    #[arg(long, value_name = "COMMAND|URL", value_parser = NoticeChannel::parse, help_heading = "Notices")]
    on_batch_end: Option<NoticeChannel>,
    /// Run this command at a batch's end, and when jobs need a person
    #[arg(long, value_name = "COMMAND", help_heading = "Notices")]
    notify_command: Option<String>,
    /// Send the same to this address; notify.webhook.secret_env in overnight.yaml has it signed
    #[arg(long, value_name = "URL", help_heading = "Notices")]
    notify_webhook: Option<String>,
    /// Send an e-mail to these addresses, by the server that notify.email in overnight.yaml names
    #[arg(long, value_name = "ADDRESS", help_heading = "Notices")]
    notify_email: Option<String>,
    /// Answer Prometheus at this address, under /metrics, and whether the worker is well under /health: 127.0.0.1:9464
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,
    #[command(flatten)]
    workspace_store: WorkspaceStoreArgs,
    #[command(flatten)]
    server: ServerArgs,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text.trim()).map_err(|error| format!("{error}; a time is written like 90m or 8h"))
}

impl WorkArgs {
    /// Adds what was typed to `flags`.
    fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            notify_command: self.notify_command.clone(),
            notify_webhook: self.notify_webhook.clone(),
            notify_email: self.notify_email.clone(),
            ..self.workspace_store.add_to(self.server.add_to(flags))
        }
    }

    /// The targets of notices about batches.
    fn notices(&self, settings: &Settings) -> Result<Vec<NoticeTarget>, CliError> {
        let ends = self.on_batch_end.clone();
        let mut targets = settings.notice_targets()?;
        targets.extend(ends.map(|channel| NoticeTarget { channel, only_ends: true }));
        Ok(targets)
    }
}

pub(super) async fn run(flags: Flags, args: &WorkArgs) -> Result<u8, CliError> {
    let settings = super::settings(&args.add_to(flags.clone()))?;
    let notices = args.notices(&settings)?;
    let workspaces = super::job_request::workspaces(&settings)?;
    // Done before anything slow.
    let stop = stop::listen()?;
    let Some(store) = connect_or_wait(&settings, args.until_empty, stop.clone()).await? else {
        return Ok(exit::COMPLETED);
    };
    let app = Arc::new(AppContext { settings, store, only_reads: false });
    let traces = Traces::begin(&app);
    let config = WorkerConfig {
        concurrency: args.concurrency as usize,
        window: args.window.clone(),
        batches: Vec::new(),
        until_empty: args.until_empty,
        drain_after: args.drain_after,
        extractor: Arc::new(super::documents::extractor(&app.settings)?),
        workspaces,
        workspace_store: super::workspace_store::open_for_worker(&app).await?,
        host: host(),
        notices,
        traces: traces.feed(),
        times: WorkerTimes::default(),
    };
    let listener = match &args.metrics {
        None => None,
        #[cfg(not(feature = "network"))]
        Some(_) => return Err(CliError::usage(format!("--metrics: {}", crate::built_without::NO_NETWORK))),
        #[cfg(feature = "network")]
        Some(at) => Some(TcpListener::bind(at.as_str()).await.map_err(|error| {
            CliError::usage(format!("--metrics {}: nothing can be answered there ({error})", out::one_line(at)))
        })?),
    };
    // Schedules store everything but the locations of things.
    let scheduler = Scheduler { flags, store: app.store.clone() };
    let stopped = stop.clone();
    let summary = work(ModelSupply { app, scheduler: Some(scheduler) }, config, listener, stop).await;
    let is_stopped = *stopped.borrow();
    traces.end().await;
    let summary = summary?;
    show(&summary, args.json)?;
    Ok(if args.until_empty { exit_code(&summary, is_stopped) } else { exit::COMPLETED })
}

/// Works on the jobs of these batches only, until none is left to do.
pub(super) async fn work_batches(
    app: Arc<AppContext>,
    batches: Vec<Uuid>,
    concurrency: usize,
    stop: watch::Receiver<bool>,
) -> Result<WorkerSummary, CliError> {
    let config = WorkerConfig {
        concurrency,
        window: None,
        batches,
        until_empty: true,
        drain_after: None,
        extractor: Arc::new(super::documents::extractor(&app.settings)?),
        workspaces: super::job_request::workspaces(&app.settings)?,
        workspace_store: super::workspace_store::open_for_worker(&app).await?,
        host: host(),
        notices: Vec::new(),
        traces: None,
        times: WorkerTimes::default(),
    };
    Ok(work(ModelSupply { app, scheduler: None }, config, None, stop).await?)
}

/// Works until it is stopped or done, and reports events.
async fn work(
    supply: ModelSupply,
    config: WorkerConfig,
    metrics: Option<TcpListener>,
    stop: watch::Receiver<bool>,
) -> Result<WorkerSummary, StoreError> {
    let store: Arc<dyn Store> = supply.app.store.clone();
    let progress = QueueProgress::begin(store.clone());
    let sender = progress.as_ref().map(QueueProgress::sender);
    let tell = Arc::new(move |worker_event: WorkerEvent<'_>| {
        log_event(&worker_event);
        if let (WorkerEvent::Rested { id, .. }, Some(sender)) = (&worker_event, &sender) {
            // The receiver is gone only if the progress has ended.
            let _ = sender.send(*id);
        }
    });
    let worker = Worker::new(store, Arc::new(supply), config, stop, tell);
    let worker = match metrics {
        Some(listener) => worker.with_metrics_at(listener),
        None => worker,
    };
    let summary = worker.run().await;
    drop(worker);
    if let Some(progress) = progress {
        progress.end();
    }
    summary
}

/// Connects to the database, and waits for one that can't be reached or is full; with `until_empty` that is an error instead. `None`: the worker must stop.
async fn connect_or_wait(
    settings: &Settings,
    until_empty: bool,
    mut stop: watch::Receiver<bool>,
) -> Result<Option<Arc<dyn Store>>, CliError> {
    let mut is_logged = false;
    loop {
        let error = match connect(settings).await {
            Ok(store) => return Ok(Some(store)),
            Err(error) if error.passes() && !until_empty => error,
            Err(error) => return Err(error.into()),
        };
        if !is_logged {
            is_logged = true;
            out::log(&out::LogMessage::new(out::LogLevel::Warn, "database", &format!("{error}; it is waited for")));
        }
        tokio::select! {
            () = tokio::time::sleep(RECONNECT_AFTER) => {}
            _ = stop.wait_for(|stops| *stops) => return Ok(None),
        }
    }
}

/// Opens models with this process's keys and headers, and submits scheduled batches with its settings.
#[derive(Debug)]
struct ModelSupply {
    app: Arc<AppContext>,
    /// `None`: nothing is submitted.
    scheduler: Option<Scheduler>,
}

#[async_trait]
impl Supply for ModelSupply {
    async fn models(&self, name: &str, settings: &BatchSettings) -> Result<JobModels, String> {
        let target = Target::of_batch(name, settings);
        let models = server::open_all(&self.app, &Target { is_wave: true, ..target }, &settings.instructions).await;
        models.map_err(|error| error.message)
    }

    fn submit(&self) -> Option<&dyn Submit> {
        self.scheduler.as_ref().map(|scheduler| scheduler as &dyn Submit)
    }
}

fn log_event(worker_event: &WorkerEvent<'_>) {
    let (level, event, text, mut fields) = match worker_event {
        WorkerEvent::Begun { .. } => (out::LogLevel::Info, "begun", "begun".to_owned(), Vec::new()),
        WorkerEvent::Rested { rest, .. } => {
            let ((level, reason), name) = (describe_rest(rest), rest.name());
            let what = match rest {
                ClaimOutcome::Held(hold, _) => format!("held ({hold})"),
                _ => name.replace('_', " "),
            };
            let text = reason.map_or(what.clone(), |reason| format!("{what}: {reason}"));
            (level, "rested", text, vec![("rest", json!(name)), ("reason", json!(reason))])
        }
        WorkerEvent::Note(sentence) => (out::LogLevel::Info, "note", sentence.clone(), Vec::new()),
        WorkerEvent::Fault(sentence) => (out::LogLevel::Error, "fault", sentence.clone(), Vec::new()),
    };
    let (job, text) = match worker_event {
        WorkerEvent::Begun { id, label } | WorkerEvent::Rested { id, label, .. } => {
            let label = out::one_line(label);
            let text = format!("{label} ({id}): {}", out::one_line(&text));
            fields.insert(0, ("label", json!(label)));
            (Some(*id), text)
        }
        WorkerEvent::Note(_) | WorkerEvent::Fault(_) => (None, text),
    };
    out::log(&out::LogMessage { job, fields, ..out::LogMessage::new(level, event, &text) });
}

/// The severity of an outcome, and the reason for it.
fn describe_rest(rest: &ClaimOutcome) -> (out::LogLevel, Option<&str>) {
    use out::LogLevel::{Error, Info, Warn};
    match rest {
        ClaimOutcome::Ended(status, reason) => (result::level(*status), reason.as_deref()),
        ClaimOutcome::GivenBack(why) | ClaimOutcome::Waiting(why) => (Info, Some(why)),
        ClaimOutcome::GivenUp(why) => (Error, Some(why)),
        ClaimOutcome::Held(_, why) | ClaimOutcome::Failed(why) | ClaimOutcome::Lost(why) => (Warn, Some(why)),
    }
}

/// The exit code of a worker that ran until the queue was empty.
fn exit_code(summary: &WorkerSummary, is_stopped: bool) -> u8 {
    let is_other = summary.ended.keys().any(|status| *status != JobStatus::Completed.name());
    let is_left = summary.given_back + summary.waiting > 0;
    if summary.failed_hooks > 0 {
        exit::FAILED
    } else if is_other || summary.lost > 0 || (is_left && !is_stopped) {
        exit::PARTIAL_OR_BLOCKED
    } else if !summary.held.is_empty() {
        exit::HELD
    } else if is_left {
        exit::INTERRUPTED
    } else {
        exit::COMPLETED
    }
}

fn show(summary: &WorkerSummary, as_json: bool) -> Result<(), CliError> {
    let shown = json!({
        "ended": summary.ended,
        "held": summary.held,
        "waiting": summary.waiting,
        "given_back": summary.given_back,
        "failed_attempts": summary.failed_attempts,
        "lost": summary.lost,
        "elsewhere": summary.elsewhere,
        "failed_hooks": summary.failed_hooks,
    });
    out::answer(as_json, &shown, || format!("{}\n", text(summary)))
}

/// `12 completed, 1 held (limit), 2 given back`.
fn text(summary: &WorkerSummary) -> String {
    let mut parts: Vec<String> = summary.ended.iter().map(|(name, count)| format!("{count} {name}")).collect();
    parts.extend(summary.held.iter().map(|(reason, count)| format!("{count} held ({reason})")));
    let others = [
        (summary.waiting, "waiting for answers"),
        (summary.given_back, "given back"),
        (summary.failed_attempts, "failed attempts"),
        (summary.lost, "left to others"),
        (summary.failed_hooks, "failed hooks"),
    ];
    parts.extend(others.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    if parts.is_empty() { "nothing was done".to_owned() } else { parts.join(", ") }
}
