//! The queue in PostgreSQL. Most calls are one statement and so one transaction; the claim is a function in the database
//! (`migrations/postgres/0002_queue.sql`), because it counts what runs in a group only after it has locked others out.

mod batches;
mod statements;

use super::{PostgresStore, changes};
use crate::store::{
    StoreError,
    queue::{
        BACKOFF_MS, BatchRow, BatchTotals, ClaimedColumns, ClaimedJob, DEAD, Enqueued, EntryColumns, Grant, HeldLease,
        JobTarget, LONGEST_BACKOFF_MS, LeaseColumns, NEVER_BEGUN, NewBatch, Queue, QueueEntry, QueuedJob, Swept,
        SweptColumns, depth, jobs_json, settings_json,
    },
    row::RowReader,
    value::{DbId, DbTime, count, finite, lease_ms, text, text_or_null},
};
use async_trait::async_trait;
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use statements::{
    BATCH_ENTRIES, CANCEL, CLAIM, DEPTH, GIVE_BACK, HAS_WORK, HEARTBEAT, HOLD, KEEP_HELD, RESUME, RETRY, SIGNALS,
    SUBMIT_BATCH, SUBMIT_GROUPS, SUBMIT_JOBS, SWEEP, WORKERS_AT_WORK,
};
use std::time::Duration;
use uuid::Uuid;

impl PostgresStore {
    /// Runs one statement on the jobs that a person means.
    async fn on(&self, which: JobTarget, sql: &'static str) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        self.within(async {
            let done: Result<i64, _> =
                sqlx::query_scalar(sql).bind(job.map(DbId)).bind(batch.map(DbId)).fetch_one(&self.pool).await;
            self.number(done)
        })
        .await
    }

    fn number(&self, counted: Result<i64, sqlx::Error>) -> Result<u64, StoreError> {
        let read = RowReader { database: &self.database.name, row: "a count".to_owned() };
        read.number("count", counted.map_err(|error| self.failed(error))?)
    }
}

#[async_trait]
impl Queue for PostgresStore {
    async fn submit(&self, batch: &NewBatch, jobs: &[QueuedJob], link_done: bool) -> Result<Enqueued, StoreError> {
        let json = jobs_json(batch, jobs).map_err(|error| self.failed(sqlx::Error::Encode(error.into())))?;
        self.within(async {
            let mut transaction = self.begin().await?;
            sqlx::query(SUBMIT_BATCH)
                .bind(DbId(batch.id))
                .bind(DbTime(batch.created))
                .bind(text_or_null(batch.name.as_ref()))
                .bind(text(&batch.instructions))
                .bind(text(&batch.instructions_text))
                .bind(text(&batch.instructions_sha256))
                .bind(text(&batch.model))
                .bind(settings_json(batch))
                .bind(finite(batch.budget_usd))
                .bind(text_or_null(batch.time_window.as_ref()))
                .execute(&mut *transaction)
                .await
                .map_err(|error| self.failed(error))?;
            sqlx::query(SUBMIT_GROUPS)
                .bind(&json)
                .execute(&mut *transaction)
                .await
                .map_err(|error| self.failed(error))?;
            let written = sqlx::query(SUBMIT_JOBS)
                .bind(DbId(batch.id))
                .bind(DbTime(batch.created))
                .bind(text(&batch.instructions))
                .bind(text(&batch.instructions_sha256))
                .bind(text(&batch.model))
                .bind(&json)
                .bind(link_done)
                .execute(&mut *transaction)
                .await
                .map_err(|error| self.failed(error))?;
            let (jobs, linked): (i64, i64) =
                sqlx::query_as("select count(*), count(same_as) from jobs where batch = $1")
                    .bind(DbId(batch.id))
                    .fetch_one(&mut *transaction)
                    .await
                    .map_err(|error| self.failed(error))?;
            sqlx::query("select overnight_tell($1)")
                .bind(count(written.rows_affected()))
                .execute(&mut *transaction)
                .await
                .map_err(|error| self.failed(error))?;
            self.commit(transaction).await?;
            let read = RowReader { database: &self.database.name, row: format!("batch {}", batch.id) };
            Ok(Enqueued { jobs: read.number("jobs", jobs)?, linked: read.number("linked", linked)? })
        })
        .await
    }

    async fn claim_next(
        &self,
        worker: Uuid,
        host: &str,
        most: u32,
        for_ms: u64,
    ) -> Result<Vec<ClaimedJob>, StoreError> {
        self.within(async {
            let mut kept = self.claims.lock().await;
            let (mut connection, _) = kept.connection(&self.pool).await.map_err(|error| self.failed(error))?;
            let rows: Vec<ClaimedColumns> = sqlx::query_as(CLAIM)
                .bind(DbId(worker))
                .bind(text(host))
                .bind(i64::from(most))
                .bind(lease_ms(for_ms))
                .fetch_all(&mut connection)
                .await
                .map_err(|error| self.failed(error))?;
            kept.put_back(connection);
            ClaimedColumns::in_line(rows, &self.database.name)
        })
        .await
    }

