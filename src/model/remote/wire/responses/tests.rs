//! Whole requests, and replies streamed and whole, as the types of openai-python have them.

use super::*;
use crate::model::{
    Failure,
    remote::wire::RawReply,
    table::{Quirks, ReasoningLevels},
};
use overnight_core::message::{Prompt, Stop, Tier, ToolSpec, Usage};
use std::sync::Arc;

fn call(id: &str, path: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: "read_file".to_owned(), arguments: json!({ "path": path }) }
}

fn said(text: &str, calls: &[ToolCall], carried: &Value) -> Message {
    let carried = Some(Arc::new(json!({ NAME: carried })));
    Message::Assistant { text: text.to_owned(), calls: calls.to_vec(), carried }
}

fn result(call: &str) -> Message {
    Message::Tool { call: call.to_owned(), name: "read_file".to_owned(), text: "# A".to_owned(), images: Vec::new() }
}

fn reasoning(id: &str) -> Value {
    json!({ "type": "reasoning", "id": id, "summary": [], "encrypted_content": "seal" })
}

fn sent(messages: Vec<Message>, quirks: &Quirks) -> Value {
    let parameters = json!({ "type": "object" });
    let tool = ToolSpec { name: "read_file".to_owned(), description: "Reads.".to_owned(), parameters };
    let prompt = Prompt::new(Arc::from([tool]), messages);
    let outgoing = Responses.outgoing(&WireRequest { prompt: &prompt, model: "gpt-6-sol", quirks });
    assert_eq!((outgoing.path.as_str(), &outgoing.headers), ("responses", &Vec::new()));
    outgoing.json()
}

#[test]
fn a_request_is_stateless_and_has_everything_in_it() {
    let quirks = Quirks {
        tool_choice: ToolChoice::Auto,
        cache_marks: Some(true),
        reasoning: Some(ReasoningLevels { levels: vec!["low".to_owned()], default: Some("low".to_owned()) }),
        extra: Map::from_iter([("service_tier".to_owned(), json!("flex"))]),
        ..Quirks::default()
    };
    let messages = vec![
        Message::System { text: "Be brief.".to_owned() },
        Message::user("Begin."),
        said("", &[call("call_1_1", "a.md")], &json!([reasoning("rs_1"), { "type": "function_call" }])),
        result("call_1_1"),
    ];
    let expected = json!({
        "model": "gpt-6-sol", "store": false, "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "overnight-54b5fa7ef9e9fe5c-6",
        "tools": [{
            "type": "function", "name": "read_file", "description": "Reads.", "parameters": { "type": "object" },
            "strict": false,
        }],
        "tool_choice": "auto", "max_output_tokens": 8192, "reasoning": { "effort": "low" }, "stream": true,
        "input": [
            { "role": "developer", "content": [{
                "type": "input_text", "text": "Be brief.", "prompt_cache_breakpoint": { "mode": "explicit" },
            }] },
            { "role": "user", "content": "Begin." },
            reasoning("rs_1"),
            {
                "type": "function_call", "call_id": "call_1_1", "name": "read_file",
                "arguments": r#"{"path":"a.md"}"#,
            },
            { "type": "function_call_output", "call_id": "call_1_1", "output": "# A" },
        ],
        "service_tier": "flex",
    });
    let body = sent(messages, &quirks);
    let same_but_key = |mut body: Value| {
        body["prompt_cache_key"] = json!(body["prompt_cache_key"].as_str().unwrap().len());
        body
    };
    assert_eq!(same_but_key(body), same_but_key(expected));
}

#[test]
fn the_cache_has_one_key_for_a_history_and_few_for_a_system_prompt() {
    let key = |system: &str, opening: &str| {
        let message = |text: &str| Message::user(text.to_owned());
        let messages = vec![Message::System { text: system.to_owned() }, message(opening), message("more")];
        sent(messages, &Quirks::default())["prompt_cache_key"].as_str().unwrap().to_owned()
    };
    assert_eq!(key("a", "1"), key("a", "1"));
    let keys: std::collections::BTreeSet<String> = (0..200).map(|job| key("a", &job.to_string())).collect();
    assert_eq!((keys.len(), keys.contains(&key("b", "1"))), (8, false));
}

#[test]
fn reasoning_goes_back_where_it_stood_and_never_alone() {
    let none = Prompt::new(Arc::new([]), []);
    let calls = [call("call_1_1", "a.md"), call("call_1_2", "b.md")];
    let [first, second] =
        calls.each_ref().map(|call| items(&none, &said("", std::slice::from_ref(call), &json!([])), false));
    let content = json!([{ "type": "output_text", "text": "Reading." }]);
    let message = json!({ "type": "message", "role": "assistant", "content": content });
    let in_place = json!([
        reasoning("rs_1"), { "type": "message", "text": "Reading.", "phase": "commentary" }, { "type": "function_call" },
        reasoning("rs_2"), { "type": "function_call" }, reasoning("rs_3"),
    ]);
    let with_phase = json!({ "type": "message", "role": "assistant", "content": content, "phase": "commentary" });
    let expected = vec![reasoning("rs_1"), with_phase, first[0].clone(), reasoning("rs_2"), second[0].clone()];
    assert_eq!(items(&none, &said("Reading.", &calls, &in_place), false), expected);
    // A call was dropped from the reply: the places are no longer valid.
    let repaired = [message, first[0].clone()];
    assert_eq!(items(&none, &said("Reading.", &calls[..1], &in_place), false), repaired);
    let foreign = Some(Arc::new(json!({ "openai": { "reasoning_content": "Hm." } })));
    let other = Message::Assistant { text: String::new(), calls: calls[..1].to_vec(), carried: foreign };
    assert_eq!(items(&none, &other, false), first);
}

