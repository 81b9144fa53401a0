//! A model behind HTTP: how it is opened and called, and its properties.

use super::{
    CallPosting, Key, Timeouts,
    adaptive_timeout::AdaptiveTimeout,
    address::Address,
    batch::{self, PostOffice},
    error_messages::{self, ErrorMessages},
    http::{HttpAttempt, ObservedResponse},
    key::Secrets,
    output_room::OutputRoom,
    record::{AttemptRecord, Recorder},
    shared,
    wire::{OutgoingRequest, RawReply, Wire, WireRequest},
};
use crate::model::{
    Failure, FailureKind, Model, ModelError, Request,
    endpoint::{Endpoint, RateLimits},
    later::LaterAnswers,
    scripted::prompt_tokens,
    table::{Quirks, TakesImages},
};
use async_trait::async_trait;
use overnight_core::{
    job::{digest::sha256, models::Tier},
    message::{Reply, Usage},
};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::{fmt, path::PathBuf, sync::Arc};
use tokio::time::Instant;

/// The settings of a model behind HTTP.
pub struct RemoteConfig {
    pub wire: Arc<dyn Wire>,
    /// As in `provider:name`.
    pub provider: String,
    /// The model's name as the server knows it.
    pub model: String,
    pub base_url: String,
    pub key: Option<Key>,
    /// The variable that holds the key, or would.
    pub key_variable: String,
    /// The user's own; they may hold secrets.
    pub headers: Vec<(String, String)>,
    pub quirks: Quirks,
    pub endpoint: Arc<Endpoint>,
    pub timeouts: Timeouts,
    /// The same model at the standard tier, where this one is at another.
    pub standard: Option<Arc<RemoteModel>>,
    /// The tier at which it is asked.
    pub tier: Tier,
    /// The way in which calls are submitted for the tier `batch`; none: they are answered immediately.
    pub posting: Option<CallPosting>,
    /// The folder in which attempts are recorded.
    pub record: Option<PathBuf>,
}

/// Not derived: headers may hold secrets.
impl fmt::Debug for RemoteConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RemoteConfig");
        shown.field("wire", &self.wire).field("provider", &self.provider).field("model", &self.model);
        shown.finish_non_exhaustive()
    }
}

/// The number of times that one call is made with an ever shorter reply.
const MOST_SHORTENED: usize = 4;

/// The result of one attempt: a reply or a failure, a note about its recording, and the server's own words.
struct Attempted {
    outcome: Result<RawReply, Failure>,
    note: Option<String>,
    words: String,
}

/// A model behind HTTP.
pub struct RemoteModel {
    pub(super) name: String,
    pub(super) wire: Arc<dyn Wire>,
    pub(super) model: String,
    pub(super) address: Address,
    pub(super) key_variable: String,
    pub(super) with_key: bool,
    /// Sent with every call: the key, the type of the content, the user's own.
    pub(super) headers: HeaderMap,
    pub(super) secrets: Secrets,
    pub(super) quirks: Quirks,
    /// Whether malformed replies are repaired.
    pub(super) repairs: bool,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) timeouts: Timeouts,
    pub(super) adaptive_timeout: AdaptiveTimeout,
    pub(super) tier: Tier,
    pub(super) standard: Option<Arc<RemoteModel>>,
    /// The place where calls are submitted, at the tier `batch`.
    pub(super) post_office: Option<PostOffice>,
    pub(super) recorder: Option<Recorder>,
    pub(super) room: OutputRoom,
}

/// Not derived: headers hold secrets.
impl fmt::Debug for RemoteModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RemoteModel");
        shown.field("name", &self.name).field("address", &self.address).field("quirks", &self.quirks);
        shown.finish_non_exhaustive()
    }
}

/// The endpoint that all models of this process share which call the same server with the same key.
pub fn shared_endpoint(base_url: &str, key: Option<&Key>, pace: RateLimits) -> Result<Arc<Endpoint>, ModelError> {
    Ok(shared::endpoint(&Address::parse(base_url)?, key, pace))
}

