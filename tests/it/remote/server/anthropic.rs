//! Anthropic Messages: https://docs.anthropic.com/en/api/messages

use super::{
    check::{Checked, image, is_name, list, names, object, one_of, only, string, tool, version},
    format::{Asked, Events, Refusal, Said, pieces},
    http::Asking,
};
use overnight_core::message::{Image, Message, Prompt, Stop, ToolCall, ToolSpec, Usage};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const FIELDS: &str = "model messages max_tokens system tools tool_choice stream temperature top_p top_k stop_sequences metadata \
    thinking output_config service_tier cache_control";
const MOST_MARKS: usize = 4;

/// A prompt being read.
#[derive(Default)]
struct Reading {
    messages: Vec<Message>,
    /// Marks for the cache.
    count: usize,
    ids: BTreeSet<String>,
}

impl Reading {
    /// Heeds a block's mark; what was read so far is before it.
    fn mark(&mut self, block: &Map<String, Value>, place: &str) -> Checked<()> {
        let Some(mark) = block.get("cache_control") else { return Ok(()) };
        let fields = object(mark, &format!("{place}.cache_control"))?;
        only(fields, &["type", "ttl"], &format!("{place}.cache_control"))?;
        if mark["type"] != "ephemeral" || mark.get("ttl").is_some_and(|ttl| ttl != "5m" && ttl != "1h") {
            return Err(format!("{place}.cache_control: Input should be 'ephemeral' with a ttl of '5m' or '1h'"));
        }
        if block.get("text").is_some_and(|text| text == "") {
            return Err(format!("{place}: cache_control cannot be set for empty text blocks"));
        }
        self.count += 1;
        Ok(())
    }

    /// The texts of a string or of text blocks, each with its mark heeded after `add`.
    fn texts(&mut self, content: &Value, place: &str, add: fn(String) -> Message) -> Checked<()> {
        if let Some(text) = content.as_str() {
            self.messages.push(add(filled(text, place)?));
            return Ok(());
        }
        for (number, block) in list(content, place)?.iter().enumerate() {
            let place = format!("{place}.{number}");
            let fields = object(block, &place)?;
            self.messages.push(add(text_block(fields, &place)?));
            self.mark(fields, &place)?;
        }
        Ok(())
    }
}

fn filled(text: &str, place: &str) -> Checked<String> {
    if text.is_empty() {
        Err(format!("{place}: text content blocks must be non-empty"))
    } else if text.trim().is_empty() {
        Err(format!("{place}: text content blocks must contain non-whitespace text"))
    } else {
        Ok(text.to_owned())
    }
}

fn text_block(fields: &Map<String, Value>, place: &str) -> Checked<String> {
    only(fields, &["type", "text", "cache_control", "citations"], place)?;
    if fields.get("type").is_none_or(|kind| kind != "text") {
        return Err(format!("{place}.type: Input should be 'text'"));
    }
    filled(string(fields.get("text").unwrap_or(&Value::Null), &format!("{place}.text"))?, place)
}

fn image_block(block: &Value, place: &str) -> Checked<Image> {
    only(object(block, place)?, &["type", "source", "cache_control"], place)?;
    let source = &block["source"];
    only(object(source, place)?, &["type", "media_type", "data"], place)?;
    if source["type"] != "base64" {
        return Err(format!("{place}.source.type: Input should be 'base64'"));
    }
    image(&source["media_type"], string(&source["data"], place)?, place)
}

