//! A job of the queue: as it is submitted, as the queue knows it, and what lists say of it.

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
