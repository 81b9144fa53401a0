//! Notices to people about batches: those still to be sent, and the worker that sends them.

use super::StoreError;
use async_trait::async_trait;
use overnight_core::job::time::Timestamp;
use uuid::Uuid;

/// The subject of a notice about a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeSubject {
    /// All its jobs have ended.
    End,
    /// Jobs need a person, as of this moment.
    Needs { upto: Timestamp },
}

/// A batch about which a worker has undertaken to send a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticeClaim {
    pub batch: Uuid,
    pub subject: NoticeSubject,
}

/// The reason of a job that a person has paused while it was worked.
pub const PAUSED_BY_PERSON: &str = "paused by a person";

/// The database, for workers that send notices about batches.
#[async_trait]
pub trait NoticeStore: Send + Sync + std::fmt::Debug {
    /// Takes one batch with a notice to send. No other worker gets it until [`Self::notice_told`], or for `for_ms`
    /// milliseconds: another worker sends the notice of a lost one, so it may be sent twice, and is sent at least once.
    ///
    /// A notice of an end is sent within a day of it. A need is a job that has failed, or is held for its review, a
    /// limit, a budget or a fault of the configuration, or for an outage that has lasted an hour. Needs of one batch
    /// are reported every 15 minutes at most; with `at_once` without that wait. `now` is this database's clock.
    async fn claim_notice(&self, now: Timestamp, at_once: bool, for_ms: u64)
    -> Result<Option<NoticeClaim>, StoreError>;

    /// The notice was sent, or can't be sent.
    async fn notice_told(&self, claim: NoticeClaim) -> Result<(), StoreError>;
}
