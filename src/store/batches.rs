//! Batches as a whole: their state, their budget, their end.

use super::{StoreError, queue_entry::QueueEntry};
use async_trait::async_trait;
use overnight_core::amount::cost_of_all;
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// A batch to submit.
#[derive(Clone, Debug, PartialEq)]
pub struct NewBatch {
    pub id: Uuid,
    pub created: Timestamp,
    pub name: Option<String>,
    /// Name of the instructions, their whole text, and its hash.
    pub instructions: String,
    pub instructions_text: String,
    pub instructions_sha256: String,
    pub model: String,
    /// Other settings, for the code that makes the workspaces. The queue only stores them.
    pub settings: serde_json::Value,
    /// USD that the jobs may spend together.
    pub budget_usd: Option<f64>,
    /// The times at which jobs may be started, as a person wrote them. The queue only stores them.
    pub time_window: Option<String>,
}

impl NewBatch {
    /// The name to show to people.
    pub fn shown_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.id.to_string())
    }
}

/// A batch as the database knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchRow {
    pub batch: NewBatch,
    /// The cost of its jobs so far, as of their checkpoints; linked jobs cost nothing.
    pub spent_usd: f64,
    /// Jobs with turns whose price isn't known: they have cost more than stated.
    pub unpriced_jobs: u64,
    /// The time at which its end was marked ([`BatchStore::mark_ended`]).
    pub ended: Option<Timestamp>,
    pub totals: BatchTotals,
}

impl BatchRow {
    /// `12.50 USD`, with a remark if some prices are not known.
    pub fn cost_told(&self) -> String {
        cost_of_all(self.spent_usd, self.unpriced_jobs == 0)
    }
}

/// How many jobs of a batch there are in each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BatchTotals {
    pub queued: u64,
    pub running: u64,
    pub waiting: u64,
    pub held: u64,
    pub completed: u64,
    pub partial: u64,
    pub blocked: u64,
    pub failed: u64,
    pub cancelled: u64,
    /// Those that another job did before: completed, or partial and taken by a person.
    pub linked: u64,
}

impl BatchTotals {
    pub fn of(&self, status: JobStatus) -> u64 {
        match status {
            JobStatus::Queued => self.queued,
            JobStatus::Running => self.running,
            JobStatus::Waiting => self.waiting,
            JobStatus::Held => self.held,
            JobStatus::Completed => self.completed,
            JobStatus::Partial => self.partial,
            JobStatus::Blocked => self.blocked,
            JobStatus::Failed => self.failed,
            JobStatus::Cancelled => self.cancelled,
        }
    }

    /// The same, as a counter to increase.
    pub fn of_mut(&mut self, status: JobStatus) -> &mut u64 {
        match status {
            JobStatus::Queued => &mut self.queued,
            JobStatus::Running => &mut self.running,
            JobStatus::Waiting => &mut self.waiting,
            JobStatus::Held => &mut self.held,
            JobStatus::Completed => &mut self.completed,
            JobStatus::Partial => &mut self.partial,
            JobStatus::Blocked => &mut self.blocked,
            JobStatus::Failed => &mut self.failed,
            JobStatus::Cancelled => &mut self.cancelled,
        }
    }

    pub fn all(&self) -> u64 {
        self.queued + self.running + self.waiting + self.held + self.ended()
    }

    pub fn ended(&self) -> u64 {
        self.completed + self.partial + self.blocked + self.failed + self.cancelled
    }
}

/// The state of a job of a batch, without its other columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobStands {
    pub id: JobId,
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    /// The job that did the same before.
    pub same_as: Option<JobId>,
}

/// The total usage of a batch's jobs, and the reasons why jobs without a worker wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchWork {
    pub turns: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub worked_ms: u64,
    pub waiting: Vec<WaitingJobs>,
}

/// A group of queued or held jobs that differ only in the time until which they wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingJobs {
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    /// The machine that has their workspaces on its own disk.
    pub host: Option<String>,
    pub jobs: u64,
    /// The first moment at which one goes on by itself; none: they wait for a worker or a person.
    pub until: Option<Timestamp>,
}

