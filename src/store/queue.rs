//! The queue: batches of jobs that wait in the database for a worker.
//!
//! Only jobs of a batch are in the queue. A job started by `overnight run` belongs to its person: no worker takes it.
//! Invariants of both databases:
//! - A batch is there with all its jobs, or not at all.
//! - A job has one worker at a time: each claim has the next lease number, and a sweep fences off the worker that it takes
//!   the job from with another one.
//! - A group never has more jobs running than it may, however many claim at once.
//! - Waiting jobs are taken in line: earlier submissions go first, and a step of priority is worth an hour of waiting.
//!   As all of them age alike, the order of two jobs never changes: a job submitted later overtakes one of lower
//!   priority for as many hours as it has more steps, and no longer, so that none waits forever.

mod changes;
mod columns;
mod submission;

pub(super) use changes::ChangeWaiter;
pub(super) use columns::{
    AwaitingColumns, BatchColumns, BatchFigures, ClaimedColumns, EntryColumns, LateColumns, LeaseColumns, depth,
    figures,
};
pub(super) use submission::{MOST_PER_STATEMENT, groups_json, jobs_json};

use super::{NewBatch, StoreError, control_signal::ControlSignal, queue_entry::QueuedJob};
use async_trait::async_trait;
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

/// The number of jobs that a submission has put into the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Enqueued {
    pub jobs: u64,
    /// The number of them that were done before, and are linked to the job that did them.
    pub linked: u64,
}

/// A job that a worker has just got, with what it needs beside the batch's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedJob {
    pub id: JobId,
    pub lease: u64,
    pub batch: Uuid,
    pub created: Timestamp,
    pub label: String,
    pub sources: Vec<String>,
    pub documents: u64,
    pub documents_sha256: Option<String>,
    /// Empty: create one, and record it with [`super::JobStore::set_workspace`].
    pub workspace: String,
    pub host: Option<String>,
    /// Attempts that failed.
    pub attempts: u32,
    pub max_attempts: u32,
    /// A cancel signal that was sent before.
    pub wants: Option<ControlSignal>,
    /// The name of the manifest of its workspace in the workspace store; none: the store has none.
    pub manifest: Option<String>,
}

/// A model call whose answer a job waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedCall {
    /// The name that the user gave.
    pub model: String,
    /// The provider's handle of the call.
    pub handle: String,
}

/// A job that waits for answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwaitingJob {
    pub id: JobId,
    pub batch: Uuid,
    pub calls: Vec<AwaitedCall>,
}

/// The result of a sweep. Each list is in the order of the ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Taken from a worker that didn't keep its lease, and queued again.
    pub requeued: Vec<JobId>,
    /// The same, but a pause had been requested.
    pub paused: Vec<JobId>,
    /// The same, but all attempts are used up: the dead letter.
    pub dead: Vec<JobId>,
    /// Were held or waiting until now, and are queued.
    pub woken: Vec<JobId>,
}

/// The jobs that a person selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobTarget {
    Job(JobId),
    Batch(Uuid),
}

impl JobTarget {
    /// Job and batch, one of them missing, as the statements ask for them.
    pub(super) fn parts(self) -> (Option<Uuid>, Option<Uuid>) {
        match self {
            Self::Job(id) => (Some(id.0), None),
            Self::Batch(id) => (None, Some(id)),
        }
    }
}

/// The reason of a job that was cancelled before any worker had begun it.
pub(super) const NEVER_BEGUN: &str = "cancelled before it was begun";

/// The database as a queue.
#[async_trait]
pub trait QueueStore: Send + Sync + std::fmt::Debug {
    /// Writes a batch with all its jobs, in one transaction. With `link_done`, a job with the same instructions, model and
    /// documents as one that is completed (before this submission) is linked to it and not queued. Repeating a submission changes
    /// nothing, so that it can be tried again after a broken connection.
    async fn submit(&self, batch: &NewBatch, jobs: &[QueuedJob], link_done: bool) -> Result<Enqueued, StoreError>;

    /// Takes up to `most` jobs that may run now, for `for_ms` milliseconds, first in line first: queued, their time has come,
    /// their workspace is on no machine or on `host`, their group has room. The next lease number; a pause signal is
    /// forgotten.
    async fn claim_next(
        &self,
        worker: Uuid,
        host: &str,
        most: u32,
        for_ms: u64,
    ) -> Result<Vec<ClaimedJob>, StoreError> {
        self.claim_of(&[], worker, host, most, for_ms).await
    }

    /// The same, of the jobs of these batches alone; none are given: of all.
    async fn claim_of(
        &self,
        batches: &[Uuid],
        worker: Uuid,
        host: &str,
        most: u32,
        for_ms: u64,
    ) -> Result<Vec<ClaimedJob>, StoreError>;