pub(super) fn read(asking: &Asking, body: &Value) -> Checked<Asked> {
    if asking.header("anthropic-version") != Some("2023-06-01") {
        return Err("anthropic-version: header is required".to_owned());
    }
    let fields = object(body, "body")?;
    only(fields, &names(FIELDS), "body")?;
    let model = string(&body["model"], "model")?;
    let Some(most @ 1..) = body["max_tokens"].as_u64() else {
        return Err("max_tokens: Field required".to_owned());
    };
    let newest = Newest::of(model);
    let thinks = body["thinking"]["type"] == "enabled";
    read_thinking(body, newest)?;
    if thinks && body["thinking"]["budget_tokens"].as_u64().is_none_or(|budget| budget < 1024 || budget >= most) {
        return Err("`max_tokens` must be greater than `thinking.budget_tokens`, and that at least 1024.".to_owned());
    }
    let mut reading = Reading::default();
    let tools = read_tools(body, &mut reading)?;
    read_choice(body, !tools.is_empty(), thinks || newest.no_force)?;
    if let Some(system) = body.get("system") {
        reading.texts(system, "system", |text| Message::System { text })?;
    }
    read_messages(&body["messages"], &mut reading, thinks)?;
    // At the top it marks the last block, and counts.
    reading.mark(fields, "body")?;
    if reading.count > MOST_MARKS {
        return Err(format!(
            "A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {}.",
            reading.count
        ));
    }
    let prompt = Prompt::new(tools.into(), reading.messages);
    let asked = Asked::new(prompt, model, body["stream"].as_bool().unwrap_or(false));
    let thinks = if thinks { Some(true) } else { (body["thinking"]["type"] == "disabled").then_some(false) };
    Ok(Asked { thinks, is_bound: newest.is_bound, ..asked })
}

/// What a model no longer takes: platform.claude.com/docs/en/models, and build-with-claude/preserved-thinking for `is_bound`.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
struct Newest {
    /// Its thinking has no budget, as from 4.7 on.
    no_budget: bool,
    /// There are no sampling fields, as from 5 on.
    no_sampling: bool,
    /// Thinking can't be turned off or set: Fable and Mythos 5, Opus 5.5; Sonnet 5.5 has a mode of its own.
    no_switch: bool,
    has_between: bool,
    /// No tool can be forced.
    no_force: bool,
    is_bound: bool,
}

impl Newest {
    fn of(model: &str) -> Self {
        let from = |makes: &[&str], least: (u64, u64)| {
            makes.iter().any(|make| version(model, make).is_some_and(|version| version >= least))
        };
        let all = ["fable-", "mythos-", "opus-", "sonnet-", "haiku-"];
        let has_between = from(&["sonnet-"], (5, 5));
        Self {
            no_budget: from(&all, (4, 7)),
            no_sampling: from(&all, (5, 0)),
            no_switch: from(&all[..2], (5, 0)) || from(&["opus-"], (5, 5)) || has_between,
            has_between,
            no_force: from(&all[..2], (5, 1)) || from(&["opus-", "sonnet-"], (5, 5)),
            is_bound: from(&all[..2], (5, 1)) || from(&all[2..], (5, 5)),
        }
    }
}

fn read_thinking(body: &Value, newest: Newest) -> Checked<()> {
    if let Some(config) = body.get("output_config") {
        only(object(config, "output_config")?, &["effort", "format"], "output_config")?;
        one_of(&config["effort"], &["low", "medium", "high", "xhigh", "max"], "output_config.effort")?;
    }
    for name in ["temperature", "top_p", "top_k"] {
        if newest.no_sampling && body.get(name).is_some() {
            return Err(format!("`{name}` is not supported on this model."));
        }
    }
    let Some(thinking) = body.get("thinking") else { return Ok(()) };
    only(object(thinking, "thinking")?, &["type", "budget_tokens", "display"], "thinking")?;
    let kind = string(&thinking["type"], "thinking.type")?;
    let is_known = match kind {
        "adaptive" => true,
        "enabled" | "disabled" => !newest.no_switch,
        "between_tools" => newest.has_between,
        _ => false,
    };
    if !is_known || (newest.no_budget && (kind == "enabled" || thinking.get("budget_tokens").is_some())) {
        return Err(format!(
            "\"thinking.type.{kind}\" with its budget is not supported for this model. Use \"thinking.type.adaptive\" and \
             \"output_config.effort\" to control thinking behavior."
        ));
    }
    Ok(())
}

