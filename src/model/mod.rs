//! The models that answer a prompt. Every model is handed the same prompt and nothing else.
//!
//! - `rules`: the embedded model `offline`; `scripted`: replies from a file; `replay`: replies from a journal
//! - `remote`: models behind HTTP, in four wire formats
//! - `endpoint`: what all jobs of a process share of one such server: its circuit breaker, its limits
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
use std::sync::{Arc, atomic::AtomicU64};

/// One call of a model.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub prompt: &'a Prompt,
    /// The number of the turn, from 1, as this model counts: what others have answered is not among its turns.
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
    /// As the user names it: `provider:name`, or `offline`.
    fn name(&self) -> &str;

    /// Tokens that a prompt and its reply may have together.
    fn window_tokens(&self) -> u64;

    /// Makes one attempt to get a reply. The caller retries and records each attempt. Dropping the future cancels the attempt.
    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure>;

    /// Its calls are handed in, and answered later; `None`: [`Self::reply`] waits for them.
    fn later(&self) -> Option<&dyn LaterAnswers> {
        None
    }

    /// The limits and the breaker shared by all jobs that use the same server; `None` for models inside the program.
    fn endpoint(&self) -> Option<&Arc<Endpoint>> {
        None
    }

    /// Tokens that a reply has at most; `None` where nothing bounds it.
    fn most_output(&self) -> Option<u64> {
        None
    }

    /// The same model at the standard tier, where this one is asked at another.
    fn standard_tier(&self) -> Option<Arc<dyn Model>> {
        None
    }

    /// The tier at which it is asked.
    fn tier(&self) -> Tier {
        Tier::Standard
    }

    /// The vendor's words for how much it may reason, from least to most; none are known: it can't be told.
    fn effort_levels(&self) -> &[String] {
        &[]
    }

    /// The share of the usual price that it costs at a tier; `None` where its provider has no such tier.
    fn share(&self, tier: Tier) -> Option<f64> {
        tier.is_standard().then_some(1.0)
    }

    /// Tokens of an image of so many pixels, as its vendor counts them; `None`: it takes no images.
    fn image_tokens(&self, _width: u32, _height: u32) -> Option<u64> {
        None
    }

    /// USD of one call; `None` where the price isn't known.
    fn cost(&self, usage: &Usage) -> Option<f64>;

    /// Whether rules answer in place of a model: they agree with themselves, and prove nothing by it.
    fn is_rules(&self) -> bool {
        self.name() == rules::NAME
    }

    /// The day from which it answers no more; `None` where none is known.
    fn retires(&self) -> Option<NaiveDate> {
        None
    }
}
