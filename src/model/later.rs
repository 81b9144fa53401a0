//! Models that answer later: a call is handed in, and its answer is fetched in minutes or hours, as batch endpoints have it.

use super::{Failure, Request};
use async_trait::async_trait;
use overnight_core::{
    job::{failure::Attempts, id::JobId, time::Timestamp},
    message::{Prompt, Reply},
};
use std::{collections::BTreeSet, time::Duration};

/// A call that a provider has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenCall {
    /// The provider's name for it.
    pub handle: String,
    /// How long an answer may take.
    pub within: Duration,
}

/// What is known of an answer beside the reply itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerFacts {
    /// The provider's name for the batch that had the call.
    pub batch: Option<String>,
    /// USD that was paid before it, beside the call itself.
    pub primer_usd: Option<f64>,
}

/// What became of a call that was handed in.
#[derive(Clone, Debug, PartialEq)]
pub enum LaterAnswer {
    /// Its answer is still to come.
    Pending,
    Replied(Box<Reply>, AnswerFacts),
    /// No answer comes: it failed, expired or is lost.
    Failed(Failure),
}

/// A call that may be handed in.
#[derive(Clone, Copy, Debug)]
pub struct LaterCall<'a> {
    pub request: Request<'a>,
    /// The name under which it is handed in.
    pub key: &'a str,
    pub job: JobId,
    /// An answer that comes later is of no use.
    pub until: Option<Timestamp>,
    /// Tokens of the reply that is expected.
    pub output_tokens: u64,
    /// What was tried for this turn.
    pub attempts: Attempts,
}

/// The side of a model that answers later.
#[async_trait]
pub trait LaterAnswers: Send + Sync + std::fmt::Debug {
    /// Whether a call is worth being handed in; else it is asked for at once.
    fn is_worth(&self, _: &LaterCall<'_>) -> bool {
        true
    }

    /// Hands a call in under its name. What was handed in under that name before is found again, and is not handed in twice.
    async fn submit(&self, call: LaterCall<'_>) -> Result<TakenCall, Failure>;

    /// Which of these calls have come to an end, by their handles.
    async fn ended(&self, handles: &[String]) -> Result<BTreeSet<String>, Failure>;

    /// What became of a call with this prompt. The error says why that isn't known now.
    async fn answer(&self, handle: &str, prompt: &Prompt) -> Result<LaterAnswer, Failure>;

    /// The answers of these calls are on the disk: nobody needs to keep them any more.
    async fn forget(&self, _: &[String]) -> Result<(), Failure> {
        Ok(())
    }

    /// How often its provider is to be asked.
    fn every(&self) -> Duration;
}
