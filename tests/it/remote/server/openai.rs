//! OpenAI chat completions: https://platform.openai.com/docs/api-reference/chat

use super::{
    cache::is_marking,
    check::{Checked, image_url, is_name, list, names, object, one_of, string, texts, tool, unknown, version},
    format::{Asked, Events, Refusal, Said, pieces},
};
use overnight_core::message::{Image, Message, Prompt, Stop, ToolCall, ToolSpec, Usage};
use serde_json::{Value, json};

/// Models whose vendor takes images in users' messages only.
const OF_OPENAI: [&str; 2] = ["gpt-", "o1"];
const FIELDS: &str = "messages model stream stream_options tools tool_choice parallel_tool_calls max_tokens max_completion_tokens \
    temperature top_p n stop seed user response_format logit_bias reasoning_effort prompt_cache_key \
    prompt_cache_options prompt_cache_retention safety_identifier thinking metadata store service_tier \
    presence_penalty frequency_penalty";

pub(super) fn read(body: &Value) -> Checked<Asked> {
    let fields = object(body, "body")?;
    if let Some(name) = unknown(fields, &names(FIELDS)) {
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
    let is_flex = settings(body, model, &body["reasoning_effort"])?;
    let is_none = body["reasoning_effort"] == "none";
    if let Some(version) = version(model, "gpt-") {
        // BerriAI/litellm#34569 and pipecat-ai/pipecat#4043: from 5.6 on also where no effort is named.
        let reasons = version >= (5, 6) || (version >= (5, 4) && fields.contains_key("reasoning_effort"));
        if reasons && !tools.is_empty() && !is_none {
            return Err(format!(
                "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. Please use \
                 /v1/responses instead."
            ));
        }
        if version >= (5, 0) && fields.contains_key("max_tokens") {
            return Err(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' \
                        instead."
                    .to_owned(),
            );
        }
        if fields.contains_key("thinking") {
            return Err("Unrecognized request argument supplied: thinking".to_owned());
        }
    }
    // api-docs.deepseek.com/guides/thinking_mode: it thinks unless it is told not to, and with tools wants all of it back.
    let is_off = is_none || body["thinking"]["type"] == "disabled";
    let thinks = if is_off { Some(false) } else { model.starts_with("deepseek-").then_some(true) };
    let messages = list(&body["messages"], "messages")?;
    let lacks = |message: &Value| message.get("tool_calls").is_some() && !message["reasoning_content"].is_string();
    if thinks == Some(true) && !tools.is_empty() && messages.iter().any(lacks) {
        return Err("The `reasoning_content` in the thinking mode must be passed back to the API.".to_owned());
    }
    // datapizza-labs/datapizza-ai#98: code 3230.
    let follows = |pair: &[Value]| pair[0]["role"] == "tool" && pair[1]["role"] == "user";
    if model.contains("stral") && messages.windows(2).any(follows) {
        return Err("Unexpected role 'user' after role 'tool'".to_owned());
    }
    let prompt = Prompt::new(tools.into(), read_messages(messages, model)?);
    let wants_usage = body["stream_options"]["include_usage"] == true;
    Ok(Asked { wants_usage, thinks, is_flex, ..Asked::new(prompt, model, streams) })
}

/// What both of OpenAI's formats take beside a conversation; whether the tier is the cheap one.
pub(super) fn settings(body: &Value, model: &str, effort: &Value) -> Checked<bool> {
    match &body["tool_choice"] {
        Value::Null | Value::Object(_) => {}
        Value::String(choice) if ["none", "auto", "required"].contains(&choice.as_str()) => {}
        other => return Err(format!("Invalid value for 'tool_choice': {other}")),
    }
    // developers.openai.com/api/docs/guides/flex-processing
    one_of(&body["service_tier"], &["auto", "default", "flex", "priority", "scale"], "service_tier")?;
    if body["prompt_cache_key"].as_str().is_some_and(|key| key.len() > 64) {
        return Err("Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64.".to_owned());
    }
    // developers.openai.com/api/docs/guides/prompt-caching; that older models refuse the newer fields is from reports.
    let options = &body["prompt_cache_options"];
    if !options.is_null() {
        if !is_marking(model) {
            return Err(unsupported("prompt_cache_options"));
        }
        if let Some(name) = unknown(object(options, "prompt_cache_options")?, &["mode", "ttl"]) {
            return Err(format!("Unknown parameter: 'prompt_cache_options.{name}'."));
        }
        one_of(&options["mode"], &["implicit", "explicit"], "prompt_cache_options.mode")?;
        one_of(&options["ttl"], &["30m"], "prompt_cache_options.ttl")?;
    }
    let version = version(model, "gpt-");
    let retentions = if version == Some((5, 5)) { &["24h"][..] } else { &["in_memory", "24h"] };
    one_of(&body["prompt_cache_retention"], retentions, "prompt_cache_retention")?;
    let efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
    // docs.apiyi.com/en/news/gpt-6-1-sol-launch: it and 6.2 know no `none`.
    let known = if version >= Some((6, 1)) { &efforts[1..] } else { &efforts };
    one_of(effort, known, "reasoning.effort")?;
    // A sampling field is for a model that doesn't reason.
    for name in ["temperature", "top_p"] {
        if version >= Some((5, 0)) && body.get(name).is_some() && effort != "none" {
            return Err(unsupported(name));
        }
    }
    Ok(body["service_tier"] == "flex")
}

fn unsupported(name: &str) -> String {
    format!("Unsupported parameter: '{name}' is not supported with this model.")
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

fn read_messages(messages: &[Value], model: &str) -> Checked<Vec<Message>> {
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
            "user" => {
                let (text, images) = parts(&message["content"], &format!("{place}.content"))?;
                read.push(Message::User { text, images });
            }
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
                // llama.cpp, vLLM and Mistral take images here, too; OpenAI doesn't.
                let (text, images) = parts(&message["content"], &format!("{place}.content"))?;
                if OF_OPENAI.iter().any(|make| model.starts_with(make)) && !images.is_empty() {
                    return Err(format!(
                        "Invalid content type. image_url is only allowed in messages with role 'user': {place}"
                    ));
                }
                read.push(Message::Tool { call, name, text, images });
            }
            other => return Err(format!("Invalid value: '{other}' for '{place}.role'")),
        }
    }
    if open.is_empty() { Ok(read) } else { Err(unanswered(&open)) }
}

