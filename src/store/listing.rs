//! Jobs for lists shown to people: one page at a time, and the changes since.

use super::{BatchTotals, JobRow, StoreError};
use async_trait::async_trait;
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use std::collections::HashMap;
use uuid::Uuid;

/// Which jobs a page shows: the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobPageQuery {
    pub batch: Option<Uuid>,
    pub status: Option<JobStatus>,
    /// Only those that are held for a person's review.
    pub needs_review: bool,
    /// Only those created since then.
    pub since: Option<Timestamp>,
    /// Only those older than this one.
    pub behind: Option<JobId>,
    /// A part of the label, the instructions or the model, or the beginning of the id; empty: all fit.
    pub text: String,
    /// The number of jobs to skip, and the most to show.
    pub skipped: u64,
    pub most: u32,
}

/// A group of jobs with the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlikeJobs {
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    pub jobs: u64,
    /// The number of them that belong to batches.
    pub of_batches: u64,
}

/// The name of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchHead {
    pub name: Option<String>,
    pub created: Timestamp,
    pub instructions: String,
}

/// A job whose row was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobChange {
    pub job: JobId,
    pub batch: Option<Uuid>,
    /// A new number for each change of the row.
    pub number: u64,
}

/// The changes from a horizon on. Later commits have a number from `horizon` on, so that asking for those again, and
/// leaving out changes already seen, misses nothing and repeats nothing, however the transactions overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobChanges {
    pub horizon: u64,
    pub rows: Vec<JobChange>,
    /// There are more changes than listed.
    pub is_cut: bool,
}

/// The database, for lists.
#[async_trait]
pub trait ListStore: Send + Sync + std::fmt::Debug {
    /// The jobs of a page, without the long columns of their rows, and the number of all matching jobs.
    async fn job_page(&self, wanted: &JobPageQuery) -> Result<(Vec<JobRow>, u64), StoreError>;

    /// The states of all matching jobs, whatever page they are on.
    async fn job_counts(&self, wanted: &JobPageQuery) -> Result<Vec<AlikeJobs>, StoreError>;

    /// The number of jobs in each status, of batches or not.
    async fn job_totals(&self) -> Result<BatchTotals, StoreError>;

    /// The ids of all jobs and batches, in no order: a short form of one is unambiguous among all.
    async fn all_ids(&self) -> Result<Vec<Uuid>, StoreError>;

    /// How many batches there are.
    async fn count_batches(&self) -> Result<u64, StoreError>;

    /// The names of these batches, in one query; missing ones are left out.
    async fn batch_heads(&self, ids: Vec<Uuid>) -> Result<HashMap<Uuid, BatchHead>, StoreError>;

    /// The changes of jobs that are committed, and have a number from `since` on; none given: from the present horizon on.
    async fn job_changes(&self, since: Option<u64>) -> Result<JobChanges, StoreError>;
}
