//! OpenAI chat completions: https://platform.openai.com/docs/api-reference/chat

use super::{
    check::{Checked, is_name, list, object, string, texts, tool, unknown},
    format::{Asked, Events, Refusal, Said, pieces},
};
use overnight_core::message::{Message, Prompt, Stop, ToolCall, ToolSpec, Usage};
use serde_json::{Value, json};

const FIELDS: [&str; 24] = [
    "messages",
    "model",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "n",
    "stop",
    "seed",
    "user",
    "response_format",
    "logit_bias",
    "reasoning_effort",
    "prompt_cache_key",
    "metadata",
    "store",
    "service_tier",
    "presence_penalty",
    "frequency_penalty",
];

pub(super) fn read(body: &Value) -> Checked<Asked> {
    let fields = object(body, "body")?;
    if let Some(name) = unknown(fields, &FIELDS) {
        return Err(format!("Unrecognized request argument supplied: {name}"));
    }
    let Some(model) = body["model"].as_str() else {
        return Err("you must provide a model parameter".to_owned());
    };
    let streams = body["stream"].as_bool().unwrap_or(false);
    if fields.contains_key("stream_options") && !streams {
        return Err("The 'stream_options' parameter is only allowed when 'stream' is enabled.".to_owned());
    }
    if fields.contains_key("max_tokens") && fields.contains_key("max_completion_tokens") {
        return Err("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.".to_owned());
    }
    let tools = read_tools(body)?;
    for name in ["tool_choice", "parallel_tool_calls"] {
        if fields.contains_key(name) && tools.is_empty() {
            return Err(format!("'{name}' is only allowed when 'tools' are specified."));
        }
    }
    match &body["tool_choice"] {
        Value::Null | Value::Object(_) => {}
        Value::String(choice) if ["none", "auto", "required"].contains(&choice.as_str()) => {}
        other => return Err(format!("Invalid value for 'tool_choice': {other}")),
    }
    Ok(Asked {
        prompt: Prompt { tools: tools.into(), messages: read_messages(&body["messages"])? },
        model: model.to_owned(),
        streams,
        wants_usage: body["stream_options"]["include_usage"] == true,
        thinks: false,
        marks: None,
    })
}

fn read_tools(body: &Value) -> Checked<Vec<ToolSpec>> {
    let Some(tools) = body.get("tools") else { return Ok(Vec::new()) };
    let tools = list(tools, "tools")?;
    if tools.is_empty() {
        return Err("[] is too short - 'tools'".to_owned());
    }
    let read = |(number, one): (usize, &Value)| {
        if one["type"] != "function" {
            return Err(format!("Invalid value for 'tools[{number}].type'"));
        }
        let function = &one["function"];
        tool(
            &function["name"],
            function.get("description"),
            &function["parameters"],
            &format!("tools.{number}.function"),
        )
    };
    tools.iter().enumerate().map(read).collect()
}

fn read_messages(messages: &Value) -> Checked<Vec<Message>> {
    let messages = list(messages, "messages")?;
    if messages.is_empty() {
        return Err("[] is too short - 'messages'".to_owned());
    }
    let mut read = Vec::new();
    // Calls that still want a result.
    let mut open: Vec<(String, String)> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let place = format!("messages.{number}");
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" && !open.is_empty() {
            return Err(unanswered(&open));
        }
        let content = || texts(&message["content"], &format!("{place}.content")).map(|texts| texts.concat());
        match role {
            "system" | "developer" => read.push(Message::System { text: content()? }),
            "user" => read.push(Message::User { text: content()? }),
            "assistant" => {
                let calls = read_calls(message, &place)?;
                open = calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
                let text = if message["content"].is_null() && !calls.is_empty() { String::new() } else { content()? };
                read.push(Message::Assistant { text, calls, carried: None });
            }
            "tool" => {
                let id = string(&message["tool_call_id"], &format!("{place}.tool_call_id"))?;
                let Some(found) = open.iter().position(|(wanted, _)| wanted == id) else {
                    return Err(
                        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                            .to_owned(),
                    );
                };
                let (call, name) = open.remove(found);
                read.push(Message::Tool { call, name, text: content()? });
            }
            other => return Err(format!("Invalid value: '{other}' for '{place}.role'")),
        }
    }
    if open.is_empty() { Ok(read) } else { Err(unanswered(&open)) }
}

