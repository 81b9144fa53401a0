//! The queue in SQLite. As one transaction at a time writes, what a claim counts can't change under it.
//!
//! (Statuses are compared with words, never with parameters: an index of part of the rows is then chosen once and for all.)

use super::{
    SqliteStore,
    writer::{Durability, Sql, sql},
};
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
use sqlx::{
    Arguments, FromRow, Row,
    error::BoxDynError,
    sqlite::{SqliteArguments, SqliteRow},
};
use uuid::Uuid;

macro_rules! now {
    () => {
        "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
    };
}

/// So many milliseconds from now, for an expression without side effects.
macro_rules! from_now {
    ($ms:literal) => {
        concat!("strftime('%Y-%m-%dT%H:%M:%fZ', 'now', format('+%d.%03d seconds', ", $ms, " / 1000, ", $ms, " % 1000))")
    };
}

/// What may run now: the rows of the index `jobs_to_claim`.
macro_rules! waiting {
    () => {
        "status = 'queued' and run_after is null and batch is not null"
    };
}

const SUBMIT: Sql = sql!(
    "insert into batches (id, created, name, instructions, instructions_text, instructions_sha256, model, settings,
        budget_usd, time_window)
     values ($1, $2, $8, $3, $9, $4, $5, $10, $11, $12)
     on conflict (id) do nothing;
     insert into job_groups (key, at_once)
     select value ->> 'group_key', min(value ->> 'at_once') from json_each($6)
     where value ->> 'group_key' is not null
     group by 1
     on conflict (key) do update set at_once = excluded.at_once;
     insert into jobs (id, created, instructions, instructions_sha256, documents_sha256, documents, model, workspace, host,
        batch, status, hold_reason, reason, coverage, summary, confidence, notes, deliverables, completed_at, priority,
        run_after, max_attempts, group_key, label, sources, same_as, place_in_line, updated)
     select value ->> 'id', $2, $3, $4, value ->> 'documents_sha256', value ->> 'documents', $5,
        coalesce(done.workspace, ''), done.host, $1,
        case when done.id is not null then 'completed' when value ->> 'is_held' then 'held' else 'queued' end,
        case when done.id is null and value ->> 'is_held' then 'paused' end,
        'done before by job ' || done.id,
        coalesce(done.coverage, 0), done.summary, done.confidence, done.notes, coalesce(done.deliverables, '[]'),
        case when done.id is not null then $2 end,
        value ->> 'priority', case when done.id is null then value ->> 'run_after' end, value ->> 'max_attempts',
        value ->> 'group_key', value ->> 'label', value ->> 'sources', done.id, value ->> 'place_in_line', ",
    now!(),
    " from json_each($6) as given
     left join jobs as done on done.id = (
        select id from jobs
        where $7 and instructions_sha256 = $4 and documents_sha256 = given.value ->> 'documents_sha256'
            and +status = 'completed' and same_as is null
        order by created desc, id desc
        limit 1)
     where true
     on conflict (id) do nothing;
     select count(*), count(same_as) from jobs where batch = $1"
);

/// From one group with waiting jobs to the next, without a look at the jobs between; then as many of each as it has room
/// for, on each machine in line.
const CLAIM: Sql = sql!(
    "update jobs set run_after = null where status = 'queued' and run_after <= ",
    now!(),
    " and batch is not null;
     update jobs set
        status = 'running', hold_reason = null, reason = null, lease = lease + 1, worker = $1, lease_until = ",
    from_now!("$4"),
    ", wants = case when wants = 'pause' then null else wants end, updated = ",
    now!(),
    " where id in (
        with recursive keys (key) as (
            select ''
            union all
            select (select coalesce(group_key, '') from jobs indexed by jobs_to_claim where ",
    waiting!(),
    " and coalesce(group_key, '') > keys.key order by coalesce(group_key, '') limit 1)
            from keys where keys.key is not null
        ), rooms (key, room) as materialized (
            select keys.key, min($3, max(0, coalesce(job_groups.at_once
                - (select count(*) from jobs where group_key = keys.key and status = 'running'), $3)))
            from keys left join job_groups on job_groups.key = keys.key
            where keys.key is not null
        ), machines (host) as materialized (
            select '' union select $2
        ), candidates as (
            select jobs.id, jobs.place_in_line, rooms.room,
                row_number() over (partition by rooms.key order by jobs.place_in_line, jobs.id) as place
            from rooms cross join machines cross join jobs on jobs.id in (
                select waits.id from jobs as waits indexed by jobs_to_claim where ",
    waiting!(),
    " and coalesce(waits.group_key, '') = rooms.key and coalesce(waits.host, '') = machines.host
                order by waits.place_in_line, waits.id
                limit $3)
            where rooms.room > 0
        )
        select id from candidates where place <= room order by place_in_line, id limit $3)
     returning id, lease, batch, created, label, sources, documents, documents_sha256, workspace, host, attempts,
        max_attempts, wants, place_in_line"
);

