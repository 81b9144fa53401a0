//! Schedules in SQLite.

use super::{
    SqliteStore,
    writer::{Durability, Sql, sql},
};
use crate::store::{
    StoreError,
    schedules::{NewSchedule, ScheduleColumns, ScheduleRow, Schedules, submission_json},
    value::{DbId, DbTime, count, lease_ms, text},
};
use async_trait::async_trait;
use overnight_core::job::time::Timestamp;
use sqlx::{Arguments, error::BoxDynError, sqlite::SqliteArguments};
use uuid::Uuid;

macro_rules! now {
    () => {
        "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
    };
}

/// So many milliseconds from now.
macro_rules! from_now {
    ($ms:literal) => {
        concat!("strftime('%Y-%m-%dT%H:%M:%fZ', 'now', format('+%d.%03d seconds', ", $ms, " / 1000, ", $ms, " % 1000))")
    };
}

/// The parameters of a statement, in their order.
macro_rules! given {
    ($($value:expr),+ $(,)?) => {
        (|| -> Result<SqliteArguments, BoxDynError> {
            let mut arguments = SqliteArguments::default();
            $(arguments.add($value)?;)+
            Ok(arguments)
        })()
    };
}

const ADD: Sql = sql!(
    "insert into schedules (id, name, created, cron, timezone, submission, make_up_ms, may_overlap, next_run)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict do nothing;
     select 1 from schedules where id = $1 and name = $2"
);

const REMOVE: Sql = sql!("delete from schedules where id = $1 returning 1");

const PAUSE: Sql = sql!("update schedules set enabled = 0, next_run = null where id = $1 and enabled returning 1");

const RESUME: Sql = sql!("update schedules set enabled = 1, next_run = $2 where id = $1 and not enabled returning 1");

const BEGIN_RUN: Sql = sql!(
    "update schedules set next_run = $3, run = $4, run_until = ",
    from_now!("$5"),
    " where id = $1 and next_run is $2 and run is null returning 1"
);

const TAKE_OVER_RUN: Sql = sql!(
    "update schedules set run_until = ",
    from_now!("$3"),
    " where id = $1 and run = $2 and run_until <= ",
    now!(),
    " returning 1"
);

const RENEW_RUN: Sql =
    sql!("update schedules set run_until = ", from_now!("$3"), " where id = $1 and run = $2 returning 1");

const END_RUN: Sql = sql!(
    "update schedules set
        run = null, run_until = null, note = $4,
        last_run = case when $3 is null then last_run else run end, last_batch = coalesce($3, last_batch)
     where id = $1 and run = $2
     returning 1"
);

impl SqliteStore {
    /// Whether a write took effect.
    async fn took_effect(&self, sql: Sql, arguments: Result<SqliteArguments, BoxDynError>) -> Result<bool, StoreError> {
        self.write(sql, arguments, Durability::Now).await.map(|number| number.is_some())
    }
}

#[async_trait]
impl Schedules for SqliteStore {
    async fn clock(&self) -> Result<Timestamp, StoreError> {
        let now = sqlx::query_scalar(concat!("select ", now!())).fetch_one(&self.readers).await;
        now.map(|DbTime(now)| now).map_err(|error| self.failed(error))
    }

    async fn add_schedule(&self, schedule: &NewSchedule, next_run: Timestamp) -> Result<bool, StoreError> {
        let json =
            submission_json(&schedule.command).map_err(|error| self.failed(sqlx::Error::Encode(error.into())))?;
        let arguments = given![
            DbId(schedule.id),
            text(&schedule.name),
            DbTime(schedule.created),
            text(&schedule.cron),
            text(&schedule.timezone),
            json,
            count(schedule.make_up_ms),
            schedule.may_overlap,
            DbTime(next_run),
        ];
        self.took_effect(ADD, arguments).await
    }

    async fn schedules(&self) -> Result<Vec<ScheduleRow>, StoreError> {
        let rows = sqlx::query_as("select * from schedules").fetch_all(&self.readers).await;
        ScheduleColumns::rows(rows.map_err(|error| self.failed(error))?, &self.database)
    }

    async fn remove_schedule(&self, id: Uuid) -> Result<bool, StoreError> {
        self.took_effect(REMOVE, given![DbId(id)]).await
    }

    async fn pause_schedule(&self, id: Uuid) -> Result<bool, StoreError> {
        self.took_effect(PAUSE, given![DbId(id)]).await
    }

    async fn resume_schedule(&self, id: Uuid, next_run: Timestamp) -> Result<bool, StoreError> {
        self.took_effect(RESUME, given![DbId(id), DbTime(next_run)]).await
    }

    async fn due(&self, now: Timestamp) -> Result<Vec<ScheduleRow>, StoreError> {
        let due = concat!(
            "select * from schedules where (run is null and next_run <= $1) or (run is not null and run_until <= ",
            now!(),
            ")"
        );
        let rows = sqlx::query_as(due).bind(DbTime(now)).fetch_all(&self.readers).await;
        ScheduleColumns::rows(rows.map_err(|error| self.failed(error))?, &self.database)
    }

    async fn begin_run(
        &self,
        id: Uuid,
        before: Option<Timestamp>,
        next: Option<Timestamp>,
        run: Timestamp,
        for_ms: u64,
    ) -> Result<bool, StoreError> {
        let arguments = given![DbId(id), before.map(DbTime), next.map(DbTime), DbTime(run), lease_ms(for_ms)];
        self.took_effect(BEGIN_RUN, arguments).await
    }

    async fn take_over_run(&self, id: Uuid, run: Timestamp, for_ms: u64) -> Result<bool, StoreError> {
        self.took_effect(TAKE_OVER_RUN, given![DbId(id), DbTime(run), lease_ms(for_ms)]).await
    }

    async fn renew_run(&self, id: Uuid, run: Timestamp, for_ms: u64) -> Result<bool, StoreError> {
        self.took_effect(RENEW_RUN, given![DbId(id), DbTime(run), lease_ms(for_ms)]).await
    }

    async fn end_run(
        &self,
        id: Uuid,
        run: Timestamp,
        batch: Option<Uuid>,
        note: Option<&str>,
    ) -> Result<bool, StoreError> {
        self.took_effect(END_RUN, given![DbId(id), DbTime(run), batch.map(DbId), note.map(text)]).await
    }
}
