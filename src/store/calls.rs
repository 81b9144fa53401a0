//! Model calls that were submitted for a provider's batch endpoint: gathered over all jobs and workers, sent together,
//! kept until their jobs have taken the answers. A batch is recorded before it is sent, and the provider's handle
//! after: so a worker that continues after a crash knows what to search for.

use super::{
    StoreError,
    columns::columns,
    value::{DbId, DbTime},
};
use async_trait::async_trait;
use overnight_core::job::{id::JobId, time::Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// A submitted call.
#[derive(Clone, Debug, PartialEq)]
pub struct HandedCall {
    /// The job's name for the call: nothing is submitted twice under the same name.
    pub key: String,
    pub job: JobId,
    /// The model, its server and the key that it is asked with.
    pub lane: String,
    /// Identifies the prefix that calls with the same beginning share.
    pub prefix: String,
    pub prefix_tokens: u64,
    pub tokens: u64,
    /// The time until which an answer is awaited.
    pub until: Option<Timestamp>,
    /// The request's body.
    pub body: String,
}

/// A call that waits to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatheredCall {
    pub key: String,
    pub prefix: String,
    pub prefix_tokens: u64,
    pub tokens: u64,
    pub bytes: u64,
    pub until: Option<Timestamp>,
    /// The time at which it was submitted, by the submitter's clock.
    pub handed: Timestamp,
}

/// A batch that was sent to a provider, or was about to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderBatch {
    /// Its name here, and at the provider where that takes one.
    pub id: Uuid,
    /// The provider's name; none: it isn't known whether it was created.
    pub handle: Option<String>,
    pub calls: u64,
    /// The tokens of all prompts and replies.
    pub tokens: u64,
    pub intended: Timestamp,
    pub until: Option<Timestamp>,
    /// Whether the provider was asked to cancel it.
    pub is_cancelled: bool,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum HandedEnd {
    /// The provider's reply as it came.
    Replied(String),
    /// The failure, in the form that the sender stored.
    Failed(Value),
}

/// The state of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum HandedState {
    /// There is no such call, or no longer.
    Unknown,
    Waiting,
    Ended(AnsweredCall),
}

/// A call that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct AnsweredCall {
    pub end: HandedEnd,
    /// The provider's handle of the batch that contained it.
    pub batch: Option<String>,
    /// USD of a request that was sent for it and others before.
    pub primer_usd: Option<f64>,
}

/// The database, for calls that are answered later.
#[async_trait]
pub trait CallStore: Send + Sync + std::fmt::Debug {
    /// Stores a call, unless one with its name exists.
    async fn hand_in(&self, call: &HandedCall) -> Result<(), StoreError>;

    /// Those of these calls that no longer wait: they have ended, or don't exist.
    async fn no_longer_waiting(&self, keys: &[String]) -> Result<BTreeSet<String>, StoreError>;

    /// The state of a call.
    async fn handed_state(&self, key: &str) -> Result<HandedState, StoreError>;

    /// Deletes calls whose answers are safe elsewhere.
    async fn forget_handed(&self, keys: &[String]) -> Result<(), StoreError>;

    /// Takes a lane for `for_ms` milliseconds, or keeps it; false: another process has it.
    async fn hold_lane(&self, lane: &str, who: Uuid, for_ms: u64) -> Result<bool, StoreError>;

    /// Gives it back.
    async fn free_lane(&self, lane: &str, who: Uuid) -> Result<(), StoreError>;

    /// The times until which the provider caches the prefixes of a lane's calls, by prefix.
    async fn primed(&self, lane: &str) -> Result<BTreeMap<String, Timestamp>, StoreError>;

    /// Stores those times.
    async fn set_primed(&self, lane: &str, primed: &BTreeMap<String, Timestamp>) -> Result<(), StoreError>;

    /// The calls of a lane that wait to be sent, of jobs that still want them, first come first.
    async fn gathered(&self, lane: &str) -> Result<Vec<GatheredCall>, StoreError>;

