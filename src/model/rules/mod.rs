//! The `offline` model: embedded rules in place of a language model. A rough demonstration for texts in English, so that
//! three of the shipped instructions can be tried without network and key: it knows the words of RFC 2119, where sentences end, and
//! which words are frequent. It understands nothing, and no case is ever added to it for the sake of one text.
//!
//! It receives the same prompt as any model and nothing else, and answers with tool calls. The rules: `blocks`,
//! `sentences`, `statements` that bind, `summary`, `compare`. The work: `prompt_view` (the form of the prompt),
//! `worker` (the work for each todo), `plan`, `reading`, `second_reader`, and its memory `state`. The model: `offline`.

mod blocks;
mod compare;
mod offline;
mod plan;
mod prompt_view;
mod reading;
mod second_reader;
mod sentences;
mod state;
mod statements;
mod summary;
mod worker;

pub use offline::Offline;

/// The name of the model made of these rules.
pub const NAME: &str = "offline";
