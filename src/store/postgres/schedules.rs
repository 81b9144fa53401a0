//! Schedules in PostgreSQL. Each call is one statement, and so one transaction.

use super::PostgresStore;
use crate::store::{
    StoreError,
    schedules::{NewSchedule, ScheduleColumns, ScheduleRow, Schedules, submission_json},
    value::{DbId, DbTime, count, lease_ms, text},
};
use async_trait::async_trait;
use overnight_core::job::time::Timestamp;
use sqlx::{
    Postgres,
    postgres::{PgArguments, PgRow},
    query::Query,
};
use uuid::Uuid;

const ADD: &str = "with added as (
        insert into schedules (id, name, created, cron, timezone, submission, make_up_ms, may_overlap, next_run)
        values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9)
        on conflict do nothing
        returning 1)
     select 1 where exists (select 1 from added) or exists (select 1 from schedules where id = $1 and name = $2)";

const REMOVE: &str = "delete from schedules where id = $1 returning 1";

const PAUSE: &str = "update schedules set enabled = false, next_run = null where id = $1 and enabled returning 1";

const RESUME: &str = "update schedules set enabled = true, next_run = $2 where id = $1 and not enabled returning 1";

const DUE: &str = "select * from schedules
     where (run is null and next_run <= $1) or (run is not null and run_until <= clock_timestamp())";

const BEGIN_RUN: &str = "update schedules set
        next_run = $3, run = $4, run_until = clock_timestamp() + $5 * interval '1 millisecond'
     where id = $1 and next_run is not distinct from $2 and run is null
     returning 1";

const TAKE_OVER_RUN: &str = "update schedules set run_until = clock_timestamp() + $3 * interval '1 millisecond'
     where id = $1 and run = $2 and run_until <= clock_timestamp()
     returning 1";

const RENEW_RUN: &str = "update schedules set run_until = clock_timestamp() + $3 * interval '1 millisecond'
     where id = $1 and run = $2
     returning 1";

const END_RUN: &str = "update schedules set
        run = null, run_until = null, note = $4,
        last_run = case when $3::uuid is null then last_run else run end, last_batch = coalesce($3, last_batch)
     where id = $1 and run = $2
     returning 1";

impl PostgresStore {
    /// Whether a write took effect: whether it gave a row.
    async fn took_effect(&self, write: Query<'_, Postgres, PgArguments>) -> Result<bool, StoreError> {
        self.within(async {
            let row: Result<Option<PgRow>, _> = write.fetch_optional(&self.pool).await;
            row.map(|row| row.is_some()).map_err(|error| self.failed(error))
        })
        .await
    }
}

#[async_trait]
impl Schedules for PostgresStore {
    async fn clock(&self) -> Result<Timestamp, StoreError> {
        self.within(async {
            let now = sqlx::query_scalar("select clock_timestamp()").fetch_one(&self.pool).await;
            now.map(|DbTime(now)| now).map_err(|error| self.failed(error))
        })
        .await
    }

    async fn add_schedule(&self, schedule: &NewSchedule, next_run: Timestamp) -> Result<bool, StoreError> {
        let json =
            submission_json(&schedule.command).map_err(|error| self.failed(sqlx::Error::Encode(error.into())))?;
        let add = sqlx::query(ADD)
            .bind(DbId(schedule.id))
            .bind(text(&schedule.name))
            .bind(DbTime(schedule.created))
            .bind(text(&schedule.cron))
            .bind(text(&schedule.timezone))
            .bind(json)
            .bind(count(schedule.make_up_ms))
            .bind(schedule.may_overlap)
            .bind(DbTime(next_run));
        self.took_effect(add).await
    }

    async fn schedules(&self) -> Result<Vec<ScheduleRow>, StoreError> {
        self.within(async {
            let rows = sqlx::query_as("select * from schedules").fetch_all(&self.pool).await;
            ScheduleColumns::rows(rows.map_err(|error| self.failed(error))?, &self.database.name)
        })
        .await
    }

    async fn remove_schedule(&self, id: Uuid) -> Result<bool, StoreError> {
        self.took_effect(sqlx::query(REMOVE).bind(DbId(id))).await
    }

    async fn pause_schedule(&self, id: Uuid) -> Result<bool, StoreError> {
        self.took_effect(sqlx::query(PAUSE).bind(DbId(id))).await
    }

    async fn resume_schedule(&self, id: Uuid, next_run: Timestamp) -> Result<bool, StoreError> {
        self.took_effect(sqlx::query(RESUME).bind(DbId(id)).bind(DbTime(next_run))).await
    }

    async fn due(&self, now: Timestamp) -> Result<Vec<ScheduleRow>, StoreError> {
        self.within(async {
            let rows = sqlx::query_as(DUE).bind(DbTime(now)).fetch_all(&self.pool).await;
            ScheduleColumns::rows(rows.map_err(|error| self.failed(error))?, &self.database.name)
        })
        .await
    }

    async fn begin_run(
        &self,
        id: Uuid,
        before: Option<Timestamp>,
        next: Option<Timestamp>,
        run: Timestamp,
        for_ms: u64,
    ) -> Result<bool, StoreError> {
        let begin = sqlx::query(BEGIN_RUN)
            .bind(DbId(id))
            .bind(before.map(DbTime))
            .bind(next.map(DbTime))
            .bind(DbTime(run))
            .bind(lease_ms(for_ms));
        self.took_effect(begin).await
    }

    async fn take_over_run(&self, id: Uuid, run: Timestamp, for_ms: u64) -> Result<bool, StoreError> {
        self.took_effect(sqlx::query(TAKE_OVER_RUN).bind(DbId(id)).bind(DbTime(run)).bind(lease_ms(for_ms))).await
    }

    async fn renew_run(&self, id: Uuid, run: Timestamp, for_ms: u64) -> Result<bool, StoreError> {
        self.took_effect(sqlx::query(RENEW_RUN).bind(DbId(id)).bind(DbTime(run)).bind(lease_ms(for_ms))).await
    }

    async fn end_run(
        &self,
        id: Uuid,
        run: Timestamp,
        batch: Option<Uuid>,
        note: Option<&str>,
    ) -> Result<bool, StoreError> {
        let end = sqlx::query(END_RUN).bind(DbId(id)).bind(DbTime(run)).bind(batch.map(DbId)).bind(note.map(text));
        self.took_effect(end).await
    }
}
