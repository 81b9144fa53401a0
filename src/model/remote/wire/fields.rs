//! Helpers for body fields shared by two formats: malformed numbers, fields that the user adds, parts of one role,
//! cache keys. The helpers shared by all formats are in `call_parts`.

use super::{call_parts::malformed, split_letters};
use crate::model::{Failure, FailureKind};
use base64::{Engine, prelude::BASE64_STANDARD};
use overnight_core::{
    job::digest::sha256,
    message::{Image, Message, Prompt},
};
use serde_json::{Map, Value};

/// Ends a stream of OpenAI's, and of servers in between that end every stream so.
pub(super) const DONE: &str = "[DONE]";
/// Blocks or parts of one reply, at most: a server must not fill the memory with empty ones.
pub(super) const MOST_PARTS: usize = 256;
/// The most letters of a tool's name; a longer one is an invention of the model.
const MOST_NAME: usize = 64;
/// The number of groups into which the jobs with one system prompt are put: the vendor routes by the cache key, and
/// asks for at most some 15 requests a minute with the same key.
const CACHE_GROUPS: u32 = 8;
/// Inserted if a vendor requires the user to speak first, and no user message exists.
pub(super) const OPENING: &str = "(the conversation begins here)";

/// Reads an event or a body.
pub(super) fn read(data: &str) -> Result<Value, Failure> {
    split_letters::read(data).map_err(|error| malformed(format!("what the server sent is not JSON ({error})")))
}

pub(super) fn too_many() -> Failure {
    malformed(format!("the reply has more than {MOST_PARTS} parts"))
}

pub(super) fn broken() -> Failure {
    Failure::new(FailureKind::BrokenStream, "the reply ended, and what marks the end of a whole one never came")
}

/// A count of tokens in any notation; anything else counts as zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` keeps a float within the bounds of u64"
)]
pub(super) fn count(value: &Value, field: &str) -> u64 {
    match value.get(field) {
        Some(Value::Number(number)) => number.as_u64().or(number.as_f64().map(|float| float as u64)).unwrap_or(0),
        Some(Value::String(text)) => text.trim().parse().unwrap_or(0),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => 0,
    }
}

/// The name of a called tool, made valid. A model may invent a name with letters that its vendor refuses in a history,
/// and then every later prompt with that call would be refused.
pub(super) fn tool_name(name: &str) -> String {
    let is_usual = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let name: String = name.chars().take(MOST_NAME).map(|letter| if is_usual(letter) { letter } else { '_' }).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

/// Adds the user's own fields. Of an object that is there already, only the fields that are named are replaced.
pub(super) fn add(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (name, value) in extra {
        match (body.get_mut(name), value) {
            (Some(Value::Object(there)), Value::Object(more)) => there.extend(more.clone()),
            (Some(_) | None, _) => {
                body.insert(name.clone(), value.clone());
            }
        }
    }
}

/// The bytes of an image as text (RFC 4648, section 4).
pub(super) fn base64(prompt: &Prompt, image: &Image) -> String {
    prompt.image_bytes.get(&image.sha256).map(|bytes| BASE64_STANDARD.encode(bytes)).unwrap_or_default()
}

/// An image as a data URL (RFC 2397).
pub(super) fn data_url(prompt: &Prompt, image: &Image) -> String {
    format!("data:{};base64,{}", image.media, base64(prompt, image))
}

/// The parts of one role: neighbours of one role are one message, as the vendors want it.
#[derive(Debug)]
pub(super) struct RoleMessage {
    pub(super) role: &'static str,
    pub(super) parts: Vec<Value>,
}

/// Adds parts, to the newest message if it has the same role. Nothing is never a message.
pub(super) fn say(sides: &mut Vec<RoleMessage>, role: &'static str, parts: Vec<Value>) {
    if parts.is_empty() {
        return;
    }
    match sides.last_mut() {
        Some(side) if side.role == role => side.parts.extend(parts),
        Some(_) | None => sides.push(RoleMessage { role, parts }),
    }
}

/// By which the vendor finds the server that has the prefix: the same for all requests of one history, and for one job in
/// eight of those with the same system prompt.
pub(super) fn cache_key(prompt: &Prompt) -> String {
    let of = |wanted: fn(&Message) -> Option<&str>| {
        sha256(prompt.messages().find_map(wanted).unwrap_or_default().as_bytes())
    };
    let system = of(|message| match message {
        Message::System { text } => Some(text),
        Message::User { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    });
    let opening = of(|message| match message {
        Message::User { text, .. } => Some(text),
        Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    });
    let group = u32::from_str_radix(&opening[..4], 16).unwrap_or_default() % CACHE_GROUPS;
    format!("overnight-{}-{group}", &system[..16])
}
