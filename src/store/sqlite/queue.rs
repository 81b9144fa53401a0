//! The queue in SQLite. As one transaction at a time writes, what a claim counts can't change under it.

mod statements;

use super::{
    SqliteStore,
    writer::{Durability, Sql},
};
use crate::store::{
    StoreError,
    connect::LAST,
    queue::{
        BACKOFF_MS, BatchColumns, BatchFigures, BatchRow, BatchTotals, ClaimedColumns, ClaimedJob, DEAD, Enqueued,
        EntryColumns, Grant, HeldLease, JobTarget, LONGEST_BACKOFF_MS, LeaseColumns, NEVER_BEGUN, NewBatch, Queue,
        QueueEntry, QueuedJob, Swept, SweptColumns, depth, figures, jobs_json, settings_json,
    },
    row::RowReader,
    value::{DbId, DbTime, at_most, count, finite, ids_beginning, lease_ms, text, text_or_null},
};
use async_trait::async_trait;
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use sqlx::{
    Arguments, FromRow, Row,
    error::BoxDynError,
    sqlite::{SqliteArguments, SqliteRow},
    types::Json,
};
use statements::{
    BATCH_ENTRIES, BATCHES_TO_END, CANCEL, CLAIM, DEPTH, FIGURES, FORGET_WORKER, GIVE_BACK, HAS_WORK, HEARTBEAT, HOLD,
    IS_UNBOUND, KEEP_HELD, MANIFESTS, MARK_ENDED, REGISTER_WORKER, RESERVE, RESUME, RETRY, SET_BUDGET, SET_MANIFEST,
    SET_WORKSPACE, SIGNALS, SUBMIT, SWEEP, WAKE_AT, WORKERS_AT_WORK,
};
use std::time::Duration;
use uuid::Uuid;

/// The parameters of a statement, in their order.
macro_rules! bound {
    ($($value:expr),+ $(,)?) => {
        (|| -> Result<SqliteArguments, BoxDynError> {
            let mut arguments = SqliteArguments::default();
            $(arguments.add($value)?;)+
            Ok(arguments)
        })()
    };
}

impl SqliteStore {
    async fn rows(
        &self,
        sql: Sql,
        arguments: Result<SqliteArguments, BoxDynError>,
        durability: Durability,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        let arguments = arguments.map_err(|error| self.failed(sqlx::Error::Encode(error)))?;
        self.writer.rows(sql, arguments, durability).await
    }

    async fn read<T: for<'r> FromRow<'r, SqliteRow>>(
        &self,
        sql: Sql,
        arguments: Result<SqliteArguments, BoxDynError>,
        durability: Durability,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.rows(sql, arguments, durability).await?;
        let read: Result<Vec<T>, _> = rows.iter().map(T::from_row).collect();
        read.map_err(|error| self.failed(error))
    }

    /// Writes what others may wait for.
    async fn write_and_notify(
        &self,
        sql: Sql,
        arguments: Result<SqliteArguments, BoxDynError>,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        let rows = self.rows(sql, arguments, Durability::Now).await;
        self.changes.notify();
        rows
    }

    async fn figures(&self, batch: Uuid) -> Result<BatchFigures, StoreError> {
        let rows = sqlx::query_as(FIGURES).bind(DbId(batch)).fetch_all(&self.readers).await;
        figures(rows.map_err(|error| self.failed(error))?, &self.database)
    }

    async fn batch_row(&self, batch: BatchColumns) -> Result<BatchRow, StoreError> {
        let figures = self.figures(batch.id().0).await?;
        batch.row(figures, &self.database)
    }

    async fn batch_rows(&self, rows: Result<Vec<BatchColumns>, sqlx::Error>) -> Result<Vec<BatchRow>, StoreError> {
        let rows = rows.map_err(|error| self.failed(error))?;
        let mut batches = Vec::with_capacity(rows.len());
        for row in rows {
            batches.push(self.batch_row(row).await?);
        }
        Ok(batches)
    }
}

#[async_trait]
impl Queue for SqliteStore {
    async fn submit(&self, batch: &NewBatch, jobs: &[QueuedJob], link_done: bool) -> Result<Enqueued, StoreError> {
        let json = jobs_json(batch, jobs).map_err(|error| self.failed(sqlx::Error::Encode(error.into())))?;
        let arguments = bound![
            DbId(batch.id),
            DbTime(batch.created),
            text(&batch.instructions),
            text(&batch.instructions_sha256),
            text(&batch.model),
            json,
            link_done,
            text_or_null(batch.name.as_ref()),
            text(&batch.instructions_text),
            settings_json(batch),
            finite(batch.budget_usd),
            text_or_null(batch.time_window.as_ref()),
        ];
        let counts: Vec<(i64, i64)> = self.read(SUBMIT, arguments, Durability::Now).await?;
        self.changes.notify();
        let (jobs, linked) = counts.first().copied().unwrap_or_default();
        let read = RowReader { database: &self.database, row: format!("batch {}", batch.id) };
        Ok(Enqueued { jobs: read.number("jobs", jobs)?, linked: read.number("linked", linked)? })
    }