fn read_tools(body: &Value, reading: &mut Reading) -> Checked<Vec<ToolSpec>> {
    let Some(tools) = body.get("tools") else { return Ok(Vec::new()) };
    let mut read: Vec<ToolSpec> = Vec::new();
    for (number, one) in list(tools, "tools")?.iter().enumerate() {
        let place = format!("tools.{number}");
        let fields = object(one, &place)?;
        only(fields, &["name", "description", "input_schema", "cache_control", "type", "strict"], &place)?;
        let spec = tool(&one["name"], fields.get("description"), &one["input_schema"], &place)?;
        if read.iter().any(|other| other.name == spec.name) {
            return Err("tools: Tool names must be unique.".to_owned());
        }
        read.push(spec);
        reading.mark(fields, &place)?;
    }
    Ok(read)
}

fn read_choice(body: &Value, has_tools: bool, thinks: bool) -> Checked<()> {
    let Some(choice) = body.get("tool_choice") else { return Ok(()) };
    only(object(choice, "tool_choice")?, &["type", "name", "disable_parallel_tool_use"], "tool_choice")?;
    match choice["type"].as_str() {
        _ if !has_tools => Err("tool_choice: may only be specified while providing tools".to_owned()),
        Some("any" | "tool") if thinks => {
            Err("Thinking may not be enabled when tool_choice forces tool use.".to_owned())
        }
        Some("any" | "tool" | "auto") => Ok(()),
        Some("none") if choice.get("disable_parallel_tool_use").is_none() => Ok(()),
        _ => {
            Err("tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
                .to_owned())
        }
    }
}

fn read_messages(messages: &Value, reading: &mut Reading, thinks: bool) -> Checked<()> {
    let messages = list(messages, "messages")?;
    if messages.is_empty() {
        return Err("messages: at least one message is required".to_owned());
    }
    let mut open: Vec<(String, String)> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let place = format!("messages.{number}");
        only(object(message, &place)?, &["role", "content"], &place)?;
        // In turns, and the user first.
        let expected = if number % 2 == 0 { "user" } else { "assistant" };
        match message["role"].as_str() {
            Some(role) if role == expected => {}
            Some("user" | "assistant") if number == 0 => {
                return Err("messages: first message must use the \"user\" role".to_owned());
            }
            Some(role @ ("user" | "assistant")) => {
                return Err(format!(
                    "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"{role}\" roles in a row"
                ));
            }
            _ => return Err(format!("{place}.role: Input should be 'user' or 'assistant'")),
        }
        let content = &message["content"];
        if content == "" || content.as_array().is_some_and(Vec::is_empty) {
            return Err(format!(
                "{place}: all messages must have non-empty content except for the optional final assistant message"
            ));
        }
        if expected == "user" {
            read_user(content, reading, &mut open, &place)?;
        } else {
            open = read_assistant(content, reading, thinks, &place)?;
        }
    }
    if messages.len() % 2 == 0 {
        return Err(
            "This model does not support assistant message prefill. The conversation must end with a user message."
                .to_owned(),
        );
    }
    Ok(())
}

