//! A job in a list.

use crate::store::{ControlSignal, JobRow};
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// A job in `--json`. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobListItem<'r> {
    pub id: JobId,
    pub status: JobStatus,
    /// It stands as running, and no process works on it.
    pub interrupted: bool,
    pub hold_reason: Option<HoldReason>,
    /// One sentence.
    pub reason: Option<&'r str>,
    /// What was asked of who works on it: `cancel`, `pause`.
    pub wants: Option<&'static str>,
    pub instructions: &'r str,
    pub model: &'r str,
    pub documents: u64,
    pub phase_number: u32,
    pub phase_title: &'r str,
    pub phases_planned: u32,
    pub phases_complete: u32,
    pub turns: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub tokens_cached: u64,
    pub cost_usd: Option<f64>,
    pub worked_ms: u64,
    /// 0 to 1.
    pub coverage: f64,
    pub confidence: Option<f64>,
    pub created: Timestamp,
    pub completed_at: Option<Timestamp>,
    /// Empty where a worker hasn't made one yet.
    pub workspace: &'r str,
    /// Null from here on: the job is in no batch.
    pub batch: Option<Uuid>,
    pub batch_name: Option<&'r str>,
    pub label: Option<&'r str>,
    /// Attempts that failed.
    pub attempts: Option<u32>,
    /// Queued: not before. Held: queued by itself then.
    pub run_after: Option<Timestamp>,
    /// The machine that has the workspace on its own disk.
    pub host: Option<&'r str>,
    /// Done before by that job.
    pub same_as: Option<JobId>,
}

impl<'r> JobListItem<'r> {
    /// `interrupted`: it stands as running, and no process works on it.
    pub fn of(row: &'r JobRow, batch_name: Option<&'r str>, interrupted: bool) -> Self {
        let JobRow { job, state, .. } = row;
        let queue = row.queue.as_ref();
        Self {
            id: job.id,
            status: state.status,
            interrupted,
            hold_reason: state.hold_reason,
            reason: state.reason.as_deref(),
            wants: row.wants.map(ControlSignal::name),
            instructions: &job.instructions,
            model: &job.model,
            documents: job.documents,
            phase_number: state.phase_number,
            phase_title: &state.phase_title,
            phases_planned: state.phases_planned,
            phases_complete: state.phases_complete,
            turns: state.turns,
            tokens_in: state.tokens_in,
            tokens_out: state.tokens_out,
            tokens_cached: state.tokens_cached,
            cost_usd: state.cost_usd,
            worked_ms: state.worked_ms,
            coverage: state.coverage,
            confidence: state.confidence,
            created: job.created,
            completed_at: state.completed_at,
            workspace: &job.workspace,
            batch: queue.map(|queue| queue.batch),
            batch_name: queue.and(batch_name),
            label: queue.map(|queue| queue.label.as_str()),
            attempts: queue.map(|queue| queue.attempts),
            run_after: queue.and_then(|queue| queue.run_after),
            host: queue.and_then(|queue| queue.host.as_deref()),
            same_as: queue.and_then(|queue| queue.same_as),
        }
    }
}