impl RemoteModel {
    pub fn new(config: RemoteConfig) -> Result<Self, ModelError> {
        let address = Address::parse(&config.base_url)?;
        // The client is made once in a process; if that fails, it is reported before the first call.
        shared::client(&address)?;
        let secrets = Secrets::new(config.key.as_ref(), &config.headers);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &config.key {
            let (name, value) = config.wire.key_header(key.reveal());
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| ModelError::UnsendableKey { variable: config.key_variable.clone() })?;
            value.set_sensitive(true);
            headers.insert(header_name(name)?, value);
        }
        let key_header = config.wire.key_header("").0;
        let own_key = config.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(key_header));
        let own_key = own_key.map(|(name, _)| format!("--header {name}"));
        for (name, value) in &config.headers {
            if CONNECTION.contains(&name.to_ascii_lowercase().as_str()) {
                return Err(ModelError::Header { name: error_messages::words(name) });
            }
            let wrong = |_| ModelError::Header { name: error_messages::words(name) };
            let mut value = HeaderValue::try_from(value.as_str()).map_err(wrong)?;
            value.set_sensitive(true);
            headers.insert(header_name(name)?, value);
        }
        let posted = config.posting.and_then(|posting| {
            let key = config.key.as_ref().map(|key| sha256(key.reveal().as_bytes())[..16].to_owned());
            let lane = format!(
                "{}:{} {} {} {}",
                config.provider,
                config.model,
                config.wire.name(),
                address.shown(),
                key.unwrap_or_default()
            );
            Some(PostOffice::new(posting.store, lane, batch::api_of(config.wire.as_ref())?, posting.pace))
        });
        Ok(Self {
            post_office: posted,
            repairs: repairs(&config.quirks, config.wire.as_ref(), &address),
            name: format!("{}:{}", config.provider, config.model),
            wire: config.wire,
            model: config.model,
            address,
            with_key: config.key.is_some() || own_key.is_some(),
            key_variable: own_key.unwrap_or(config.key_variable),
            headers,
            secrets,
            quirks: config.quirks,
            endpoint: config.endpoint,
            timeouts: config.timeouts,
            adaptive_timeout: AdaptiveTimeout::new(config.timeouts.first_byte),
            tier: config.tier,
            standard: config.standard,
            recorder: config.record.as_deref().map(Recorder::new).transpose()?,
            room: OutputRoom::default(),
        })
    }

    pub(super) fn error_messages(&self) -> ErrorMessages<'_> {
        ErrorMessages {
            url: self.address.shown(),
            model: &self.model,
            variable: &self.key_variable,
            with_key: self.with_key,
        }
    }

    /// One attempt at a reply of at most `allowed` tokens.
    async fn attempt(&self, request: &Request<'_>, allowed: u64) -> Attempted {
        let began = chrono::Utc::now();
        let is_shorter = allowed < self.quirks.output_tokens;
        let shorter = is_shorter.then(|| Quirks { output_tokens: allowed, ..self.quirks.clone() });
        let quirks = shorter.as_ref().unwrap_or(&self.quirks);
        let asked = WireRequest { prompt: request.prompt, model: &self.model, quirks };
        let OutgoingRequest { path, headers: wanted, body } = self.wire.outgoing(&asked);
        let url = self.address.url(&path);
        let mut headers = header_map(&wanted);
        headers.extend(self.headers.clone());
        let mut attempt = HttpAttempt {
            wire: self.wire.as_ref(),
            streams: self.quirks.streams,
            errors: self.error_messages(),
            secrets: &self.secrets,
            timeouts: Timeouts { first_byte: self.adaptive_timeout.now(), ..self.timeouts },
            received: request.received,
            began: Instant::now(),
            observed: ObservedResponse { body: self.recorder.is_some().then(Vec::new), ..ObservedResponse::default() },
        };
        let sent = self.recorder.as_ref().and_then(|_| serde_json::from_str::<Value>(&body).ok());
        let built = self.build(&url, &headers, body);
        let outcome = match built {
            Ok((client, request)) => attempt.run(client, request).await,
            Err(failure) => Err(failure),
        };
        match (&outcome, attempt.observed.first) {
            (Ok(_), Some(first)) => self.adaptive_timeout.learn(Some(first)),
            (Err(Failure { kind: FailureKind::TimedOut | FailureKind::Stalled, .. }), None) => {
                self.adaptive_timeout.learn(None);
            }
            (Ok(_), None) | (Err(_), _) => {}
        }
        let words = std::mem::take(&mut attempt.observed.words);
        let (Some(recorder), Some(sent)) = (&self.recorder, sent) else {
            return Attempted { outcome, note: None, words };
        };
        let attempted = AttemptRecord {
            began,
            turn: request.turn,
            url: &url,
            sent_headers: &headers,
            sent: &sent,
            observed: &attempt.observed,
            outcome: &outcome,
        };
        let note = recorder.write(&attempted, &self.secrets);
        Attempted { outcome, note, words }
    }

    /// A reply, and the tokens it was allowed: fewer than in the table if the server has room only for a shorter one.
    async fn with_room(&self, request: &Request<'_>) -> Result<(RawReply, u64, Vec<String>), Failure> {
        let (usual, estimated) = (self.quirks.output_tokens, prompt_tokens(request.prompt));
        let mut allowed = self.room.allowed(usual, estimated);
        let mut notes = Vec::new();
        for _ in 0..MOST_SHORTENED {
            let Attempted { outcome, note, words } = self.attempt(request, allowed).await;
            notes.extend(note);
            let failure = match outcome {
                Ok(heard) => {
                    if allowed < usual {
                        notes.push(format!("the server has room for a reply of {allowed} tokens, not of {usual}"));
                    }
                    return Ok((heard, allowed, notes));
                }
                Err(failure) => failure,
            };
            let words = if words.is_empty() { &failure.reason } else { &words };
            match self.room.after_refusal(failure.kind, words, allowed, estimated) {
                Some(less) => allowed = less,
                None => return Err(failure),
            }
        }
        let what = "refuses a reply of any length behind this prompt";
        Err(self.error_messages().failure(FailureKind::ContextLength, None, what))
    }

    /// At the tier `flex`, a lack of capacity says nothing about the server.
    fn at_this_tier(&self, failure: Failure) -> Failure {
        let is_full = match failure.kind {
            FailureKind::Overloaded => true,
            FailureKind::RateLimited => failure.reason.to_ascii_lowercase().contains("resource unavailable"),
            _ => false,
        };
        if is_full && self.tier == Tier::Flex { Failure { kind: FailureKind::NoRoom, ..failure } } else { failure }
    }

    fn build(
        &self,
        url: &str,
        headers: &HeaderMap,
        body: String,
    ) -> Result<(&'static reqwest::Client, reqwest::Request), Failure> {
        let client =
            shared::client(&self.address).map_err(|error| Failure::new(FailureKind::Unreachable, error.to_string()))?;
        // Not as bytes that can be sent again: the client would keep them until the reply arrives.
        let body = reqwest::Body::wrap(body);
        let request = client.post(url).headers(headers.clone()).body(body).build();
        Ok((client, request.map_err(|error| self.error_messages().transport(&error, None))?))
    }
}

