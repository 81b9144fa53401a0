//! Models: who answers a prompt. `offline` (rules, embedded), `scripted` (replies from a file), `replay` (replies from a
//! journal). All are handed the same prompt and nothing else.

mod error;
pub mod offline;
pub mod replay;
pub mod scripted;

pub use error::ModelError;

use crate::context::message::{Prompt, Reply, Usage};
use async_trait::async_trait;

/// One call of a model.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub prompt: &'a Prompt,
    /// Number of the turn, from 1: what a scripted or replayed model answers by.
    pub turn: u64,
}

/// A model, wherever it runs.
#[async_trait]
pub trait Model: Send + Sync + std::fmt::Debug {
    /// As the user names it: `provider:name`, or `offline`.
    fn name(&self) -> &str;

    /// Tokens that a prompt and its reply may have together.
    fn window_tokens(&self) -> u64;

    /// One reply. An error is final: what further attempts could mend was tried before.
    async fn reply(&self, request: Request<'_>) -> Result<Reply, ModelError>;

    /// USD of one call; `None` where the price isn't known.
    fn cost(&self, usage: &Usage) -> Option<f64>;
}
