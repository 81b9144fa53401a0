//! Google's Gemini API (`generateContent`). A call and its result are matched by the order in which they stand, and by the
//! vendor's own id where it gave one; signatures of the model's thoughts go back with the parts they came with.

mod reply;
#[cfg(test)]
mod reply_tests;
#[cfg(test)]
mod tests;

use super::{
    Decode, Framing, OutgoingRequest, Wire, WireRequest,
    call_parts::{as_object, text},
    error_response::{self, speaks_of_length},
    fields::{OPENING, RoleMessage, add, base64, say, tool_name},
    written,
};
use crate::model::{FailureKind, table::ToolChoice};
use overnight_core::message::{Image, Message, Prompt, ToolCall};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, fmt::Write, time::Duration};

const NAME: &str = "gemini";
/// Google's word for a call that has no signature because another model made it. Without it, newer models refuse the
/// conversation of a job that came from another vendor.
const UNSIGNED: &str = "skip_thought_signature_validator";

#[derive(Clone, Copy, Debug, Default)]
pub struct Gemini;

impl Wire for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn base_url(&self) -> &'static str {
        "https://generativelanguage.googleapis.com/v1beta/"
    }

    fn key_variable(&self) -> Option<&'static str> {
        Some("GEMINI_API_KEY")
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("x-goog-api-key", key.to_owned())
    }

    fn framing(&self) -> Framing {
        Framing::ServerSentEvents
    }

    fn flex(&self) -> Option<(&'static str, &'static str)> {
        Some(("serviceTier", "flex"))
    }

    fn about(&self, model: &str) -> Option<String> {
        Some(format!("models/{}", escaped(model)))
    }

    /// The most tokens of an image at the usual resolution. Source: Google's guide to media resolution.
    fn image_tokens(&self, _width: u32, _height: u32) -> u64 {
        1_120
    }

    fn outgoing(&self, request: &WireRequest<'_>) -> OutgoingRequest {
        let method = if request.quirks.streams { "streamGenerateContent?alt=sse" } else { "generateContent" };
        OutgoingRequest {
            path: format!("models/{}:{method}", escaped(request.model)),
            headers: Vec::new(),
            body: written(&body(request)),
        }
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::<reply::GeminiReply>::default()
    }

    fn retry_after(&self, body: &str) -> Option<Duration> {
        let body: Value = serde_json::from_str(body).ok()?;
        reply::retry_after(error(&body)?)
    }

    fn refusal(&self, status: u16, body: &str) -> (FailureKind, String) {
        let (usual, words) = error_response::refusal(status, body);
        let told = serde_json::from_str::<Value>(body).ok().and_then(|body| kind(error(&body)?));
        // A kind found in the words is more specific than the error's name.
        let is_found = matches!(usual, FailureKind::HistoryRefused | FailureKind::ContextLength);
        (told.filter(|_| !is_found).unwrap_or(usual), words)
    }
}

/// The error in a body: an object, or a list with the object in it.
fn error(body: &Value) -> Option<&Value> {
    let body = match body {
        Value::Array(items) => items.first()?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => body,
    };
    body.get("error").filter(|error| !error.is_null())
}

/// The meaning of the server's own name for an error; `None` if it isn't known.
fn kind(error: &Value) -> Option<FailureKind> {
    let message = text(error, "message").to_lowercase();
    Some(match text(error, "status") {
        "RESOURCE_EXHAUSTED" if is_used_up(&message) => FailureKind::QuotaUsed,
        "RESOURCE_EXHAUSTED" => FailureKind::RateLimited,
        "UNAVAILABLE" => FailureKind::Overloaded,
        "INTERNAL" | "UNKNOWN" | "DATA_LOSS" => FailureKind::Server,
        "DEADLINE_EXCEEDED" => FailureKind::TimedOut,
        "ABORTED" => FailureKind::Conflict,
        "UNAUTHENTICATED" | "PERMISSION_DENIED" => FailureKind::KeyRefused,
        "NOT_FOUND" => FailureKind::NotFound,
        // A wrong key is refused as if the request were wrong.
        "INVALID_ARGUMENT" if message.contains("api key") => FailureKind::KeyRefused,
        "INVALID_ARGUMENT" if message.contains("token count") || speaks_of_length(&message) => {
            FailureKind::ContextLength
        }
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" => FailureKind::BadRequest,
        _ => return None,
    })
}

/// Whether waiting is of no use. Every refusal for too many requests a minute advises to check plan and billing, so that
/// these words alone say nothing.
fn is_used_up(message: &str) -> bool {
    let message = message.replace("please check your plan and billing details", "");
    let is_zero = |(at, found): (usize, &str)| !message[at + found.len()..].starts_with(|c: char| c.is_ascii_digit());
    message.contains("billing") || message.contains("depleted") || message.match_indices("limit: 0").any(is_zero)
}

/// A name escaped for use in a path.
pub(in super::super) fn escaped(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            // Writing to a string can't fail.
            let _ = write!(path, "%{byte:02X}");
        }
    }
    path
}

