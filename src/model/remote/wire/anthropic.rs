//! Anthropic's Messages API, which other servers support as well (llama.cpp's among them). User and assistant alternate
//! strictly, so the board follows the tool results in one message; thinking is sent back unchanged with its reply.

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
use crate::model::{
    FailureKind,
    table::{LongCache, Quirks, ToolChoice},
};
use overnight_core::message::{Image, Message, Prompt, ToolCall};
use serde_json::{Map, Value, json};

const NAME: &str = "anthropic";
const VERSION: &str = "2023-06-01";

#[derive(Clone, Copy, Debug, Default)]
pub struct Anthropic;

impl Wire for Anthropic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn base_url(&self) -> &'static str {
        "https://api.anthropic.com/"
    }

    fn key_variable(&self) -> Option<&'static str> {
        Some("ANTHROPIC_API_KEY")
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn framing(&self) -> Framing {
        Framing::ServerSentEvents
    }

    fn marks_cache(&self) -> bool {
        true
    }

    fn about(&self, model: &str) -> Option<String> {
        Some(format!("v1/models/{model}"))
    }

    /// A token for 750 pixels; a larger image is made smaller. Source: Anthropic's guide to vision.
    fn image_tokens(&self, width: u32, height: u32) -> u64 {
        (u64::from(width) * u64::from(height)).div_ceil(750).min(4_784)
    }

    fn outgoing(&self, request: &WireRequest<'_>) -> OutgoingRequest {
        OutgoingRequest {
            path: "v1/messages".to_owned(),
            headers: vec![("anthropic-version".to_owned(), VERSION.to_owned())],
            body: written(&body(request)),
        }
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::<reply::MessagesReply>::default()
    }

    fn refusal(&self, status: u16, body: &str) -> (FailureKind, String) {
        let (usual, words) = error_response::refusal(status, body);
        let told = serde_json::from_str::<Value>(body).ok().and_then(|body| kind(body.get("error")?));
        (told.unwrap_or(usual), words)
    }
}

/// The meaning of the server's own name for an error; `None` if it isn't known.
fn kind(error: &Value) -> Option<FailureKind> {
    let message = text(error, "message");
    Some(match text(error, "type") {
        "overloaded_error" | "unavailable_error" => FailureKind::Overloaded,
        "rate_limit_error" => FailureKind::RateLimited,
        "api_error" | "server_error" => FailureKind::Server,
        "timeout_error" => FailureKind::TimedOut,
        "authentication_error" | "permission_error" => FailureKind::KeyRefused,
        "not_found_error" => FailureKind::NotFound,
        "billing_error" => FailureKind::QuotaUsed,
        // The second is llama.cpp's.
        "request_too_large" | "exceed_context_size_error" => FailureKind::ContextLength,
        "invalid_request_error" if speaks_of_length(message) => FailureKind::ContextLength,
        "invalid_request_error" if speaks_of_paying(message) => FailureKind::QuotaUsed,
        _ => return None,
    })
}

/// An empty account is refused as if the request were wrong.
fn speaks_of_paying(message: &str) -> bool {
    let message = message.to_lowercase();
    ["credit balance", "usage limits", "billing"].iter().any(|words| message.contains(words))
}

fn body(request: &WireRequest<'_>) -> Map<String, Value> {
    let WireRequest { prompt, model, quirks } = request;
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("model", json!(model));
    put(quirks.output_field.as_deref().unwrap_or("max_tokens"), json!(quirks.output_tokens));
    put("stream", json!(quirks.streams));
    let system = system(prompt, quirks);
    if !system.is_empty() {
        put("system", Value::Array(system));
    }
    put("messages", messages(prompt, quirks));
    if quirks.reasoning.is_some() {
        // The vendor's only way from Opus 4.6 on: a budget is refused.
        put("thinking", json!({ "type": "adaptive" }));
    }
    if let Some(level) = request.reasoning_level() {
        put("output_config", json!({ "effort": level }));
    }
    if !prompt.tools.is_empty() {
        let tools = prompt
            .tools
            .iter()
            .map(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters }));
        put("tools", tools.collect());
        if let Some(choice) = choice(quirks) {
            put("tool_choice", choice);
        }
    }
    if !quirks.stop.is_empty() {
        put("stop_sequences", json!(quirks.stop));
    }
    add(&mut body, &quirks.extra);
    body
}

fn choice(quirks: &Quirks) -> Option<Value> {
    let one_by_one = quirks.parallel_calls == Some(false);
    let kind = match quirks.tool_choice {
        // One call at a time can only be requested together with a tool choice; this one is the vendor's default.
        ToolChoice::Unset if one_by_one => "auto",
        ToolChoice::Unset => return None,
        ToolChoice::Auto => "auto",
        ToolChoice::Required => "any",
    };
    let mut choice = json!({ "type": kind });
    if one_by_one {
        choice["disable_parallel_tool_use"] = json!(true);
    }
    Some(choice)
}