fn response(status: &str, output: &Value, more: &Value) -> Value {
    let mut response = json!({
        "id": "resp_1", "object": "response", "service_tier": "default", "model": "gpt-6-sol-2026-09-22", "status": status, "output": output,
        "usage": {
            "input_tokens": 100, "input_tokens_details": { "cached_tokens": 70, "cache_write_tokens": 20 },
            "output_tokens": 30, "output_tokens_details": { "reasoning_tokens": 10 }, "total_tokens": 130,
        },
    });
    response.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    response
}

fn streamed(events: &[Value]) -> Result<RawReply, Failure> {
    let mut decoder = Responses.decoder();
    for event in events {
        decoder.event(event["type"].as_str(), &event.to_string())?;
    }
    decoder.finish()
}

fn output() -> Value {
    json!([
        { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "seal", "status": "completed" },
        { "type": "message", "id": "msg_1", "role": "assistant", "phase": "commentary", "status": "completed",
          "content": [{ "type": "output_text", "text": "Reading.", "annotations": [] }] },
        { "type": "function_call", "id": "fc_1", "call_id": "call_x", "name": "read_file", "arguments": "{\"path\":\"a.md\"}" },
    ])
}

fn events(output: &Value, last: Value) -> Vec<Value> {
    let mut events = vec![
        json!({ "type": "response.created", "response": response("in_progress", &json!([]), &json!({ "usage": null })) }),
        json!({ "type": "response.output_item.added", "output_index": 0,
                "item": { "type": "reasoning", "encrypted_content": "se" } }),
        json!({ "type": "response.output_text.delta", "output_index": 1, "delta": "Read" }),
    ];
    for (index, item) in output.as_array().unwrap().iter().enumerate() {
        events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    events.push(last);
    events
}

#[test]
fn a_reply_is_read_from_the_items_that_are_done() {
    let expected = RawReply {
        text: "Reading.".to_owned(),
        calls: vec![crate::model::remote::wire::RawCall {
            id: "call_x".to_owned(),
            name: "read_file".to_owned(),
            arguments: r#"{"path":"a.md"}"#.to_owned(),
        }],
        usage: Some(Usage { input: 100, output: 30, cached: 70, cache_written: 20, reasoning: 10 }),
        stop: Some(Stop::Done),
        model: "gpt-6-sol-2026-09-22".to_owned(),
        tier: Some(Tier::Standard),
        carried: Some(json!([
            reasoning("rs_1"), { "type": "message", "text": "Reading.", "phase": "commentary" }, { "type": "function_call" },
        ])),
    };
    let done = response("completed", &output(), &json!({}));
    let streamed = streamed(&events(&output(), json!({ "type": "response.completed", "response": done })));
    assert_eq!(streamed.unwrap(), expected);
    let mut whole = Responses.decoder();
    whole.whole(&done.to_string()).unwrap();
    assert_eq!(whole.finish().unwrap(), expected);
}

#[test]
fn every_end_is_told_from_the_others() {
    let end = |last: Value| {
        streamed(&events(&json!([]), last)).map(|reply| reply.stop.unwrap()).map_err(|failure| failure.kind)
    };
    let ended = |status: &str, more: Value| {
        end(json!({ "type": format!("response.{status}"), "response": response(status, &json!([]), &more) }))
    };
    let incomplete = |reason: &str| ended("incomplete", json!({ "incomplete_details": { "reason": reason } }));
    let failed = |code: &str| ended("failed", json!({ "error": { "code": code, "message": "No." } }));
    assert_eq!(incomplete("max_output_tokens"), Ok(Stop::Length));
    assert_eq!(incomplete("content_filter"), Ok(Stop::Refused));
    assert_eq!(failed("server_error"), Err(FailureKind::Server));
    assert_eq!(failed("rate_limit_exceeded"), Err(FailureKind::RateLimited));
    assert_eq!(failed("invalid_prompt"), Err(FailureKind::BadRequest));
    assert_eq!(end(json!({ "type": "error", "code": "server_error", "message": "No." })), Err(FailureKind::Server));
    assert_eq!(end(json!({ "type": "response.in_progress" })), Err(FailureKind::BrokenStream));
    let refusal = json!([{ "type": "message", "content": [{ "type": "refusal", "refusal": "I can't." }] }]);
    let last = json!({ "type": "response.completed", "response": response("completed", &refusal, &json!({})) });
    let reply = streamed(&events(&refusal, last)).unwrap();
    assert_eq!((reply.text.as_str(), reply.stop), ("I can't.", Some(Stop::Refused)));
}
