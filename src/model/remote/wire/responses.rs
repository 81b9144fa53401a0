//! OpenAI's Responses API, stateless: the server stores nothing (`store: false`), and reasoning is sent back encrypted
//! with the reply that it belongs to. Ids of messages and calls are left out, because a server that stores nothing
//! can't find them; those of reasoning stay. Source: the types of openai-python, `types/responses`.

mod decode;
#[cfg(test)]
mod tests;

use super::{
    Decode, Framing, OutgoingRequest, Wire, WireRequest,
    call_parts::{as_object, text},
    error_response,
    fields::{add, cache_key, data_url, tool_name},
    openai::OpenAi,
    written,
};
use crate::model::{FailureKind, table::ToolChoice};
use overnight_core::message::{Message, Prompt, ToolCall};
use serde_json::{Map, Value, json};

/// The name in [`overnight_core::message::Reply::carried`].
const NAME: &str = "responses";
#[derive(Clone, Copy, Debug)]
pub struct Responses;

impl Wire for Responses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn base_url(&self) -> &'static str {
        OpenAi.base_url()
    }

    fn key_variable(&self) -> Option<&'static str> {
        OpenAi.key_variable()
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        OpenAi.key_header(key)
    }

    fn framing(&self) -> Framing {
        Framing::ServerSentEvents
    }

    fn flex(&self) -> Option<(&'static str, &'static str)> {
        OpenAi.flex()
    }

    fn about(&self, model: &str) -> Option<String> {
        OpenAi.about(model)
    }

    fn image_tokens(&self, width: u32, height: u32) -> u64 {
        OpenAi.image_tokens(width, height)
    }

    fn outgoing(&self, request: &WireRequest<'_>) -> OutgoingRequest {
        OutgoingRequest { path: "responses".to_owned(), headers: Vec::new(), body: written(&body(request)) }
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::<decode::ResponsesReply>::default()
    }

    fn refusal(&self, status: u16, body: &str) -> (FailureKind, String) {
        error_response::refusal(status, body)
    }
}

fn body(request: &WireRequest<'_>) -> Map<String, Value> {
    let WireRequest { prompt, model, quirks } = *request;
    let mut body = Map::new();
    let mut put = |field: &str, value: Value| body.insert(field.to_owned(), value);
    put("model", json!(model));
    put("store", json!(false));
    put("include", json!(["reasoning.encrypted_content"]));
    put("prompt_cache_key", json!(cache_key(prompt)));
    if !prompt.tools.is_empty() {
        put(
            "tools",
            prompt
                .tools
                .iter()
                .map(|tool| {
                    json!({
                        "type": "function", "name": tool.name, "description": tool.description,
                        "parameters": tool.parameters, "strict": false,
                    })
                })
                .collect(),
        );
        match quirks.tool_choice {
            ToolChoice::Unset => {}
            ToolChoice::Auto => drop(put("tool_choice", json!("auto"))),
            ToolChoice::Required => drop(put("tool_choice", json!("required"))),
        }
        if let Some(is_parallel) = quirks.parallel_calls {
            put("parallel_tool_calls", json!(is_parallel));
        }
    }
    put(quirks.output_field.as_deref().unwrap_or("max_output_tokens"), json!(quirks.output_tokens));
    if let Some(level) = request.reasoning_level() {
        put("reasoning", json!({ "effort": level }));
    }
    if quirks.streams {
        put("stream", json!(true));
    }
    put(
        "input",
        prompt.messages().flat_map(|message| items(prompt, message, quirks.cache_marks == Some(true))).collect(),
    );
    add(&mut body, &quirks.extra);
    body
}

/// A message as its items. The end of the part that all requests share is marked if requested.
fn items(prompt: &Prompt, message: &Message, marks: bool) -> Vec<Value> {
    let content = |text: &str| {
        let images = message.images();
        if images.is_empty() {
            return json!(text);
        }
        let image = |image| json!({ "type": "input_image", "image_url": data_url(prompt, image), "detail": "high" });
        let said = json!({ "type": "input_text", "text": text });
        [said].into_iter().chain(images.iter().map(image)).collect()
    };
    match message {
        Message::System { text } => {
            let mut said = json!({ "type": "input_text", "text": text });
            if marks {
                said["prompt_cache_breakpoint"] = json!({ "mode": "explicit" });
            }
            vec![json!({ "role": "developer", "content": [said] })]
        }
        Message::User { text, .. } => vec![json!({ "role": "user", "content": content(text) })],
        Message::Tool { call, text, .. } => {
            vec![json!({ "type": "function_call_output", "call_id": call, "output": content(text) })]
        }
        Message::Assistant { text, calls, carried } => reply(text, calls, carried.as_deref()),
    }
}

/// A reply as it is sent back: its reasoning in its place.
fn reply(said: &str, calls: &[ToolCall], carried: Option<&Value>) -> Vec<Value> {
    let message = |text: &str, phase: Option<&Value>| {
        let mut message = json!({
            "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }],
        });
        if let Some(phase) = phase {
            message["phase"] = phase.clone();
        }
        message
    };
    let mut made = calls.iter().map(|call| {
        let arguments = as_object(&call.arguments).to_string();
        json!({ "type": "function_call", "call_id": call.id, "name": tool_name(&call.name), "arguments": arguments })
    });
    let own = || (!said.trim().is_empty()).then(|| message(said, None));
    let carried = carried.and_then(|carried| carried.get(NAME)).and_then(Value::as_array);
    let carried = carried.map(Vec::as_slice).unwrap_or_default();
    // A repaired reply is sent back without it: reasoning is refused before another item than the one it was made for.
    if !is_in_place(carried, said, calls.len()) {
        return own().into_iter().chain(made).collect();
    }
    let mut items: Vec<Value> = carried
        .iter()
        .filter_map(|item| match text(item, "type") {
            "message" => Some(message(text(item, "text"), item.get("phase"))),
            "function_call" => made.next(),
            _ => Some(item.clone()),
        })
        .collect();
    // Reasoning belongs to the item after it.
    while items.pop_if(|item| is_reasoning(item)).is_some() {}
    items
}

/// Whether what is carried also holds the places of texts and calls, and these are still the same.
fn is_in_place(carried: &[Value], said: &str, calls: usize) -> bool {
    let of = |kind: &'static str| carried.iter().filter(move |item| text(item, "type") == kind);
    let texts: String = of("message").map(|item| text(item, "text")).collect();
    texts.trim() == said.trim() && of("function_call").count() == calls
}

fn is_reasoning(item: &Value) -> bool {
    text(item, "type") == "reasoning"
}
