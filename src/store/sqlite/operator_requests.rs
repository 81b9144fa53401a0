//! What a person asks of the queue, in SQLite.

use super::{
    SqliteStore,
    writer::{Durability, Sql, sql},
};
use crate::store::{
    StoreError,
    operator_requests::{COUNT_BATCHES_NAMED, ELSEWHERE, OperatorRequests},
    row::RowReader,
    value::{DbId, NO_HEAD, text},
};
use async_trait::async_trait;
use overnight_core::job::id::JobId;
use sqlx::{Arguments, sqlite::SqliteArguments};

/// The condition for jobs that may be restarted.
macro_rules! is_meant {
    () => {
        "id = $1 and status = 'held' and batch is not null and manifest is null and workspace <> ''"
    };
}

const RESTART: Sql = sql!(
    "delete from todos where job in (select id from jobs where ",
    is_meant!(),
    ");
     delete from phases where job in (select id from jobs where ",
    is_meant!(),
    ");
     update jobs set
        status = 'queued', hold_reason = null, reason = null, phase_number = 0, phase_title = '', phases_planned = 0,
        phases_complete = 0, turns = 0, turns_at_claim = 0, tokens_in = 0, tokens_out = 0, tokens_cached = 0, worked_ms = 0,
        coverage = 0, summary = null, confidence = null, notes = null, deliverables = '[]', completed_at = null,
        journal_seq = 0, journal_head = $2, attempts = 0, workspace = '', host = null, run_after = null, wants = null,
        updated = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
     where ",
    is_meant!(),
    " returning lease; update queue_changes set number = number + 1 where changes() > 0"
);

#[async_trait]
impl OperatorRequests for SqliteStore {
    async fn count_batches_named(&self, name: &str) -> Result<u64, StoreError> {
        let counted = sqlx::query_scalar(COUNT_BATCHES_NAMED).bind(text(name)).fetch_one(&self.readers).await;
        let read = RowReader { database: &self.database, row: "batches".to_owned() };
        read.number("count", counted.map_err(|error| self.failed(error))?)
    }

    async fn elsewhere(&self, host: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let counted = sqlx::query_as(ELSEWHERE).bind(text(host)).fetch_all(&self.readers).await;
        let counted: Vec<(String, i64)> = counted.map_err(|error| self.failed(error))?;
        let read = RowReader { database: &self.database, row: "the queue".to_owned() };
        counted.into_iter().map(|(host, jobs)| Ok((host, read.number("jobs", jobs)?))).collect()
    }

    async fn restart_from_nothing(&self, id: JobId) -> Result<bool, StoreError> {
        let arguments = || {
            let mut arguments = SqliteArguments::default();
            arguments.add(DbId(id.0))?;
            arguments.add(NO_HEAD)?;
            Ok(arguments)
        };
        let begun = self.write(RESTART, arguments(), Durability::Now).await?;
        self.changes.notify();
        Ok(begun.is_some())
    }
}