fn read_user(content: &Value, reading: &mut Reading, open: &mut Vec<(String, String)>, place: &str) -> Checked<()> {
    let missing = |open: &[(String, String)]| {
        let ids: Vec<&str> = open.iter().map(|(id, _)| id.as_str()).collect();
        Err(format!(
            "{place}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must \
             have a corresponding `tool_result` block in the next message.",
            ids.join(", ")
        ))
    };
    let Some(blocks) = content.as_array() else {
        if !open.is_empty() {
            return missing(open);
        }
        return reading.texts(content, place, Message::user);
    };
    for (number, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content.{number}");
        let fields = object(block, &place)?;
        if block["type"] == "tool_result" {
            only(fields, &["type", "tool_use_id", "content", "is_error", "cache_control"], &place)?;
            let id = string(&block["tool_use_id"], &format!("{place}.tool_use_id"))?;
            let Some(found) = open.iter().position(|(wanted, _)| wanted == id) else {
                return Err(format!(
                    "{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have \
                     a corresponding `tool_use` block in the previous message."
                ));
            };
            let (call, name) = open.remove(found);
            let (mut text, mut images) = (String::new(), Vec::new());
            match block.get("content") {
                None => {}
                Some(Value::String(said)) => text.clone_from(said),
                Some(blocks) => {
                    for (number, block) in list(blocks, &place)?.iter().enumerate() {
                        let place = format!("{place}.content.{number}");
                        if block["type"] == "image" {
                            images.push(image_block(block, &place)?);
                        } else {
                            text.push_str(&text_block(object(block, &place)?, &place)?);
                        }
                    }
                }
            }
            reading.messages.push(Message::Tool { call, name, text, images });
        } else if open.is_empty() && block["type"] == "image" {
            let images = vec![image_block(block, &place)?];
            reading.messages.push(Message::User { text: String::new(), images });
        } else if open.is_empty() {
            let text = text_block(fields, &place)?;
            reading.messages.push(Message::user(text));
        } else {
            // Results come first.
            return missing(open);
        }
        reading.mark(fields, &place)?;
    }
    if open.is_empty() { Ok(()) } else { missing(open) }
}

/// The calls, each by id and name, that want a result.
fn read_assistant(content: &Value, reading: &mut Reading, thinks: bool, place: &str) -> Checked<Vec<(String, String)>> {
    let (mut text, mut calls): (String, Vec<ToolCall>) = (String::new(), Vec::new());
    let blocks = match content {
        Value::String(said) => {
            text = filled(said, place)?;
            Vec::new()
        }
        blocks => list(blocks, place)?.clone(),
    };
    let has_calls = blocks.iter().any(|block| block["type"] == "tool_use");
    if thinks && has_calls && blocks.first().is_some_and(|first| first["type"] != "thinking") {
        return Err(format!(
            "{place}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a \
             final `assistant` message must start with a thinking block.",
            blocks[0]["type"].as_str().unwrap_or_default()
        ));
    }
    if blocks.last().is_some_and(|last| last["type"] == "thinking") {
        return Err(format!("{place}: The final block in an assistant message cannot be `thinking`."));
    }
    let mut marked = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content.{number}");
        let fields = object(block, &place)?;
        match block["type"].as_str() {
            Some("text") => text.push_str(&text_block(fields, &place)?),
            Some("thinking") => {
                only(fields, &["type", "thinking", "signature"], &place)?;
                string(&block["signature"], &format!("{place}.thinking.signature"))?;
            }
            Some("tool_use") => {
                only(fields, &["type", "id", "name", "input", "cache_control"], &place)?;
                let id = string(&block["id"], &format!("{place}.tool_use.id"))?;
                if !is_name(id, 256) {
                    return Err(format!("{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"));
                }
                let name = string(&block["name"], &format!("{place}.tool_use.name"))?;
                if !is_name(name, 200) {
                    return Err(format!(
                        "{place}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,200}}$'"
                    ));
                }
                if !block["input"].is_object() {
                    return Err(format!("{place}.tool_use.input: Input should be a valid dictionary"));
                }
                if !reading.ids.insert(id.to_owned()) {
                    return Err("messages: `tool_use` ids must be unique".to_owned());
                }
                calls.push(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: block["input"].clone() });
            }
            _ => return Err(format!("{place}.type: Input should be 'text', 'thinking' or 'tool_use'")),
        }
        if fields.contains_key("cache_control") {
            marked.push((fields.clone(), place));
        }
    }
    let open = calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
    reading.messages.push(Message::Assistant { text, calls, carried: None });
    for (fields, place) in marked {
        reading.mark(&fields, &place)?;
    }
    Ok(open)
}

fn stop(said: &Said) -> &'static str {
    match said.stop {
        Stop::Length => "max_tokens",
        Stop::Refused => "refusal",
        Stop::Done if said.calls.is_empty() => "end_turn",
        Stop::Done => "tool_use",
    }
}

/// Input is counted apart: from the cache, into the cache, and the rest.
fn usage(usage: &Usage, output: u64) -> Value {
    json!({
        "input_tokens": usage.input - usage.cached - usage.cache_written,
        "cache_creation_input_tokens": usage.cache_written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    })
}

