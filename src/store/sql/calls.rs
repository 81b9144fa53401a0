//! Calls that are answered later, in SQL.

use super::{Durability, Engine, SqlStatement};
use crate::store::{
    StoreError,
    calls::{
        CallStore, GatheredCall, GatheredColumns, HandedCall, HandedColumns, HandedEnd, HandedState, ProviderBatch,
        ProviderBatchColumns,
    },
    value::{lease_ms, values},
};
use async_trait::async_trait;
use overnight_core::job::time::Timestamp;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

const HAND_IN: &str =
    "insert into handed_calls (key, job, lane, prefix, prefix_tokens, tokens, bytes, handed, until, body)
     values ($1, $2, $3, $4, $5, $6, $7, {now_ms}, $8, $9)
     on conflict (key) do nothing";

const STILL_WAITING: &str = "select handed_calls.key from handed_calls
     join {given $1: key text} on handed_calls.key = given.key
     where reply is null and failure is null";

const STATE: &str = "select reply, failure, primer_usd, handle from handed_calls
     left join provider_batches on provider_batches.id = provider_batch
     where key = $1";

/// (While a batch is open, its calls are needed for their places in it.)
const FORGET: &str = "delete from handed_calls
     where key in (select given.key from {given $1: key text})
        and not exists (select 1 from provider_batches where id = provider_batch and ended is null)";

const ADD_LANE: &str = "insert into call_lanes (lane) values ($1) on conflict (lane) do nothing";

const HOLD_LANE: &str = "update call_lanes set held_by = $2, held_until = {from_now $3}
     where lane = $1 and (held_by is null or held_by = $2 or held_until <= {now})
     returning lane";

const FREE_LANE: &str = "update call_lanes set held_by = null, held_until = null where lane = $1 and held_by = $2";

/// (Who has ended, or is held, doesn't want an answer now.)
const GATHERED: &str = "select handed_calls.key, prefix, prefix_tokens, tokens, bytes, until, handed from handed_calls
     join jobs on jobs.id = handed_calls.job
     where lane = $1 and reply is null and failure is null and provider_batch is null
        and jobs.status in ('queued', 'running', 'waiting')
     order by handed, handed_calls.key";

const BODIES: &str = "select handed_calls.key, body from handed_calls
     join {given $1: key text} on handed_calls.key = given.key
     where body is not null
     order by handed, handed_calls.key";

const INTEND: &str = "insert into provider_batches (id, lane, calls, tokens, intended, until)
     values ($1, $2, $3, $4, {now_ms}, $5)
     on conflict (id) do nothing";

const ASSIGN: &str = "update handed_calls set provider_batch = $1
     where key in (select given.key from {given $2: key text}) and provider_batch is null";

const OPEN_BATCHES: &str = "select id, handle, calls, tokens, intended, until, cancelled from provider_batches
     where lane = $1 and ended is null
     order by intended, id";

/// (What is held goes on one day, and its answer is paid for. Where every call has its answer, there is nothing to give up.)
const UNWANTED_BATCHES: &str = "select id, handle, calls, tokens, intended, until, cancelled from provider_batches
     where lane = $1 and ended is null and not cancelled
        and exists (
            select 1 from handed_calls
            where provider_batch = provider_batches.id and reply is null and failure is null)
        and not exists (
            select 1 from handed_calls join jobs on jobs.id = handed_calls.job
            where provider_batch = provider_batches.id and reply is null and failure is null
                and jobs.status in ('queued', 'running', 'waiting', 'held'))
     order by intended, id";

const CALLS_OF_BATCH: &str = "select key from handed_calls where provider_batch = $1 order by handed, key";

const END: &str = "update handed_calls set reply = given.reply, failure = given.failure, body = null
     from {given $1: key text, reply text, failure text}
     where handed_calls.key = given.key and handed_calls.reply is null and handed_calls.failure is null";

#[async_trait]
impl<E: Engine> CallStore for E {
    async fn hand_in(&self, call: &HandedCall) -> Result<(), StoreError> {
        let row = values![
            &call.key,
            call.job,
            &call.lane,
            &call.prefix,
            call.prefix_tokens,
            call.tokens,
            call.body.len() as u64,
            call.until,
            &call.body
        ];
        done(self, vec![SqlStatement::new(HAND_IN, row)]).await
    }

    async fn no_longer_waiting(&self, keys: &[String]) -> Result<BTreeSet<String>, StoreError> {
        let waiting: Vec<(String,)> = self.query(STILL_WAITING, values![given(keys)]).await?;
        let waiting: BTreeSet<String> = waiting.into_iter().map(|(key,)| key).collect();
        Ok(keys.iter().filter(|key| !waiting.contains(*key)).cloned().collect())
    }

    async fn handed_state(&self, key: &str) -> Result<HandedState, StoreError> {
        let rows: Vec<HandedColumns> = self.query(STATE, values![key]).await?;
        Ok(rows.into_iter().next().map_or(HandedState::Unknown, HandedState::from))
    }

    async fn forget_handed(&self, keys: &[String]) -> Result<(), StoreError> {
        done(self, vec![SqlStatement::new(FORGET, values![given(keys)])]).await
    }

    async fn hold_lane(&self, lane: &str, who: Uuid, for_ms: u64) -> Result<bool, StoreError> {
        let add = SqlStatement::new(ADD_LANE, values![lane]);
        let take = SqlStatement::new(HOLD_LANE, values![lane, who, lease_ms(for_ms)]);
        let held: Vec<(String,)> = self.write(vec![add, take], Durability::Now).await?;
        Ok(!held.is_empty())
    }

