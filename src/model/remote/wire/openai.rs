//! OpenAI's Chat Completions, and other servers that support them: llama.cpp, vLLM, LM Studio, Mistral, DeepSeek,
//! OpenRouter, Groq. Differences in replies are read leniently; those of requests are in the table of models.

mod decode;

use super::{
    Decode, Framing, OutgoingRequest, Wire, WireRequest, error_response,
    fields::{cache_key, data_url},
    squares, written,
};
use crate::model::{
    FailureKind,
    table::{TakesImages, ToolChoice},
};
use overnight_core::message::{Image, Message, Prompt, ToolCall, ToolSpec};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The format's name in `openai:`, and in [`overnight_core::message::Reply::carried`].
const NAME: &str = "openai";

/// Stands before images that the results above it can't hold.
const BEHIND: &str = "(the images of the results above, in their order)";

#[derive(Clone, Copy, Debug)]
pub struct OpenAi;

impl Wire for OpenAi {
    fn name(&self) -> &'static str {
        NAME
    }

    fn base_url(&self) -> &'static str {
        "https://api.openai.com/v1/"
    }

    fn key_variable(&self) -> Option<&'static str> {
        Some("OPENAI_API_KEY")
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn framing(&self) -> Framing {
        Framing::ServerSentEvents
    }

    fn flex(&self) -> Option<(&'static str, &'static str)> {
        Some(("service_tier", "flex"))
    }

    fn about(&self, _model: &str) -> Option<String> {
        Some("models".to_owned())
    }

    /// Six for five squares of 32 pixels, of which it counts so many at the requested detail. Source: OpenAI's guide to
    /// images.
    fn image_tokens(&self, width: u32, height: u32) -> u64 {
        squares(width, height, 32).min(2_500) * 6 / 5
    }

    fn outgoing(&self, request: &WireRequest<'_>) -> OutgoingRequest {
        let key = request.quirks.cache_key_header.clone().map(|header| (header, cache_key(request.prompt)));
        OutgoingRequest {
            path: "chat/completions".to_owned(),
            headers: key.into_iter().collect(),
            body: written(&ChatBody(*request)),
        }
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::<decode::ChatReply>::default()
    }

    fn refusal(&self, status: u16, body: &str) -> (FailureKind, String) {
        error_response::refusal(status, body)
    }
}

/// The request body: settings from the quirks, and the prompt, serialised directly, because it is most of the data
/// sent, many times over.
struct ChatBody<'a>(WireRequest<'a>);

impl ChatBody<'_> {
    fn settings(&self) -> Map<String, Value> {
        let WireRequest { prompt, model, quirks } = self.0;
        let mut settings = Map::new();
        let mut set = |field: &str, value: Value| settings.insert(field.to_owned(), value);
        set("model", model.into());
        set(quirks.output_field.as_deref().unwrap_or("max_tokens"), quirks.output_tokens.into());
        if !prompt.tools.is_empty() {
            match quirks.tool_choice {
                ToolChoice::Unset => {}
                ToolChoice::Auto => drop(set("tool_choice", "auto".into())),
                ToolChoice::Required => drop(set("tool_choice", "required".into())),
            }
            if let Some(is_parallel) = quirks.parallel_calls {
                set("parallel_tool_calls", is_parallel.into());
            }
        }
        if let Some(level) = self.0.reasoning_level() {
            set("reasoning_effort", level.into());
        }
        if quirks.streams {
            set("stream", true.into());
            set("stream_options", json!({ "include_usage": true }));
        }
        if !quirks.stop.is_empty() {
            set("stop", quirks.stop.clone().into());
        }
        settings.extend(quirks.extra.clone());
        settings
    }
}

impl Serialize for ChatBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let prompt = self.0.prompt;
        let settings = self.settings();
        let mut body = serializer.serialize_map(None)?;
        if !settings.contains_key("messages") {
            body.serialize_entry("messages", &messages(prompt, self.0.quirks.images))?;
        }
        if !prompt.tools.is_empty() && !settings.contains_key("tools") {
            body.serialize_entry("tools", &prompt.tools.iter().map(ToolJson::of).collect::<Vec<_>>())?;
        }
        for (field, value) in &settings {
            body.serialize_entry(field, value)?;
        }
        body.end()
    }
}

/// A tool as this format and Ollama's describe it.
#[derive(Serialize)]
pub(super) struct ToolJson<'a> {
    r#type: &'static str,
    function: &'a ToolSpec,
}

