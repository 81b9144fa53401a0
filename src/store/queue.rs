//! The queue: batches of jobs that wait in the database for a worker.
//!
//! Only jobs of a batch are in the queue. A job that `overnight run` started belongs to its person: no worker takes it up.
//! What must hold in either database:
//! - A batch is there with all its jobs, or not at all.
//! - A job has one worker at a time: each claim has the next lease number, and a sweep fences off the worker that it takes
//!   the job from with another one.
//! - A group never has more jobs running than it may, however many claim at once.
//! - What waits is taken in line: who was submitted first goes first, and a step of priority is worth an hour of waiting.
//!   As all grow older alike, the order of two jobs never changes: a job submitted later passes by one of lower priority for
//!   as many hours as it has steps more, and no longer, so that none waits for ever.

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

/// How many jobs a submission has put into the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Enqueued {
    pub jobs: u64,
    /// Of them, those that were done before and are linked to the job that did it.
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
    /// Empty: make one, and say so with [`super::JobStore::set_workspace`].
    pub workspace: String,
    pub host: Option<String>,
    /// Attempts that failed.
    pub attempts: u32,
    pub max_attempts: u32,
    /// A cancel signal that was sent before.
    pub wants: Option<ControlSignal>,
    /// What the workspace store has of its workspace, by the name of the manifest; none: nothing.
    pub manifest: Option<String>,
}

/// A model call whose answer a job waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedCall {
    /// As the user names it.
    pub model: String,
    /// The provider's name for the call.
    pub handle: String,
}

/// A job that waits for answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwaitingJob {
    pub id: JobId,
    pub batch: Uuid,
    pub calls: Vec<AwaitedCall>,
}

/// What a sweep did. Each list in the order of the ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Taken from a worker that didn't keep its lease, and queued again.
    pub requeued: Vec<JobId>,
    /// The same, but somebody had asked for a pause.
    pub paused: Vec<JobId>,
    /// The same, but all attempts are used up: the dead letter.
    pub dead: Vec<JobId>,
    /// Were held or waiting until now, and are queued.
    pub woken: Vec<JobId>,
}

/// Which jobs a person means.
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

    /// When a job that is about to be held goes on by itself. Say so before the checkpoint that holds it. `LeaseLost`.
    async fn wake_at(&self, id: JobId, lease: u64, at: Timestamp) -> Result<(), StoreError>;

    /// Which answers a job that is about to wait waits for, and until when. Say so before the checkpoint with which it waits.
    /// `LeaseLost`.
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

    /// Frees a job without an end: queued again, to be taken `after_ms` milliseconds from now or later. `failed`, with a
    /// sentence that says why, costs an attempt; when that was the last one, the job has failed. A pause signal holds it
    /// instead. Returns how it stands now. `LeaseLost`.
    async fn give_back(
        &self,
        id: JobId,
        lease: u64,
        after_ms: u64,
        failed: Option<&str>,
    ) -> Result<JobStatus, StoreError>;

    /// Takes running jobs from workers that didn't keep the lease, each with a failed attempt more, and with what the retry
    /// policy says of that; queues held and waiting jobs whose time has come; forgets workers that were not
    /// seen for a day. Any worker may do it at any time.
    async fn sweep(&self) -> Result<Swept, StoreError>;

    /// Whether a worker on `host` could still come to work on something without a person: jobs that are queued, running, waiting, or
    /// held until their time, on no machine or on that one, in the workspace store only where it has that; of these batches alone
    /// where some are given.
    async fn has_work(&self, batches: &[Uuid], host: &str, has_store: bool) -> Result<bool, StoreError>;

    /// Queues failed jobs again, with no attempt used; their batches have not ended then. Returns how many.
    async fn retry(&self, which: JobTarget) -> Result<u64, StoreError>;

    /// Holds queued and waiting jobs, until `until` or their later time where that is given; sends running ones a pause signal where the reason
    /// is `Paused`. Returns how many of both.
    async fn hold(&self, which: JobTarget, reason: HoldReason, until: Option<Timestamp>) -> Result<u64, StoreError>;

    /// Queues held jobs, but not those that wait for a review; takes back a pause signal. Returns how many of both.
    async fn resume(&self, which: JobTarget) -> Result<u64, StoreError>;

    /// Cancels jobs that have not ended: what was never begun ends at once, here; all others get a cancel signal, and held ones
    /// are queued, so that a worker ends them in their workspace too. Returns how many of both.
    async fn cancel(&self, which: JobTarget) -> Result<u64, StoreError>;

    /// Returns when there may be something to do: jobs to claim, a control signal, a batch to end, a schedule to look at. Or
    /// after `within`, with false. What others do through another connection counts as well as what is done through this
    /// one; nobody is notified that a time has come, so `within` must not be long.
    ///
    /// The first call returns at once, as does one after a broken connection: what came before is unknown. A change between
    /// two calls is not missed. No error: where the database can't be reached, it waits. Cancelling it loses nothing. For one
    /// caller at a time: two would notice only what comes while both of them wait.
    async fn changed(&self, within: Duration) -> bool;

    /// Leaves jobs that are held for an outage so for `for_ms` milliseconds more, because a worker waits with them for their
    /// server; when it dies, a sweep queues them. Returns which of them still are so, by id: of the others somebody has
    /// decided otherwise.
    async fn keep_held(&self, ids: &[JobId], for_ms: u64) -> Result<Vec<JobId>, StoreError>;

    /// How many jobs of all batches there are in each status that there is.
    async fn depth(&self) -> Result<Vec<(JobStatus, u64)>, StoreError>;

    /// How many jobs wait for a worker on another machine than `host`, because it has their workspaces; by machine.
    async fn elsewhere(&self, host: &str) -> Result<Vec<(String, u64)>, StoreError>;

    /// Queues a held job of a batch as if nobody had ever worked on it: with no workspace, no attempt and no record, for any
    /// worker. For a job whose workspace is gone. False, with nothing written, where it isn't held, has no workspace or has
    /// one in a workspace store. What it has cost is counted until its first checkpoint.
    async fn restart_from_nothing(&self, id: JobId) -> Result<bool, StoreError>;
}