    async fn claim_next(
        &self,
        worker: Uuid,
        host: &str,
        most: u32,
        for_ms: u64,
    ) -> Result<Vec<ClaimedJob>, StoreError> {
        self.check_file()?;
        let arguments = bound![DbId(worker), text(host), i64::from(most), lease_ms(for_ms)];
        let rows: Vec<ClaimedColumns> = self.read(CLAIM, arguments, Durability::Now).await?;
        ClaimedColumns::in_line(rows, &self.database)
    }

    async fn register_worker(&self, worker: Uuid, host: &str, pid: u32, has_store: bool) -> Result<(), StoreError> {
        let arguments = bound![DbId(worker), text(host), i64::from(pid), has_store];
        self.rows(REGISTER_WORKER, arguments, Durability::Soon).await.map(drop)
    }

    async fn forget_worker(&self, worker: Uuid) -> Result<(), StoreError> {
        self.rows(FORGET_WORKER, bound![DbId(worker)], Durability::Soon).await.map(drop)
    }

    async fn workers_at_work(&self) -> Result<u64, StoreError> {
        let found = sqlx::query_scalar(WORKERS_AT_WORK).fetch_one(&self.readers).await;
        found.map(i64::unsigned_abs).map_err(|error| self.failed(error))
    }

    async fn heartbeat(&self, worker: Uuid, for_ms: u64) -> Result<Vec<HeldLease>, StoreError> {
        let rows: Vec<LeaseColumns> =
            self.read(HEARTBEAT, bound![DbId(worker), lease_ms(for_ms)], Durability::Soon).await?;
        LeaseColumns::by_id(rows, &self.database)
    }

    async fn set_workspace(
        &self,
        id: JobId,
        lease: u64,
        workspace: &str,
        host: Option<&str>,
    ) -> Result<(), StoreError> {
        let arguments = bound![DbId(id.0), count(lease), text(workspace), host.map(text)];
        self.write(SET_WORKSPACE, arguments, Durability::Now).await?.map(drop).ok_or(StoreError::LeaseLost { id })
    }

    async fn set_manifest(&self, id: JobId, lease: u64, manifest: &str) -> Result<(), StoreError> {
        let arguments = bound![DbId(id.0), count(lease), text(manifest)];
        self.write(SET_MANIFEST, arguments, Durability::Now).await?.map(drop).ok_or(StoreError::LeaseLost { id })
    }

    async fn manifests(&self) -> Result<Vec<(JobId, Option<String>)>, StoreError> {
        let rows: Vec<(DbId, Option<String>)> =
            sqlx::query_as(MANIFESTS).fetch_all(&self.readers).await.map_err(|error| self.failed(error))?;
        Ok(rows.into_iter().map(|(id, manifest)| (JobId(id.0), manifest)).collect())
    }

    async fn wake_at(&self, id: JobId, lease: u64, at: Timestamp) -> Result<(), StoreError> {
        let arguments = bound![DbId(id.0), count(lease), DbTime(at)];
        self.write(WAKE_AT, arguments, Durability::Now).await?.map(drop).ok_or(StoreError::LeaseLost { id })
    }

    async fn give_back(
        &self,
        id: JobId,
        lease: u64,
        after_ms: u64,
        failed: Option<&str>,
    ) -> Result<JobStatus, StoreError> {
        let arguments = bound![DbId(id.0), count(lease), lease_ms(after_ms), failed.map(text)];
        let rows = self.write_and_notify(GIVE_BACK, arguments).await?;
        let row = rows.first().ok_or(StoreError::LeaseLost { id })?;
        let status: String = row.try_get(0).map_err(|error| self.failed(error))?;
        RowReader { database: &self.database, row: format!("job {id}") }.word("status", &status)
    }

    async fn sweep(&self) -> Result<Swept, StoreError> {
        let arguments = bound![DEAD, BACKOFF_MS, LONGEST_BACKOFF_MS];
        let swept = self.read(SWEEP, arguments, Durability::Now).await.map(SweptColumns::sorted);
        self.changes.notify();
        swept
    }

    async fn has_work(&self, host: &str, has_store: bool) -> Result<bool, StoreError> {
        let found = sqlx::query_scalar(HAS_WORK).bind(text(host)).bind(has_store).fetch_one(&self.readers).await;
        found.map_err(|error| self.failed(error))
    }

