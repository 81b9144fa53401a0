//! A model server for tests and measurements: it speaks HTTP/1.1 and the vendors' formats, has any of our own models behind
//! it, and misbehaves on demand. It is written to the vendors' documents and not to our encoders, so that it checks them:
//! what a vendor would refuse is refused, in a vendor's words, and kept as a complaint.
//!
//! - `serve`: the server, its switch and its counters; `http`: requests read and responses written, by hand
//! - `chaos`: what goes wrong, and how often; `answer`: one request answered, soundly or not
//! - `quirk`: whole replies that are written in odd ways
//! - `format`: what the formats share; `openai`, `responses`, `anthropic`, `gemini`, `ollama`
//! - `batches`: the vendors' batch endpoints, where the setup has them
//! - `cache`: what a vendor would have cached; `history`: what vendors refuse of one that was changed; `thoughts`: what the
//!   server signed, and wants back as it was
//!
//! Which of the newest models a rule holds for goes by the name in the request. The rules are those of November 2026: a
//! comment names the vendor's page, or the report of somebody who was refused.
//!
//! Benchmarks include this folder by its path: nothing here uses the tests around it.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(dead_code, reason = "tests use some of it, measurements some other")]

mod answer;
mod anthropic;
mod batches;
mod cache;
mod chaos;
mod check;
mod format;
mod gemini;
mod history;
mod http;
mod ollama;
mod openai;
mod quirk;
mod responses;
mod serve;
mod thoughts;

#[allow(unused_imports, reason = "tests use some of it, measurements some other")]
pub(crate) use {
    batches::{BatchCounts, Batching},
    chaos::{Chaos, Mishap},
    format::Format,
    quirk::{CUT_LETTER, Quirk},
    serve::{Counts, Fixed, Server, Setup},
};
