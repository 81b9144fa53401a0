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
