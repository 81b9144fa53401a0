//! How a job ends: what the model claims, what the checks found, and what is left open.

use super::{
    contract::Check,
    proof::ProofResult,
    record::{Delivered, JobStatus, QuotePositions},
    refused_records::RefusedCounts,
};
use serde::{Deserialize, Serialize};

/// What `job_complete` claimed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// What was done and found.
    pub summary: String,
    /// Paths under `output/`, as the model named them.
    pub deliverables: Vec<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// What the reader should know besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// One of the ends.
    pub status: JobStatus,
    /// One sentence; absent when completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the model claimed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
    /// All that were made; none without a claim.
    pub checks: Vec<Check>,
    /// The files that were checked, as they were then.
    pub deliverables: Vec<Delivered>,
    /// Absent where no quotes were to be checked, and in journals of before there was such a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<QuotePositions>,
    /// What second reader and verifier say of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofResult>,
    /// Absent where no record was refused.
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
    /// An end without a look at the deliverables.
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
