//! The `offline` model: rules in place of a language model.

mod blocks;
pub mod compare;
mod furniture;
mod markdown;
mod marker;
mod plain;
mod plain_look;
mod quantity;
mod quotations;
pub mod sentences;
pub mod statements;
mod strength;
pub mod summary;
mod wording;
mod words;

use super::{Model, ModelError, Request};
use crate::context::message::{Reply, Usage};
use async_trait::async_trait;

/// Rules in place of a language model. It sees the prompt and nothing else.
#[derive(Debug)]
pub struct Offline;

#[async_trait]
impl Model for Offline {
    fn name(&self) -> &'static str {
        "offline"
    }

    fn window_tokens(&self) -> u64 {
        1_000_000
    }

    async fn reply(&self, _request: Request<'_>) -> Result<Reply, ModelError> {
        Err(ModelError::Unknown { name: "offline".to_owned() })
    }

    fn cost(&self, _usage: &Usage) -> Option<f64> {
        Some(0.0)
    }
}
