//! Ollama's own chat: https://github.com/ollama/ollama/blob/main/docs/api.md. A field that it doesn't know, such as a tool
//! choice, it overlooks; here that is refused, because whoever sent it meant something.

use super::{
    check::{Checked, image, list, names, object, only, string, tool},
    format::{Asked, Events, Said, pieces},
};
use overnight_core::message::{Message, Prompt, Stop, ToolCall, ToolSpec};
use serde_json::{Value, json};

const FIELDS: &str = "model messages tools format options stream keep_alive think logprobs top_logprobs";
const MESSAGE: [&str; 7] = ["role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id"];

pub(super) fn read(body: &Value) -> Checked<Asked> {
    only(object(body, "body")?, &names(FIELDS), "body")?;
    let model = string(&body["model"], "model")?;
    if model.is_empty() {
        return Err("model is required".to_owned());
    }
    if let Some(options) = body.get("options") {
        object(options, "options")?;
    }
    let tools: Vec<ToolSpec> = match body.get("tools") {
        None => Vec::new(),
        Some(tools) => list(tools, "tools")?
            .iter()
            .enumerate()
            .map(|(number, one)| {
                let (function, place) = (&one["function"], format!("tools.{number}.function"));
                if one["type"] != "function" {
                    return Err(format!("tools.{number}.type: must be function"));
                }
                tool(&function["name"], function.get("description"), &function["parameters"], &place)
            })
            .collect::<Checked<_>>()?,
    };
    let prompt = Prompt::new(tools.into(), read_messages(&body["messages"])?);
    // It streams unless it is told not to.
    let asked = Asked::new(prompt, model, body["stream"].as_bool().unwrap_or(true));
    Ok(Asked { thinks: body["think"].as_bool(), ..asked })
}

fn read_messages(messages: &Value) -> Checked<Vec<Message>> {
    let mut read = Vec::new();
    // Results are told apart by their order.
    let mut open: Vec<ToolCall> = Vec::new();
    for (number, message) in list(messages, "messages")?.iter().enumerate() {
        let place = format!("messages.{number}");
        only(object(message, &place)?, &MESSAGE, &place)?;
        let text = match message.get("content") {
            None => String::new(),
            Some(content) => string(content, &format!("{place}.content"))?.to_owned(),
        };
        let image = |data: &Value| image(&"image/png".into(), string(data, &place)?, &place);
        let images = message["images"].as_array().into_iter().flatten().map(image).collect::<Checked<Vec<_>>>()?;
        match message["role"].as_str().unwrap_or_default() {
            "system" => read.push(Message::System { text }),
            "user" => read.push(Message::User { text, images }),
            "assistant" => {
                let calls = read_calls(message, number, &place)?;
                open.clone_from(&calls);
                read.push(Message::Assistant { text, calls, carried: None });
            }
            "tool" => {
                if open.is_empty() {
                    return Err(format!("{place}: a tool's result without a call"));
                }
                let call = open.remove(0);
                if message.get("tool_name").is_some_and(|name| name != call.name.as_str()) {
                    return Err(format!(
                        "{place}.tool_name: results stand in the order of the calls; {} is next",
                        call.name
                    ));
                }
                read.push(Message::Tool { call: call.id, name: call.name, text, images });
            }
            other => return Err(format!("invalid role: '{other}'")),
        }
    }
    Ok(read)
}

fn read_calls(message: &Value, number: usize, place: &str) -> Checked<Vec<ToolCall>> {
    let Some(calls) = message.get("tool_calls") else { return Ok(Vec::new()) };
    let read = |(at, call): (usize, &Value)| {
        let name = string(&call["function"]["name"], &format!("{place}.tool_calls.{at}.function.name"))?;
        let arguments = &call["function"]["arguments"];
        object(arguments, &format!("{place}.tool_calls.{at}.function.arguments"))?;
        Ok(ToolCall { id: format!("at_{number}_{at}"), name: name.to_owned(), arguments: arguments.clone() })
    };
    list(calls, &format!("{place}.tool_calls"))?.iter().enumerate().map(read).collect()
}

fn calls(said: &Said) -> Vec<Value> {
    let one = |call: &super::format::Called| {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| call.arguments.as_str().into());
        json!({"function": {"name": call.name, "arguments": arguments}})
    };
    said.calls.iter().map(one).collect()
}

fn line(said: &Said, message: &Value) -> Value {
    json!({"model": said.model, "created_at": "2026-02-02T02:40:00.000000Z", "message": message, "done": false})
}

fn last(said: &Said, message: &Value) -> Value {
    let mut last = line(said, message);
    last["done"] = true.into();
    last["done_reason"] = match said.stop {
        Stop::Done | Stop::Refused => "stop".into(),
        Stop::Length => "length".into(),
    };
    last["total_duration"] = 1_500_000_000.into();
    last["load_duration"] = 20_000_000.into();
    // What it has in its cache it doesn't count.
    last["prompt_eval_count"] = said.usage.input.into();
    last["prompt_eval_duration"] = 400_000_000.into();
    last["eval_count"] = said.usage.output.into();
    last["eval_duration"] = 1_000_000_000.into();
    last
}

pub(super) fn whole(said: &Said) -> Value {
    let mut message = json!({"role": "assistant", "content": said.text});
    if let Some(thought) = said.thoughts.first() {
        message["thinking"] = thought.text.as_str().into();
    }
    if !said.calls.is_empty() {
        message["tool_calls"] = calls(said).into();
    }
    last(said, &message)
}

pub(super) fn events(said: &Said) -> Events {
    let write = |value: Value| format!("{value}\n");
    let mut events = Events::default();
    if let Some(thought) = said.thoughts.first() {
        events.said.push(write(line(said, &json!({"role": "assistant", "content": "", "thinking": thought.text}))));
    }
    for piece in pieces(&said.text, said.letters) {
        events.said.push(write(line(said, &json!({"role": "assistant", "content": piece}))));
    }
    for call in calls(said) {
        events.said.push(write(line(said, &json!({"role": "assistant", "content": "", "tool_calls": [call]}))));
    }
    events.end.push(write(last(said, &json!({"role": "assistant", "content": ""}))));
    events
}

pub(super) fn refusal(words: &str) -> Value {
    json!({ "error": words })
}