/// The system prompt. The tools come before it on the wire, so that its mark holds for them too.
fn system(prompt: &Prompt, quirks: &Quirks) -> Vec<Value> {
    let mut blocks: Vec<Value> = prompt
        .messages()
        .filter_map(|message| match message {
            Message::System { text } => said(text),
            Message::User { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
        })
        .collect();
    if has_marks(quirks) {
        mark(blocks.last_mut(), quirks.long_cache != LongCache::Nothing);
    }
    blocks
}

/// The epoch. If marks are wanted, one follows the opening and one the newest message: everything before a mark is the
/// same as in the previous request.
fn messages(prompt: &Prompt, quirks: &Quirks) -> Value {
    let mut sides: Vec<RoleMessage> = Vec::new();
    let is_long = quirks.long_cache == LongCache::All;
    let has_marks = has_marks(quirks) && quirks.long_cache != LongCache::SystemAlone;
    let mut is_opening = has_marks;
    for message in prompt.messages() {
        match message {
            Message::System { .. } => {}
            Message::User { text, images } => {
                let mut block = said(text);
                if is_opening {
                    mark(block.as_mut(), is_long);
                    is_opening = false;
                }
                say(&mut sides, "user", block.into_iter().chain(blocks(prompt, images)).collect());
            }
            Message::Assistant { text, calls, carried } => {
                open(&mut sides);
                say(&mut sides, "assistant", reply(text, calls, carried.as_deref()));
            }
            Message::Tool { call, text, images, .. } => {
                answer(&mut sides, call, text, blocks(prompt, images).collect());
            }
        }
    }
    open(&mut sides);
    if has_marks {
        mark(sides.last_mut().and_then(|side| side.parts.last_mut()), is_long);
    }
    sides.into_iter().map(|side| json!({ "role": side.role, "content": side.parts })).collect()
}

/// The first message must be a user's.
fn open(sides: &mut Vec<RoleMessage>) {
    if sides.is_empty() {
        say(sides, "user", said(OPENING).into_iter().collect());
    }
}

/// A text; a blank one is refused, so it is left out.
fn said(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
}

fn blocks(prompt: &Prompt, images: &[Image]) -> impl Iterator<Item = Value> {
    images.iter().map(|image| {
        let source = json!({ "type": "base64", "media_type": image.media, "data": base64(prompt, image) });
        json!({ "type": "image", "source": source })
    })
}

/// A tool's result. Results come first in their message.
fn answer(sides: &mut Vec<RoleMessage>, call: &str, text: &str, images: Vec<Value>) {
    let mut result = json!({ "type": "tool_result", "tool_use_id": call });
    if !images.is_empty() {
        result["content"] = said(text).into_iter().chain(images).collect();
    } else if !text.trim().is_empty() {
        result["content"] = json!(text);
    }
    say(sides, "user", vec![result]);
    if let Some(side) = sides.last_mut() {
        // A stable sort: parts that are no results move to the end.
        side.parts.sort_by_key(|part| self::text(part, "type") != "tool_result");
    }
}

/// A reply of the model as it is sent back: its thinking first and unchanged, or each piece of it in its place.
fn reply(text: &str, calls: &[ToolCall], carried: Option<&Value>) -> Vec<Value> {
    let uses = calls.iter().map(|call| {
        json!({ "type": "tool_use", "id": call.id, "name": tool_name(&call.name), "input": as_object(&call.arguments) })
    });
    let own: Vec<Value> = said(text).into_iter().chain(uses.clone()).collect();
    let Some(carried) = carried.and_then(|carried| carried.get(NAME)).and_then(Value::as_array) else {
        return own;
    };
    if own.is_empty() {
        // Thinking alone would be refused.
        return own;
    }
    if !is_in_place(carried, text, calls.len()) {
        return carried.iter().filter(|block| is_thinking(block)).cloned().chain(own).collect();
    }
    let mut uses = uses;
    let mut blocks: Vec<Value> = carried
        .iter()
        .filter_map(|block| match self::text(block, "type") {
            "text" => said(self::text(block, "text")),
            "tool_use" => uses.next(),
            _ => is_thinking(block).then(|| block.clone()),
        })
        .collect();
    // A message that ends with thinking is refused.
    while blocks.pop_if(|block| is_thinking(block)).is_some() {}
    blocks
}

/// Whether what is carried also holds the places of text and calls, and these are still the same.
fn is_in_place(carried: &[Value], said: &str, calls: usize) -> bool {
    let texts: String = carried.iter().filter(|b| text(b, "type") == "text").map(|b| text(b, "text")).collect();
    let uses = carried.iter().filter(|b| text(b, "type") == "tool_use").count();
    texts.trim() == said.trim() && uses == calls
}

fn is_thinking(block: &Value) -> bool {
    matches!(text(block, "type"), "thinking" | "redacted_thinking")
}

fn has_marks(quirks: &Quirks) -> bool {
    quirks.cache_marks.unwrap_or(Anthropic.marks_cache())
}

/// Marks a block: everything up to it is worth keeping in the provider's cache for five minutes, or for an hour.
fn mark(block: Option<&mut Value>, is_long: bool) {
    if let Some(block) = block {
        block["cache_control"] =
            if is_long { json!({ "type": "ephemeral", "ttl": "1h" }) } else { json!({ "type": "ephemeral" }) };
    }
}
