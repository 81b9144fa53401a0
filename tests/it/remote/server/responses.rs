//! OpenAI's Responses: openai-python's types/responses, and https://platform.openai.com/docs/api-reference/responses

use super::{
    cache::is_marking,
    check::{Checked, image_url, is_name, list, names, object, one_of, string, tool, unknown},
    format::{Asked, Events, Said, pieces},
    openai,
};
use overnight_core::message::{Image, Message, Prompt, Stop, ToolCall, ToolSpec};
use serde_json::{Map, Value, json};

const FIELDS: &str = "model input instructions store stream stream_options include reasoning max_output_tokens max_tool_calls \
    parallel_tool_calls tool_choice tools prompt_cache_key prompt_cache_options prompt_cache_retention \
    service_tier temperature top_p truncation text metadata user safety_identifier";
const SEALED: &str = "reasoning.encrypted_content";
const MOST_MARKS: usize = 4;

pub(super) fn read(body: &Value) -> Checked<Asked> {
    let fields = object(body, "body")?;
    known(fields, &names(FIELDS), "")?;
    let Some(model) = body["model"].as_str() else {
        return Err("Missing required parameter: 'model'.".to_owned());
    };
    let reasoning = match body.get("reasoning") {
        None => &Value::Null,
        Some(reasoning) => {
            known(object(reasoning, "reasoning")?, &["effort", "summary", "context"], "reasoning.")?;
            one_of(&reasoning["context"], &["all_turns", "current_turn"], "reasoning.context")?;
            reasoning
        }
    };
    let is_flex = openai::settings(body, model, &reasoning["effort"])?;
    one_of(&body["truncation"], &["auto", "disabled"], "truncation")?;
    for name in ["store", "stream", "parallel_tool_calls"] {
        if body.get(name).is_some_and(|value| !value.is_boolean()) {
            return Err(format!("Invalid type for '{name}': expected a boolean."));
        }
    }
    let most = body.get("max_output_tokens");
    if most.is_some_and(|most| most.as_u64().is_none_or(|most| most < 16)) {
        return Err("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.".to_owned());
    }
    let included = body["include"].as_array().map_or(&[][..], Vec::as_slice);
    for one in included {
        one_of(one, &[SEALED, "message.output_text.logprobs"], "include")?;
    }
    let seals = included.iter().any(|one| one == SEALED);
    let tools = read_tools(body)?;
    let mut messages = Vec::new();
    if let Some(text) = body.get("instructions") {
        messages.push(Message::System { text: string(text, "instructions")?.to_owned() });
    }
    match &body["input"] {
        Value::String(text) => messages.push(Message::user(text.clone())),
        items => Input { model, is_stored: body["store"] != false, seals, open: Vec::new(), marks: 0 }
            .read(list(items, "input")?, &mut messages)?,
    }
    let asked = Asked::new(Prompt::new(tools.into(), messages), model, body["stream"] == true);
    Ok(Asked { thinks: (reasoning["effort"] == "none").then_some(false), seals, is_flex, ..asked })
}

fn known(fields: &Map<String, Value>, names: &[&str], place: &str) -> Checked<()> {
    unknown(fields, names).map_or(Ok(()), |name| Err(format!("Unknown parameter: '{place}{name}'.")))
}

fn read_tools(body: &Value) -> Checked<Vec<ToolSpec>> {
    let Some(tools) = body.get("tools") else { return Ok(Vec::new()) };
    let read = |(number, one): (usize, &Value)| {
        let place = format!("tools[{number}]");
        let names = ["type", "name", "description", "parameters", "strict"];
        known(object(one, &place)?, &names, &format!("{place}."))?;
        if one["type"] != "function" {
            return Err(format!("Invalid value: {} for '{place}.type'.", one["type"]));
        }
        // Left out, the vendor tries strictly, and changes what the tool takes.
        if !one["strict"].is_boolean() {
            return Err(format!("Missing required parameter: '{place}.strict'."));
        }
        if one["strict"] == true && one["parameters"]["additionalProperties"] != false {
            return Err(format!(
                "Invalid schema for function {}: In context=(), 'additionalProperties' is required to be supplied and to be \
                 false.",
                one["name"]
            ));
        }
        tool(&one["name"], one.get("description"), &one["parameters"], &place)
    };
    list(tools, "tools")?.iter().enumerate().map(read).collect()
}