/// The recent pace of a batch's jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentWork {
    /// The times at which the last worked jobs ended, the latest first.
    pub ends: Vec<Timestamp>,
    /// The working time of a job with a result; the median, none if there is no such job.
    pub middle_ms: Option<u64>,
}

/// The answer of a batch's budget to one of its jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// The cost of the jobs so far leaves no room.
    Spent,
    /// There is room, but that other jobs have reserved it, and may not need it.
    Later,
    Granted,
}

impl Grant {
    /// The variant for its number in both databases.
    pub(super) fn of(number: i64) -> Self {
        match number {
            ..=0 => Self::Spent,
            1 => Self::Later,
            2.. => Self::Granted,
        }
    }
}

/// The database, for batches as a whole.
#[async_trait]
pub trait BatchStore: Send + Sync + std::fmt::Debug {
    /// Asks whether a job may continue until it has cost `may_cost_usd` in total, so that its batch stays within the
    /// budget: the cost of all jobs so far, and the most that the running ones may cost. If granted, it counts as the
    /// job's cost until the job stops running or asks again; otherwise nothing changes. Always granted if the batch has
    /// no budget, or if the job asks for less than it has. `LeaseLost`.
    ///
    /// Each call looks at all jobs of the batch: ask for a few model calls together rather than for each.
    async fn reserve(&self, id: JobId, lease: u64, may_cost_usd: f64) -> Result<Grant, StoreError>;

    /// Sets a batch's budget; `None`, or what is no number: without bound. Jobs that are held for the old one stay so until
    /// `resume`. `NoBatch`.
    async fn set_budget(&self, batch: Uuid, usd: Option<f64>) -> Result<(), StoreError>;

    /// The stored state of the cascade that began with a batch.
    async fn cascade(&self, batch: Uuid) -> Result<Option<String>, StoreError>;

    /// Stores that state.
    async fn set_cascade(&self, batch: Uuid, state: &str) -> Result<(), StoreError>;

    /// The batches of which all jobs have ended, and that are not marked as ended yet, oldest first. Cheap if there are
    /// none.
    async fn batches_to_end(&self) -> Result<Vec<BatchRow>, StoreError>;

    /// Marks a batch as ended. True for one caller only, and only while all its jobs have ended. `retry` takes the mark away.
    async fn mark_ended(&self, batch: Uuid) -> Result<bool, StoreError>;

    /// The batch that a person named: by its name (the newest that has it), its id or any unambiguous beginning of it, or
    /// as `last`. `NoBatch`.
    async fn batch(&self, name: &str) -> Result<BatchRow, StoreError>;

    /// At most `limit` batches, newest first.
    async fn batches(&self, limit: u32) -> Result<Vec<BatchRow>, StoreError>;

    /// At most `limit` of the batches that are older than this one, newest first.
    async fn batches_behind(&self, batch: Uuid, limit: u32) -> Result<Vec<BatchRow>, StoreError>;

    /// The number of jobs of the batch in each status; all zero if there is no such batch.
    async fn totals(&self, batch: Uuid) -> Result<BatchTotals, StoreError>;

    /// The total usage of its jobs, and the reasons for their waiting.
    async fn batch_work(&self, batch: Uuid) -> Result<BatchWork, StoreError>;

    /// The pace of its jobs, with at most `most` ends.
    async fn recent_work(&self, batch: Uuid, most: u32) -> Result<RecentWork, StoreError>;

    /// The state of each of a batch's jobs, by id.
    async fn batch_standing(&self, batch: Uuid) -> Result<Vec<JobStands>, StoreError>;

    /// A batch's jobs, by id.
    async fn batch_entries(&self, batch: Uuid) -> Result<Vec<QueueEntry>, StoreError>;

    /// The number of batches called `name`.
    async fn count_batches_named(&self, name: &str) -> Result<u64, StoreError>;
}
