//! Models that answer later, as batch endpoints do: a call is submitted, and its answer fetched minutes or hours later.

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
    /// The provider's handle for the call.
    pub handle: String,
    /// The longest time that an answer may take.
    pub within: Duration,
}

/// Facts about an answer beside the reply itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerFacts {
    /// The provider's name for the batch that had the call.
    pub batch: Option<String>,
    /// USD that were paid in advance, apart from the call itself.
    pub primer_usd: Option<f64>,
}

/// The state of a submitted call.
#[derive(Clone, Debug, PartialEq)]
pub enum LaterAnswer {
    /// Its answer is still to come.
    Pending,
    Replied(Box<Reply>, AnswerFacts),
    /// No answer will come: the call failed, expired or was lost.
    Failed(Failure),
}

/// A call that may be submitted.
#[derive(Clone, Copy, Debug)]
pub struct LaterCall<'a> {
    pub request: Request<'a>,
    /// The name under which it is submitted.
    pub key: &'a str,
    pub job: JobId,
    /// An answer that comes later is of no use.
    pub until: Option<Timestamp>,
    /// Tokens of the expected reply.
    pub output_tokens: u64,
    /// The attempts made for this turn.
    pub attempts: Attempts,
}

/// The side of a model that answers later.
#[async_trait]
pub trait LaterAnswers: Send + Sync + std::fmt::Debug {
    /// Whether submitting a call is worthwhile; if not, it is made immediately.
    fn is_worth(&self, _: &LaterCall<'_>) -> bool {
        true
    }

    /// Submits a call under its name. A call already submitted under that name is found again, not submitted twice.
    async fn submit(&self, call: LaterCall<'_>) -> Result<TakenCall, Failure>;

    /// The handles of those calls that have come to an end.
    async fn ended(&self, handles: &[String]) -> Result<BTreeSet<String>, Failure>;

    /// The state of a call with this prompt. The error states why it is unknown now.
    async fn answer(&self, handle: &str, prompt: &Prompt) -> Result<LaterAnswer, Failure>;

    /// The answers of these calls are on the disk and need not be kept any longer.
    async fn forget(&self, _: &[String]) -> Result<(), Failure> {
        Ok(())
    }

    /// A job that had submitted calls has ended without their answers: gives up at the provider what no job waits for any more.
    async fn withdraw(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// The interval at which to poll the provider.
    fn every(&self) -> Duration;
}
