//! What a worker tells others when a batch has ended: a command of this machine, or a web address. It belongs to the worker
//! and not to the batch: who may write into the database may not have commands run here.

use crate::store::BatchRow;
use serde_json::{Value, json};
use std::{process::Stdio, time::Duration};
use tokio::{io::AsyncWriteExt, process::Command};

/// How long a command or an answer may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long a web address that doesn't take it is left alone, each time.
const PAUSES: [u64; 3] = [0, 2, 10];

/// Who is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hook {
    /// For the shell; what there is to tell is on its stdin.
    Command(String),
    /// Is sent it by POST.
    Url(String),
}

impl Hook {
    /// What begins with `http://` or `https://` is a web address, all else a command.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let is_url = text.starts_with("http://") || text.starts_with("https://");
        match text {
            "" => Err("must be a command, or an address that begins with http:// or https://".to_owned()),
            url if is_url => reqwest::Url::parse(url)
                .map(|_| Self::Url(url.to_owned()))
                .map_err(|error| format!("is no web address ({error})")),
            command => Ok(Self::Command(command.to_owned())),
        }
    }

    /// Tells it once; an address that doesn't answer well is tried again. The error is a fragment.
    pub(super) async fn tell(&self, batch: &BatchRow) -> Result<(), String> {
        let text = told(batch).to_string();
        match self {
            Self::Command(command) => run(command, &text).await,
            Self::Url(url) => {
                let mut last = Ok(());
                for pause in PAUSES {
                    tokio::time::sleep(Duration::from_secs(pause)).await;
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

/// The object that is told. Its fields are a promise.
fn told(row: &BatchRow) -> Value {
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

async fn run(command: &str, text: &str) -> Result<(), String> {
    let mut child = Command::new("sh")
        .args(["-c", command])
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
    match tokio::time::timeout(PATIENCE, child.wait()).await {
        Err(_) => Err(format!("it did not end within {} s", PATIENCE.as_secs())),
        Ok(Err(error)) => Err(format!("it can't be waited for ({error})")),
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("it ended with {status}")),
    }
}

async fn post(url: &str, text: String) -> Result<(), String> {
    let client =
        reqwest::Client::builder().http1_only().timeout(PATIENCE).build().map_err(|error| error.to_string())?;
    let request = client.post(url).header("content-type", "application/json").body(text);
    let response = request.send().await.map_err(|error| chain(&error.without_url()))?;
    if response.status().is_success() { Ok(()) } else { Err(format!("it answered {}", response.status())) }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |error| error.source())
        .fold(error.to_string(), |told, cause| format!("{told}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_commands_are_told_apart() {
        assert_eq!(Hook::parse(" notify-send done "), Ok(Hook::Command("notify-send done".to_owned())));
        assert_eq!(Hook::parse("https://x.example/a"), Ok(Hook::Url("https://x.example/a".to_owned())));
        assert_eq!(
            Hook::parse(" "),
            Err("must be a command, or an address that begins with http:// or https://".to_owned())
        );
        assert_eq!(Hook::parse("http://"), Err("is no web address (empty host)".to_owned()));
    }

    #[tokio::test]
    async fn a_commands_failure_is_said() {
        assert_eq!(run("cat >/dev/null", "x").await, Ok(()));
        assert_eq!(run("exit 3", "x").await, Err("it ended with exit status: 3".to_owned()));
    }
}
