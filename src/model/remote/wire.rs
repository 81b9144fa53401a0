//! The wire formats: a prompt made into a request body, and a stream of events read back into a reply. Pure: bytes in,
//! values out; `http` does the sending.
//!
//! Written here and not taken from a client library, because the library that was tried (`genai` 0.7) ends broken
//! streams without an error for some vendors and makes up an end for others, aborts the process on a large index in a
//! stream, loses a whole reply with its usage if one tool call in it is truncated, and takes twice the processor time.

pub mod anthropic;
pub mod call_parts;
pub mod error_response;
mod fields;
pub mod gemini;
pub mod ollama;
pub mod openai;
pub mod responses;
pub mod split_letters;

use crate::model::{Failure, FailureKind, table::Quirks};
use overnight_core::message::{Prompt, Stop, Tier, Usage};
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// The request of one model call, as a wire format needs it.
#[derive(Clone, Copy, Debug)]
pub struct WireRequest<'a> {
    pub prompt: &'a Prompt,
    /// The model's name as the server knows it, unchanged.
    pub model: &'a str,
    pub quirks: &'a Quirks,
}

impl WireRequest<'_> {
    /// The level of reasoning to request: the turn's own, if the model has it, else the usual one.
    pub fn reasoning_level(&self) -> Option<&str> {
        let levels = self.quirks.reasoning.as_ref().map(|reasoning| reasoning.levels.as_slice()).unwrap_or_default();
        let own = self.prompt.effort.as_ref().filter(|level| levels.contains(level));
        own.map(String::as_str).or_else(|| self.quirks.reasoning_level())
    }
}

/// The HTTP request of a model call.
#[derive(Clone, Debug, PartialEq)]
pub struct OutgoingRequest {
    /// Behind the base URL, without a leading `/`; characters of the model's name are escaped.
    pub path: String,
    /// Beside the key, the content's type and the user's own.
    pub headers: Vec<(String, String)>,
    /// JSON.
    pub body: String,
}

#[cfg(test)]
impl OutgoingRequest {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Squares of `side` pixels that cover an image.
fn squares(width: u32, height: u32, side: u32) -> u64 {
    u64::from(width.div_ceil(side)) * u64::from(height.div_ceil(side))
}

/// `body` as it is sent. Texts, numbers and lists can always be serialised.
fn written(body: &impl Serialize) -> String {
    serde_json::to_string(body).unwrap_or_default()
}

/// The way in which a stream is split into events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events (WHATWG HTML, section 9.2).
    ServerSentEvents,
    /// One JSON object per line.
    Lines,
}

/// A tool call as it came. `arguments` is a text that should be a JSON object, and may be truncated or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// A whole reply, before its repair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawReply {
    pub text: String,
    pub calls: Vec<RawCall>,
    pub usage: Option<Usage>,
    /// `None`: the format's mark of a complete reply never came.
    pub stop: Option<Stop>,
    /// The name that the server states; empty if it states none.
    pub model: String,
    /// The tier at which the server says that it answered.
    pub tier: Option<Tier>,
    /// See [`overnight_core::message::Reply::carried`]; without the format's name around it.
    pub carried: Option<Value>,
}

impl RawCall {
    /// Whether it has a name and complete arguments.
    pub fn is_whole(&self) -> bool {
        !self.name.is_empty() && (self.arguments.trim().is_empty() || split_letters::read(&self.arguments).is_ok())
    }
}

impl RawReply {
    /// Joins letters whose halves came in separate pieces.
    pub fn join_halves(&mut self) {
        split_letters::join(&mut self.text);
        for call in &mut self.calls {
            split_letters::join(&mut call.name);
            split_letters::join(&mut call.arguments);
        }
        if let Some(carried) = &mut self.carried {
            split_letters::join_in_value(carried);
        }
    }
}

/// Reads one reply.
pub trait Decode: Send {
    /// Takes the next event of a stream; `name` is the event's type where the framing has one.
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<(), Failure>;

    /// Takes the body of a reply that was not streamed.
    fn whole(&mut self, body: &str) -> Result<(), Failure>;

    /// Whether the reply is complete: anything after it isn't waited for.
    fn is_complete(&self) -> bool;

    /// The reply; [`FailureKind::BrokenStream`] where its end never came.
    fn finish(self: Box<Self>) -> Result<RawReply, Failure>;
}

/// One vendor's format.
pub trait Wire: Send + Sync + std::fmt::Debug {
    /// `openai`, `responses`, `anthropic`, `gemini`, `ollama`.
    fn name(&self) -> &'static str;

    /// The base URL of the vendor's own servers, with a trailing `/`.
    fn base_url(&self) -> &'static str;

    /// The environment variable that usually holds the key; `None` where no key is needed.
    fn key_variable(&self) -> Option<&'static str>;

    /// The header that carries `key`.
    fn key_header(&self, key: &str) -> (&'static str, String);

    fn framing(&self) -> Framing;

    /// The request field for the cheap and slow tier, with its value; `None` if the vendor has no such tier.
    fn flex(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Whether cache marks, with the time to keep, are set unless a table says otherwise.
    fn marks_cache(&self) -> bool {
        false
    }

    /// The path of a page that describes the model, if the server has one.
    fn about(&self, _model: &str) -> Option<String> {
        None
    }

    /// Tokens of an image of this size. By default the count of models that cut an image into squares of 28 pixels
    /// (Qwen2-VL); the vendor's own rule where one exists.
    fn image_tokens(&self, width: u32, height: u32) -> u64 {
        squares(width, height, 28)
    }

    fn outgoing(&self, request: &WireRequest<'_>) -> OutgoingRequest;

    fn decoder(&self) -> Box<dyn Decode>;

    /// The wait that an error response's body requests, if the vendor states it there and not in a header.
    fn retry_after(&self, _body: &str) -> Option<Duration> {
        None
    }

    /// The kind of failure for a status other than 200, with the server's own words (bounded, one line).
    fn refusal(&self, status: u16, body: &str) -> (FailureKind, String);
}