const ENLIST: Sql = sql!(
    "insert into workers (id, host, pid, started, seen) values ($1, $2, $3, ",
    now!(),
    ", ",
    now!(),
    ") on conflict (id) do update set seen = excluded.seen"
);

const DISMISS: Sql = sql!("delete from workers where id = $1");

const BEAT: Sql = sql!(
    "update workers set seen = ",
    now!(),
    " where id = $1; update jobs set lease_until = ",
    from_now!("$2"),
    " where worker = $1 and status = 'running' returning id, lease, wants"
);

const PLACE: Sql = sql!(
    "update jobs set workspace = $3, host = $4, updated = ",
    now!(),
    " where id = $1 and lease = $2 and worker is not null returning lease"
);

const WAKE_AT: Sql = sql!(
    "update jobs set run_after = $3, updated = ",
    now!(),
    " where id = $1 and lease = $2 and worker is not null returning lease"
);

const GIVE_BACK: Sql = sql!(
    "update jobs set
        status = case
            when $4 is not null and attempts + 1 >= max_attempts then 'failed'
            when wants = 'pause' then 'held'
            else 'queued' end,
        hold_reason = case
            when $4 is not null and attempts + 1 >= max_attempts then null
            when wants = 'pause' then 'paused' end,
        reason = case
            when $4 is not null and attempts + 1 >= max_attempts
            then 'given up after ' || (attempts + 1) || ' attempts; the last one: ' || $4
            else $4 end,
        completed_at = case when $4 is not null and attempts + 1 >= max_attempts then ",
    now!(),
    " end,
        run_after = case
            when $4 is not null and attempts + 1 >= max_attempts or wants = 'pause' or $3 = 0 then null
            else ",
    from_now!("$3"),
    " end,
        wants = case
            when $4 is not null and attempts + 1 >= max_attempts or wants = 'pause' then null
            else wants end,
        attempts = case when $4 is null then attempts else attempts + 1 end,
        worker = null, lease_until = null, updated = ",
    now!(),
    " where id = $1 and lease = $2 and worker is not null and status = 'running' returning status"
);

const SWEEP: Sql = sql!(
    "update jobs set
        status = case when attempts + 1 >= max_attempts then 'failed' when wants = 'pause' then 'held' else 'queued' end,
        hold_reason = case when attempts + 1 < max_attempts and wants = 'pause' then 'paused' end,
        reason = case when attempts + 1 >= max_attempts then $1 end,
        completed_at = case when attempts + 1 >= max_attempts then ",
    now!(),
    " end,
        run_after = case
            when attempts = 0 or attempts + 1 >= max_attempts or wants = 'pause' then null
            else ",
    from_now!("min($2 * (1 << min(attempts - 1, 20)), $3)"),
    " end,
        wants = case when attempts + 1 >= max_attempts or wants = 'pause' then null else wants end,
        attempts = attempts + 1, lease = lease + 1, worker = null, lease_until = null, updated = ",
    now!(),
    " where status = 'running' and batch is not null and (lease_until is null or lease_until < ",
    now!(),
    ") returning id, status, 0 as was_held;
     update jobs set
        status = 'queued', hold_reason = null, reason = null, run_after = null,
        wants = case when wants = 'pause' then null else wants end, updated = ",
    now!(),
    " where status = 'held' and run_after <= ",
    now!(),
    " and batch is not null returning id, status, 1 as was_held;
     delete from workers where seen < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 day')"
);