fn body(request: &WireRequest<'_>) -> Map<String, Value> {
    let WireRequest { prompt, quirks, .. } = request;
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    let system = system(prompt);
    if !system.is_empty() {
        put("systemInstruction", json!({ "parts": system }));
    }
    put("contents", contents(prompt));
    if !prompt.tools.is_empty() {
        let tools = prompt.tools.iter().map(|tool| {
            json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters })
        });
        put("tools", json!([{ "functionDeclarations": tools.collect::<Vec<_>>() }]));
        let mode = match quirks.tool_choice {
            ToolChoice::Unset => None,
            ToolChoice::Auto => Some("AUTO"),
            ToolChoice::Required => Some("ANY"),
        };
        if let Some(mode) = mode {
            put("toolConfig", json!({ "functionCallingConfig": { "mode": mode } }));
        }
    }
    let mut config = Map::new();
    config.insert(
        quirks.output_field.clone().unwrap_or_else(|| "maxOutputTokens".to_owned()),
        json!(quirks.output_tokens),
    );
    if !quirks.stop.is_empty() {
        config.insert("stopSequences".to_owned(), json!(quirks.stop));
    }
    if let Some(level) = request.reasoning_level() {
        config.insert("thinkingConfig".to_owned(), json!({ "thinkingLevel": level }));
    }
    put("generationConfig", Value::Object(config));
    add(&mut body, &quirks.extra);
    body
}

fn system(prompt: &Prompt) -> Vec<Value> {
    prompt
        .messages()
        .filter_map(|message| match message {
            Message::System { text } => said(text),
            Message::User { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
        })
        .collect()
}

fn contents(prompt: &Prompt) -> Value {
    let mut sides: Vec<RoleMessage> = Vec::new();
    // The conversation has our own ids for calls; these are the vendor's.
    let mut theirs: BTreeMap<&str, [String; 2]> = BTreeMap::new();
    for message in prompt.messages() {
        match message {
            Message::System { .. } => {}
            Message::User { text, images } => {
                say(&mut sides, "user", said(text).into_iter().chain(inline(prompt, images)).collect());
            }
            Message::Assistant { text, calls, carried } => {
                open(&mut sides);
                let parts = came(carried.as_deref(), calls).unwrap_or_else(|| rebuilt(text, calls));
                let made = parts.iter().filter_map(|part| part.get("functionCall"));
                let names = made.map(|call| ["name", "id"].map(|field| self::text(call, field).to_owned()));
                theirs.extend(calls.iter().map(|call| call.id.as_str()).zip(names));
                say(&mut sides, "model", parts);
            }
            Message::Tool { call, name, text, images } => {
                let mut response = json!({ "name": tool_name(name), "response": { "result": text } });
                for (field, theirs) in ["name", "id"].into_iter().zip(theirs.get(call.as_str()).into_iter().flatten()) {
                    if !theirs.is_empty() {
                        response[field] = json!(theirs);
                    }
                }
                let response = json!({ "functionResponse": response });
                say(&mut sides, "user", [response].into_iter().chain(inline(prompt, images)).collect());
                if let Some(side) = sides.last_mut() {
                    // Stable: as many responses as calls come first.
                    side.parts.sort_by_key(|part| part.get("functionResponse").is_none());
                }
            }
        }
    }
    open(&mut sides);
    sides.into_iter().map(|side| json!({ "role": side.role, "parts": side.parts })).collect()
}

fn inline(prompt: &Prompt, images: &[Image]) -> impl Iterator<Item = Value> {
    images.iter().map(|image| json!({ "inlineData": { "mimeType": image.media, "data": base64(prompt, image) } }))
}

/// The first content must be a user's.
fn open(sides: &mut Vec<RoleMessage>) {
    if sides.is_empty() {
        say(sides, "user", said(OPENING).into_iter().collect());
    }
}

fn said(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "text": text }))
}

/// The parts of a reply as they came, if they still say the same: a call that was found in a text is in none of them.
fn came(carried: Option<&Value>, calls: &[ToolCall]) -> Option<Vec<Value>> {
    let parts = carried?.get(NAME)?.as_array()?;
    let called = parts.iter().filter(|part| part.get("functionCall").is_some()).count();
    let says = parts.iter().any(|part| !text(part, "text").trim().is_empty());
    (called == calls.len() && (called > 0 || says)).then(|| parts.clone())
}

/// A reply that this vendor has not made, or that was repaired. Only the first call of a reply is signed.
fn rebuilt(text: &str, calls: &[ToolCall]) -> Vec<Value> {
    let mut parts: Vec<Value> = said(text).into_iter().collect();
    for (place, call) in calls.iter().enumerate() {
        let mut part = json!({ "functionCall": { "name": tool_name(&call.name), "args": as_object(&call.arguments) } });
        if place == 0 {
            part["thoughtSignature"] = json!(UNSIGNED);
        }
        parts.push(part);
    }
    parts
}
