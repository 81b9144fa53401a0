//! A model call that was handed in, and whose answer comes later: in minutes or hours, as batch endpoints answer. It is a fact, so
//! that nobody has to keep a process, a lock or a lease for it. A job that has nothing else to do waits.

use super::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A call that was handed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmittedCall {
    /// The name that it was given here: [`super::conversation::Conversation::submission_key`].
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
