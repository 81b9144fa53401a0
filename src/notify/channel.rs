//! The channels of notices: a command on this machine, a web address, an e-mail.

use super::{EmailChannel, Notice, NoticeKind};
use crate::{model::remote::Key, subprocess};
use rustix::process::{Pid, Signal, kill_process_group};
use std::{fmt, process::Stdio, time::Duration};
use tokio::io::AsyncWriteExt;

/// How long a command may take.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(1);
/// How long one try over the network may take.
pub(super) const TRY_TIMEOUT: Duration = Duration::from_secs(10);
/// Seconds before each try over the network.
const RETRY_SECONDS: [u64; 3] = [0, 2, 10];

/// The reason why a text names no channel; a fragment that follows the name of a flag or a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidChannel(pub String);

/// A way to send notices.
#[derive(Clone)]
pub enum NoticeChannel {
    /// A shell command line; it gets the notice on its stdin as one JSON object.
    Command {
        line: String,
    },
    /// An address that gets the JSON object by POST, signed if there is a secret.
    Webhook {
        url: String,
        secret: Option<Key>,
    },
    Email(Box<EmailChannel>),
}

/// A channel, and the notices that are sent to it.
#[derive(Clone, Debug)]
pub struct NoticeTarget {
    pub channel: NoticeChannel,
    /// Only for ends of batches.
    pub only_ends: bool,
}

/// Not derived: an address may be a secret.
impl fmt::Debug for NoticeChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl NoticeChannel {
    /// A text that begins with `http://` or `https://` is a web address, any other a command.
    pub fn parse(text: &str) -> Result<Self, InvalidChannel> {
        match text.trim() {
            "" => {
                Err(InvalidChannel("must be a command, or an address that begins with http:// or https://".to_owned()))
            }
            url if url.starts_with("http://") || url.starts_with("https://") => Self::webhook(url, None),
            command => Ok(Self::Command { line: command.to_owned() }),
        }
    }

    /// A web address.
    pub fn webhook(url: &str, secret: Option<Key>) -> Result<Self, InvalidChannel> {
        let read = url::Url::parse(url).map_err(|error| InvalidChannel(format!("is no web address ({error})")))?;
        match read.scheme() {
            "http" | "https" => Ok(Self::Webhook { url: url.to_owned(), secret }),
            _ => Err(InvalidChannel("must begin with http:// or https://".to_owned())),
        }
    }

    /// The kind of channel, for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Command { .. } => "command",
            Self::Webhook { .. } => "web address",
            Self::Email(_) => "e-mail",
        }
    }

    /// Sends the notice. Over the network, there are three attempts. The error is a fragment.
    pub async fn tell(&self, notice: &Notice) -> Result<(), String> {
        let mut last = Ok(());
        for seconds in RETRY_SECONDS {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            last = match self {
                // A failed command is not repeated, because its effects are unknown.
                Self::Command { line } => return run(line, &json(notice)).await,
                #[cfg(not(feature = "network"))]
                Self::Webhook { .. } | Self::Email(_) => return Err(crate::built_without::NO_NETWORK.to_owned()),
                #[cfg(feature = "network")]
                Self::Webhook { url, secret } => {
                    super::webhook::post(url, secret.as_ref(), notice.event, json(notice)).await
                }
                #[cfg(feature = "network")]
                Self::Email(email) => email.send(notice).await,
            };
            if last.is_ok() {
                break;
            }
        }
        last
    }
}

impl NoticeTarget {
    /// Whether it gets notices of this kind.
    pub fn hears(&self, kind: NoticeKind) -> bool {
        match kind {
            NoticeKind::BatchEnded => true,
            NoticeKind::NeedsPerson => !self.only_ends,
        }
    }
}

/// One object in one line.
fn json(notice: &Notice) -> String {
    // Serializing a tree of strings and numbers can't fail.
    serde_json::to_string(notice).unwrap_or_default()
}

async fn run(line: &str, text: &str) -> Result<(), String> {
    let mut child = tokio::process::Command::from(subprocess::command("sh", &subprocess::PLAIN))
        .args(["-c", line])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("the shell can't be started ({error})"))?;
    let mut group = ShellGroup(child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?)));
    let stdin = child.stdin.take();
    let told = async {
        if let Some(mut stdin) = stdin {
            // It is no error if a command doesn't read its stdin.
            let _ = stdin.write_all(text.as_bytes()).await;
        }
        child.wait().await
    };
    let ended = tokio::time::timeout(COMMAND_TIMEOUT, told).await;
    if ended.is_ok() {
        group.0 = None;
    }
    match ended {
        Err(_) => Err(format!("it did not end within {} s", COMMAND_TIMEOUT.as_secs())),
        Ok(Err(error)) => Err(format!("it can't be waited for ({error})")),
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("it ended with {status}")),
    }
}

/// A shell and all its processes, which are killed if they are no longer waited for.
struct ShellGroup(Option<Pid>);

impl Drop for ShellGroup {
    fn drop(&mut self) {
        // The process is not reaped yet, so its id can't belong to another one.
        let _ = self.0.map(|group| kill_process_group(group, Signal::KILL));
    }
}

/// An error with its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |error| error.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        fs::File,
        io::{BufRead as _, BufReader},
    };

    #[test]
    fn addresses_and_commands_are_told_apart() {
        let name = |text: &str| NoticeChannel::parse(text).map(|channel| channel.name());
        assert_eq!(name(" notify-send done "), Ok("command"));
        assert_eq!(name("https://x.example/a"), Ok("web address"));
        let none = "must be a command, or an address that begins with http:// or https://";
        assert_eq!(name(" "), Err(InvalidChannel(none.to_owned())));
        assert_eq!(name("http://"), Err(InvalidChannel("is no web address (empty host)".to_owned())));
    }

    #[tokio::test]
    async fn a_commands_failure_is_said() {
        assert_eq!(run("cat >/dev/null", "x").await, Ok(()));
        assert_eq!(run("exit 3", "x").await, Err("it ended with exit status: 3".to_owned()));
    }

    #[tokio::test]
    async fn a_command_that_is_given_up_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let line = format!("(echo begun; sleep 5; echo left) > {} & wait", pipe.display());
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let reader = std::thread::spawn(move || {
            let mut lines = BufReader::new(File::open(pipe).unwrap()).lines().map(Result::unwrap);
            sender.send(lines.next()).unwrap();
            lines.collect::<Vec<String>>()
        });
        tokio::select! {
            ended = run(&line, "x") => unreachable!("{ended:?}"),
            first = receiver => assert_eq!(first, Ok(Some("begun".to_owned()))),
        }
        assert_eq!(reader.join().unwrap(), [""; 0]);
    }
}