fn unanswered(open: &[(String, String)]) -> String {
    let ids: Vec<&str> = open.iter().map(|(id, _)| id.as_str()).collect();
    format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The \
         following tool_call_ids did not have response messages: {}",
        ids.join(", ")
    )
}

fn read_calls(message: &Value, place: &str) -> Checked<Vec<ToolCall>> {
    let Some(calls) = message.get("tool_calls") else { return Ok(Vec::new()) };
    let calls = list(calls, &format!("{place}.tool_calls"))?;
    if calls.is_empty() {
        return Err(format!("[] is too short - '{place}.tool_calls'"));
    }
    let mut read: Vec<ToolCall> = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let place = format!("{place}.tool_calls.{number}");
        let id = string(&call["id"], &format!("{place}.id"))?;
        if call["type"] != "function" {
            return Err(format!("Missing required parameter: '{place}.type'"));
        }
        let name = string(&call["function"]["name"], &format!("{place}.function.name"))?;
        if !is_name(name, 64) {
            return Err(format!("Invalid '{place}.function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'"));
        }
        let text = string(&call["function"]["arguments"], &format!("{place}.function.arguments"))?;
        // OpenAI itself takes any text; its compatible servers read it as an object.
        let arguments = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
        let Some(arguments) = arguments else {
            return Err(format!("{place}.function.arguments: not a JSON object"));
        };
        if id.is_empty() || id.len() > 40 || read.iter().any(|other| other.id == id) {
            return Err(format!("Invalid '{place}.id': not unique within the message, or not of 1 to 40 letters"));
        }
        read.push(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments });
    }
    Ok(read)
}

fn finish(said: &Said) -> &'static str {
    match said.stop {
        Stop::Length => "length",
        Stop::Refused => "content_filter",
        Stop::Done if said.calls.is_empty() => "stop",
        Stop::Done => "tool_calls",
    }
}

fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
    })
}

pub(super) fn whole(said: &Said) -> Value {
    let mut message = json!({"role": "assistant", "content": Value::Null, "refusal": Value::Null});
    if !said.text.is_empty() || said.calls.is_empty() {
        message["content"] = said.text.as_str().into();
    }
    if !said.calls.is_empty() {
        let calls = said.calls.iter().map(|call| {
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
        });
        message["tool_calls"] = calls.collect();
    }
    json!({
        "id": format!("chatcmpl-{}", said.number),
        "object": "chat.completion",
        "created": 1_770_000_000,
        "model": said.model,
        "choices": [{"index": 0, "message": message, "logprobs": Value::Null, "finish_reason": finish(said)}],
        "usage": usage(&said.usage),
    })
}

pub(super) fn events(asked: &Asked, said: &Said) -> Events {
    let chunk = |choices: Value, used: Value| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{}", said.number),
            "object": "chat.completion.chunk",
            "created": 1_770_000_000,
            "model": said.model,
            "choices": choices,
        });
        if asked.wants_usage {
            chunk["usage"] = used;
        }
        format!("data: {chunk}\n\n")
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": Value::Null}]), Value::Null);
    let mut events = Events::default();
    events.said.push(delta(
        json!({"role": "assistant", "content": if said.calls.is_empty() { json!("") } else { Value::Null }}),
    ));
    events.said.extend(pieces(&said.text, said.letters).map(|piece| delta(json!({ "content": piece }))));
    for (index, call) in said.calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        let first = json!({"index": index, "id": call.id, "type": "function", "function": function});
        events.said.push(delta(json!({ "tool_calls": [first] })));
        for piece in pieces(&call.arguments, said.letters) {
            events.said.push(delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})));
        }
    }
    events.end.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish(said)}]), Value::Null));
    if asked.wants_usage {
        events.end.push(chunk(json!([]), usage(&said.usage)));
    }
    events.end.push("data: [DONE]\n\n".to_owned());
    events
}

pub(super) fn refusal(refusal: Refusal, words: &str) -> Value {
    let (kind, code) = match refusal {
        Refusal::BadRequest => ("invalid_request_error", Value::Null),
        Refusal::TooLong => ("invalid_request_error", json!("context_length_exceeded")),
        Refusal::Key => ("invalid_request_error", json!("invalid_api_key")),
        Refusal::NotFound => ("invalid_request_error", json!("model_not_found")),
        Refusal::Rate => ("requests", json!("rate_limit_exceeded")),
        Refusal::Server | Refusal::Unavailable | Refusal::Overloaded => ("server_error", Value::Null),
    };
    json!({"error": {"message": words, "type": kind, "param": Value::Null, "code": code}})
}
