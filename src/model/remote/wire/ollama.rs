//! Ollama's own format, `/api/chat`: one JSON object a line. It is used beside its Chat Completions because only here the
//! window can be set; where it isn't, a prompt that is longer than the server's small default is cut without a word.

use super::{
    Decode, Framing, OutgoingRequest, RawCall, RawReply, Wire, WireRequest,
    call_parts::{self, CallPart, CallParts, text},
    error_response,
    fields::{DONE, base64, broken},
    openai, split_letters, written,
};
use crate::model::{Failure, FailureKind};
use overnight_core::message::{Message, Prompt, Stop, Usage};
use serde_json::{Map, Value, json};

/// The format's name in `ollama:`, and in [`overnight_core::message::Reply::carried`].
const NAME: &str = "ollama";

#[derive(Clone, Copy, Debug)]
pub struct Ollama;

impl Wire for Ollama {
    fn name(&self) -> &'static str {
        NAME
    }

    fn base_url(&self) -> &'static str {
        "http://localhost:11434/"
    }

    fn key_variable(&self) -> Option<&'static str> {
        None
    }

    /// A local server needs no key; a proxy in front of one may.
    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn outgoing(&self, request: &WireRequest<'_>) -> OutgoingRequest {
        OutgoingRequest { path: "api/chat".to_owned(), headers: Vec::new(), body: written(&body(request)) }
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::<OllamaReply>::default()
    }

    fn refusal(&self, status: u16, body: &str) -> (FailureKind, String) {
        error_response::refusal(status, body)
    }
}

/// This format has no tool choice and no field for parallel calls.
fn body(request: &WireRequest<'_>) -> Value {
    let WireRequest { prompt, model, quirks } = *request;
    let mut options = Map::new();
    options.insert("num_ctx".to_owned(), quirks.window_tokens.into());
    let output = quirks.output_field.clone().unwrap_or_else(|| "num_predict".to_owned());
    options.insert(output, quirks.output_tokens.into());
    if !quirks.stop.is_empty() {
        options.insert("stop".to_owned(), quirks.stop.clone().into());
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("messages".to_owned(), prompt.messages().map(|said| message(prompt, said)).collect());
    if !prompt.tools.is_empty() {
        body.insert("tools".to_owned(), prompt.tools.iter().map(|tool| json!(openai::ToolJson::of(tool))).collect());
    }
    // In this format replies are streamed by default.
    body.insert("stream".to_owned(), quirks.streams.into());
    for (field, value) in &quirks.extra {
        match value {
            // An added option must not replace the window.
            Value::Object(more) if field == "options" => options.extend(more.clone()),
            value => drop(body.insert(field.clone(), value.clone())),
        }
    }
    body.entry("options").or_insert(Value::Object(options));
    Value::Object(body)
}

fn message(prompt: &Prompt, message: &Message) -> Value {
    let with_images = |mut said: Value| {
        let images = message.images();
        if !images.is_empty() {
            said["images"] = images.iter().map(|image| base64(prompt, image)).collect();
        }
        said
    };
    match message {
        Message::System { text } => json!({ "role": "system", "content": text }),
        Message::User { text, .. } => with_images(json!({ "role": "user", "content": text })),
        Message::Tool { call, name, text, .. } => {
            with_images(json!({ "role": "tool", "tool_call_id": call, "tool_name": name, "content": text }))
        }
        Message::Assistant { text, calls, carried } => {
            let mut said = Map::new();
            said.insert("role".to_owned(), "assistant".into());
            said.insert("content".to_owned(), text.as_str().into());
            if !calls.is_empty() {
                let calls = calls.iter().map(|call| {
                    let arguments = call_parts::as_object(&call.arguments);
                    json!({ "id": call.id, "function": { "name": call.name, "arguments": arguments } })
                });
                said.insert("tool_calls".to_owned(), calls.collect());
            }
            openai::carry(&mut said, carried.as_deref(), NAME);
            Value::Object(said)
        }
    }
}

/// A reply that is coming.
#[derive(Debug, Default)]
struct OllamaReply {
    text: String,
    thinking: String,
    calls: CallParts,
    usage: Option<Usage>,
    stop: Option<Stop>,
    model: String,
    /// The input has ended, though no line states it.
    is_over: bool,
    /// The last line had token counts, which follow all content.
    is_counted: bool,
}

impl Decode for OllamaReply {
    fn event(&mut self, _name: Option<&str>, data: &str) -> Result<(), Failure> {
        if data.trim() == DONE {
            self.is_over = true;
            return Ok(());
        }
        let line: Value = split_letters::read(data).map_err(|_| call_parts::no_json("a line of the reply", data))?;
        self.line(&line)
    }

    fn whole(&mut self, body: &str) -> Result<(), Failure> {
        match split_letters::read(body) {
            Ok(line) => self.line(&line)?,
            // Lines, though none were requested.
            Err(_) => {
                for line in body.lines().filter(|line| !line.trim().is_empty()) {
                    self.event(None, line)?;
                }
            }
        }
        if self.stop.is_none() && body.trim().is_empty() {
            return Err(call_parts::no_json("the reply", body));
        }
        // A complete body can't have been cut off.
        self.is_over = true;
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some() || self.is_over
    }

    fn finish(self: Box<Self>) -> Result<RawReply, Failure> {
        let calls = self.calls.into_calls();
        let is_said = !self.text.is_empty() || !calls.is_empty();
        let is_whole = (self.is_over || self.is_counted) && is_said && calls.iter().all(RawCall::is_whole);
        let stop = self.stop.or(is_whole.then_some(Stop::Done)).ok_or_else(broken)?;
        Ok(RawReply {
            text: self.text,
            calls,
            usage: self.usage,
            stop: Some(stop),
            tier: None,
            model: self.model,
            carried: (!self.thinking.is_empty()).then(|| json!({ "thinking": self.thinking })),
        })
    }
}

impl OllamaReply {
    fn line(&mut self, line: &Value) -> Result<(), Failure> {
        if let Some(error) = line.get("error").filter(|error| !error.is_null()) {
            return Err(error_response::in_reply(error));
        }
        let message = line.get("message").filter(|message| message.is_object());
        let is_done = line.get("done").and_then(Value::as_bool) == Some(true);
        if message.is_none() && !is_done {
            let words = error_response::words(&line.to_string());
            return Err(call_parts::malformed(format!(
                "a line of the reply has neither a message nor an end: {words}"
            )));
        }
        if self.model.is_empty() {
            self.model = call_parts::model(line);
        }
        if let Some(message) = message {
            self.text.push_str(text(message, "content"));
            self.thinking.push_str(text(message, "thinking"));
            for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                let Some(function) = call.get("function").filter(|function| function.is_object()) else { continue };
                let arguments = call_parts::arguments(function.get("arguments"));
                self.calls.begin(CallPart {
                    index: None,
                    id: text(call, "id"),
                    name: text(function, "name"),
                    arguments: &arguments,
                })?;
            }
        }
        if is_done {
            self.stop = Some(if text(line, "done_reason") == "length" { Stop::Length } else { Stop::Done });
        }
        // Tokens from the server's own cache aren't reported separately, and in some versions aren't counted.
        let (input, output) =
            (call_parts::count(line.get("prompt_eval_count")), call_parts::count(line.get("eval_count")));
        self.is_counted = input.is_some() || output.is_some();
        if self.is_counted {
            let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
            self.usage = Some(Usage { input, output, ..Usage::default() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