    /// Sets when a job that is about to be held continues by itself. Call it before that checkpoint. `LeaseLost`.
    async fn wake_at(&self, id: JobId, lease: u64, at: Timestamp) -> Result<(), StoreError>;

    /// Sets the answers for which a job is about to wait, and until when. Call it before the checkpoint that makes it
    /// wait. `LeaseLost`.
    async fn await_answers(
        &self,
        id: JobId,
        lease: u64,
        calls: &[AwaitedCall],
        until: Timestamp,
    ) -> Result<(), StoreError>;

    /// The jobs that wait for answers, of those that a worker on `host` may take, in the order of their ids.
    async fn awaited(&self, host: &str, has_store: bool) -> Result<Vec<AwaitingJob>, StoreError>;

    /// Queues those of these jobs that wait: an answer has come. Returns how many.
    async fn bring(&self, ids: &[JobId]) -> Result<u64, StoreError>;

    /// Frees a job that has not ended: it is queued again, to be taken after `after_ms` milliseconds at the earliest.
    /// `failed`, a sentence with the reason, costs an attempt; if that was the last one, the job has failed. A pause
    /// signal holds it instead. Returns its new status. `LeaseLost`.
    async fn give_back(
        &self,
        id: JobId,
        lease: u64,
        after_ms: u64,
        failed: Option<&str>,
    ) -> Result<JobStatus, StoreError>;

    /// Takes running jobs from workers that didn't renew the lease, each with one more failed attempt, and as the retry
    /// policy decides; queues held and waiting jobs whose time has come; forgets workers that were not seen for a day.
    /// Any worker may do it at any time.
    async fn sweep(&self) -> Result<Swept, StoreError>;

    /// Whether a worker on `host` could still come to work on something without a person: jobs that are queued, running, waiting, or
    /// held until their time, on no machine or on that one, in the workspace store only where it has that; of these batches alone
    /// where some are given.
    async fn has_work(&self, batches: &[Uuid], host: &str, has_store: bool) -> Result<bool, StoreError>;

    /// Queues failed jobs again, with no attempt used; their batches then count as not ended. Returns their number.
    async fn retry(&self, which: JobTarget) -> Result<u64, StoreError>;

    /// Holds queued and waiting jobs, until `until` or their later time where that is given; sends running ones a pause signal where the reason
    /// is `Paused`. Returns how many of both.
    async fn hold(&self, which: JobTarget, reason: HoldReason, until: Option<Timestamp>) -> Result<u64, StoreError>;

    /// Queues held jobs, but not those that wait for a review; takes back a pause signal. Returns how many of both.
    async fn resume(&self, which: JobTarget) -> Result<u64, StoreError>;

    /// Cancels jobs that have not ended: jobs never begun end immediately, here; all others get a cancel signal, and
    /// held ones are queued, so that a worker ends them in their workspace too. Returns the number of both.
    async fn cancel(&self, which: JobTarget) -> Result<u64, StoreError>;

    /// Returns when there may be something to do: jobs to claim, a control signal, a batch to end, a schedule to check.
    /// Or after `within`, with false. Changes through other connections count as well as those through this one; no
    /// notification is sent when a time has come, so `within` must not be long.
    ///
    /// The first call returns immediately, as does one after a broken connection: earlier changes are unknown. A change
    /// between two calls is not missed. No error: if the database can't be reached, it waits. Cancelling it loses
    /// nothing. For one caller at a time: two would notice only changes while both of them wait.
    async fn changed(&self, within: Duration) -> bool;

    /// Extends the hold of jobs that are held for an outage by `for_ms` milliseconds, because a worker waits with them
    /// for their server; when it dies, a sweep queues them. Returns the ids of those that are still held for it: the
    /// others were changed by someone else.
    async fn keep_held(&self, ids: &[JobId], for_ms: u64) -> Result<Vec<JobId>, StoreError>;

    /// The number of jobs of all batches in each status that occurs.
    async fn depth(&self) -> Result<Vec<(JobStatus, u64)>, StoreError>;

    /// The number of jobs that wait for a worker on the machine that has their workspaces, not `host`; by machine.
    async fn elsewhere(&self, host: &str) -> Result<Vec<(String, u64)>, StoreError>;

    /// Queues a held job of a batch as if it had never been worked on: with no workspace, no attempt and no record, for
    /// any worker. For a job whose workspace is lost. False, with nothing written, if it isn't held, has no workspace
    /// or has one in a workspace store. Its cost is counted until its first checkpoint.
    async fn restart_from_nothing(&self, id: JobId) -> Result<bool, StoreError>;
}
