//! A reply of Chat Completions, whole or in chunks, read leniently: fields that aren't needed may be missing or odd.

use super::super::{
    Decode, RawCall, RawReply,
    call_parts::{self, CallPart, CallParts, malformed, text},
    error_response,
    fields::broken,
    split_letters,
};
use crate::model::{Failure, FailureKind};
use overnight_core::message::{Stop, Tier, Usage, is_within};
use serde_json::{Map, Value, json};

/// The deepest nesting of reasoning in a vendor's own shape: more could not be stored.
const MOST_LEVELS: usize = 32;

/// A reply that is coming.
#[derive(Debug, Default)]
pub(super) struct ChatReply {
    text: String,
    refusal: String,
    calls: CallParts,
    usage: Option<Usage>,
    stop: Option<Stop>,
    model: String,
    tier: Option<Tier>,
    reasoning: Reasoning,
    /// The input has ended: `[DONE]`, or the usage after the stop reason.
    is_over: bool,
    /// The last chunk had only a token count, which follows all content.
    is_counted: bool,
}

impl Decode for ChatReply {
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<(), Failure> {
        let data = data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.is_over = true;
            return Ok(());
        }
        let chunk: Value = split_letters::read(data).map_err(|_| call_parts::no_json("an event of the reply", data))?;
        if name == Some("error") && chunk.get("error").is_none() {
            return Err(error_response::in_reply(&chunk));
        }
        if !chunk.is_object() {
            return Err(malformed("an event of the reply is no JSON object"));
        }
        self.chunk(&chunk)
    }

    fn whole(&mut self, body: &str) -> Result<(), Failure> {
        let body: Value = split_letters::read(body).map_err(|_| call_parts::no_json("the reply", body))?;
        self.chunk(&body)?;
        let Some(choice) = first_choice(&body) else {
            let words = error_response::words(&body.to_string());
            let begin = "the reply has no choices";
            return Err(malformed(if words.is_empty() { begin.to_owned() } else { format!("{begin}: {words}") }));
        };
        if choice.get("message").is_none_or(Value::is_null) {
            return Err(malformed("the reply's first choice has no message"));
        }
        // A complete body can't have been cut off.
        self.stop = self.stop.or(Some(Stop::Done));
        self.is_over = true;
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.is_over
    }

    fn finish(self: Box<Self>) -> Result<RawReply, Failure> {
        let calls = self.calls.into_calls();
        let is_said =
            !self.text.is_empty() || !self.refusal.is_empty() || !calls.is_empty() || !self.reasoning.is_empty();
        // Some servers never state why a reply ends: it has ended, and nothing in it is truncated.
        let is_whole = (self.is_over || self.is_counted) && is_said && calls.iter().all(RawCall::is_whole);
        let stop = self.stop.or(is_whole.then_some(Stop::Done)).ok_or_else(broken)?;
        let is_refused = !self.refusal.is_empty() && calls.is_empty();
        Ok(RawReply {
            text: if self.text.is_empty() { self.refusal } else { self.text },
            calls,
            usage: self.usage,
            stop: Some(if is_refused { Stop::Refused } else { stop }),
            model: self.model,
            tier: self.tier,
            carried: self.reasoning.into_carried(),
        })
    }
}

/// Whether there is an error: some servers send the field with every chunk.
fn says_something(error: &Value) -> bool {
    !error.is_null() && *error != Value::Bool(false) && error.as_str() != Some("")
}

impl ChatReply {
    /// Takes a chunk of a stream, or a whole body: they differ in the name of the message field.
    fn chunk(&mut self, chunk: &Value) -> Result<(), Failure> {
        if let Some(error) = chunk.get("error").filter(|error| says_something(error)) {
            return Err(error_response::in_reply(error));
        }
        if text(chunk, "object") == "error" {
            return Err(error_response::in_reply(chunk));
        }
        if self.model.is_empty() {
            self.model = call_parts::model(chunk);
        }
        self.tier = call_parts::tier(chunk).or(self.tier);
        let choice = first_choice(chunk);
        if let Some(choice) = choice {
            self.is_counted = false;
            self.choice(choice)?;
        }
        // Groq and Moonshot have it elsewhere in a stream.
        let elsewhere = || choice.and_then(|choice| choice.get("usage"));
        let usage = [chunk.get("usage"), chunk.get("x_groq").and_then(|groq| groq.get("usage")), elsewhere()];
        if let Some(usage) = usage.into_iter().flatten().find_map(usage_of) {
            self.usage = Some(usage);
            self.is_over |= self.stop.is_some();
            self.is_counted = choice.is_none();
        }
        Ok(())
    }

    fn choice(&mut self, choice: &Value) -> Result<(), Failure> {
        if let Some(error) = choice.get("error").filter(|error| says_something(error)) {
            return Err(error_response::in_reply(error));
        }
        let has_begun = !self.text.is_empty() || !self.calls.is_empty();
        let message = || choice.get("message").filter(|_| !has_begun);
        if let Some(said) = choice.get("delta").filter(|delta| delta.is_object()).or_else(message) {
            self.said(said)?;
        }
        let reason = text(choice, "finish_reason");
        if !reason.is_empty() {
            self.stop = Some(stop(reason)?);
        }
        Ok(())
    }

