//! The database: the state of all jobs at their last checkpoints.
//!
//! Each trait is one kind of request: jobs, the queue, workers, batches, schedules, calls that are answered later,
//! tokens, assignments of readers. `sql` implements all of them once, in statements that both databases share except
//! for a few fragments; `sqlite` and `postgres` connect to a database, and hold the parts that differ.
//! `tests/it/store.rs` runs one suite on both.
//! Invariants of both databases:
//! - A job's rows are written completely or not at all, and only by the process with its lease.
//! - A lease number never goes back, so that a process that lost its job can never write over the one that took it.
//! - Deadlines are made and read by the database's clock alone; every other time is given by the caller.
//! - No transaction is open between two calls.

mod assignments;
mod batches;
mod calls;
mod columns;
mod connect;
mod control_signal;
mod error;
mod jobs;
mod listing;
mod migrations;
mod newest;
mod notices;
mod ownership;
mod postgres;
mod queue;
mod queue_entry;
mod retry_policy;
mod row;
mod schedules;
mod sql;
mod sqlite;
mod tokens;
mod url_secrets;
mod value;
mod workers;

pub use assignments::{AssignmentStore, ReaderAssignment};
pub use batches::{BatchRow, BatchStore, BatchTotals, BatchWork, Grant, JobStands, NewBatch, RecentWork, WaitingJobs};
pub use calls::{AnsweredCall, CallStore, GatheredCall, HandedCall, HandedEnd, HandedState, ProviderBatch};
pub use connect::{connect, connect_to_read, database_file};
pub use control_signal::ControlSignal;
pub use error::StoreError;
pub use jobs::{JOBS_AT_ONCE, JobFilter, JobRow, JobStore};
pub use listing::{AlikeJobs, BatchHead, JobChange, JobChanges, JobPageQuery, ListStore};
pub use notices::{NoticeClaim, NoticeStore, NoticeSubject, PAUSED_BY_PERSON};
pub use queue::{AwaitedCall, AwaitingJob, ClaimedJob, Enqueued, JobTarget, QueueStore, Swept};
pub use queue_entry::{Group, QueueEntry, QueueInfo, QueuedJob};
pub use retry_policy::backoff_ms;
pub use schedules::{CommandLine, NewSchedule, ScheduleRow, ScheduleStore};
pub use tokens::{AccessToken, Role, TokenStore, random_token};
pub use workers::{HeldLease, WorkerStore};

use async_trait::async_trait;
use std::sync::Arc;

/// A database with all its interfaces. Code that needs only a part of it takes that trait.
#[async_trait]
pub trait Store:
    AssignmentStore
    + BatchStore
    + CallStore
    + JobStore
    + ListStore
    + NoticeStore
    + QueueStore
    + ScheduleStore
    + TokenStore
    + WorkerStore
{
    /// Closes it, so that no file is left beside it. No call is possible afterwards.
    async fn close(&self) {}

    /// The same database through an exclusive connection, so that it never waits for other users. Call it within the
    /// runtime that will use it.
    fn with_own_connection(&self) -> Arc<dyn Store>;
}
