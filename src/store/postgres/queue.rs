//! The queue in PostgreSQL. Most calls are one statement and so one transaction; the claim is a function in the database
//! (`migrations/postgres/0002_queue.sql`), because it counts what runs in a group only after it has locked others out.

mod statements;

use super::PostgresStore;
use crate::{
    job::{
        id::JobId,
        record::{HoldReason, JobStatus},
        time::Timestamp,
    },
    store::{
        StoreError,
        connect::LAST,
        queue::{
            BACKOFF_MS, BatchColumns, BatchRow, Beaten, BeatenColumns, ClaimedColumns, ClaimedJob, DEAD, EntryColumns,
            LONGEST_BACKOFF_MS, NewBatch, Queue, QueueEntry, QueuedJob, Submitted, Swept, SweptColumns, Totals, Which,
            jobs_json, settings_json, totals,
        },
        row::Reader,
        value::{Id, Moment, count, finite, ids_beginning, lease_ms, text, text_or_null},
    },
};
use async_trait::async_trait;
use statements::{
    BEAT, CLAIM, GIVE_BACK, HOLD, MANIFEST, RESUME, RETRY, SUBMIT_BATCH, SUBMIT_GROUPS, SUBMIT_JOBS, SWEEP,
};
use uuid::Uuid;

impl PostgresStore {
    /// Runs one statement on the jobs that a person means.
    async fn on(&self, which: Which, sql: &'static str) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        self.within(async {
            let done = sqlx::query(sql).bind(job.map(Id)).bind(batch.map(Id)).execute(&self.pool).await;
            done.map(|done| done.rows_affected()).map_err(|error| self.failed(error))
        })
        .await
    }

    async fn with_totals(&self, batch: BatchColumns) -> Result<BatchRow, StoreError> {
        let totals = self.totals(batch.id().0).await?;
        batch.row(totals, &self.database.name)
    }
}

