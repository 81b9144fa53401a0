//! Batch endpoints: calls of many jobs are gathered, sent together, and answered within hours for half the price.
//!
//! - `post_office`: the calls of one lane, from their submission to their answers
//! - `gathering`: which calls are sent together; `sending`: how they are sent; `timing`: when they are given up
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
mod sending;
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
    /// JSON, as it was submitted.
    pub(super) body: String,
}

/// Why a batch was not created, or may not have been.
#[derive(Debug)]
pub(super) enum NotCreated {
    /// The provider has certainly not created it.
    Surely(Failure),
    /// It is unknown whether the provider has created it: it will be searched for.
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
    /// The provider's handle of the batch.
    There(String),
    NotThere,
    /// It can't be determined yet.
    Unsure,
}

/// The state of a batch at its provider.
#[derive(Debug, PartialEq)]
pub(super) enum Standing {
    Working,
    /// It has ended, and its results can be read.
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
    /// It exceeds the number of tokens that the account may have queued at once.
    pub(super) is_too_much: bool,
    /// The calls that are at fault, by their places from 0; none: all.
    pub(super) lines: Vec<(usize, String)>,
}

/// One vendor's batch endpoint.
#[async_trait]
pub(super) trait BatchApi: Send + Sync + std::fmt::Debug {
    /// The most bytes of a batch.
    fn most_bytes(&self) -> u64;

    /// The longest time that the provider takes.
    fn expires_after(&self) -> Duration;

    /// Changes a body to the form that the endpoint accepts.
    fn prepare(&self, body: &mut Value, prefix: &str) {
        let _ = prefix;
        if let Value::Object(fields) = body {
            fields.remove("stream");
        }
    }

    /// Removes the cache marks from a body: they make the provider write to its cache, which no call would read.
    fn unmark(&self, body: &mut Value) {
        let _ = body;
    }

    /// A short request that begins like this one.
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

    /// The batch's state, and the provider's own status object, from which the results are fetched.
    async fn poll(&self, http: &BatchHttp<'_>, handle: &str) -> Result<(Standing, Value), Failure>;

    /// Asks the provider to cancel the batch; completed calls stay completed.
    async fn cancel(&self, http: &BatchHttp<'_>, handle: &str) -> Result<(), Failure>;

    /// The result of each call for which the provider states one, in any order. `keys`: all calls of the batch in the
    /// order in which they were sent.
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

/// The reason why a call has no reply, as stored.
#[derive(Debug, Serialize, Deserialize)]
struct KeptFailure {
    kind: FailureKind,
    #[serde(default)]
    status: Option<u16>,
    reason: String,
}

/// A failure in its stored form.
pub(super) fn kept(failure: &Failure) -> HandedEnd {
    let Failure { kind, status, reason, .. } = failure;
    HandedEnd::Failed(json!(KeptFailure { kind: *kind, status: *status, reason: reason.clone() }))
}

/// Reads a stored failure; one that can't be read counts as unanswered.
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

/// Treats an unreadable reply as missing: the call is then made live, where such a reply counts against the server.
fn readable(end: HandedEnd) -> HandedEnd {
    match &end {
        HandedEnd::Replied(reply) if !reply.trim_start().starts_with('{') => not_done("a line without a reply"),
        HandedEnd::Replied(_) | HandedEnd::Failed(_) => end,
    }
}

fn unanswered(why: &str) -> HandedEnd {
    kept(&Failure::new(FailureKind::Unanswered, why))
}

/// A failure to query the database says nothing about the provider.
#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn stored(error: StoreError) -> Failure {
    Failure::new(FailureKind::Conflict, error.to_string())
}

/// A handle from the provider as part of a path: only characters without a special meaning there.
fn safe(handle: &str) -> String {
    handle.chars().filter(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(*letter)).collect()
}

/// The values of a list; none if it is not a list.
fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A text field; empty if it doesn't exist.
fn field<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