    async fn register_worker(&self, worker: Uuid, host: &str, pid: u32, has_store: bool) -> Result<(), StoreError> {
        self.within(async {
            sqlx::query(
                "insert into workers (id, host, pid, has_depot, started, seen)
                 values ($1, $2, $3, $4, clock_timestamp(), clock_timestamp())
                 on conflict (id) do update set seen = excluded.seen",
            )
            .bind(DbId(worker))
            .bind(text(host))
            .bind(i64::from(pid))
            .bind(has_store)
            .execute(&self.pool)
            .await
            .map(drop)
            .map_err(|error| self.failed(error))
        })
        .await
    }

    async fn forget_worker(&self, worker: Uuid) -> Result<(), StoreError> {
        self.within(async {
            let gone = sqlx::query("delete from workers where id = $1").bind(DbId(worker)).execute(&self.pool).await;
            gone.map(drop).map_err(|error| self.failed(error))
        })
        .await
    }

    async fn workers_at_work(&self) -> Result<u64, StoreError> {
        self.within(async {
            let found = sqlx::query_scalar(WORKERS_AT_WORK).fetch_one(&self.pool).await;
            found.map(i64::unsigned_abs).map_err(|error| self.failed(error))
        })
        .await
    }

    async fn heartbeat(&self, worker: Uuid, for_ms: u64) -> Result<Vec<HeldLease>, StoreError> {
        self.within(async {
            let rows: Vec<LeaseColumns> = sqlx::query_as(HEARTBEAT)
                .bind(DbId(worker))
                .bind(lease_ms(for_ms))
                .fetch_all(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
            LeaseColumns::by_id(rows, &self.database.name)
        })
        .await
    }

    async fn set_workspace(
        &self,
        id: JobId,
        lease: u64,
        workspace: &str,
        host: Option<&str>,
    ) -> Result<(), StoreError> {
        self.within(async {
            let placed = sqlx::query(
                "update jobs set workspace = $3, host = $4, updated = clock_timestamp()
                 where id = $1 and lease = $2 and worker is not null",
            )
            .bind(DbId(id.0))
            .bind(count(lease))
            .bind(text(workspace))
            .bind(host.map(text))
            .execute(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
            if placed.rows_affected() == 0 { Err(StoreError::LeaseLost { id }) } else { Ok(()) }
        })
        .await
    }

    async fn set_manifest(&self, id: JobId, lease: u64, manifest: &str) -> Result<(), StoreError> {
        self.within(async {
            let pointed = sqlx::query(
                "update jobs set manifest = $3, host = null, updated = clock_timestamp()
                 where id = $1 and lease = $2 and worker is not null",
            )
            .bind(DbId(id.0))
            .bind(count(lease))
            .bind(text(manifest))
            .execute(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
            if pointed.rows_affected() == 0 { Err(StoreError::LeaseLost { id }) } else { Ok(()) }
        })
        .await
    }

    async fn manifests(&self) -> Result<Vec<(JobId, Option<String>)>, StoreError> {
        self.within(async {
            let rows = sqlx::query_as("select id, manifest from jobs").fetch_all(&self.pool).await;
            let rows: Vec<(DbId, Option<String>)> = rows.map_err(|error| self.failed(error))?;
            Ok(rows.into_iter().map(|(id, manifest)| (JobId(id.0), manifest)).collect())
        })
        .await
    }

    async fn wake_at(&self, id: JobId, lease: u64, at: Timestamp) -> Result<(), StoreError> {
        self.within(async {
            let set = sqlx::query(
                "update jobs set run_after = $3, updated = clock_timestamp()
                 where id = $1 and lease = $2 and worker is not null",
            )
            .bind(DbId(id.0))
            .bind(count(lease))
            .bind(DbTime(at))
            .execute(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
            if set.rows_affected() == 0 { Err(StoreError::LeaseLost { id }) } else { Ok(()) }
        })
        .await
    }

    async fn give_back(
        &self,
        id: JobId,
        lease: u64,
        after_ms: u64,
        failed: Option<&str>,
    ) -> Result<JobStatus, StoreError> {
        self.within(async {
            let status: Option<String> = sqlx::query_scalar(GIVE_BACK)
                .bind(DbId(id.0))
                .bind(count(lease))
                .bind(lease_ms(after_ms))
                .bind(failed.map(text))
                .fetch_optional(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
            let status = status.ok_or(StoreError::LeaseLost { id })?;
            RowReader { database: &self.database.name, row: format!("job {id}") }.word("status", &status)
        })
        .await
    }

    async fn sweep(&self) -> Result<Swept, StoreError> {
        self.within(async {
            let rows: Vec<SweptColumns> = sqlx::query_as(SWEEP)
                .bind(DEAD)
                .bind(BACKOFF_MS)
                .bind(LONGEST_BACKOFF_MS)
                .fetch_all(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
            Ok(SweptColumns::sorted(rows))
        })
        .await
    }

    async fn has_work(&self, host: &str, has_store: bool) -> Result<bool, StoreError> {
        self.within(async {
            let found = sqlx::query_scalar(HAS_WORK).bind(text(host)).bind(has_store).fetch_one(&self.pool).await;
            found.map_err(|error| self.failed(error))
        })
        .await
    }

    async fn retry(&self, which: JobTarget) -> Result<u64, StoreError> {
        self.on(which, RETRY).await
    }

    async fn hold(&self, which: JobTarget, reason: HoldReason, until: Option<Timestamp>) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        self.within(async {
            let held: Result<i64, _> = sqlx::query_scalar(HOLD)
                .bind(job.map(DbId))
                .bind(batch.map(DbId))
                .bind(reason.name())
                .bind(until.map(DbTime))
                .fetch_one(&self.pool)
                .await;
            self.number(held)
        })
        .await
    }

    async fn resume(&self, which: JobTarget) -> Result<u64, StoreError> {
        self.on(which, RESUME).await
    }

    async fn cancel(&self, which: JobTarget) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        self.within(async {
            let cancelled: Result<i64, _> = sqlx::query_scalar(CANCEL)
                .bind(job.map(DbId))
                .bind(batch.map(DbId))
                .bind(NEVER_BEGUN)
                .fetch_one(&self.pool)
                .await;
            self.number(cancelled)
        })
        .await
    }

    async fn changed(&self, within: Duration) -> bool {
        self.changes.get_or_init(|| changes::listen(self.options.clone())).wait(within).await
    }

    async fn control_signals(&self, worker: Uuid) -> Result<Vec<HeldLease>, StoreError> {
        self.within(async {
            let rows: Vec<LeaseColumns> = sqlx::query_as(SIGNALS)
                .bind(DbId(worker))
                .fetch_all(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
            LeaseColumns::by_id(rows, &self.database.name)
        })
        .await
    }

    async fn keep_held(&self, ids: &[JobId], for_ms: u64) -> Result<Vec<JobId>, StoreError> {
        self.within(async {
            let kept: Vec<Uuid> = sqlx::query_scalar(KEEP_HELD)
                .bind(ids.iter().map(|id| id.0).collect::<Vec<_>>())
                .bind(lease_ms(for_ms))
                .fetch_all(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
            let mut kept: Vec<JobId> = kept.into_iter().map(JobId).collect();
            kept.sort_unstable();
            Ok(kept)
        })
        .await
    }

    async fn reserve(&self, id: JobId, lease: u64, may_cost_usd: f64) -> Result<Grant, StoreError> {
        self.within(self.reserved(id, lease, may_cost_usd)).await
    }

    async fn set_budget(&self, batch: Uuid, usd: Option<f64>) -> Result<(), StoreError> {
        self.within(self.budget_set(batch, usd)).await
    }

    async fn batches_to_end(&self) -> Result<Vec<BatchRow>, StoreError> {
        self.within(self.ended_batches()).await
    }

    async fn mark_ended(&self, batch: Uuid) -> Result<bool, StoreError> {
        self.within(self.marked_ended(batch)).await
    }

    async fn batch(&self, name: &str) -> Result<BatchRow, StoreError> {
        self.within(self.batch_named(name.trim())).await
    }

    async fn batches(&self, limit: u32) -> Result<Vec<BatchRow>, StoreError> {
        self.within(self.newest_batches(limit)).await
    }

    async fn totals(&self, batch: Uuid) -> Result<BatchTotals, StoreError> {
        self.within(async { Ok(self.figures(batch).await?.totals) }).await
    }

    async fn depth(&self) -> Result<Vec<(JobStatus, u64)>, StoreError> {
        self.within(async {
            let rows = sqlx::query_as(DEPTH).fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
            depth(rows, &self.database.name)
        })
        .await
    }

    async fn batch_entries(&self, batch: Uuid) -> Result<Vec<QueueEntry>, StoreError> {
        self.within(async {
            let rows: Vec<EntryColumns> = sqlx::query_as(BATCH_ENTRIES)
                .bind(DbId(batch))
                .fetch_all(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
            rows.into_iter().map(|row| row.row(&self.database.name)).collect()
        })
        .await
    }
}