#[async_trait]
impl Queue for PostgresStore {
    async fn submit(&self, batch: &NewBatch, jobs: &[QueuedJob], link_done: bool) -> Result<Submitted, StoreError> {
        let json = jobs_json(batch, jobs).map_err(|error| self.failed(sqlx::Error::Encode(error.into())))?;
        self.within(async {
            let mut transaction = self.begin().await?;
            sqlx::query(SUBMIT_BATCH)
                .bind(Id(batch.id))
                .bind(Moment(batch.created))
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
            sqlx::query(SUBMIT_JOBS)
                .bind(Id(batch.id))
                .bind(Moment(batch.created))
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
                    .bind(Id(batch.id))
                    .fetch_one(&mut *transaction)
                    .await
                    .map_err(|error| self.failed(error))?;
            self.commit(transaction).await?;
            let read = Reader { database: &self.database.name, row: format!("batch {}", batch.id) };
            Ok(Submitted { jobs: read.number("jobs", jobs)?, linked: read.number("linked", linked)? })
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
            let rows: Vec<ClaimedColumns> = sqlx::query_as(CLAIM)
                .bind(Id(worker))
                .bind(text(host))
                .bind(i64::from(most))
                .bind(lease_ms(for_ms))
                .fetch_all(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
            ClaimedColumns::in_line(rows, &self.database.name)
        })
        .await
    }

    async fn enlist(&self, worker: Uuid, host: &str, pid: u32) -> Result<(), StoreError> {
        self.within(async {
            sqlx::query(
                "insert into workers (id, host, pid, started, seen)
                 values ($1, $2, $3, clock_timestamp(), clock_timestamp())
                 on conflict (id) do update set seen = excluded.seen",
            )
            .bind(Id(worker))
            .bind(text(host))
            .bind(i64::from(pid))
            .execute(&self.pool)
            .await
            .map(drop)
            .map_err(|error| self.failed(error))
        })
        .await
    }

    async fn dismiss(&self, worker: Uuid) -> Result<(), StoreError> {
        self.within(async {
            let gone = sqlx::query("delete from workers where id = $1").bind(Id(worker)).execute(&self.pool).await;
            gone.map(drop).map_err(|error| self.failed(error))
        })
        .await
    }

    async fn beat(&self, worker: Uuid, for_ms: u64) -> Result<Vec<Beaten>, StoreError> {
        self.within(async {
            let rows: Vec<BeatenColumns> = sqlx::query_as(BEAT)
                .bind(Id(worker))
                .bind(lease_ms(for_ms))
                .fetch_all(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
            BeatenColumns::by_id(rows, &self.database.name)
        })
        .await
    }

    async fn place(&self, id: JobId, lease: u64, workspace: &str, host: Option<&str>) -> Result<(), StoreError> {
        self.within(async {
            let placed = sqlx::query(
                "update jobs set workspace = $3, host = $4, updated = clock_timestamp()
                 where id = $1 and lease = $2 and worker is not null",
            )
            .bind(Id(id.0))
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

    async fn wake_at(&self, id: JobId, lease: u64, at: Timestamp) -> Result<(), StoreError> {
        self.within(async {
            let set = sqlx::query(
                "update jobs set run_after = $3, updated = clock_timestamp()
                 where id = $1 and lease = $2 and worker is not null",
            )
            .bind(Id(id.0))
            .bind(count(lease))
            .bind(Moment(at))
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
                .bind(Id(id.0))
                .bind(count(lease))
                .bind(lease_ms(after_ms))
                .bind(failed.map(text))
                .fetch_optional(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
            let status = status.ok_or(StoreError::LeaseLost { id })?;
            Reader { database: &self.database.name, row: format!("job {id}") }.word("status", &status)
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

    async fn retry(&self, which: Which) -> Result<u64, StoreError> {
        self.on(which, RETRY).await
    }

    async fn hold(&self, which: Which, reason: HoldReason, until: Option<Timestamp>) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        self.within(async {
            let held = sqlx::query(HOLD)
                .bind(job.map(Id))
                .bind(batch.map(Id))
                .bind(reason.name())
                .bind(until.map(Moment))
                .execute(&self.pool)
                .await;
            held.map(|held| held.rows_affected()).map_err(|error| self.failed(error))
        })
        .await
    }

    async fn resume(&self, which: Which) -> Result<u64, StoreError> {
        self.on(which, RESUME).await
    }

    async fn batch(&self, name: &str) -> Result<BatchRow, StoreError> {
        let name = name.trim();
        let found: Result<Vec<BatchColumns>, _> = self
            .within(async {
                let newest = "select * from batches where name = $1 order by created desc, id desc limit 1";
                let named = sqlx::query_as(newest).bind(text(name)).fetch_all(&self.pool).await;
                Ok(match (named, ids_beginning(name)) {
                    (Ok(rows), _) if !rows.is_empty() => Ok(rows),
                    (Err(error), _) => Err(error),
                    (Ok(_), _) if name == LAST => {
                        let last = "select * from batches order by created desc, id desc limit 1";
                        sqlx::query_as(last).fetch_all(&self.pool).await
                    }
                    (Ok(none), None) => Ok(none),
                    (Ok(_), Some((first, last))) => {
                        sqlx::query_as("select * from batches where id between $1 and $2 order by id limit 2")
                            .bind(Id(first))
                            .bind(Id(last))
                            .fetch_all(&self.pool)
                            .await
                    }
                })
            })
            .await?;
        let mut rows = found.map_err(|error| self.failed(error))?;
        match (rows.pop(), rows.len()) {
            (None, _) => Err(StoreError::NoBatch { name: name.to_owned(), many: false }),
            (Some(batch), 0) => self.with_totals(batch).await,
            (Some(_), _) => Err(StoreError::NoBatch { name: name.to_owned(), many: true }),
        }
    }

    async fn batches(&self, limit: u32) -> Result<Vec<BatchRow>, StoreError> {
        let rows: Vec<BatchColumns> = self
            .within(async {
                sqlx::query_as("select * from batches order by created desc, id desc limit $1")
                    .bind(i64::from(limit))
                    .fetch_all(&self.pool)
                    .await
                    .map_err(|error| self.failed(error))
            })
            .await?;
        let mut batches = Vec::with_capacity(rows.len());
        for row in rows {
            batches.push(self.with_totals(row).await?);
        }
        Ok(batches)
    }

    async fn totals(&self, batch: Uuid) -> Result<Totals, StoreError> {
        self.within(async {
            let rows =
                sqlx::query_as("select status, count(*), count(same_as) from jobs where batch = $1 group by status")
                    .bind(Id(batch))
                    .fetch_all(&self.pool)
                    .await
                    .map_err(|error| self.failed(error))?;
            totals(rows, &self.database.name)
        })
        .await
    }

    async fn manifest(&self, batch: Uuid) -> Result<Vec<QueueEntry>, StoreError> {
        self.within(async {
            let rows: Vec<EntryColumns> = sqlx::query_as(MANIFEST)
                .bind(Id(batch))
                .fetch_all(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
            rows.into_iter().map(|row| row.row(&self.database.name)).collect()
        })
        .await
    }
}
