//! One batch: its instructions, and the status of its jobs.

use crate::{cascade::CascadeState, report::batch::Waiting, store::BatchTotals};
use overnight_core::job::{id::JobId, record::JobStatus, time::Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// `--json` of a batch. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchView<'b> {
    pub batch: Uuid,
    pub name: Option<&'b str>,
    pub created: Timestamp,
    pub instructions: &'b str,
    pub instructions_sha256: &'b str,
    pub model: &'b str,
    pub jobs: u64,
    #[serde(flatten)]
    pub totals: BatchTotals,
    pub turns: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub worked_ms: u64,
    /// The cost of its jobs so far, as far as prices are known.
    pub spent_usd: f64,
    /// Jobs with turns whose price isn't known.
    pub unpriced_jobs: u64,
    pub budget_usd: Option<f64>,
    /// Files that were left out when it was submitted; the report names them.
    pub left_out_files: u64,
    /// The hours in which jobs may start, as typed.
    pub time_window: Option<&'b str>,
    /// The job over all deliverables, once it is submitted.
    pub closing: Option<ClosingJobView>,
    /// The cascade that began with this batch.
    pub cascade: Option<CascadeState>,
    /// Jobs that no process works on, by what they wait for.
    #[serde(rename = "waits_for")]
    pub waiting: Vec<Waiting>,
    pub next: Vec<String>,
}

/// The job over the deliverables of a batch.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClosingJobView {
    pub job: JobId,
    pub batch: Option<Uuid>,
    pub status: JobStatus,
}