/// The items of a conversation, being read.
struct Input<'a> {
    model: &'a str,
    is_stored: bool,
    seals: bool,
    /// Calls that still want an output, by id and name.
    open: Vec<(String, String)>,
    /// Breakpoints for the cache.
    marks: usize,
}

impl Input<'_> {
    fn read(mut self, items: &[Value], read: &mut Vec<Message>) -> Checked<()> {
        for (number, item) in items.iter().enumerate() {
            let place = format!("input[{number}]");
            self.item(item, &place, read)?;
        }
        if self.marks > MOST_MARKS {
            return Err(format!(
                "At most {MOST_MARKS} prompt cache breakpoints may be provided. Found {}.",
                self.marks
            ));
        }
        self.answered()
    }

    fn answered(&self) -> Checked<()> {
        self.open.first().map_or(Ok(()), |(id, _)| Err(format!("No tool output found for function call {id}.")))
    }

    fn item(&mut self, item: &Value, place: &str, read: &mut Vec<Message>) -> Checked<()> {
        let fields = object(item, place)?;
        let kind = item["type"].as_str().unwrap_or("message");
        let only = |names: &[&str]| known(fields, names, &format!("{place}."));
        // langchain-ai/langchain#38372, vercel/ai#7543: what isn't stored has no id; reasoning keeps its own.
        let is_lost = item.get("id").is_some() && kind != "reasoning"
            || kind == "reasoning" && item["encrypted_content"].is_null();
        if is_lost && !self.is_stored {
            return Err(format!(
                "Item with id {} not found. Items are not persisted when `store` is set to false. Try again with `store` set \
                 to true, or remove this item from your input.",
                item["id"]
            ));
        }
        match kind {
            "message" => {
                only(&["type", "role", "content", "phase", "id", "status"])?;
                let role = string(&item["role"], &format!("{place}.role"))?;
                one_of(&item["phase"], &["commentary", "final_answer"], &format!("{place}.phase"))?;
                if item.get("phase").is_some() && role != "assistant" {
                    return Err(format!("Unknown parameter: '{place}.phase'."));
                }
                // As Codex sends it: short, behind a thought, it may count as no item that the thought belongs to.
                if role == "assistant" && !(item["type"] == "message" && item["content"].is_array()) {
                    return Err(format!(
                        "Invalid type for '{place}': a reply comes back as a message of 'output_text' parts."
                    ));
                }
                let content = format!("{place}.content");
                let (text, images) = if role == "user" {
                    self.with_images(&item["content"], &content)?
                } else {
                    (self.text(&item["content"], &content, role == "assistant")?, Vec::new())
                };
                match role {
                    "system" | "developer" => read.push(Message::System { text }),
                    "user" => {
                        self.answered()?;
                        read.push(Message::User { text, images });
                    }
                    "assistant" => reply(read).0.push_str(&text),
                    other => return Err(format!("Invalid value: '{other}' for '{place}.role'.")),
                }
            }
            "reasoning" => {
                only(&["type", "id", "summary", "encrypted_content", "content", "status"])?;
                string(&item["id"], &format!("{place}.id"))?;
                list(&item["summary"], &format!("{place}.summary"))?;
                if !self.seals {
                    return Err(format!("{place}: reasoning comes back only where 'include' holds '{SEALED}'."));
                }
            }
            "function_call" => {
                only(&["type", "id", "call_id", "name", "arguments", "status"])?;
                let id = string(&item["call_id"], &format!("{place}.call_id"))?;
                let name = string(&item["name"], &format!("{place}.name"))?;
                if !is_name(name, 128) || id.is_empty() || id.len() > 64 {
                    return Err(format!("Invalid '{place}': 'name' or 'call_id' is too long or has other letters."));
                }
                let text = string(&item["arguments"], &format!("{place}.arguments"))?;
                let arguments = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
                let Some(arguments) = arguments else {
                    return Err(format!("{place}.arguments: not a JSON object"));
                };
                if self.open.iter().any(|(other, _)| other == id) {
                    return Err(format!("Duplicate item found with call_id {id}."));
                }
                self.open.push((id.to_owned(), name.to_owned()));
                reply(read).1.push(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments });
            }
            "function_call_output" => {
                only(&["type", "id", "call_id", "output", "status"])?;
                let id = string(&item["call_id"], &format!("{place}.call_id"))?;
                let Some(found) = self.open.iter().position(|(wanted, _)| wanted == id) else {
                    return Err(format!("No tool call found for function call output with call_id {id}."));
                };
                let (call, name) = self.open.remove(found);
                let (text, images) = self.with_images(&item["output"], &format!("{place}.output"))?;
                read.push(Message::Tool { call, name, text, images });
            }
            other => return Err(format!("Invalid value: '{other}' for '{place}.type'.")),
        }
        Ok(())
    }

    /// The text, and the images among the parts.
    fn with_images(&mut self, content: &Value, place: &str) -> Checked<(String, Vec<Image>)> {
        let (images, texts): (Vec<Value>, Vec<Value>) =
            content.as_array().into_iter().flatten().cloned().partition(|part| part["type"] == "input_image");
        let read = |part: &Value| {
            known(object(part, place)?, &["type", "image_url", "detail"], &format!("{place}."))?;
            image_url(&part["image_url"], place)
        };
        let images: Vec<Image> = images.iter().map(read).collect::<Checked<_>>()?;
        let texts = if content.is_array() { texts.into() } else { content.clone() };
        Ok((self.text(&texts, place, false)?, images))
    }

    /// The text of a string or of parts, with their breakpoints counted.
    fn text(&mut self, content: &Value, place: &str, is_output: bool) -> Checked<String> {
        if let Some(text) = content.as_str() {
            return Ok(text.to_owned());
        }
        let mut all = String::new();
        for (number, part) in list(content, place)?.iter().enumerate() {
            let place = format!("{place}[{number}]");
            let (kind, names) = if is_output {
                ("output_text", &["type", "text", "annotations", "logprobs"][..])
            } else {
                ("input_text", &["type", "text", "prompt_cache_breakpoint"][..])
            };
            let fields = object(part, &place)?;
            if part["type"] != kind {
                return Err(format!("Invalid value: {}. Supported values are: '{kind}'.", part["type"]));
            }
            known(fields, names, &format!("{place}."))?;
            if let Some(mark) = fields.get("prompt_cache_breakpoint") {
                // developers.openai.com/api/docs/guides/prompt-caching
                if !is_marking(self.model) || *mark != json!({"mode": "explicit"}) {
                    return Err(format!("Unsupported parameter: '{place}.prompt_cache_breakpoint'."));
                }
                self.marks += 1;
            }
            all.push_str(string(&part["text"], &format!("{place}.text"))?);
        }
        Ok(all)
    }
}

