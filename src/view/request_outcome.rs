//! What came of a request about a job or a batch.

use overnight_core::job::id::JobId;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// What came of a request. As JSON its fields are a promise.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RequestOutcome {
    /// `cancel`, `pause` or `retry`.
    pub request: &'static str,
    /// The job that was named; none: a batch was.
    pub job: Option<JobId>,
    pub batch: Option<Uuid>,
    /// Jobs for which it is done.
    pub done: u64,
    /// Jobs whose worker does it at its next turn, or when one takes them.
    pub asked: u64,
    /// The same for people.
    pub message: String,
}
