//! The request body for a prompt.

use super::*;
use crate::model::table::Quirks;
use overnight_core::message::Prompt;
use std::sync::Arc;

fn prompt() -> Prompt {
    let tools = [ToolSpec {
        name: "read_file".to_owned(),
        description: "Reads.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
    }];
    let call = |id: &str, arguments: Value| ToolCall { id: id.to_owned(), name: "read_file".to_owned(), arguments };
    let carried = json!({ "openai": { "reasoning_content": "r", "role": "system" }, "anthropic": [1] });
    let result = |id: &str| Message::Tool {
        call: id.to_owned(),
        name: "read_file".to_owned(),
        text: "ok".to_owned(),
        images: Vec::new(),
    };
    Prompt::new(
        Arc::new(tools),
        vec![
            Message::System { text: "s".to_owned() },
            Message::user("u"),
            Message::Assistant {
                text: String::new(),
                calls: vec![call("call_12_1", json!({ "path": "x" })), call("b", json!("{torn"))],
                carried: Some(Arc::new(carried)),
            },
            result("call_12_1"),
            result("b"),
            Message::Assistant { text: "Done?".to_owned(), calls: Vec::new(), carried: None },
            Message::user("board"),
        ],
    )
}

fn sent(quirks: &Quirks, prompt: &Prompt) -> Value {
    let outgoing = OpenAi.outgoing(&WireRequest { prompt, model: "org/m:free", quirks });
    assert_eq!((outgoing.path.as_str(), &outgoing.headers), ("chat/completions", &Vec::new()));
    outgoing.json()
}

#[test]
fn a_prompt_becomes_a_body() {
    let quirks = Quirks {
        output_tokens: 100,
        tool_choice: ToolChoice::Required,
        parallel_calls: Some(false),
        output_field: Some("max_completion_tokens".to_owned()),
        stop: vec!["\n}".to_owned()],
        extra: Map::from_iter([("stream_options".to_owned(), json!(null)), ("seed".to_owned(), json!(1))]),
        ..Quirks::default()
    };
    let parameters = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let expected = json!({
        "model": "org/m:free",
        "messages": [
            { "role": "system", "content": "s" },
            { "role": "user", "content": "u" },
            { "role": "assistant", "content": null, "reasoning_content": "r", "tool_calls": [
                { "id": "000012001", "type": "function", "function": { "name": "read_file", "arguments": "{\"path\":\"x\"}" } },
                { "id": "b", "type": "function", "function": { "name": "read_file", "arguments": "{\"unreadable\":\"{torn\"}" } },
            ] },
            { "role": "tool", "tool_call_id": "000012001", "content": "ok" },
            { "role": "tool", "tool_call_id": "b", "content": "ok" },
            { "role": "assistant", "content": "Done?" },
            { "role": "user", "content": "board" },
        ],
        "tools": [{ "type": "function", "function": { "name": "read_file", "description": "Reads.", "parameters": parameters } }],
        "tool_choice": "required",
        "parallel_tool_calls": false,
        "max_completion_tokens": 100,
        "stream": true,
        "stream_options": null,
        "stop": ["\n}"],
        "seed": 1,
    });
    assert_eq!(sent(&quirks, &prompt()), expected);
}

#[test]
fn what_a_model_does_not_want_is_not_sent() {
    let quirks =
        Quirks { tool_choice: ToolChoice::Auto, parallel_calls: Some(true), streams: false, ..Quirks::default() };
    let prompt = Prompt::new(Arc::new([]), vec![Message::user("u")]);
    let expected =
        json!({ "model": "org/m:free", "messages": [{ "role": "user", "content": "u" }], "max_tokens": 8192 });
    assert_eq!(sent(&quirks, &prompt), expected);
}

#[test]
fn the_key_goes_in_a_header() {
    assert_eq!(OpenAi.key_header("k"), ("authorization", "Bearer k".to_owned()));
}
