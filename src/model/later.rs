//! Models that answer later: a call is handed in, and its answer is fetched in minutes or hours, as batch endpoints have it.

use super::{Failure, Request};
use async_trait::async_trait;
use overnight_core::message::Reply;
use std::{collections::BTreeSet, time::Duration};

/// A call that a provider has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenCall {
    /// The provider's name for it.
    pub handle: String,
    /// How long an answer may take.
    pub within: Duration,
}

/// What became of a call that was handed in.
#[derive(Clone, Debug, PartialEq)]
pub enum LaterAnswer {
    /// Its answer is still to come.
    Pending,
    Replied(Box<Reply>),
    /// No answer comes: it failed, expired or is lost.
    Failed(Failure),
}

/// The side of a model that answers later.
#[async_trait]
pub trait LaterAnswers: Send + Sync + std::fmt::Debug {
    /// Hands a call in under a name. What was handed in under that name before is found again, and is not handed in twice.
    async fn submit(&self, key: &str, request: Request<'_>) -> Result<TakenCall, Failure>;

    /// Which of these calls have come to an end, by their handles.
    async fn ended(&self, handles: &[String]) -> Result<BTreeSet<String>, Failure>;

    /// What became of a call. The error says why that isn't known now.
    async fn answer(&self, handle: &str) -> Result<LaterAnswer, Failure>;

    /// How often its provider is to be asked.
    fn every(&self) -> Duration;
}