const RETRY: Sql = sql!(
    "update jobs set
        status = 'queued', attempts = 0, hold_reason = null, reason = null, completed_at = null, run_after = null,
        wants = null, updated = ",
    now!(),
    " where (id = $1 or batch = $2) and batch is not null and status = 'failed' returning lease"
);

const HOLD: Sql = sql!(
    "update jobs set
        status = case when status = 'queued' then 'held' else status end,
        hold_reason = case when status = 'queued' then $3 else hold_reason end,
        reason = case when status = 'queued' then null else reason end,
        run_after = case when status = 'queued' then $4 else run_after end,
        wants = case when status = 'running' then 'pause' else wants end,
        updated = ",
    now!(),
    " where (id = $1 or batch = $2) and batch is not null
        and (status = 'queued' or (status = 'running' and wants is null and $3 = 'paused'))
     returning lease"
);

const RESUME: Sql = sql!(
    "update jobs set
        status = case when status = 'held' then 'queued' else status end,
        hold_reason = null, reason = case when status = 'held' then null else reason end,
        run_after = case when status = 'held' then null else run_after end,
        wants = case when wants = 'pause' then null else wants end,
        updated = ",
    now!(),
    " where (id = $1 or batch = $2) and batch is not null
        and ((status = 'held' and hold_reason is not 'review') or (status = 'running' and wants = 'pause'))
     returning lease"
);

const MANIFEST: &str = "select jobs.*, job_groups.at_once
     from jobs left join job_groups on job_groups.key = jobs.group_key
     where batch = $1
     order by id";

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

    /// Runs a statement on the jobs that a person means.
    async fn on(&self, which: Which, sql: Sql) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        let rows = self.rows(sql, bound![job.map(Id), batch.map(Id)], Durability::Now).await?;
        Ok(rows.len() as u64)
    }

    async fn with_totals(&self, batch: BatchColumns) -> Result<BatchRow, StoreError> {
        let totals = self.totals(batch.id().0).await?;
        batch.row(totals, &self.database)
    }
}