    fn said(&mut self, said: &Value) -> Result<(), Failure> {
        match said.get("content") {
            Some(Value::String(text)) => self.text.push_str(text),
            Some(Value::Array(parts)) => {
                for part in parts {
                    match text(part, "type") {
                        "text" | "output_text" => self.text.push_str(text(part, "text")),
                        "refusal" => self.refusal.push_str(text(part, "refusal")),
                        _ => {}
                    }
                }
            }
            Some(_) | None => {}
        }
        self.refusal.push_str(text(said, "refusal"));
        self.reasoning.add(said);
        let calls = match said.get("tool_calls") {
            Some(Value::Array(calls)) => calls.as_slice(),
            Some(one @ Value::Object(_)) => std::slice::from_ref(one),
            Some(_) | None => &[],
        };
        for call in calls.iter().filter(|call| call.is_object()) {
            // Some servers omit the wrapper.
            let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
            self.calls.add(CallPart {
                index: call.get("index").and_then(Value::as_u64),
                id: text(call, "id"),
                name: text(function, "name"),
                arguments: &call_parts::arguments(function.get("arguments")),
            })?;
        }
        if let Some(function) = said.get("function_call").filter(|function| function.is_object()) {
            let arguments = call_parts::arguments(function.get("arguments"));
            self.calls.add(CallPart { name: text(function, "name"), arguments: &arguments, ..CallPart::default() })?;
        }
        Ok(())
    }
}

/// The first of several replies to one prompt, though only one was requested.
fn first_choice(chunk: &Value) -> Option<&Value> {
    let choices = chunk.get("choices")?.as_array()?;
    choices.iter().find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0)
}

fn stop(reason: &str) -> Result<Stop, Failure> {
    Ok(match reason.to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "model_length" => Stop::Length,
        "content_filter" | "refusal" | "safety" => Stop::Refused,
        "error" => return Err(Failure::new(FailureKind::Server, "the server broke its reply off with an error")),
        "insufficient_system_resource" => {
            return Err(Failure::new(FailureKind::Overloaded, "the server broke its reply off as it is overloaded"));
        }
        "abort" => return Err(Failure::new(FailureKind::BrokenStream, "the server broke its reply off")),
        // `stop`, `tool_calls`, `function_call`, and values that servers make up.
        _ => Stop::Done,
    })
}

fn usage_of(usage: &Value) -> Option<Usage> {
    let of = |field: &str| call_parts::count(usage.get(field));
    let within =
        |details: &str, field: &str| call_parts::count(usage.get(details).and_then(|details| details.get(field)));
    let (input, output) = match (of("prompt_tokens"), of("completion_tokens")) {
        (None, None) => return None,
        (input, output) => (input.unwrap_or(0), output.unwrap_or(0)),
    };
    let reasoning = within("completion_tokens_details", "reasoning_tokens").unwrap_or(0);
    // Some servers count the reasoning separately from the output: the total shows it.
    let is_beside = reasoning > output || of("total_tokens").is_some_and(|total| total >= input + output + reasoning);
    let cached = within("prompt_tokens_details", "cached_tokens");
    let cached =
        cached.or_else(|| of("prompt_cache_hit_tokens")).or_else(|| of("cached_tokens")).unwrap_or(0).min(input);
    let written = within("prompt_tokens_details", "cache_write_tokens").unwrap_or(0);
    Some(Usage {
        input,
        output: if is_beside { output + reasoning } else { output },
        cached,
        cache_written: written.min(input - cached),
        reasoning,
    })
}

/// Reasoning, which some vendors demand back with the reply. Each has its own field for it.
#[derive(Debug, Default)]
struct Reasoning {
    /// `reasoning_content`: DeepSeek, Moonshot, llama.cpp, vLLM. DeepSeek requires an empty one back too.
    content: Option<String>,
    /// `reasoning`: OpenRouter, Groq, vLLM.
    plain: String,
    /// `reasoning_details`: OpenRouter, with signatures.
    details: Vec<Value>,
}

impl Reasoning {
    fn is_empty(&self) -> bool {
        self.content.as_ref().is_none_or(String::is_empty) && self.plain.is_empty() && self.details.is_empty()
    }

    fn add(&mut self, said: &Value) {
        if let Some(Value::String(piece)) = said.get("reasoning_content") {
            self.content.get_or_insert_default().push_str(piece);
        }
        self.plain.push_str(text(said, "reasoning"));
        let details = said.get("reasoning_details").and_then(Value::as_array);
        for detail in details.into_iter().flatten().filter(|detail| is_within(detail, MOST_LEVELS)) {
            let Value::Object(piece) = detail else { continue };
            match self.details.last_mut() {
                Some(Value::Object(last)) if is_same(last, piece) => join(last, piece),
                Some(_) | None => self.details.push(detail.clone()),
            }
        }
    }

    fn into_carried(self) -> Option<Value> {
        let mut carried = Map::new();
        if let Some(content) = self.content {
            carried.insert("reasoning_content".to_owned(), content.into());
        }
        if !self.details.is_empty() {
            carried.insert("reasoning_details".to_owned(), json!(self.details));
        } else if !self.plain.is_empty() {
            carried.insert("reasoning".to_owned(), self.plain.into());
        }
        (!carried.is_empty()).then_some(Value::Object(carried))
    }
}

/// Whether two details are parts of one.
fn is_same(last: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    piece.contains_key("index") && ["type", "index"].iter().all(|field| last.get(*field) == piece.get(*field))
}

fn join(last: &mut Map<String, Value>, piece: &Map<String, Value>) {
    for (field, value) in piece {
        match (last.get_mut(field), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more))
                if ["text", "summary", "data"].contains(&field.as_str()) =>
            {
                text.push_str(more);
            }
            (Some(_) | None, _) => drop(last.insert(field.clone(), value.clone())),
        }
    }
}
