//! `overnight work`: a worker of the queue.

use super::{
    CliError, Office,
    depot::DepotArgs,
    exit,
    office::connect,
    out, result,
    schedule::Scheduler,
    server::{self, Server, Target},
    stop,
    traces::Traces,
};
use crate::{
    batch::{BatchSettings, schedule::Submit, window::Window},
    config::{Partial, Settings, plain_environment},
    store::Store,
    worker::{Hook, Models, Rest, Summary, Supply, Terms, Times, Told, Worker},
    workspace::lock::host,
};
use async_trait::async_trait;
use overnight_core::job::{models::ModelChoice, record::JobStatus};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::{net::TcpListener, sync::watch};

/// How soon a database that doesn't answer is asked again.
const TRY_AGAIN: Duration = Duration::from_secs(2);

const EXAMPLES: &str = "\
Examples:
  overnight work                                   until it is stopped
  overnight work --concurrency 8 --until-empty
  overnight work --window \"22:00-06:00 Europe/Berlin\"

SIGTERM or Ctrl-C drops the turns in hand and gives the jobs back to the queue; other workers go on with them.

Exit codes: 0 at the end of the work. With --until-empty the first of these that is so: 1 a command or address of
--on-batch-end failed; 3 a job ended otherwise than completed, or was left to another worker; 4 a job waits for a person (review,
budget, limit, paused); 130 interrupted, and jobs were given back; 0 all jobs that it worked are completed.";

/// More are of no use to one process.
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
    #[arg(long, value_name = "COMMAND|URL", value_parser = Hook::parse)]
    on_batch_end: Option<Hook>,
    /// Answer Prometheus at this address, under /metrics, and whether the worker is well under /health: 127.0.0.1:9464
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,
    #[command(flatten)]
    depot: DepotArgs,
    #[command(flatten)]
    server: Server,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text.trim()).map_err(|error| format!("{error}; a time is written like 90m or 8h"))
}