    async fn free_lane(&self, lane: &str, who: Uuid) -> Result<(), StoreError> {
        done(self, vec![SqlStatement::new(FREE_LANE, values![lane, who])]).await
    }

    async fn primed(&self, lane: &str) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        let (primed,): (String,) = self.one("select primed from call_lanes where lane = $1", values![lane]).await?;
        Ok(serde_json::from_str(&primed).unwrap_or_default())
    }

    async fn set_primed(&self, lane: &str, primed: &BTreeMap<String, Timestamp>) -> Result<(), StoreError> {
        let noted = values![lane, json!(primed).to_string()];
        done(self, vec![SqlStatement::new("update call_lanes set primed = $2 where lane = $1", noted)]).await
    }

    async fn gathered(&self, lane: &str) -> Result<Vec<GatheredCall>, StoreError> {
        let rows: Vec<GatheredColumns> = self.query(GATHERED, values![lane]).await?;
        Ok(rows.into_iter().map(GatheredCall::from).collect())
    }

    async fn handed_bodies(&self, keys: &[String]) -> Result<Vec<(String, String)>, StoreError> {
        self.query(BODIES, values![given(keys)]).await
    }

    async fn intend_batch(&self, batch: &ProviderBatch, lane: &str, keys: &[String]) -> Result<(), StoreError> {
        let intend = SqlStatement::new(INTEND, values![batch.id, lane, batch.calls, batch.tokens, batch.until]);
        let assign = SqlStatement::new(ASSIGN, values![batch.id, given(keys)]);
        done(self, vec![intend, assign]).await
    }

    async fn batch_created(&self, id: Uuid, handle: &str) -> Result<(), StoreError> {
        let named = "update provider_batches set handle = $2 where id = $1";
        done(self, vec![SqlStatement::new(named, values![id, handle])]).await
    }

    async fn batch_cancelled(&self, id: Uuid) -> Result<(), StoreError> {
        let told = "update provider_batches set cancelled = true where id = $1";
        done(self, vec![SqlStatement::new(told, values![id])]).await
    }

    async fn release_batch(&self, id: Uuid) -> Result<(), StoreError> {
        let release = "update handed_calls set provider_batch = null
             where provider_batch = $1 and reply is null and failure is null";
        let forget = "delete from provider_batches where id = $1";
        done(self, [release, forget].map(|template| SqlStatement::new(template, values![id])).into()).await
    }

    async fn open_batches(&self, lane: &str) -> Result<Vec<ProviderBatch>, StoreError> {
        let rows: Vec<ProviderBatchColumns> = self.query(OPEN_BATCHES, values![lane]).await?;
        Ok(rows.into_iter().map(ProviderBatch::from).collect())
    }

    async fn unwanted_batches(&self, lane: &str) -> Result<Vec<ProviderBatch>, StoreError> {
        let rows: Vec<ProviderBatchColumns> = self.query(UNWANTED_BATCHES, values![lane]).await?;
        Ok(rows.into_iter().map(ProviderBatch::from).collect())
    }

    async fn known_handles(&self) -> Result<BTreeSet<String>, StoreError> {
        let known = "select handle from provider_batches where handle is not null";
        let rows: Vec<(String,)> = self.query(known, values![]).await?;
        Ok(rows.into_iter().map(|(handle,)| handle).collect())
    }

    async fn calls_of_batch(&self, id: Uuid) -> Result<Vec<String>, StoreError> {
        let rows: Vec<(String,)> = self.query(CALLS_OF_BATCH, values![id]).await?;
        Ok(rows.into_iter().map(|(key,)| key).collect())
    }

    async fn set_primer_cost(&self, key: &str, usd: Option<f64>) -> Result<(), StoreError> {
        let noted = "update handed_calls set primer_usd = $2 where key = $1";
        done(self, vec![SqlStatement::new(noted, values![key, usd])]).await
    }

    async fn end_handed(&self, ends: &[(String, HandedEnd)]) -> Result<(), StoreError> {
        let rows = ends.iter().map(|(key, end)| match end {
            HandedEnd::Replied(reply) => json!({"key": key, "reply": reply, "failure": null}),
            HandedEnd::Failed(why) => json!({"key": key, "reply": null, "failure": why.to_string()}),
        });
        let rows: Vec<serde_json::Value> = rows.collect();
        done(self, vec![SqlStatement::new(END, values![json!(rows).to_string()])]).await
    }

    async fn batch_ended(&self, id: Uuid, outcome: &str) -> Result<(), StoreError> {
        let end = "update provider_batches set ended = {now_ms}, outcome = $2 where id = $1";
        let forget = "delete from provider_batches where ended < {ago 7 days}";
        let forget_calls =
            "delete from handed_calls where handed < {ago 7 days} and (reply is not null or failure is not null)";
        let statements = vec![
            SqlStatement::new(end, values![id, outcome]),
            SqlStatement::new(forget, values![]),
            SqlStatement::new(forget_calls, values![]),
        ];
        done(self, statements).await
    }
}

/// Runs statements that return nothing.
async fn done<E: Engine>(engine: &E, statements: Vec<SqlStatement>) -> Result<(), StoreError> {
    let _: Vec<(String,)> = engine.write(statements, Durability::Now).await?;
    Ok(())
}

/// The names as a parameter of the statements.
fn given(keys: &[String]) -> String {
    let keys: Vec<serde_json::Value> = keys.iter().map(|key| json!({"key": key})).collect();
    json!(keys).to_string()
}