/// Text and calls of the reply that is being read: the last message, or a new one.
fn reply(read: &mut Vec<Message>) -> (&mut String, &mut Vec<ToolCall>) {
    if !matches!(read.last(), Some(Message::Assistant { .. })) {
        read.push(Message::Assistant { text: String::new(), calls: Vec::new(), carried: None });
    }
    match read.last_mut() {
        Some(Message::Assistant { text, calls, .. }) => (text, calls),
        _ => unreachable!("it was just pushed"),
    }
}

/// The items of a reply.
fn output(asked: &Asked, said: &Said) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(thought) = said.thoughts.first() {
        let summary = Some(json!({"type": "summary_text", "text": thought.text})).filter(|_| !thought.text.is_empty());
        let summary: Vec<Value> = summary.into_iter().collect();
        let mut item = json!({"id": format!("rs_{}", thought.signature), "type": "reasoning", "summary": summary});
        if asked.seals {
            item["encrypted_content"] = thought.signature.as_str().into();
        }
        items.push(item);
    }
    if !said.text.is_empty() {
        let content = json!([{"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}]);
        let phase = if said.calls.is_empty() { "final_answer" } else { "commentary" };
        items.push(json!({"id": format!("msg_{}", said.number), "type": "message", "status": "completed",
            "role": "assistant", "phase": phase, "content": content}));
    }
    items.extend(said.calls.iter().map(|call| {
        json!({"id": format!("fc_{}", call.id), "type": "function_call", "status": "completed", "call_id": call.id,
            "name": call.name, "arguments": call.arguments})
    }));
    items
}

fn response(asked: &Asked, said: &Said, status: &str, output: &[Value]) -> Value {
    let is_over = status != "in_progress";
    let reason = if said.stop == Stop::Refused { "content_filter" } else { "max_output_tokens" };
    let usage = json!({
        "input_tokens": said.usage.input,
        "input_tokens_details": {"cached_tokens": said.usage.cached, "cache_write_tokens": said.usage.cache_written},
        "output_tokens": said.usage.output,
        "output_tokens_details": {"reasoning_tokens": said.usage.reasoning},
        "total_tokens": said.usage.input + said.usage.output,
    });
    json!({
        "id": format!("resp_{}", said.number),
        "object": "response",
        "created_at": 1_770_000_000,
        "status": status,
        "error": Value::Null,
        "incomplete_details": if status == "incomplete" { json!({ "reason": reason }) } else { Value::Null },
        "model": said.model,
        "output": output,
        "service_tier": if asked.is_flex { "flex" } else { "default" },
        "usage": if is_over { usage } else { Value::Null },
    })
}

fn status(said: &Said) -> &'static str {
    if said.stop == Stop::Done { "completed" } else { "incomplete" }
}

pub(super) fn whole(asked: &Asked, said: &Said) -> Value {
    response(asked, said, status(said), &output(asked, said))
}

pub(super) fn events(asked: &Asked, said: &Said) -> Events {
    let mut number = 0;
    let mut event = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        data["sequence_number"] = number.into();
        number += 1;
        format!("event: {kind}\ndata: {data}\n\n")
    };
    let mut events = Events::default();
    for kind in ["response.created", "response.in_progress"] {
        events.said.push(event(kind, json!({"response": response(asked, said, "in_progress", &[])})));
    }
    let items = output(asked, said);
    for (index, item) in items.iter().enumerate() {
        let mut begun = item.clone();
        begun["status"] = "in_progress".into();
        let (field, text) = match item["type"].as_str() {
            Some("message") => ("content", &item["content"][0]["text"]),
            Some("function_call") => ("arguments", &item["arguments"]),
            _ => ("encrypted_content", &Value::Null),
        };
        match begun.get_mut(field) {
            Some(Value::Array(content)) => content.clear(),
            // What comes first may be a part.
            Some(value) => *value = if field == "arguments" { "" } else { "first" }.into(),
            None => {}
        }
        events.said.push(event("response.output_item.added", json!({"output_index": index, "item": begun})));
        let text = text.as_str().unwrap_or_default();
        let with = |name: &str, value: Value| {
            let mut data = json!({"item_id": item["id"], "output_index": index});
            if field == "content" {
                data["content_index"] = 0.into();
            }
            data[name] = value;
            data
        };
        let kind = if field == "content" { "response.output_text" } else { "response.function_call_arguments" };
        if field == "content" {
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            events.said.push(event("response.content_part.added", with("part", part)));
        }
        for piece in pieces(text, said.letters) {
            events.said.push(event(&format!("{kind}.delta"), with("delta", piece.into())));
        }
        if field == "content" {
            events.said.push(event(&format!("{kind}.done"), with("text", text.into())));
            events.said.push(event("response.content_part.done", with("part", item["content"][0].clone())));
        } else if field == "arguments" {
            events.said.push(event(&format!("{kind}.done"), with("arguments", text.into())));
        }
        events.said.push(event("response.output_item.done", json!({"output_index": index, "item": item})));
    }
    let status = status(said);
    let end = json!({"response": response(asked, said, status, &items)});
    events.end.push(event(&format!("response.{status}"), end));
    events
}

/// An error in the middle of a stream: a bare one, and the end of the response that follows from it.
pub(super) fn error_event(words: &str) -> String {
    let error = json!({"type": "error", "code": "server_error", "message": words, "param": Value::Null});
    let response = json!({"status": "failed", "error": {"code": "server_error", "message": words}, "output": []});
    let failed = json!({"type": "response.failed", "response": response});
    format!("event: error\ndata: {error}\n\nevent: response.failed\ndata: {failed}\n\n")
}
