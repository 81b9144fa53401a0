//! The end of a job: the model's claim, the results of the checks, and everything left open.

use super::{
    contract::Check,
    proof::ProofResult,
    record::{Delivered, JobStatus, QuotePositions},
    refused_records::RefusedCounts,
};
use serde::{Deserialize, Serialize};

/// The claim of `job_complete`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// The summary of the work and its results.
    pub summary: String,
    /// Paths under `output/`, as the model named them.
    pub deliverables: Vec<String>,
    /// The confidence, 0 to 1.
    pub confidence: f64,
    /// Further notes for the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// The final status.
    pub status: JobStatus,
    /// The reason in one sentence; absent if completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The model's claim, if it made one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
    /// All checks that were made; empty without a claim.
    pub checks: Vec<Check>,
    /// The files that were checked, as they were then.
    pub deliverables: Vec<Delivered>,
    /// Positions of quotes; absent if there were no quotes to check, and in journals from before this file existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<QuotePositions>,
    /// The results of second reader and verifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofResult>,
    /// The counts of refused records; absent if no record was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_records: Option<RefusedCounts>,
    /// Values that a person should look at.
    #[serde(default, skip_serializing_if = "crate::amount::is_zero")]
    pub doubts: u64,
    /// Todos that were open when the job ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_todos: Vec<String>,
}

impl Ending {
    /// An end without checks of the deliverables.
    pub(crate) fn unchecked(status: JobStatus, reason: String, open_todos: Vec<String>) -> Self {
        Self {
            status,
            reason: Some(reason),
            completion: None,
            checks: Vec::new(),
            deliverables: Vec::new(),
            quotes: None,
            proof: None,
            refused_records: None,
            doubts: 0,
            open_todos,
        }
    }
}
