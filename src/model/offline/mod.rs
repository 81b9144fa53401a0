//! The `offline` model: rules in place of a language model, embedded in the program. It is handed the same prompt as any
//! model and nothing else, reads board, plan and tool results out of it, and answers with tool calls; so it also proves
//! that the prompt is enough.
//!
//! - the rules: `statements` (normative sentences), `summary` (ranked sentences), `compare`, `sentences`, and what they are
//!   made of
//! - the worker: `seen` (the prompt, read), `listing` (the list of documents in it), `act` (what to do at each board),
//!   `plans`, `stretch` and `records` (reading and recording), `comparison`, `report`, `position` (its memory, a file),
//!   `ends` (what the files have that it doesn't know of)

mod act;
mod anew;
mod apart;
mod blocks;
mod calls;
pub mod compare;
mod comparison;
mod directives;
mod ends;
mod furniture;
mod hyphens;
mod items;
mod lead_in;
mod listing;
mod markdown;
mod marker;
mod notes;
mod participle;
mod plain;
mod plain_around;
mod plain_look;
mod plans;
mod position;
mod priced;
mod quantity;
mod quotations;
mod records;
mod report;
mod seen;
pub mod sentences;
pub mod statements;
mod strength;
mod stretch;
pub mod summary;
mod values;
mod wording;
mod words;

pub use priced::Priced;

use super::{Failure, Model, Request, scripted::prompt_tokens};
use crate::context::{
    message::{Reply, Stop, Usage},
    tokens::estimate,
};
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

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let calls = act::next(&seen::Seen::of(request.prompt));
        let output = calls.iter().map(|call| estimate(&call.arguments.to_string()) + 8).sum();
        Ok(Reply {
            text: String::new(),
            calls,
            usage: Usage { input: prompt_tokens(request.prompt), output, ..Usage::default() },
            stop: Stop::Done,
            model: self.name().to_owned(),
            carried: None,
            mended: Vec::new(),
        })
    }

    fn cost(&self, _usage: &Usage) -> Option<f64> {
        Some(0.0)
    }
}
