//! What a worker tells others when a batch has ended: a command of this machine, or a web address. It belongs to the worker
//! and not to the batch: who may write into the database may not have commands run here. Each is a task of its own, which
//! nothing else waits for.

use super::{background::EventSink, config::WorkerEvent};
use crate::{report::words::counted, store::BatchRow};
use serde_json::{Value, json};
use std::{
    ffi::OsString,
    process::Stdio,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{io::AsyncWriteExt, process::Command, sync::watch, task::JoinSet};

/// How long a command or an answer may take.
const HOOK_TIMEOUT: Duration = Duration::from_mins(1);
/// Seconds before each try at a web address.
const RETRY_SECONDS: [u64; 3] = [0, 2, 10];
/// How long a worker that is to stop waits for what runs.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// Why a text names no hook; a fragment that follows the flag's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidHook(String);

/// Who is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hook {
    /// For the shell; what there is to tell is on its stdin. It gets these variables, and no others: what this process has may
    /// be a key, or the database's password.
    Command { line: String, environment: Vec<(&'static str, OsString)> },
    /// Is sent it by POST.
    Url(String),
}

impl Hook {
    /// What begins with `http://` or `https://` is a web address, all else a command.
    pub fn parse(text: &str) -> Result<Self, InvalidHook> {
        let text = text.trim();
        let is_url = text.starts_with("http://") || text.starts_with("https://");
        match text {
            "" => Err(InvalidHook("must be a command, or an address that begins with http:// or https://".to_owned())),
            url if is_url => reqwest::Url::parse(url)
                .map(|_| Self::Url(url.to_owned()))
                .map_err(|error| InvalidHook(format!("is no web address ({error})"))),
            command => Ok(Self::Command { line: command.to_owned(), environment: Vec::new() }),
        }
    }

    /// A command gets these variables.
    #[must_use]
    pub fn with_environment(self, environment: Vec<(&'static str, OsString)>) -> Self {
        match self {
            Self::Command { line, .. } => Self::Command { line, environment },
            Self::Url(url) => Self::Url(url),
        }
    }

    /// Tells it once; an address that doesn't answer well is tried again. The error is a fragment.
    async fn notify(&self, batch: &BatchRow) -> Result<(), String> {
        let text = payload(batch).to_string();
        match self {
            Self::Command { line, environment } => run(line, environment, &text).await,
            Self::Url(url) => {
                let mut last = Ok(());
                for seconds in RETRY_SECONDS {
                    tokio::time::sleep(Duration::from_secs(seconds)).await;
                    last = post(url, text.clone()).await;
                    if last.is_ok() {
                        break;
                    }
                }
                last
            }
        }
    }
}

/// The hooks that run.
#[derive(Debug, Default)]
pub(super) struct Hooks {
    running: Mutex<JoinSet<()>>,
    failed: Arc<AtomicU64>,
}

impl Hooks {
    fn running(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to tell `hook` that `batch` has ended.
    pub(super) fn begin(&self, hook: Hook, batch: BatchRow, notify: EventSink) {
        let failed = self.failed.clone();
        let mut running = self.running();
        while running.try_join_next().is_some() {}
        running.spawn(async move {
            if let Err(why) = hook.notify(&batch).await {
                failed.fetch_add(1, Ordering::SeqCst);
                notify(WorkerEvent::Fault(format!(
                    "the hook for the end of batch {} failed: {why}",
                    batch.batch.shown_name()
                )));
            }
        });
    }

    /// Waits for those that run; not for long, once the worker is to stop. How many failed.
    pub(super) async fn end(&self, mut stop: watch::Receiver<bool>, notify: &EventSink) -> u64 {
        let mut running = std::mem::take(&mut *self.running());
        let stop_grace = async {
            if stop.wait_for(|stops| *stops).await.is_err() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(STOP_GRACE).await;
        };
        tokio::select! {
            () = async { while running.join_next().await.is_some() {} } => {}
            () = stop_grace => {
                let left = running.len() as u64;
                self.failed.fetch_add(left, Ordering::SeqCst);
                notify(WorkerEvent::Fault(format!("the worker stops, and has ended {} that had not", counted(left, "hook"))));
            }
        }
        self.failed.load(Ordering::SeqCst)
    }
}

/// The JSON object that a hook gets. Its fields are a promise.
fn payload(row: &BatchRow) -> Value {
    let (batch, totals) = (&row.batch, &row.totals);
    json!({
        "event": "batch_ended",
        "batch": batch.id,
        "name": batch.name,
        "instructions": batch.instructions,
        "model": batch.model,
        "created": batch.created,
        "jobs": totals.all(),
        "completed": totals.completed,
        "partial": totals.partial,
        "blocked": totals.blocked,
        "failed": totals.failed,
        "cancelled": totals.cancelled,
        "linked": totals.linked,
        "cost_usd": row.spent_usd,
        "budget_usd": batch.budget_usd,
    })
}

async fn run(line: &str, environment: &[(&str, OsString)], text: &str) -> Result<(), String> {
    let mut child = Command::new("sh")
        .args(["-c", line])
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("the shell can't be started ({error})"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that doesn't read is none the worse for it.
        let _ = stdin.write_all(text.as_bytes()).await;
    }
    match tokio::time::timeout(HOOK_TIMEOUT, child.wait()).await {
        Err(_) => Err(format!("it did not end within {} s", HOOK_TIMEOUT.as_secs())),
        Ok(Err(error)) => Err(format!("it can't be waited for ({error})")),
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("it ended with {status}")),
    }
}

async fn post(url: &str, text: String) -> Result<(), String> {
    let client =
        reqwest::Client::builder().http1_only().timeout(HOOK_TIMEOUT).build().map_err(|error| error.to_string())?;
    let request = client.post(url).header("content-type", "application/json").body(text);
    let response = request.send().await.map_err(|error| chain(&error.without_url()))?;
    if response.status().is_success() { Ok(()) } else { Err(format!("it answered {}", response.status())) }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |error| error.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_commands_are_told_apart() {
        let command = Hook::Command { line: "notify-send done".to_owned(), environment: Vec::new() };
        assert_eq!(Hook::parse(" notify-send done "), Ok(command));
        assert_eq!(Hook::parse("https://x.example/a"), Ok(Hook::Url("https://x.example/a".to_owned())));
        assert_eq!(
            Hook::parse(" "),
            Err(InvalidHook("must be a command, or an address that begins with http:// or https://".to_owned()))
        );
        assert_eq!(Hook::parse("http://"), Err(InvalidHook("is no web address (empty host)".to_owned())));
    }

    #[tokio::test]
    async fn a_commands_failure_is_said() {
        assert_eq!(run("cat >/dev/null", &[], "x").await, Ok(()));
        assert_eq!(run("exit 3", &[], "x").await, Err("it ended with exit status: 3".to_owned()));
    }
}
