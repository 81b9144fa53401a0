//! Assignments of results to the people who read them.

use super::{
    StoreError,
    columns::columns,
    value::{DbId, DbTime},
};
use async_trait::async_trait;
use overnight_core::job::{id::JobId, time::Timestamp};
use uuid::Uuid;

/// A result assigned to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderAssignment {
    pub job: JobId,
    pub batch: Uuid,
    /// A name: that of their token.
    pub reviewer: String,
    /// Another person reads it too, and neither sees the other's review.
    pub twice: bool,
    pub created: Timestamp,
}

/// Assignments.
#[async_trait]
pub trait AssignmentStore: Send + Sync + std::fmt::Debug {
    /// Removes some and adds others, all or none; an existing assignment of a person to a job stays as it is.
    async fn assign(&self, gone: &[ReaderAssignment], new: &[ReaderAssignment]) -> Result<(), StoreError>;

    /// Those of a batch, in the order of their jobs, of a job in the order in which they were made.
    async fn assignments(&self, batch: Uuid) -> Result<Vec<ReaderAssignment>, StoreError>;

    /// The assignments of a job.
    async fn assignments_of(&self, job: JobId) -> Result<Vec<ReaderAssignment>, StoreError>;
}

columns! {
    pub(super) struct AssignmentColumns {
        job: DbId,
        batch: DbId,
        reviewer: String,
        twice: bool,
        created: DbTime,
    }
}

impl From<AssignmentColumns> for ReaderAssignment {
    fn from(row: AssignmentColumns) -> Self {
        let AssignmentColumns { job, batch, reviewer, twice, created } = row;
        Self { job: JobId(job.0), batch: batch.0, reviewer, twice, created: created.0 }
    }
}