#[async_trait]
impl Queue for SqliteStore {
    async fn submit(&self, batch: &NewBatch, jobs: &[QueuedJob], link_done: bool) -> Result<Submitted, StoreError> {
        let json = jobs_json(batch, jobs).map_err(|error| self.failed(sqlx::Error::Encode(error.into())))?;
        let arguments = bound![
            Id(batch.id),
            Moment(batch.created),
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
        let (jobs, linked) = counts.first().copied().unwrap_or_default();
        let read = Reader { database: &self.database, row: format!("batch {}", batch.id) };
        Ok(Submitted { jobs: read.number("jobs", jobs)?, linked: read.number("linked", linked)? })
    }

    async fn claim_next(
        &self,
        worker: Uuid,
        host: &str,
        most: u32,
        for_ms: u64,
    ) -> Result<Vec<ClaimedJob>, StoreError> {
        let arguments = bound![Id(worker), text(host), i64::from(most), lease_ms(for_ms)];
        let rows: Vec<ClaimedColumns> = self.read(CLAIM, arguments, Durability::Now).await?;
        ClaimedColumns::in_line(rows, &self.database)
    }

    async fn enlist(&self, worker: Uuid, host: &str, pid: u32) -> Result<(), StoreError> {
        let arguments = bound![Id(worker), text(host), i64::from(pid)];
        self.rows(ENLIST, arguments, Durability::Soon).await.map(drop)
    }

    async fn dismiss(&self, worker: Uuid) -> Result<(), StoreError> {
        self.rows(DISMISS, bound![Id(worker)], Durability::Soon).await.map(drop)
    }

    async fn beat(&self, worker: Uuid, for_ms: u64) -> Result<Vec<Beaten>, StoreError> {
        let rows: Vec<BeatenColumns> = self.read(BEAT, bound![Id(worker), lease_ms(for_ms)], Durability::Soon).await?;
        BeatenColumns::by_id(rows, &self.database)
    }

    async fn place(&self, id: JobId, lease: u64, workspace: &str, host: Option<&str>) -> Result<(), StoreError> {
        let arguments = bound![Id(id.0), count(lease), text(workspace), host.map(text)];
        self.write(PLACE, arguments, Durability::Now).await?.map(drop).ok_or(StoreError::LeaseLost { id })
    }

    async fn wake_at(&self, id: JobId, lease: u64, at: Timestamp) -> Result<(), StoreError> {
        let arguments = bound![Id(id.0), count(lease), Moment(at)];
        self.write(WAKE_AT, arguments, Durability::Now).await?.map(drop).ok_or(StoreError::LeaseLost { id })
    }

    async fn give_back(
        &self,
        id: JobId,
        lease: u64,
        after_ms: u64,
        failed: Option<&str>,
    ) -> Result<JobStatus, StoreError> {
        let arguments = bound![Id(id.0), count(lease), lease_ms(after_ms), failed.map(text)];
        let rows = self.rows(GIVE_BACK, arguments, Durability::Now).await?;
        let row = rows.first().ok_or(StoreError::LeaseLost { id })?;
        let status: String = row.try_get(0).map_err(|error| self.failed(error))?;
        Reader { database: &self.database, row: format!("job {id}") }.word("status", &status)
    }

    async fn sweep(&self) -> Result<Swept, StoreError> {
        let arguments = bound![DEAD, BACKOFF_MS, LONGEST_BACKOFF_MS];
        self.read(SWEEP, arguments, Durability::Now).await.map(SweptColumns::sorted)
    }

    async fn retry(&self, which: Which) -> Result<u64, StoreError> {
        self.on(which, RETRY).await
    }

    async fn hold(&self, which: Which, reason: HoldReason, until: Option<Timestamp>) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        let arguments = bound![job.map(Id), batch.map(Id), reason.name(), until.map(Moment)];
        Ok(self.rows(HOLD, arguments, Durability::Now).await?.len() as u64)
    }

    async fn resume(&self, which: Which) -> Result<u64, StoreError> {
        self.on(which, RESUME).await
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
                    .bind(Id(first))
                    .bind(Id(last))
                    .fetch_all(&self.readers)
                    .await
            }
        };
        let mut rows = found.map_err(|error| self.failed(error))?;
        match (rows.pop(), rows.len()) {
            (None, _) => Err(StoreError::NoBatch { name: name.to_owned(), many: false }),
            (Some(batch), 0) => self.with_totals(batch).await,
            (Some(_), _) => Err(StoreError::NoBatch { name: name.to_owned(), many: true }),
        }
    }

    async fn batches(&self, limit: u32) -> Result<Vec<BatchRow>, StoreError> {
        let rows: Vec<BatchColumns> = sqlx::query_as("select * from batches order by created desc, id desc limit $1")
            .bind(i64::from(limit))
            .fetch_all(&self.readers)
            .await
            .map_err(|error| self.failed(error))?;
        let mut batches = Vec::with_capacity(rows.len());
        for row in rows {
            batches.push(self.with_totals(row).await?);
        }
        Ok(batches)
    }

    async fn totals(&self, batch: Uuid) -> Result<Totals, StoreError> {
        let rows = sqlx::query_as("select status, count(*), count(same_as) from jobs where batch = $1 group by status")
            .bind(Id(batch))
            .fetch_all(&self.readers)
            .await
            .map_err(|error| self.failed(error))?;
        totals(rows, &self.database)
    }

    async fn manifest(&self, batch: Uuid) -> Result<Vec<QueueEntry>, StoreError> {
        let rows: Vec<EntryColumns> = sqlx::query_as(MANIFEST)
            .bind(Id(batch))
            .fetch_all(&self.readers)
            .await
            .map_err(|error| self.failed(error))?;
        rows.into_iter().map(|row| row.row(&self.database)).collect()
    }
}
