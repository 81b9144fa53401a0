//! The models that answer a prompt. Every model receives the same prompt and nothing else.
//!
//! - `rules`: the embedded model `offline`; `scripted`: replies from a file; `replay`: replies from a journal
//! - `remote`: models behind HTTP, in four wire formats
//! - `endpoint`: the state that all jobs of a process share about one such server: its circuit breaker and its limits
//! - `later`: models whose answers come later
//! - `retry`: when to try again after a failed attempt
//! - `table`: quirks and prices of models; `repair`: repairs malformed replies

pub mod endpoint;
mod error;
pub mod later;
pub mod repair;

pub mod remote;
pub mod replay;
pub mod retry;
pub mod rules;
pub mod scripted;
pub mod table;

pub use error::ModelError;
pub use overnight_core::job::failure::{Failure, FailureKind, Remedy};

use async_trait::async_trait;
use chrono::NaiveDate;
use endpoint::Endpoint;
use later::LaterAnswers;
use overnight_core::{
    job::models::Tier,
    message::{Prompt, Reply, Usage},
};
use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::AtomicU64},
};

/// One call of a model.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub prompt: &'a Prompt,
    /// The number of the turn, from 1, counting this model's turns only: turns that other models answered are left out.
    pub turn: u64,
    /// The conversation of the job; 0 is its own.
    pub conversation: u32,
    /// The number of the turn in that conversation, from 1.
    pub turn_of_conversation: u64,
    /// Bytes of the reply so far, counted while it comes.
    pub received: &'a AtomicU64,
}

/// A model, wherever it runs.
#[async_trait]
pub trait Model: Send + Sync + std::fmt::Debug {
    /// The name that the user gives: `provider:name`, or `offline`.
    fn name(&self) -> &str;

    /// Tokens that a prompt and its reply may have together.
    fn window_tokens(&self) -> u64;

    /// Makes one attempt to get a reply. The caller retries and records each attempt. Dropping the future cancels the attempt.
    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure>;

    /// The interface to submit calls that are answered later; `None`: [`Self::reply`] waits for them.
    fn later(&self) -> Option<&dyn LaterAnswers> {
        None
    }

    /// The limits and the breaker shared by all jobs that use the same server; `None` for models inside the program.
    fn endpoint(&self) -> Option<&Arc<Endpoint>> {
        None
    }

    /// The most tokens that a reply may have; `None` if there is no bound.
    fn most_output(&self) -> Option<u64> {
        None
    }

    /// The same model at the standard tier, if this one uses another tier.
    fn standard_tier(&self) -> Option<Arc<dyn Model>> {
        None
    }

    /// The tier at which the model is called.
    fn tier(&self) -> Tier {
        Tier::Standard
    }

    /// The vendor's names for its levels of reasoning, from least to most; empty: the level can't be set.
    fn effort_levels(&self) -> &[String] {
        &[]
    }

    /// The share of the usual price at a tier; `None` if the provider has no such tier.
    fn share(&self, tier: Tier) -> Option<f64> {
        tier.is_standard().then_some(1.0)
    }

    /// Tokens of an image of this size in pixels, as the vendor counts them; `None`: the model takes no images.
    fn image_tokens(&self, _width: u32, _height: u32) -> Option<u64> {
        None
    }

    /// USD of one call; `None` where the price isn't known.
    fn cost(&self, usage: &Usage) -> Option<f64>;

    /// Whether rules answer in place of a model: they agree with themselves, and prove nothing by it.
    fn is_rules(&self) -> bool {
        self.name() == rules::NAME
    }

    /// The SHA-256 of the documents that its replies are about, whatever it is asked; `None` of a model that reads.
    fn recorded_documents(&self) -> Option<&BTreeSet<String>> {
        None
    }

    /// The day from which the model is no longer served; `None` if none is known.
    fn retires(&self) -> Option<NaiveDate> {
        None
    }
}
