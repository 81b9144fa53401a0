//! Schedules in SQL.

use super::{Durability, Engine, SqlStatement};
use crate::store::{
    StoreError,
    schedules::{NewSchedule, ScheduleColumns, ScheduleRow, ScheduleStore, submission_json},
    value::{DbTime, lease_ms, values},
};
use async_trait::async_trait;
use overnight_core::job::time::Timestamp;
use uuid::Uuid;

const ADD: &str =
    "insert into schedules (id, name, created, cron, timezone, submission, make_up_ms, may_overlap, next_run)
     values ($1, $2, $3, $4, $5, {json $6}, $7, $8, $9)
     on conflict do nothing";

const DUE: &str = "select * from schedules
     where (run is null and next_run <= $1) or (run is not null and run_until <= {now})";

const PAUSE: &str = "update schedules set enabled = false, next_run = null where id = $1 and enabled returning id";

const RESUME: &str = "update schedules set enabled = true, next_run = $2 where id = $1 and not enabled returning id";

const MOVE_RUN: &str = "update schedules set next_run = $3 where id = $1 and next_run = $2 and enabled returning id";

const BEGIN_RUN: &str = "update schedules set next_run = $3, run = $4, run_until = {from_now $5}
     where id = $1 and next_run is not distinct from $2 and run is null
     returning id";

const TAKE_OVER_RUN: &str = "update schedules set run_until = {from_now $3}
     where id = $1 and run = $2 and run_until <= {now}
     returning id";

const RENEW_RUN: &str = "update schedules set run_until = {from_now $3} where id = $1 and run = $2 returning id";

const END_RUN: &str = "update schedules set
        run = null, run_until = null, note = $4,
        last_run = case when $3 is null then last_run else run end, last_batch = coalesce($3, last_batch)
     where id = $1 and run = $2
     returning id";

#[async_trait]
impl<E: Engine> ScheduleStore for E {
    async fn clock(&self) -> Result<Timestamp, StoreError> {
        let now: Vec<(DbTime,)> = self.query("select {now}", values![]).await?;
        Ok(now.first().map_or_else(Timestamp::default, |(now,)| now.0))
    }

    async fn add_schedule(&self, schedule: &NewSchedule, next_run: Timestamp) -> Result<bool, StoreError> {
        let row = values![
            schedule.id,
            &schedule.name,
            schedule.created,
            &schedule.cron,
            &schedule.timezone,
            submission_json(&schedule.command),
            schedule.make_up_ms,
            schedule.may_overlap,
            next_run
        ];
        let is_there = "select id from schedules where id = $1 and name = $2";
        let statements =
            vec![SqlStatement::new(ADD, row), SqlStatement::new(is_there, values![schedule.id, &schedule.name])];
        let added: Vec<()> = self.write(statements, Durability::Now).await?;
        Ok(!added.is_empty())
    }

    async fn schedules(&self) -> Result<Vec<ScheduleRow>, StoreError> {
        ScheduleColumns::rows(self.query("select * from schedules", values![]).await?, self.database())
    }

    async fn remove_schedule(&self, id: Uuid) -> Result<bool, StoreError> {
        self.take_effect("delete from schedules where id = $1 returning id", values![id], Durability::Now).await
    }

    async fn pause_schedule(&self, id: Uuid) -> Result<bool, StoreError> {
        self.take_effect(PAUSE, values![id], Durability::Now).await
    }

    async fn resume_schedule(&self, id: Uuid, next_run: Timestamp) -> Result<bool, StoreError> {
        self.take_effect(RESUME, values![id, next_run], Durability::Now).await
    }

    async fn move_run(&self, id: Uuid, before: Timestamp, next: Timestamp) -> Result<bool, StoreError> {
        self.take_effect(MOVE_RUN, values![id, before, next], Durability::Now).await
    }

    async fn due(&self, now: Timestamp) -> Result<Vec<ScheduleRow>, StoreError> {
        ScheduleColumns::rows(self.query(DUE, values![now]).await?, self.database())
    }

    async fn begin_run(
        &self,
        id: Uuid,
        before: Option<Timestamp>,
        next: Option<Timestamp>,
        run: Timestamp,
        for_ms: u64,
    ) -> Result<bool, StoreError> {
        self.take_effect(BEGIN_RUN, values![id, before, next, run, lease_ms(for_ms)], Durability::Now).await
    }

    async fn take_over_run(&self, id: Uuid, run: Timestamp, for_ms: u64) -> Result<bool, StoreError> {
        self.take_effect(TAKE_OVER_RUN, values![id, run, lease_ms(for_ms)], Durability::Now).await
    }

    async fn renew_run(&self, id: Uuid, run: Timestamp, for_ms: u64) -> Result<bool, StoreError> {
        self.take_effect(RENEW_RUN, values![id, run, lease_ms(for_ms)], Durability::Now).await
    }

    async fn end_run(
        &self,
        id: Uuid,
        run: Timestamp,
        batch: Option<Uuid>,
        note: Option<&str>,
    ) -> Result<bool, StoreError> {
        self.take_effect(END_RUN, values![id, run, batch, note], Durability::Now).await
    }
}
