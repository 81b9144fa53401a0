//! What people are to be told of batches: which of it nobody was told yet, and who tells it now.

use super::StoreError;
use async_trait::async_trait;
use overnight_core::job::time::Timestamp;
use uuid::Uuid;

/// What there is to tell of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeSubject {
    /// All its jobs have ended.
    End,
    /// Jobs have come to need a person, up to that moment.
    Needs { upto: Timestamp },
}

/// A batch of which a worker has taken it upon itself to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticeClaim {
    pub batch: Uuid,
    pub subject: NoticeSubject,
}

/// The reason of a job that a person has paused while it was worked.
pub const PAUSED_BY_PERSON: &str = "paused by a person";

/// The database, for who tells people of batches.
#[async_trait]
pub trait NoticeStore: Send + Sync + std::fmt::Debug {
    /// Takes one batch of which there is something to tell. No other worker gets it until [`Self::notice_told`], or for `for_ms`
    /// milliseconds: what a lost worker had taken is told by another, so it may be told twice, and is told once at least.
    ///
    /// An end is told within a day of it. A need is a job that has failed, or is held for its review, a limit, a budget or a
    /// fault of the configuration, or for an outage that has lasted an hour. Of one batch needs are told every 15 minutes at
    /// most; with `at_once` without that wait. `now` is this database's clock.
    async fn claim_notice(&self, now: Timestamp, at_once: bool, for_ms: u64)
    -> Result<Option<NoticeClaim>, StoreError>;

    /// It was told, or can't be told.
    async fn notice_told(&self, claim: NoticeClaim) -> Result<(), StoreError>;
}
