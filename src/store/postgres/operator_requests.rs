//! What a person asks of the queue, in PostgreSQL.

use super::PostgresStore;
use crate::store::{
    StoreError,
    operator_requests::{COUNT_BATCHES_NAMED, ELSEWHERE, OperatorRequests},
    row::RowReader,
    value::{DbId, NO_HEAD, text},
};
use async_trait::async_trait;
use overnight_core::job::id::JobId;

const RESTART: &str = "with meant as (
        select id from jobs
        where id = $1 and status = 'held' and batch is not null and manifest is null and workspace <> ''
        for update
     ), todos_gone as (
        delete from todos using meant where todos.job = meant.id
     ), phases_gone as (
        delete from phases using meant where phases.job = meant.id
     ), again as (
        update jobs set
            status = 'queued', hold_reason = null, reason = null, phase_number = 0, phase_title = '', phases_planned = 0,
            phases_complete = 0, turns = 0, turns_at_claim = 0, tokens_in = 0, tokens_out = 0, tokens_cached = 0,
            worked_ms = 0, coverage = 0, summary = null, confidence = null, notes = null, deliverables = '[]',
            completed_at = null, journal_seq = 0, journal_head = $2, attempts = 0, workspace = '', host = null,
            run_after = null, wants = null, updated = clock_timestamp()
        from meant
        where jobs.id = meant.id
        returning 1
     )
     select overnight_tell(count(*)) from again";

#[async_trait]
impl OperatorRequests for PostgresStore {
    async fn count_batches_named(&self, name: &str) -> Result<u64, StoreError> {
        self.within(async {
            let counted = sqlx::query_scalar(COUNT_BATCHES_NAMED).bind(text(name)).fetch_one(&self.pool).await;
            let read = RowReader { database: &self.database.name, row: "batches".to_owned() };
            read.number("count", counted.map_err(|error| self.failed(error))?)
        })
        .await
    }

    async fn elsewhere(&self, host: &str) -> Result<Vec<(String, u64)>, StoreError> {
        self.within(async {
            let counted = sqlx::query_as(ELSEWHERE).bind(text(host)).fetch_all(&self.pool).await;
            let counted: Vec<(String, i64)> = counted.map_err(|error| self.failed(error))?;
            let read = RowReader { database: &self.database.name, row: "the queue".to_owned() };
            counted.into_iter().map(|(host, jobs)| Ok((host, read.number("jobs", jobs)?))).collect()
        })
        .await
    }

    async fn restart_from_nothing(&self, id: JobId) -> Result<bool, StoreError> {
        self.within(async {
            let begun = sqlx::query_scalar(RESTART).bind(DbId(id.0)).bind(NO_HEAD).fetch_one(&self.pool).await;
            begun.map(|begun: i64| begun > 0).map_err(|error| self.failed(error))
        })
        .await
    }
}
