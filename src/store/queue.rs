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

use super::{ControlSignal, NewBatch, StoreError};
use async_trait::async_trait;
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

/// A job of a batch. It has no workspace before a worker makes it one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedJob {
    pub id: JobId,
    /// What a person calls it: a document's path as a rule.
    pub label: String,
    /// The documents' paths, as they are to be read.
    pub sources: Vec<String>,
    pub documents: u64,
    /// One hash over all documents, where it is known: with the instructions' hash it tells a job that was already done.
    pub documents_sha256: Option<String>,
    /// Higher goes first.
    pub priority: i32,
    /// Not before.
    pub run_after: Option<Timestamp>,
    pub group: Option<Group>,
    /// How many attempts may fail before the job is given up, at least 1.
    pub max_attempts: u32,
    /// Held at first, as `paused`, until somebody resumes the batch, or until `run_after` where that is given.
    pub is_held: bool,
}

/// Jobs that share a bound on how many of them run at once, over all batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub key: String,
    /// The bound, at least 1; the last submission's word holds for the whole group.
    pub at_once: u32,
}

/// How many jobs a submission has put into the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Enqueued {
    pub jobs: u64,
    /// Of them, those that were done before and are linked to the job that did it.
    pub linked: u64,
}

/// A job of a batch, as the queue knows it. What each status means for a job of the queue, and what a crash leaves behind:
///
/// - `Queued`: nobody has it. With `run_after` it waits for its time, else for a worker. A worker that died before its first
///   checkpoint leaves a queued job with an attempt more, once the sweep has found it.
/// - `Running`: a worker has its lease. After a crash it stays so until the deadline has passed; the next sweep, of whichever
///   worker, queues it again, with the next lease number, so that the lost worker can write nothing more.
/// - `Waiting`: nobody has it; the answers to calls that were handed in are to come. `run_after` is when it is queued whether or not
///   they came. A crash changes nothing.
/// - `Held`: stopped with everything kept. With `run_after` it is queued by itself then; else somebody has to resume it.
/// - `Failed`, with as many `attempts` as it may have: the dead letter. Each attempt ended with a dead worker or an error.
///   Only `retry` takes it up again.
/// - `Completed` with `same_as`: done before by that job, whose deliverables are its own.
/// - The other ends are as [`JobStatus`] says. A crash leaves none of them behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueEntry {
    /// As it was submitted; `is_held` and `group.at_once` as they are now.
    pub job: QueuedJob,
    pub batch: Uuid,
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    pub reason: Option<String>,
    /// Attempts that failed, one after the other: one that gets further in turns makes those before it forgotten.
    pub attempts: u32,
    pub lease: u64,
    pub worker: Option<Uuid>,
    pub wants: Option<ControlSignal>,
    /// The machine that has the workspace on its own disk.
    pub host: Option<String>,
    /// Empty before a worker has made one.
    pub workspace: String,
    pub same_as: Option<JobId>,
}

/// What the queue knows of a job beside its state, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueInfo {
    pub batch: Uuid,
    pub label: String,
    pub priority: i32,
    pub group: Option<String>,
    /// The machine that has the workspace on its own disk.
    pub host: Option<String>,
    /// Attempts that failed, and how many may.
    pub attempts: u32,
    pub max_attempts: u32,
    /// Queued: not before. Held: queued by itself then.
    pub run_after: Option<Timestamp>,
    /// Done before by that job.
    pub same_as: Option<JobId>,
    /// What the workspace store has of its workspace, by the name of the manifest; none: nothing.
    pub manifest: Option<String>,
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
    async fn claim_next(&self, worker: Uuid, host: &str, most: u32, for_ms: u64)
    -> Result<Vec<ClaimedJob>, StoreError>;

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
    /// held until their time, on no machine or on that one, in the workspace store only where it has that.
    async fn has_work(&self, host: &str, has_store: bool) -> Result<bool, StoreError>;

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