    /// The bodies of calls, by their names.
    async fn handed_bodies(&self, keys: &[String]) -> Result<Vec<(String, String)>, StoreError>;

    /// Writes down that these calls are about to be sent together.
    async fn intend_batch(&self, batch: &ProviderBatch, lane: &str, keys: &[String]) -> Result<(), StoreError>;

    /// Records the provider's handle of a batch.
    async fn batch_created(&self, id: Uuid, handle: &str) -> Result<(), StoreError>;

    /// Records that the provider was asked to cancel a batch.
    async fn batch_cancelled(&self, id: Uuid) -> Result<(), StoreError>;

    /// It was not created, or the provider did none of it: its calls are gathered again.
    async fn release_batch(&self, id: Uuid) -> Result<(), StoreError>;

    /// The batches of a lane that were sent, or were about to be, and have not ended.
    async fn open_batches(&self, lane: &str) -> Result<Vec<ProviderBatch>, StoreError>;

    /// Those of them that the provider was not asked to cancel, and of whose calls no job wants an answer any more.
    async fn unwanted_batches(&self, lane: &str) -> Result<Vec<ProviderBatch>, StoreError>;

    /// The handles of all batches that are known, ended ones too.
    async fn known_handles(&self) -> Result<BTreeSet<String>, StoreError>;

    /// The calls of a batch, in the order in which they are sent.
    async fn calls_of_batch(&self, id: Uuid) -> Result<Vec<String>, StoreError>;

    /// Stores the cost of a primer that was sent for a call.
    async fn set_primer_cost(&self, key: &str, usd: Option<f64>) -> Result<(), StoreError>;

    /// Ends calls; those that have ended stay as they are.
    async fn end_handed(&self, ends: &[(String, HandedEnd)]) -> Result<(), StoreError>;

    /// Marks a batch as ended, with what became of it. Batches that ended a week ago are forgotten.
    async fn batch_ended(&self, id: Uuid, outcome: &str) -> Result<(), StoreError>;
}

columns! {
    pub(super) struct GatheredColumns {
        key: String,
        prefix: String,
        prefix_tokens: i64,
        tokens: i64,
        bytes: i64,
        until: Option<DbTime>,
        handed: DbTime,
    }
}

impl From<GatheredColumns> for GatheredCall {
    fn from(row: GatheredColumns) -> Self {
        Self {
            key: row.key,
            prefix: row.prefix,
            prefix_tokens: row.prefix_tokens.unsigned_abs(),
            tokens: row.tokens.unsigned_abs(),
            bytes: row.bytes.unsigned_abs(),
            until: row.until.map(|until| until.0),
            handed: row.handed.0,
        }
    }
}

columns! {
    pub(super) struct ProviderBatchColumns {
        id: DbId,
        handle: Option<String>,
        calls: i64,
        tokens: i64,
        intended: DbTime,
        until: Option<DbTime>,
        cancelled: bool,
    }
}

impl From<ProviderBatchColumns> for ProviderBatch {
    fn from(row: ProviderBatchColumns) -> Self {
        Self {
            id: row.id.0,
            handle: row.handle,
            calls: row.calls.unsigned_abs(),
            tokens: row.tokens.unsigned_abs(),
            intended: row.intended.0,
            until: row.until.map(|until| until.0),
            is_cancelled: row.cancelled,
        }
    }
}

columns! {
    pub(super) struct HandedColumns {
        reply: Option<String>,
        failure: Option<String>,
        primer_usd: Option<f64>,
        handle: Option<String>,
    }
}

impl From<HandedColumns> for HandedState {
    fn from(row: HandedColumns) -> Self {
        let end = match (row.reply, row.failure) {
            (Some(reply), _) => HandedEnd::Replied(reply),
            (None, Some(failure)) => {
                HandedEnd::Failed(serde_json::from_str(&failure).unwrap_or(Value::String(failure)))
            }
            (None, None) => return Self::Waiting,
        };
        Self::Ended(AnsweredCall { end, batch: row.handle, primer_usd: row.primer_usd })
    }
}
