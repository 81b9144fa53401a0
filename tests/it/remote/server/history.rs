//! What current vendors refuse of a history: one in which something earlier has changed, and a user's message behind a tool's
//! result. Histories are told apart by their first message; one that does not begin as the runner's do is not looked at.

use overnight_core::message::{Message, Prompt};
use serde_json::Value;
use std::collections::HashMap;

/// What the runner's histories begin with: the first line of it.
const OPENING: &str = include_str!("../../../../instructions/runner/opening.md");
const MOVING: [&str; 5] =
    ["cache_control", "prompt_cache_breakpoint", "thoughtSignature", "reasoning_content", "thinking"];

/// By its opening, each history as it was sent last.
#[derive(Debug, Default)]
pub(super) struct Histories {
    last: HashMap<String, Vec<Value>>,
}

impl Histories {
    /// Why a request of this body, read as `prompt`, is refused.
    pub(super) fn check(&mut self, body: &Value, prompt: &Prompt) -> Option<String> {
        let opening = prompt.messages().find_map(|message| match message {
            Message::User { text, .. } => Some(text),
            Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
        })?;
        if !OPENING.lines().next().is_some_and(|line| opening.starts_with(line)) {
            return None;
        }
        let follows = prompt
            .messages()
            .zip(prompt.messages().skip(1))
            .any(|pair| matches!(pair, (Message::Tool { .. }, Message::User { images, .. }) if images.is_empty()));
        if follows {
            return Some("Unexpected role 'user' after role 'tool'".to_owned());
        }
        let sent = ["messages", "contents", "input"].iter().find_map(|field| body[field].as_array())?;
        let sent: Vec<Value> = sent.iter().filter(|item| item["type"] != "reasoning").cloned().map(bare).collect();
        let before = self.last.insert(opening.clone(), sent.clone()).unwrap_or_default();
        let changed = (0..before.len()).find(|place| sent.get(*place) != before.get(*place))?;
        Some(format!("message {changed} is bound to a different conversation: it was sent as {}", before[changed]))
    }
}

/// A message without the marks for the cache, which may move, and without thoughts, which may be left out.
pub(super) fn bare(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|name, _| !MOVING.contains(&name.as_str()));
            fields.values_mut().for_each(|field| *field = bare(field.take()));
        }
        Value::Array(items) => {
            items.retain(|item| item["type"] != "thinking");
            for item in items.iter_mut() {
                *item = bare(item.take());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    value
}
