//! Errors: a model can't be opened, or has no more replies.

use overnight_core::job::failure::{Failure, FailureKind};

/// A model that can't be opened or does not answer. Each is one sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error(
        "the model '{name}' is not known: use offline, scripted:FILE, replay:JOB, openai:NAME, anthropic:NAME, gemini:NAME or ollama:NAME"
    )]
    Unknown { name: String },
    #[cfg(not(feature = "network"))]
    #[error("the model '{name}' can't be asked: {what}", what = crate::built_without::NO_NETWORK)]
    BuiltWithout { name: String },
    #[error("{variable} is not set: set it, or name another variable with --api-key-env")]
    NoKey { variable: String },
    /// The message does not repeat the key.
    #[error("the key in {variable} has characters that can't be sent: check it for blanks and line ends")]
    UnsendableKey { variable: String },
    /// The message names the kind of data that would be sent, without its content.
    #[error(
        "{what} would go to {url} unencrypted, for all on the way to read: use https://, or allow it with --allow-http"
    )]
    PlainHttp { what: String, url: String },
    #[error("the base URL {url} {what}; check --base-url")]
    BaseUrl { url: String, what: String },
    /// The message does not repeat the value: it may be a secret.
    #[error("the header '{name}' can't be sent: --header takes NAME=VALUE, in ASCII")]
    Header { name: String },
    #[error("recordings can't be written to {folder} ({what}): name another folder with --record")]
    Record { folder: String, what: String },
    #[error("HTTP can't be used ({what}): check the certificates of this machine and the proxy in the environment")]
    Client { what: String },
    /// An error in a file of models: the file's name and line, and what is wrong.
    #[error("{place}: {what}")]
    Table { place: String, what: String },
    #[error("{file}: {what}")]
    Script { file: String, what: String },
    #[error(
        "the script {file} has {replies} replies and was asked for reply {turn}: add replies, or end the job in the script"
    )]
    ScriptEnded { file: String, replies: u64, turn: u64 },
    #[error(
        "the replayed job {job} has {replies} replies and was asked for reply {turn}: the job went another way than the recorded one"
    )]
    ReplayEnded { job: String, replies: u64, turn: u64 },
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::new(FailureKind::Exhausted, error.to_string())
    }
}