#[expect(clippy::needless_pass_by_value, reason = "parts of the value that is made of them")]
fn message(said: &Said, content: Value, stop: Value, usage: Value) -> Value {
    json!({
        "id": format!("msg_{}", said.number),
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": Value::Null,
        "usage": usage,
    })
}

pub(super) fn whole(said: &Said) -> Value {
    let thought = |place: usize| {
        let thought = said.thoughts.get(place);
        thought.map(|thought| json!({"type": "thinking", "thinking": thought.text, "signature": thought.signature}))
    };
    let mut content: Vec<Value> = thought(0).into_iter().collect();
    if !said.text.is_empty() {
        content.push(json!({"type": "text", "text": said.text}));
    }
    for (place, call) in said.calls.iter().enumerate() {
        content.extend(thought(place).filter(|_| place > 0));
        // Here torn arguments can't be shown: the vendor gives what it could read, which is nothing.
        let input = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
        content.push(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input}));
    }
    message(said, content.into(), stop(said).into(), usage(&said.usage, said.usage.output))
}

pub(super) fn events(said: &Said) -> Events {
    let event = |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default());
    let mut events = Events::default();
    let started = message(said, json!([]), Value::Null, usage(&said.usage, 1));
    events.said.push(event(json!({"type": "message_start", "message": started})));
    let mut index = 0;
    let mut block = |begin: Value, deltas: Vec<Value>| {
        events.said.push(event(json!({"type": "content_block_start", "index": index, "content_block": begin})));
        if index == 0 {
            events.said.push(event(json!({"type": "ping"})));
        }
        for delta in deltas {
            events.said.push(event(json!({"type": "content_block_delta", "index": index, "delta": delta})));
        }
        events.said.push(event(json!({"type": "content_block_stop", "index": index})));
        index += 1;
    };
    let thinking = |place: usize| {
        let thought = said.thoughts.get(place)?;
        // An empty thought is its signature alone.
        let text =
            Some(json!({"type": "thinking_delta", "thinking": thought.text})).filter(|_| !thought.text.is_empty());
        let signature = json!({"type": "signature_delta", "signature": thought.signature});
        let begin = json!({"type": "thinking", "thinking": "", "signature": ""});
        Some((begin, text.into_iter().chain([signature]).collect()))
    };
    if let Some((begin, deltas)) = thinking(0) {
        block(begin, deltas);
    }
    if !said.text.is_empty() {
        let deltas = pieces(&said.text, said.letters).map(|piece| json!({"type": "text_delta", "text": piece}));
        block(json!({"type": "text", "text": ""}), deltas.collect());
    }
    for (place, call) in said.calls.iter().enumerate() {
        if let Some((begin, deltas)) = thinking(place).filter(|_| place > 0) {
            block(begin, deltas);
        }
        let first = json!({"type": "input_json_delta", "partial_json": ""});
        // A call without arguments has none in its deltas either.
        let arguments = if call.arguments == "{}" { "" } else { &call.arguments };
        let rest =
            pieces(arguments, said.letters).map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        let begin = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        block(begin, std::iter::once(first).chain(rest).collect());
    }
    let delta = json!({"stop_reason": stop(said), "stop_sequence": Value::Null});
    let used = json!({"output_tokens": said.usage.output});
    events.end.push(event(json!({"type": "message_delta", "delta": delta, "usage": used})));
    events.end.push(event(json!({"type": "message_stop"})));
    events
}

pub(super) fn refusal(refusal: Refusal, words: &str) -> Value {
    let kind = match refusal {
        Refusal::BadRequest | Refusal::TooLong => "invalid_request_error",
        Refusal::Key => "authentication_error",
        Refusal::NotFound => "not_found_error",
        Refusal::Rate | Refusal::NoFlex => "rate_limit_error",
        Refusal::Server => "api_error",
        Refusal::Unavailable | Refusal::Overloaded => "overloaded_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"})
}