    async fn retry(&self, which: JobTarget) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        Ok(self.write_and_notify(RETRY, bound![job.map(DbId), batch.map(DbId)]).await?.len() as u64)
    }

    async fn hold(&self, which: JobTarget, reason: HoldReason, until: Option<Timestamp>) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        let arguments = bound![job.map(DbId), batch.map(DbId), reason.name(), until.map(DbTime)];
        Ok(self.write_and_notify(HOLD, arguments).await?.len() as u64)
    }

    async fn resume(&self, which: JobTarget) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        Ok(self.write_and_notify(RESUME, bound![job.map(DbId), batch.map(DbId)]).await?.len() as u64)
    }

    async fn cancel(&self, which: JobTarget) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        let arguments = bound![job.map(DbId), batch.map(DbId), NEVER_BEGUN];
        Ok(self.write_and_notify(CANCEL, arguments).await?.len() as u64)
    }

    async fn changed(&self, within: Duration) -> bool {
        self.look_for_change(within).await
    }

    async fn control_signals(&self, worker: Uuid) -> Result<Vec<HeldLease>, StoreError> {
        let rows = sqlx::query_as(SIGNALS).bind(DbId(worker)).fetch_all(&self.readers).await;
        LeaseColumns::by_id(rows.map_err(|error| self.failed(error))?, &self.database)
    }

    async fn keep_held(&self, ids: &[JobId], for_ms: u64) -> Result<Vec<JobId>, StoreError> {
        let arguments = bound![Json(ids.iter().map(|id| id.0).collect::<Vec<_>>()), lease_ms(for_ms)];
        let kept: Vec<(DbId,)> = self.read(KEEP_HELD, arguments, Durability::Now).await?;
        let mut kept: Vec<JobId> = kept.into_iter().map(|(id,)| JobId(id.0)).collect();
        kept.sort_unstable();
        Ok(kept)
    }

    async fn reserve(&self, id: JobId, lease: u64, may_cost_usd: f64) -> Result<Grant, StoreError> {
        let is_unbound = sqlx::query_scalar(IS_UNBOUND)
            .bind(DbId(id.0))
            .bind(count(lease))
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| self.failed(error))?;
        if is_unbound.ok_or(StoreError::LeaseLost { id })? {
            return Ok(Grant::Granted);
        }
        let arguments = bound![DbId(id.0), count(lease), at_most(may_cost_usd)];
        let granted = self.write(RESERVE, arguments, Durability::Soon).await?.ok_or(StoreError::LeaseLost { id })?;
        Ok(Grant::of(granted))
    }

    async fn set_budget(&self, batch: Uuid, usd: Option<f64>) -> Result<(), StoreError> {
        let set = self.write(SET_BUDGET, bound![DbId(batch), finite(usd)], Durability::Now).await?;
        set.map(drop).ok_or(StoreError::NoBatch { name: batch.to_string(), many: false })
    }

    async fn batches_to_end(&self) -> Result<Vec<BatchRow>, StoreError> {
        self.batch_rows(sqlx::query_as(BATCHES_TO_END).fetch_all(&self.readers).await).await
    }

    async fn mark_ended(&self, batch: Uuid) -> Result<bool, StoreError> {
        Ok(self.write(MARK_ENDED, bound![DbId(batch)], Durability::Now).await?.is_some())
    }

    async fn batch(&self, name: &str) -> Result<BatchRow, StoreError> {
        let name = name.trim();
        let newest = "select * from batches where name = $1 order by created desc, id desc limit 1";
        let named = sqlx::query_as(newest).bind(text(name)).fetch_all(&self.readers).await;
        let found: Result<Vec<BatchColumns>, _> = match (named, ids_beginning(name)) {
            (Ok(rows), _) if !rows.is_empty() => Ok(rows),
            (Err(error), _) => Err(error),
            (Ok(_), _) if name == LAST => {
                let last = "select * from batches order by created desc, id desc limit 1";
                sqlx::query_as(last).fetch_all(&self.readers).await
            }
            (Ok(none), None) => Ok(none),
            (Ok(_), Some((first, last))) => {
                sqlx::query_as("select * from batches where id between $1 and $2 order by id limit 2")
                    .bind(DbId(first))
                    .bind(DbId(last))
                    .fetch_all(&self.readers)
                    .await
            }
        };
        let mut rows = found.map_err(|error| self.failed(error))?;
        match (rows.pop(), rows.len()) {
            (None, _) => Err(StoreError::NoBatch { name: name.to_owned(), many: false }),
            (Some(batch), 0) => self.batch_row(batch).await,
            (Some(_), _) => Err(StoreError::NoBatch { name: name.to_owned(), many: true }),
        }
    }

    async fn batches(&self, limit: u32) -> Result<Vec<BatchRow>, StoreError> {
        let rows = sqlx::query_as("select * from batches order by created desc, id desc limit $1")
            .bind(i64::from(limit))
            .fetch_all(&self.readers)
            .await;
        self.batch_rows(rows).await
    }

    async fn totals(&self, batch: Uuid) -> Result<BatchTotals, StoreError> {
        Ok(self.figures(batch).await?.totals)
    }

    async fn depth(&self) -> Result<Vec<(JobStatus, u64)>, StoreError> {
        let rows = sqlx::query_as(DEPTH).fetch_all(&self.readers).await.map_err(|error| self.failed(error))?;
        depth(rows, &self.database)
    }

    async fn batch_entries(&self, batch: Uuid) -> Result<Vec<QueueEntry>, StoreError> {
        let rows: Vec<EntryColumns> = sqlx::query_as(BATCH_ENTRIES)
            .bind(DbId(batch))
            .fetch_all(&self.readers)
            .await
            .map_err(|error| self.failed(error))?;
        rows.into_iter().map(|row| row.row(&self.database)).collect()
    }
}
