//! A model call that was handed in, and whose answer comes later: in minutes or hours, as batch endpoints answer. It is a fact, so
//! that nobody has to keep a process, a lock or a lease for it. A job that has nothing else to do waits.

use super::{conversation::Conversation, id::JobId, state::Job, time::Timestamp};
use serde::{Deserialize, Serialize};

/// A call that was handed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmittedCall {
    /// The name that it was given here: [`submission_key`].
    pub key: String,
    /// The name that its provider has given it.
    pub handle: String,
    /// The model that was asked, as the user names it.
    pub model: String,
    /// The name of the prompt.
    pub prompt_sha256: String,
    /// It is not waited for longer than until then.
    pub waits_until: Timestamp,
}

/// The name under which a conversation's next call is handed in. It follows from the state: who takes the job up after a crash
/// between the submission and its fact finds by it what was handed in, and pays for nothing twice. At most 64 letters,
/// digits and hyphens, as batch endpoints ask for.
pub fn submission_key(job: JobId, conversation: &Conversation, prompt_sha256: &str) -> String {
    let (turn, attempt) = (conversation.turns + 1, conversation.attempts.failed + 1);
    let prompt = prompt_sha256.get(..12).unwrap_or(prompt_sha256);
    format!("{job}-{}-{turn}-{attempt}-{prompt}", conversation.number)
}

impl Job {
    /// Whether there is nothing to do but to wait for answers.
    pub fn is_waiting(&self) -> bool {
        self.is_running()
            && self.writes.is_empty()
            && self.conversations().all(|one| one.submitted.is_some() || self.waits(one))
    }
}