pub(super) async fn run(flags: Partial, args: &WorkArgs) -> Result<u8, CliError> {
    let settings = super::settings(&args.depot.put_into(args.server.put_into(flags.clone())))?;
    let workspaces = super::run::workspaces(&settings)?;
    // Before anything that takes its time.
    let stop = stop::listen()?;
    let Some(store) = connected(&settings, args.until_empty, stop.clone()).await? else { return Ok(exit::COMPLETED) };
    let office = Arc::new(Office { settings, store, only_reads: false });
    let traces = Traces::begin(&office);
    let terms = Terms {
        concurrency: args.concurrency as usize,
        window: args.window.clone(),
        until_empty: args.until_empty,
        drain_after: args.drain_after,
        extractor: Arc::new(super::documents::extractor(&office.settings)?),
        workspaces,
        depot: super::depot::begun(&office).await?,
        host: host(),
        hook: args.on_batch_end.clone().map(|hook| hook.with_environment(plain_environment())),
        traces: traces.feed(),
        times: Times::default(),
    };
    let listener = match &args.metrics {
        None => None,
        Some(at) => Some(TcpListener::bind(at.as_str()).await.map_err(|error| {
            CliError::usage(format!("--metrics {}: nothing can be answered there ({error})", out::one_line(at)))
        })?),
    };
    let store: Arc<dyn Store> = office.store.clone();
    let tell = Arc::new(|told: Told<'_>| tell(&told));
    // Schedules say all by themselves but where things are.
    let scheduler = Scheduler { flags, store: store.clone() };
    let stopped = stop.clone();
    let worker = Worker::new(store, Arc::new(Shelf { office, scheduler }), terms, stop, tell);
    let worker = match listener {
        Some(listener) => worker.read_at(listener),
        None => worker,
    };
    let summary = worker.run().await;
    let is_stopped = *stopped.borrow();
    drop(worker);
    traces.end().await;
    let summary = summary?;
    show(&summary, args.json)?;
    Ok(if args.until_empty { code(&summary, is_stopped) } else { exit::COMPLETED })
}

/// The database. One that doesn't answer, or has no room, is waited for, as it would be later; who works until all is done
/// hears of it instead. None: the worker is to stop.
async fn connected(
    settings: &Settings,
    until_empty: bool,
    mut stop: watch::Receiver<bool>,
) -> Result<Option<Arc<dyn Store>>, CliError> {
    let mut is_told = false;
    loop {
        let error = match connect(settings).await {
            Ok(store) => return Ok(Some(store)),
            Err(error) if error.passes() && !until_empty => error,
            Err(error) => return Err(error.into()),
        };
        if !is_told {
            is_told = true;
            out::say(&out::Said::new(out::Level::Warn, "database", &format!("{error}; it is waited for")));
        }
        tokio::select! {
            () = tokio::time::sleep(TRY_AGAIN) => {}
            _ = stop.wait_for(|stops| *stops) => return Ok(None),
        }
    }
}

/// Models with this process's keys and headers, and submissions with its settings.
#[derive(Debug)]
struct Shelf {
    office: Arc<Office>,
    scheduler: Scheduler,
}

#[async_trait]
impl Supply for Shelf {
    async fn models(&self, name: &str, settings: &BatchSettings) -> Result<Models, String> {
        let (base_url, api_key_env) = (settings.base_url.clone(), settings.api_key_env.clone());
        let target =
            Target::chosen(ModelChoice { model: name.to_owned(), base_url, api_key_env }, settings.models.clone());
        let models = server::open_all(&self.office, &target, &settings.instructions.fallback).await;
        let server::Models { first, others } = models.map_err(|error| error.message)?;
        Ok(Models { first, others })
    }

    fn submit(&self) -> Option<&dyn Submit> {
        Some(&self.scheduler)
    }
}

fn tell(told: &Told<'_>) {
    let (level, event, text, mut fields) = match told {
        Told::Begun { .. } => (out::Level::Info, "begun", "begun".to_owned(), Vec::new()),
        Told::Rested { rest, .. } => {
            let (level, name, reason) = came_to(rest);
            let what = match rest {
                Rest::Held(hold, _) => format!("held ({hold})"),
                _ => name.replace('_', " "),
            };
            let text = reason.map_or(what.clone(), |reason| format!("{what}: {reason}"));
            (level, "rested", text, vec![("rest", json!(name)), ("reason", json!(reason))])
        }
        Told::Note(sentence) => (out::Level::Info, "note", sentence.clone(), Vec::new()),
        Told::Fault(sentence) => (out::Level::Error, "fault", sentence.clone(), Vec::new()),
    };
    let (job, text) = match told {
        Told::Begun { id, label } | Told::Rested { id, label, .. } => {
            let label = out::one_line(label);
            let text = format!("{id} {label}: {}", out::one_line(&text));
            fields.insert(0, ("label", json!(label)));
            (Some(*id), text)
        }
        Told::Note(_) | Told::Fault(_) => (None, text),
    };
    out::say(&out::Said { job, fields, ..out::Said::new(level, event, &text) });
}

/// How bad it is, what it is called, and why it came to that.
fn came_to(rest: &Rest) -> (out::Level, &'static str, Option<&str>) {
    use out::Level::{Error, Info, Warn};
    match rest {
        Rest::Ended(status, reason) => (result::level(*status), status.name(), reason.as_deref()),
        Rest::Held(_, why) => (Warn, "held", Some(why)),
        Rest::GivenBack(why) => (Info, "given_back", Some(why)),
        Rest::GivenUp(why) => (Error, "failed", Some(why)),
        Rest::Failed(why) => (Warn, "attempt_failed", Some(why)),
        Rest::Lost(why) => (Warn, "lost", Some(why)),
    }
}

/// What a pipeline learns of a worker that had the queue emptied.
fn code(summary: &Summary, is_stopped: bool) -> u8 {
    let is_other = summary.ended.keys().any(|status| *status != JobStatus::Completed.name());
    let is_left = summary.given_back > 0;
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

fn show(summary: &Summary, as_json: bool) -> Result<(), CliError> {
    if as_json {
        return out::json(&json!({
            "ended": summary.ended,
            "held": summary.held,
            "given_back": summary.given_back,
            "failed_attempts": summary.failed_attempts,
            "lost": summary.lost,
            "elsewhere": summary.elsewhere,
            "failed_hooks": summary.failed_hooks,
        }));
    }
    let mut parts: Vec<String> = summary.ended.iter().map(|(name, count)| format!("{count} {name}")).collect();
    parts.extend(summary.held.iter().map(|(reason, count)| format!("{count} held ({reason})")));
    let others = [
        (summary.given_back, "given back"),
        (summary.failed_attempts, "failed attempts"),
        (summary.lost, "left to others"),
        (summary.failed_hooks, "failed hooks"),
    ];
    parts.extend(others.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    let text = if parts.is_empty() { "nothing was done".to_owned() } else { parts.join(", ") };
    out::result(&format!("{text}\n"))
}
