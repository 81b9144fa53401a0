//! A job in a list.

use crate::store::{ControlSignal, JobRow};
use overnight_core::job::{id::JobId, record::JobSummary, time::Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// A job in `--json`. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobListItem<'r> {
    pub id: JobId,
    #[serde(flatten)]
    pub summary: &'r JobSummary,
    /// Its status is running, but no process works on it.
    pub interrupted: bool,
    /// A request to the worker of the job: `cancel`, `pause`.
    pub wants: Option<&'static str>,
    pub instructions: &'r str,
    pub model: &'r str,
    pub documents: u64,
    pub created: Timestamp,
    /// Empty if no worker has made one yet.
    pub workspace: &'r str,
    /// Null from here on: the job is in no batch.
    pub batch: Option<Uuid>,
    pub batch_name: Option<&'r str>,
    pub label: Option<&'r str>,
    /// Attempts that failed.
    pub attempts: Option<u32>,
    /// Queued: not before this time. Held: queued by itself at this time.
    pub run_after: Option<Timestamp>,
    /// The machine that has the workspace on its own disk.
    pub host: Option<&'r str>,
    /// The job that did the work before.
    pub same_as: Option<JobId>,
}

impl<'r> JobListItem<'r> {
    /// `interrupted`: its status is running, but no process works on it.
    pub fn of(row: &'r JobRow, batch_name: Option<&'r str>, interrupted: bool) -> Self {
        let JobRow { job, state, .. } = row;
        let queue = row.queue.as_ref();
        Self {
            id: job.id,
            summary: state,
            interrupted,
            wants: row.wants.map(ControlSignal::name),
            instructions: &job.instructions,
            model: &job.model,
            documents: job.documents,
            created: job.created,
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
