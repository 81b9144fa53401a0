//! The model itself: its name, its answer to a prompt, and what it costs.

use super::{prompt_view::PromptView, worker};
use crate::model::{Failure, Model, Request, scripted::prompt_tokens, table::Price};
use async_trait::async_trait;
use overnight_core::message::{Reply, Stop, Usage};
use overnight_core::tokens::estimate;

/// Rules in place of a language model. It sees the prompt and nothing else. A price from the table of models lets budgets be
/// tried where nothing costs anything.
#[derive(Debug)]
pub struct Offline(pub Option<Price>);

#[async_trait]
impl Model for Offline {
    fn name(&self) -> &'static str {
        super::NAME
    }

    fn window_tokens(&self) -> u64 {
        1_000_000
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let calls = worker::next(&PromptView::of(request.prompt));
        let output = calls.iter().map(|call| estimate(&call.arguments.to_string()) + 8).sum();
        Ok(Reply {
            text: String::new(),
            calls,
            usage: Usage { input: prompt_tokens(request.prompt), output, ..Usage::default() },
            stop: Stop::Done,
            model: self.name().to_owned(),
            carried: None,
            tier: None,
            mended: Vec::new(),
        })
    }

    /// For documents with a few hundred statements. Larger ones take more, and can overrun a batch's budget by a call.
    fn most_output(&self) -> Option<u64> {
        self.0.as_ref().map(|_| 4_096)
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        Some(self.0.as_ref().map_or(0.0, |price| price.cost(usage)))
    }
}
