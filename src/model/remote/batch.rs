//! Batch endpoints: calls of many jobs are gathered, sent together, and answered within hours for half the price.
//!
//! - `post_office`: the calls of one lane, from the moment in which they are handed in to their answers
//! - `gathering`: which calls are sent together; `timing`: when they are given up
//! - `http`: requests and answers that are not model calls
//! - `openai`, `anthropic`, `gemini`: the vendors' endpoints; `primer`: a request that fills the provider's cache
//!
//! Nothing of it was tried against a vendor: the shapes are those of their specifications and client libraries, as of August 2026
//! (openai-python, anthropic-sdk-python, python-genai), and of reports about them.

mod anthropic;
mod gathering;
mod gemini;
mod http;
mod openai;
mod post_office;
mod primer;
mod timing;

pub(super) use http::BatchHttp;
pub(super) use post_office::{Gathering, PostOffice};

use super::{GatherPace, wire::Wire};
use crate::{
    model::{Failure, FailureKind},
    store::{HandedEnd, ProviderBatch, StoreError},
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};

/// A call on its way to a provider.
#[derive(Debug)]
pub(super) struct SentCall {
    pub(super) key: String,
    /// JSON, as it was handed in.
    pub(super) body: String,
}

/// Why a batch was not created, or may not have been.
#[derive(Debug)]
pub(super) enum NotCreated {
    /// The provider has nothing of it.
    Surely(Failure),
    /// Nobody knows: it is looked for.
    Perhaps(Failure),
}

impl From<Failure> for NotCreated {
    fn from(failure: Failure) -> Self {
        let is_refused = failure.status.is_some_and(|status| (400..500).contains(&status) && status != 408);
        // A request that never left, or never arrived.
        if is_refused || failure.kind == FailureKind::Unreachable {
            Self::Surely(failure)
        } else {
            Self::Perhaps(failure)
        }
    }
}

/// Whether a batch is there that may have been created.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// By the provider's name.
    There(String),
    NotThere,
    /// It can't be told yet.
    Unsure,
}

/// How a batch stands at its provider.
#[derive(Debug, PartialEq)]
pub(super) enum Standing {
    Working,
    /// It is over, and what it brought can be read.
    Ended {
        outcome: String,
    },
    /// The provider took none of it.
    Refused(RefusedBatch),
}

/// A batch of which the provider took nothing.
#[derive(Debug, PartialEq)]
pub(super) struct RefusedBatch {
    pub(super) reason: String,
    /// It holds more at once than the account may have in line.
    pub(super) is_too_much: bool,
    /// The calls that are at fault, by their places from 0; none: all.
    pub(super) lines: Vec<(usize, String)>,
}

/// One vendor's batch endpoint.
#[async_trait]
pub(super) trait BatchApi: Send + Sync + std::fmt::Debug {
    /// Bytes that a batch may have.
    fn most_bytes(&self) -> u64;

    /// How long the provider takes at most.
    fn expires_after(&self) -> Duration;

    /// A body as the endpoint takes it.
    fn prepare(&self, body: &mut Value, prefix: &str) {
        let _ = prefix;
        if let Value::Object(fields) = body {
            fields.remove("stream");
        }
    }

    /// Takes the marks out of a body by which the provider writes to its cache: nobody would read it.
    fn unmark(&self, body: &mut Value) {
        let _ = body;
    }

    /// A short request that begins as this one does.
    fn primer(&self, body: &Value) -> Value;

    async fn create(&self, http: &BatchHttp<'_>, name: &str, calls: &[SentCall]) -> Result<String, NotCreated>;

    /// Looks for a batch that may have been created. `known`: the handles of others.
    async fn find(
        &self,
        http: &BatchHttp<'_>,
        batch: &ProviderBatch,
        known: &BTreeSet<String>,
        keys: &[String],
    ) -> Result<Found, Failure>;

    /// How it stands, with the provider's own word for it, which holds what the results need.
    async fn poll(&self, http: &BatchHttp<'_>, handle: &str) -> Result<(Standing, Value), Failure>;

    /// Tells the provider to give it up; what is done stays done.
    async fn cancel(&self, http: &BatchHttp<'_>, handle: &str) -> Result<(), Failure>;

    /// The end of each call of which the provider says one, in any order. `keys`: all calls of the batch in the order in
    /// which they were sent.
    async fn results(
        &self,
        http: &BatchHttp<'_>,
        polled: &Value,
        keys: &[String],
    ) -> Result<Vec<(String, HandedEnd)>, Failure>;
}

/// The batch endpoint that goes with a format; none where its vendor has none.
pub(super) fn api_of(wire: &dyn Wire) -> Option<Box<dyn BatchApi>> {
    Some(match wire.name() {
        "openai" => Box::new(openai::OpenAiBatches { endpoint: "/v1/chat/completions" }),
        "responses" => Box::new(openai::OpenAiBatches { endpoint: "/v1/responses" }),
        "anthropic" => Box::new(anthropic::AnthropicBatches),
        "gemini" => Box::new(gemini::GeminiBatches),
        _ => return None,
    })
}

/// Why a call has no reply, as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct KeptFailure {
    kind: FailureKind,
    #[serde(default)]
    status: Option<u16>,
    reason: String,
}

/// A failure as it is kept.
pub(super) fn kept(failure: &Failure) -> HandedEnd {
    let Failure { kind, status, reason, .. } = failure;
    HandedEnd::Failed(json!(KeptFailure { kind: *kind, status: *status, reason: reason.clone() }))
}

/// As it was kept; what isn't understood counts as not answered.
pub(super) fn failure(kept: Value) -> Failure {
    match serde_json::from_value::<KeptFailure>(kept) {
        Ok(KeptFailure { kind, status, reason }) => Failure { status, ..Failure::new(kind, reason) },
        Err(_) => Failure::new(FailureKind::Unanswered, "the batch brought no answer"),
    }
}

/// The provider ended a call without doing it.
fn not_done(what: &str) -> HandedEnd {
    kept(&Failure::new(FailureKind::Unanswered, format!("the provider's batch brought no answer ({what})")))
}

/// A reply that is none is told as missing: asked live, it is held against the server as any other.
fn readable(end: HandedEnd) -> HandedEnd {
    match &end {
        HandedEnd::Replied(reply) if !reply.trim_start().starts_with('{') => not_done("a line without a reply"),
        HandedEnd::Replied(_) | HandedEnd::Failed(_) => end,
    }
}

fn unanswered(why: &str) -> HandedEnd {
    kept(&Failure::new(FailureKind::Unanswered, why))
}

/// That the database can't be asked says nothing of the provider.
#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn stored(error: StoreError) -> Failure {
    Failure::new(FailureKind::Conflict, error.to_string())
}

/// A path's part that a provider has named: letters that mean nothing in a path.
fn safe(handle: &str) -> String {
    handle.chars().filter(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(*letter)).collect()
}

/// The values of a list; none where there is no list.
fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A text field; empty where there is none.
fn field<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