impl<'a> ToolJson<'a> {
    pub(super) fn of(tool: &'a ToolSpec) -> Self {
        Self { r#type: "function", function: tool }
    }
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum MessageJson<'a> {
    System {
        content: &'a str,
    },
    User {
        content: ContentJson<'a>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: ContentJson<'a>,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<CallJson<'a>>,
        #[serde(flatten)]
        carried: Map<String, Value>,
    },
}

/// A text, or a text with images.
#[derive(Serialize)]
#[serde(untagged)]
enum ContentJson<'a> {
    Text(&'a str),
    Parts(Vec<Value>),
}

impl<'a> ContentJson<'a> {
    fn of(prompt: &Prompt, text: &'a str, images: &[Image]) -> Self {
        if images.is_empty() {
            return Self::Text(text);
        }
        let image = |image| json!({ "type": "image_url", "image_url": { "url": data_url(prompt, image) } });
        let said = json!({ "type": "text", "text": text });
        Self::Parts([said].into_iter().chain(images.iter().map(image)).collect())
    }
}

/// The history. Images of results are in them, or in a message of their own after the results of one reply.
fn messages(prompt: &Prompt, takes: TakesImages) -> Vec<MessageJson<'_>> {
    let (mut messages, mut behind) = (Vec::new(), Vec::new());
    let flush = |messages: &mut Vec<_>, behind: &mut Vec<Image>| {
        if !behind.is_empty() {
            messages.push(MessageJson::User { content: ContentJson::of(prompt, BEHIND, behind) });
            behind.clear();
        }
    };
    for message in prompt.messages() {
        let is_behind = takes == TakesImages::BehindResults && matches!(message, Message::Tool { .. });
        if is_behind {
            behind.extend_from_slice(message.images());
        } else {
            flush(&mut messages, &mut behind);
        }
        messages.push(MessageJson::of(prompt, message, if is_behind { &[] } else { message.images() }));
    }
    flush(&mut messages, &mut behind);
    messages
}

impl<'a> MessageJson<'a> {
    fn of(prompt: &Prompt, message: &'a Message, images: &[Image]) -> Self {
        match message {
            Message::System { text } => Self::System { content: text },
            Message::User { text, .. } => Self::User { content: ContentJson::of(prompt, text, images) },
            Message::Tool { call, text, .. } => {
                Self::Tool { tool_call_id: call_id(call), content: ContentJson::of(prompt, text, images) }
            }
            Message::Assistant { text, calls, carried } => {
                let mut more = Map::new();
                carry(&mut more, carried.as_deref(), NAME);
                more.retain(|field, _| !["role", "content", "tool_calls"].contains(&field.as_str()));
                Self::Assistant {
                    // Beside calls the text may be null, and some servers take an empty one for a text; alone it may not.
                    content: (!text.is_empty() || calls.is_empty()).then_some(text),
                    tool_calls: calls.iter().map(CallJson::of).collect(),
                    carried: more,
                }
            }
        }
    }
}

#[derive(Serialize)]
struct CallJson<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: FunctionJson<'a>,
}

#[derive(Serialize)]
struct FunctionJson<'a> {
    name: &'a str,
    arguments: String,
}

impl<'a> CallJson<'a> {
    fn of(call: &'a ToolCall) -> Self {
        // A text that holds no JSON object here makes llama.cpp, vLLM and others refuse this prompt and all that follow it.
        let arguments = super::call_parts::as_object(&call.arguments).to_string();
        Self { id: call_id(&call.id), r#type: "function", function: FunctionJson { name: &call.name, arguments } }
    }
}

/// A call's name of nine digits: Mistral takes no other (its error 3280), and all others take any.
fn call_id(id: &str) -> Cow<'_, str> {
    let numbers = id.strip_prefix("call_").and_then(|rest| rest.split_once('_'));
    let numbers = numbers.and_then(|(turn, place)| Some((turn.parse::<u32>().ok()?, place.parse::<u32>().ok()?)));
    match numbers {
        Some((turn, place)) if turn < 1_000_000 && place < 1_000 => Cow::Owned(format!("{turn:06}{place:03}")),
        Some(_) | None => Cow::Borrowed(id),
    }
}

/// Restores the fields that a reply of this format carried, besides those that the message itself has.
pub(super) fn carry(said: &mut Map<String, Value>, carried: Option<&Value>, format: &str) {
    let Some(Value::Object(fields)) = carried.and_then(|carried| carried.get(format)) else { return };
    for (field, value) in fields {
        said.entry(field.as_str()).or_insert_with(|| value.clone());
    }
}

#[cfg(test)]
mod tests;
