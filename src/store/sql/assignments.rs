//! Assignments in SQL.

use super::{Durability, Engine, SqlStatement};
use crate::store::{
    StoreError,
    assignments::{AssignmentColumns, AssignmentStore, ReaderAssignment},
    value::values,
};
use async_trait::async_trait;
use overnight_core::job::id::JobId;
use uuid::Uuid;

const ADD: &str = "insert into assignments (job, batch, reviewer, twice, created) values ($1, $2, $3, $4, $5)
     on conflict (job, reviewer) do nothing";

const TAKE: &str = "delete from assignments where job = $1 and reviewer = $2";

#[async_trait]
impl<E: Engine> AssignmentStore for E {
    async fn assign(&self, gone: &[ReaderAssignment], new: &[ReaderAssignment]) -> Result<(), StoreError> {
        let take = |one: &ReaderAssignment| SqlStatement::new(TAKE, values![one.job, &one.reviewer]);
        let add = |one: &ReaderAssignment| {
            SqlStatement::new(ADD, values![one.job, one.batch, &one.reviewer, one.twice, one.created])
        };
        let statements = gone.iter().map(take).chain(new.iter().map(add)).collect();
        let _: Vec<()> = self.write(statements, Durability::Now).await?;
        Ok(())
    }

    async fn assignments(&self, batch: Uuid) -> Result<Vec<ReaderAssignment>, StoreError> {
        let all = "select * from assignments where batch = $1 order by job, created, reviewer";
        let rows: Vec<AssignmentColumns> = self.query(all, values![batch]).await?;
        Ok(rows.into_iter().map(ReaderAssignment::from).collect())
    }

    async fn assignments_of(&self, job: JobId) -> Result<Vec<ReaderAssignment>, StoreError> {
        let of_job = "select * from assignments where job = $1 order by created, reviewer";
        let rows: Vec<AssignmentColumns> = self.query(of_job, values![job]).await?;
        Ok(rows.into_iter().map(ReaderAssignment::from).collect())
    }
}
