//! The queue in PostgreSQL. Most calls are one statement and so one transaction; the claim is a function in the database
//! (`migrations/postgres/0002_queue.sql`), because it counts what runs in a group only after it has locked others out.
//! Statements that write several jobs lock them in the order of their ids, so that no two wait for each other.

use super::PostgresStore;
use crate::{
    crash,
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
use uuid::Uuid;

const SUBMIT_BATCH: &str =
    "insert into batches (id, created, name, instructions, instructions_text, instructions_sha256,
        model, settings, budget_usd, time_window)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (id) do nothing";

const SUBMIT_GROUPS: &str = "insert into job_groups (key, at_once)
     select group_key, min(at_once)
     from json_to_recordset($1::json) as given (group_key text, at_once bigint)
     where group_key is not null
     group by group_key
     order by group_key
     on conflict (key) do update set at_once = excluded.at_once";

const SUBMIT_JOBS: &str = "insert into jobs (id, created, instructions, instructions_sha256, documents_sha256, documents,
        model, workspace, host, batch, status, hold_reason, reason, coverage, summary, confidence, notes, deliverables,
        completed_at, priority, run_after, max_attempts, group_key, label, sources, same_as, place_in_line, updated)
     select given.id, $2, $3, $4, given.documents_sha256, given.documents, $5, coalesce(done.workspace, ''), done.host, $1,
        case when done.id is not null then 'completed' when given.is_held then 'held' else 'queued' end,
        case when done.id is null and given.is_held then 'paused' end,
        'done before by job ' || done.id,
        coalesce(done.coverage, 0), done.summary, done.confidence, done.notes, coalesce(done.deliverables, '[]'),
        case when done.id is not null then $2 end,
        given.priority, case when done.id is null then given.run_after end, given.max_attempts, given.group_key,
        given.label, given.sources, done.id, given.place_in_line, clock_timestamp()
     from json_to_recordset($6::json) as given (id uuid, label text, sources text, documents bigint,
        documents_sha256 text, priority bigint, place_in_line bigint, run_after timestamptz, group_key text,
        max_attempts bigint, is_held boolean)
     left join lateral (
        select * from jobs
        where $7 and instructions_sha256 = $4 and documents_sha256 = given.documents_sha256 and status = 'completed'
            and same_as is null
        order by created desc, id desc
        limit 1) as done on true
     on conflict (id) do nothing";

const CLAIM: &str =
    "select id, lease, batch, created, label, sources, documents, documents_sha256, workspace, host, attempts,
        max_attempts, wants, place_in_line
     from overnight_claim($1, $2, $3, $4)";

const BEAT: &str = "with seen as (
        update workers set seen = clock_timestamp() where id = $1
     ), mine as (
        select id from jobs where worker = $1 and status = 'running' order by id for update
     )
     update jobs set lease_until = clock_timestamp() + $2 * interval '1 millisecond'
     from mine
     where jobs.id = mine.id
     returning jobs.id, lease, wants";

const GIVE_BACK: &str = "update jobs set
        status = case
            when $4::text is not null and attempts + 1 >= max_attempts then 'failed'
            when wants = 'pause' then 'held'
            else 'queued' end,
        hold_reason = case
            when $4 is not null and attempts + 1 >= max_attempts then null
            when wants = 'pause' then 'paused' end,
        reason = case
            when $4 is not null and attempts + 1 >= max_attempts
            then 'given up after ' || (attempts + 1) || ' attempts; the last one: ' || $4
            else $4 end,
        completed_at = case
            when $4 is not null and attempts + 1 >= max_attempts then date_trunc('milliseconds', clock_timestamp()) end,
        run_after = case
            when $4 is not null and attempts + 1 >= max_attempts or wants = 'pause' or $3 = 0 then null
            else clock_timestamp() + $3 * interval '1 millisecond' end,
        wants = case
            when $4 is not null and attempts + 1 >= max_attempts or wants = 'pause' then null
            else wants end,
        attempts = case when $4 is null then attempts else attempts + 1 end,
        worker = null, lease_until = null, updated = clock_timestamp()
     where id = $1 and lease = $2 and worker is not null and status = 'running'
     returning status";

const SWEEP: &str = "with late as (
        select id from jobs
        where status = 'running' and batch is not null and (lease_until is null or lease_until < now())
        order by id
        for update skip locked
     ), due as (
        select id from jobs
        where status = 'held' and run_after <= now() and batch is not null
        order by id
        for update skip locked
     ), taken as (
        update jobs set
            status = case
                when attempts + 1 >= max_attempts then 'failed' when wants = 'pause' then 'held' else 'queued' end,
            hold_reason = case when attempts + 1 < max_attempts and wants = 'pause' then 'paused' end,
            reason = case when attempts + 1 >= max_attempts then $1 end,
            completed_at = case when attempts + 1 >= max_attempts then date_trunc('milliseconds', now()) end,
            run_after = case
                when attempts = 0 or attempts + 1 >= max_attempts or wants = 'pause' then null
                else now() + least($2 * (1 << least(attempts - 1, 20)::int), $3) * interval '1 millisecond' end,
            wants = case when attempts + 1 >= max_attempts or wants = 'pause' then null else wants end,
            attempts = attempts + 1, lease = lease + 1, worker = null, lease_until = null, updated = clock_timestamp()
        from late
        where jobs.id = late.id
        returning jobs.id, status
     ), woken as (
        update jobs set
            status = 'queued', hold_reason = null, reason = null, run_after = null,
            wants = case when wants = 'pause' then null else wants end, updated = clock_timestamp()
        from due
        where jobs.id = due.id
        returning jobs.id, status
     ), forgotten as (
        delete from workers where seen < now() - interval '1 day'
     )
     select id, status, false as was_held from taken
     union all
     select id, status, true from woken";

const RETRY: &str = "update jobs set
        status = 'queued', attempts = 0, hold_reason = null, reason = null, completed_at = null, run_after = null,
        wants = null, updated = clock_timestamp()
     where id in (
        select id from jobs where (id = $1 or batch = $2) and batch is not null and status = 'failed' order by id for update)";

const HOLD: &str = "update jobs set
        status = case when status = 'queued' then 'held' else status end,
        hold_reason = case when status = 'queued' then $3 else hold_reason end,
        reason = case when status = 'queued' then null else reason end,
        run_after = case when status = 'queued' then $4 else run_after end,
        wants = case when status = 'running' then 'pause' else wants end,
        updated = clock_timestamp()
     where id in (
        select id from jobs
        where (id = $1 or batch = $2) and batch is not null
            and (status = 'queued' or (status = 'running' and wants is null and $3 = 'paused'))
        order by id
        for update)";

const RESUME: &str = "update jobs set
        status = case when status = 'held' then 'queued' else status end,
        hold_reason = null, reason = case when status = 'held' then null else reason end,
        run_after = case when status = 'held' then null else run_after end,
        wants = case when wants = 'pause' then null else wants end,
        updated = clock_timestamp()
     where id in (
        select id from jobs
        where (id = $1 or batch = $2) and batch is not null
            and ((status = 'held' and hold_reason is distinct from 'review') or (status = 'running' and wants = 'pause'))
        order by id
        for update)";

const MANIFEST: &str = "select jobs.*, job_groups.at_once
     from jobs left join job_groups on job_groups.key = jobs.group_key
     where batch = $1
     order by id";

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
            crash::point("store.submit.jobs");
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
