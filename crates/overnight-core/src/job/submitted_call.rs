//! A model call that was submitted, and whose answer comes later: in minutes or hours, as from batch endpoints. It is a
//! fact, so no process, lock or lease has to be kept for it. A job that has nothing else to do waits.

use super::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A submitted call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmittedCall {
    /// The name that this program gave it: [`super::conversation::Conversation::submission_key`].
    pub key: String,
    /// The name that its provider has given it.
    pub handle: String,
    /// The model that was asked, as the user names it.
    pub model: String,
    /// The name of the prompt.
    pub prompt_sha256: String,
    /// The time until which its answer is awaited.
    pub waits_until: Timestamp,
}
