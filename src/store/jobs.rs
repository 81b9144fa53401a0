//! Jobs: their rows, their leases, their checkpoints.

use super::{StoreError, control_signal::ControlSignal, queue_entry::QueueInfo};
use async_trait::async_trait;
use overnight_core::job::{
    id::JobId,
    record::{Checkpoint, JobStatus, JobSummary, NewJob, PhaseRow, TodoRow},
    time::Timestamp,
};
use uuid::Uuid;

/// The number of rows that are read at once if there may be any number: lists of jobs are read in pages of this size.
pub const JOBS_AT_ONCE: usize = 500;

/// Which jobs to list. The default is all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    pub status: Option<JobStatus>,
    /// Only jobs created then or later.
    pub since: Option<Timestamp>,
    /// Only jobs created or changed then or later, and those that may be at work.
    pub worked_since: Option<Timestamp>,
    pub batch: Option<Uuid>,
    /// Only jobs that this worker has.
    pub worker: Option<Uuid>,
    /// Only jobs that are held for a review.
    pub needs_review: bool,
    /// Without those of evaluations.
    pub without_evals: bool,
    /// At most this many, the newest.
    pub limit: Option<u32>,
}

/// A row of `jobs`.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRow {
    pub job: NewJob,
    /// As of the last checkpoint; before the first one queued, with everything at zero.
    pub state: JobSummary,
    /// Grows with each claim, and when a sweep takes the job from a lost worker: the number that a writer must name.
    pub lease: u64,
    /// The worker with the lease. `None`: no process works on the job.
    pub worker: Option<Uuid>,
    pub wants: Option<ControlSignal>,
    /// When the row was last written, by the database's clock.
    pub updated: Timestamp,
    /// `None`: the job belongs to no batch.
    pub queue: Option<QueueInfo>,
}

/// The database, for code that works on a job or reads it.
#[async_trait]
pub trait JobStore: Send + Sync + std::fmt::Debug {
    /// Writes the first row of a job, queued. Does nothing where the id is there already.
    async fn create(&self, job: &NewJob) -> Result<(), StoreError>;

    /// Takes the job for a process that holds the workspace's `.lock`, whichever worker had it before: running, with
    /// the next lease number, which is returned, and a deadline in `for_ms` milliseconds. Clears a pause signal and the
    /// reason of a hold.
    ///
    /// `NotFound`; `Ended` when the job's end is in the database.
    async fn claim(&self, id: JobId, worker: Uuid, for_ms: u64) -> Result<u64, StoreError>;

    /// Takes a job that has a result, for a process that holds the workspace's `.lock` and records a person's review of
    /// it: the row stays as it is, so that nothing has to be restored if the review fails, except for the next lease
    /// number, which is returned. `NotFound`; `Ended` if it ended without a result.
    async fn claim_for_review(&self, id: JobId, worker: Uuid, for_ms: u64) -> Result<u64, StoreError>;

    /// A job that was taken so goes on after its end, maybe with more documents: it is running, and its batch has something to do
    /// again. `LeaseLost`.
    async fn reopen(&self, id: JobId, lease: u64, documents: u64) -> Result<(), StoreError>;

    /// Moves the deadline to `for_ms` milliseconds from now. `LeaseLost` if another process has claimed the job, or a
    /// checkpoint has freed the lease.
    async fn renew(&self, id: JobId, lease: u64, for_ms: u64) -> Result<(), StoreError>;

    /// Writes the state, and adds or replaces the given phases and todos, in one transaction. A status other than
    /// running frees the lease. `LeaseLost`, with nothing written, if another process has claimed the job; repeating
    /// the checkpoint that freed the lease is no error, so that it can be tried again after a broken connection.
    /// Reviews of the result are copied to the jobs that are linked to this one.
    async fn checkpoint(&self, id: JobId, lease: u64, checkpoint: &Checkpoint) -> Result<(), StoreError>;

    /// Restores a job's row from its workspace, replacing all its phases and todos. Takes the lease from any process
    /// that had it; its number is then at least `lease`, the last under which the workspace was written. Data that
    /// exists only in the database (batch, priority, group, an undelivered signal) stays.
    async fn restore(&self, job: &NewJob, checkpoint: &Checkpoint, lease: u64) -> Result<(), StoreError>;

    async fn job(&self, id: JobId) -> Result<Option<JobRow>, StoreError>;

    /// The job that a person named: by its id, by any unambiguous beginning of it, by an end of at least 6 letters if
    /// no id begins like that, or as `last`, the newest. `NotFound`, `Ambiguous`.
    async fn find(&self, name: &str) -> Result<JobId, StoreError>;

    /// Which jobs fit, the newest first: their rows are then read in pages of [`JOBS_AT_ONCE`].
    async fn job_ids(&self, filter: &JobFilter) -> Result<Vec<JobId>, StoreError>;

    /// The rows of these jobs, in this order; those that aren't there are left out.
    async fn jobs(&self, ids: &[JobId]) -> Result<Vec<JobRow>, StoreError>;

    /// By number and attempt. None if there is no such job.
    async fn phases(&self, id: JobId) -> Result<Vec<PhaseRow>, StoreError>;

    /// By phase, attempt and place on the board. None if there is no such job.
    async fn todos(&self, id: JobId) -> Result<Vec<TodoRow>, StoreError>;

    /// Leaves a signal for the process that works on the job, now or next. A pause doesn't replace a cancel.
    /// `NotFound`, `Ended`.
    async fn send_signal(&self, id: JobId, signal: ControlSignal) -> Result<(), StoreError>;

    /// The signal that was sent since the claim, also where a hold has freed the lease. `LeaseLost` when another has claimed the
    /// job.
    async fn control_signal(&self, id: JobId, lease: u64) -> Result<Option<ControlSignal>, StoreError>;

    /// Records where a claimed job's workspace is, and the only machine that can open it. `LeaseLost`.
    async fn set_workspace(&self, id: JobId, lease: u64, workspace: &str, host: Option<&str>)
    -> Result<(), StoreError>;

    /// Records that the workspace store has the workspace as in `manifest`: any machine can continue from it.
    /// `LeaseLost`.
    async fn set_manifest(&self, id: JobId, lease: u64, manifest: &str) -> Result<(), StoreError>;

    /// Every job that the database knows, with the manifest of its workspace where there is one, in no order.
    async fn manifests(&self) -> Result<Vec<(JobId, Option<String>)>, StoreError>;
}
