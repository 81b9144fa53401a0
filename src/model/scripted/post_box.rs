//! A scripted model that answers later: each call is a file in a folder, and is answered at the time stated in the
//! file. To try out waiting jobs, another time may be written there.

use crate::model::{Failure, FailureKind, Request, later::TakenCall};
use overnight_core::job::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

/// The script's settings for a model that answers later.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PostBox {
    /// The folder of the calls, absolute or relative to the script.
    folder: PathBuf,
    /// How long after its submission a call is answered.
    after_ms: u64,
    /// The longest wait for an answer.
    #[serde(default = "day")]
    within_ms: u64,
    /// The interval at which to check for answers.
    #[serde(default = "ten_seconds")]
    every_ms: u64,
}

fn day() -> u64 {
    24 * 60 * 60 * 1_000
}

fn ten_seconds() -> u64 {
    10_000
}

/// A call as stored in its file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PostedCall {
    pub(super) turn: u64,
    pub(super) conversation: u32,
    pub(super) turn_of_conversation: u64,
    /// Estimated tokens of the prompt.
    pub(super) prompt_tokens: u64,
    answered_at: Timestamp,
}

impl PostedCall {
    pub(super) fn is_answered(&self) -> bool {
        self.answered_at <= now()
    }
}

impl PostBox {
    /// The same, with the folder resolved relative to the script.
    pub(super) fn beside(self, script: &str) -> Self {
        let folder = Path::new(script).parent().unwrap_or(Path::new("")).join(self.folder);
        Self { folder, ..self }
    }

    pub(super) fn every(&self) -> Duration {
        Duration::from_millis(self.every_ms)
    }

    /// Stores a call, unless it exists already. Its handle is its name.
    pub(super) fn submit(&self, key: &str, request: Request<'_>, prompt_tokens: u64) -> Result<TakenCall, Failure> {
        if self.posted(key)?.is_none() {
            let call = PostedCall {
                turn: request.turn,
                conversation: request.conversation,
                turn_of_conversation: request.turn_of_conversation,
                prompt_tokens,
                answered_at: now().after(Duration::from_millis(self.after_ms)),
            };
            let written = || -> std::io::Result<()> {
                std::fs::create_dir_all(&self.folder)?;
                let file = tempfile::NamedTempFile::new_in(&self.folder)?;
                serde_json::to_writer(&file, &call)?;
                file.persist(self.path(key))?;
                Ok(())
            };
            written().map_err(|error| self.failure(&error))?;
        }
        Ok(TakenCall { handle: key.to_owned(), within: Duration::from_millis(self.within_ms) })
    }

    /// The call of that name; none: it is lost.
    pub(super) fn posted(&self, handle: &str) -> Result<Option<PostedCall>, Failure> {
        match std::fs::read(self.path(handle)) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| self.failure(&error.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failure(&error)),
        }
    }

    fn path(&self, handle: &str) -> PathBuf {
        self.folder.join(format!("{handle}.json"))
    }

    fn failure(&self, error: &std::io::Error) -> Failure {
        let what = format!("the script's calls in {} can't be used ({error})", self.folder.display());
        Failure::new(FailureKind::Server, what)
    }
}

fn now() -> Timestamp {
    Timestamp::new(chrono::Utc::now())
}