/// The text and the images of a content.
fn parts(content: &Value, place: &str) -> Checked<(String, Vec<Image>)> {
    let (mut text, mut images) = (String::new(), Vec::new());
    for (number, part) in content.as_array().into_iter().flatten().enumerate() {
        let place = format!("{place}.{number}");
        if part["type"] == "image_url" {
            images.push(image_url(&part["image_url"]["url"], &place)?);
        } else {
            text.push_str(&texts(&json!([part]), &place)?.concat());
        }
    }
    if content.is_array() && !images.is_empty() {
        Ok((text, images))
    } else {
        Ok((texts(content, place)?.concat(), images))
    }
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

/// OpenAI itself keeps to itself what its models think.
fn reasoning(said: &Said) -> Option<&str> {
    said.thoughts.first().filter(|_| version(&said.model, "gpt-").is_none()).map(|thought| thought.text.as_str())
}

pub(super) fn whole(said: &Said) -> Value {
    let mut message = json!({"role": "assistant", "content": Value::Null, "refusal": Value::Null});
    if !said.text.is_empty() || said.calls.is_empty() {
        message["content"] = said.text.as_str().into();
    }
    if let Some(thought) = reasoning(said) {
        message["reasoning_content"] = thought.into();
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
    if let Some(thought) = reasoning(said) {
        events.said.push(delta(json!({ "reasoning_content": thought })));
    }
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
        // Mistral's.
        Refusal::BadRequest if words.starts_with("Unexpected role") => ("invalid_request_message_order", json!("3230")),
        Refusal::BadRequest => ("invalid_request_error", Value::Null),
        Refusal::TooLong => ("invalid_request_error", json!("context_length_exceeded")),
        Refusal::Key => ("invalid_request_error", json!("invalid_api_key")),
        Refusal::NotFound => ("invalid_request_error", json!("model_not_found")),
        Refusal::Rate => ("requests", json!("rate_limit_exceeded")),
        Refusal::NoFlex => ("resource_unavailable", json!("resource_unavailable")),
        Refusal::Server | Refusal::Unavailable | Refusal::Overloaded => ("server_error", Value::Null),
    };
    json!({"error": {"message": words, "type": kind, "param": Value::Null, "code": code}})
}
