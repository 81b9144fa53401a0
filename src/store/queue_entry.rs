//! A job of the queue: as submitted, as stored, and as shown in lists.

use super::control_signal::ControlSignal;
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use uuid::Uuid;

/// A job of a batch. It has no workspace before a worker makes it one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedJob {
    pub id: JobId,
    /// The name for people: usually a document's path.
    pub label: String,
    /// The documents' paths, in reading order.
    pub sources: Vec<String>,
    pub documents: u64,
    /// One hash over all documents, if known: with the instructions' hash it identifies a job that was already done.
    pub documents_sha256: Option<String>,
    /// Higher goes first.
    pub priority: i32,
    /// The earliest time to run.
    pub run_after: Option<Timestamp>,
    pub group: Option<Group>,
    /// How many attempts may fail before the job is given up, at least 1.
    pub max_attempts: u32,
    /// Held at first, as `paused`, until a person resumes the batch, or until `run_after` if that is given.
    pub is_held: bool,
}

/// Jobs that share a bound on how many of them run at once, over all batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub key: String,
    /// The limit, at least 1; the last submission's value applies to the whole group.
    pub at_once: u32,
}

/// A job of a batch, as the queue stores it. The meaning of each status in the queue, and the effect of a crash:
///
/// - `Queued`: no worker has it. With `run_after` it waits for its time, else for a worker. A worker that died before
///   its first checkpoint leaves a queued job with one more attempt, once the sweep has found it.
/// - `Running`: a worker has its lease. After a crash it stays so until the deadline has passed; the next sweep, of whichever
///   worker, queues it again, with the next lease number, so that the lost worker can write nothing more.
/// - `Waiting`: no worker has it; the answers to submitted calls are to come. `run_after` is when it is queued whether
///   or not they came. A crash changes nothing.
/// - `Held`: stopped with everything kept. With `run_after` it is queued by itself then; else a person must resume it.
/// - `Failed`, with as many `attempts` as it may have: the dead letter. Each attempt ended with a dead worker or an error.
///   Only `retry` takes it up again.
/// - `Completed` with `same_as`: done before by that job, whose deliverables are also its own.
/// - The other ends are as described at [`JobStatus`]. A crash leaves none of them behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueEntry {
    /// As it was submitted; `is_held` and `group.at_once` as they are now.
    pub job: QueuedJob,
    pub batch: Uuid,
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    pub reason: Option<String>,
    /// Consecutive failed attempts: one that gets further in turns resets the count.
    pub attempts: u32,
    pub lease: u64,
    pub worker: Option<Uuid>,
    pub wants: Option<ControlSignal>,
    /// The machine that has the workspace on its own disk.
    pub host: Option<String>,
    /// Empty until a worker has created one.
    pub workspace: String,
    pub same_as: Option<JobId>,
}

/// The queue's data about a job besides its state, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueInfo {
    pub batch: Uuid,
    pub label: String,
    pub priority: i32,
    pub group: Option<String>,
    /// The machine that has the workspace on its own disk.
    pub host: Option<String>,
    /// The number of failed attempts, and how many may fail.
    pub attempts: u32,
    pub max_attempts: u32,
    /// Queued: not before. Held: queued by itself then.
    pub run_after: Option<Timestamp>,
    /// The job that did the same before.
    pub same_as: Option<JobId>,
    /// The name of the manifest of its workspace in the workspace store; none: the store has none.
    pub manifest: Option<String>,
}