/// Whether malformed replies are repaired: as in the table of models, else for every server but the vendor's own.
fn repairs(quirks: &Quirks, wire: &dyn Wire, address: &Address) -> bool {
    quirks.repairs.unwrap_or_else(|| Address::parse(wire.base_url()).ok().as_ref() != Some(address))
}

/// Headers that belong to the connection (RFC 9110, section 7.6.1) or follow from the body: not for users.
const CONNECTION: [&str; 7] =
    ["connection", "content-length", "host", "keep-alive", "te", "transfer-encoding", "upgrade"];

/// A format's own headers; invalid ones are left out.
pub(super) fn header_map(wanted: &[(String, String)]) -> HeaderMap {
    let pairs = wanted
        .iter()
        .filter_map(|(name, value)| Some((header_name(name).ok()?, HeaderValue::try_from(value.as_str()).ok()?)));
    pairs.collect()
}

fn header_name(name: &str) -> Result<HeaderName, ModelError> {
    HeaderName::try_from(name).map_err(|_| ModelError::Header { name: error_messages::words(name) })
}

#[async_trait]
impl Model for RemoteModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn window_tokens(&self) -> u64 {
        self.quirks.window_tokens
    }

    fn most_output(&self) -> Option<u64> {
        Some(self.quirks.output_tokens)
    }

    fn image_tokens(&self, width: u32, height: u32) -> Option<u64> {
        (self.quirks.images != TakesImages::No).then(|| self.wire.image_tokens(width, height))
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        if let (Some(standard), Tier::Batch) = (&self.standard, self.tier) {
            // The call was not worth submitting.
            return standard.reply(request).await.map(|reply| Reply { tier: Some(Tier::Standard), ..reply });
        }
        if self.quirks.images == TakesImages::No && request.prompt.images().next().is_some() {
            let reason = format!(
                "{} takes no images, and the job has looked at pages: use a model that does, or say `images: in_result` of it in \
                 the table of models",
                self.name
            );
            return Err(Failure::new(FailureKind::BadRequest, reason));
        }
        let (heard, allowed, notes) = self.with_room(&request).await.map_err(|failure| self.at_this_tier(failure))?;
        self.understood(heard, request.prompt, allowed, notes)
    }

    fn endpoint(&self) -> Option<&Arc<Endpoint>> {
        Some(&self.endpoint)
    }

    fn later(&self) -> Option<&dyn LaterAnswers> {
        self.post_office.is_some().then_some(self as &dyn LaterAnswers)
    }

    fn standard_tier(&self) -> Option<Arc<dyn Model>> {
        self.standard.clone().map(|standard| standard as Arc<dyn Model>)
    }

    fn tier(&self) -> Tier {
        self.tier
    }

    fn effort_levels(&self) -> &[String] {
        self.quirks.reasoning.as_ref().map(|reasoning| reasoning.levels.as_slice()).unwrap_or_default()
    }

    fn share(&self, tier: Tier) -> Option<f64> {
        match tier {
            Tier::Standard => Some(1.0),
            Tier::Flex => self.quirks.flex.filter(|_| self.wire.flex().is_some()),
            Tier::Batch => self.quirks.batch.filter(|_| batch::api_of(self.wire.as_ref()).is_some()),
        }
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        self.quirks.price.as_ref().map(|price| price.cost(usage))
    }

    fn retires(&self) -> Option<chrono::NaiveDate> {
        self.quirks.retires
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_mended_of_other_servers_than_the_vendors_own() {
        for (name, url, expected) in [
            ("openai:gpt-4o", "https://api.openai.com/v1", false),
            ("openai:gpt-4o", "http://localhost:8085/v1", true),
            ("openai:qwen2.5", "https://api.openai.com/v1", true),
            ("anthropic:claude-opus-4-5", "https://api.anthropic.com", false),
            ("gemini:gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/", false),
            ("ollama:tiny", "http://localhost:11434", true),
        ] {
            let quirks = crate::model::table::lookup(name, None, chrono::NaiveDate::MIN);
            let wire = super::super::wire_of(name.split(':').next().unwrap(), quirks.api).unwrap();
            assert_eq!(repairs(&quirks, wire.as_ref(), &Address::parse(url).unwrap()), expected, "{name} at {url}");
        }
    }
}
