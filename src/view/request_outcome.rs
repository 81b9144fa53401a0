//! The outcome of a request about a job or a batch.

use overnight_core::job::id::JobId;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// The outcome of a request. As JSON its fields are a promise.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RequestOutcome {
    /// `cancel`, `pause` or `retry`.
    pub request: &'static str,
    /// The named job; null if a batch was named.
    pub job: Option<JobId>,
    pub batch: Option<Uuid>,
    /// Jobs for which the request is done.
    pub done: u64,
    /// Jobs whose worker will do it at its next turn, or when a worker takes them.
    pub asked: u64,
    /// The same for people.
    pub message: String,
}
