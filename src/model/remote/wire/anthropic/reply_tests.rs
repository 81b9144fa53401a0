//! Whole streams as servers of the Messages API send them, and the replies read from them.

use super::*;
use crate::model::{
    Failure,
    remote::wire::{RawCall, RawReply},
};
use overnight_core::message::{Stop, Usage};
use proptest::prelude::*;

/// Reads the events of a stream, up to the first failure.
fn hear(events: &[Value]) -> Result<RawReply, Failure> {
    let mut decoder = Anthropic.decoder();
    for event in events {
        decoder.event(event["type"].as_str(), &event.to_string())?;
    }
    decoder.finish()
}

fn hear_whole(body: &Value) -> Result<RawReply, Failure> {
    let mut decoder = Anthropic.decoder();
    decoder.whole(&body.to_string())?;
    decoder.finish()
}

fn start() -> Value {
    json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-1", "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 70, "output_tokens": 1},
    }})
}

fn open(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn piece(index: u64, json: &str) -> Value {
    delta(index, &json!({"type": "input_json_delta", "partial_json": json}))
}

fn close(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 30}}),
        json!({"type": "message_stop"}),
    ]
}

fn tool_use(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {}})
}

fn call(id: &str, name: &str, arguments: &str) -> RawCall {
    RawCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

fn usage() -> Usage {
    Usage { input: 100, output: 30, cached: 70, cache_written: 20, reasoning: 0 }
}

fn heard(text: &str, calls: Vec<RawCall>, stop: Stop, carried: Option<Value>) -> RawReply {
    let model = "claude-x-1".to_owned();
    RawReply { text: text.to_owned(), calls, usage: Some(usage()), stop: Some(stop), model, tier: None, carried }
}

#[test]
fn thinking_text_and_two_calls() {
    let mut events = vec![
        start(),
        open(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
        json!({"type": "ping"}),
        delta(0, &json!({"type": "thinking_delta", "thinking": "Let me "})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "look."})),
        delta(0, &json!({"type": "signature_delta", "signature": "c2ln"})),
        close(0),
        open(1, &json!({"type": "redacted_thinking", "data": "eHh4"})),
        close(1),
        open(2, &json!({"type": "text", "text": ""})),
        delta(2, &json!({"type": "text_delta", "text": "I "})),
        delta(2, &json!({"type": "text_delta", "text": "read."})),
        close(2),
        open(3, &tool_use("toolu_1", "read_file")),
        piece(3, ""),
        piece(3, "{\"pa"),
        piece(3, "th\": \"a\"}"),
        close(3),
        open(4, &tool_use("toolu_2", "todo_list")),
        close(4),
    ];
    events.extend(end("tool_use"));
    // Anything after the end is no part of the reply.
    events.push(json!({"type": "error", "error": {"type": "overloaded_error"}}));
    let carried = json!([
        {"type": "thinking", "thinking": "Let me look.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eHh4"},
    ]);
    let calls = vec![call("toolu_1", "read_file", "{\"path\": \"a\"}"), call("toolu_2", "todo_list", "{}")];
    assert_eq!(hear(&events), Ok(heard("I read.", calls, Stop::Done, Some(carried))));
}

#[test]
fn blocks_that_come_interleaved_or_numbered_as_the_server_likes() {
    // llama.cpp begins the next block before it ends the one before.
    let mut events = vec![
        start(),
        open(7, &tool_use("a", "one")),
        piece(7, "{\"n\":"),
        open(u64::MAX, &tool_use("b", "two")),
        piece(u64::MAX, "{}"),
        piece(7, "1}"),
        // The same number again is another block.
        open(7, &tool_use("c", "three")),
        piece(7, "{\"n\":3}"),
        open(8, &json!({"type": "tool_use", "id": "d", "name": "four", "input": {"whole": true}})),
        json!({"type": "content_block_delta", "delta": {"type": "unknown_delta"}}),
        // A text without the event for its beginning.
        delta(9, &json!({"type": "text_delta", "text": "And "})),
        delta(9, &json!({"type": "text_delta", "text": "so."})),
        open(10, &json!({"type": "server_tool_use", "id": "x", "name": "web", "input": {}})),
        piece(10, "{\"q\": 1}"),
        json!({"type": "something_new"}),
    ];
    events.extend(end("end_turn"));
    let calls = vec![
        call("a", "one", "{\"n\":1}"),
        call("b", "two", "{}"),
        call("c", "three", "{\"n\":3}"),
        call("d", "four", "{\"whole\":true}"),
    ];
    assert_eq!(hear(&events), Ok(heard("And so.", calls, Stop::Done, None)));
}

#[test]
fn thinking_between_calls_keeps_its_place() {
    let signed = |n: &str| json!({"type": "thinking", "thinking": n, "signature": n});
    let mut events = vec![
        start(),
        open(0, &json!({"type": "text", "text": "I look."})),
        open(1, &signed("1")),
        open(2, &tool_use("a", "one")),
        open(3, &signed("2")),
        open(4, &tool_use("b", "two")),
    ];
    events.extend(end("tool_use"));
    let carried = json!([
        {"type": "text", "text": "I look."}, signed("1"), {"type": "tool_use"}, signed("2"), {"type": "tool_use"},
    ]);
    let calls = vec![call("a", "one", "{}"), call("b", "two", "{}")];
    assert_eq!(hear(&events), Ok(heard("I look.", calls, Stop::Done, Some(carried))));
}

#[test]
fn each_reason_to_stop() {
    let stop = |reason: &str| hear(&[&[start()][..], &end(reason)].concat()).map(|heard| heard.stop);
    for (reason, expected) in [
        ("end_turn", Stop::Done),
        ("tool_use", Stop::Done),
        ("stop_sequence", Stop::Done),
        ("pause_turn", Stop::Done),
        ("a new one", Stop::Done),
        ("max_tokens", Stop::Length),
        ("refusal", Stop::Refused),
    ] {
        assert_eq!(stop(reason), Ok(Some(expected)), "{reason}");
    }
    // Some servers leave out one of the two.
    assert_eq!(hear(&[start(), end("max_tokens")[0].clone()]).map(|heard| heard.stop), Ok(Some(Stop::Length)));
    assert_eq!(hear(&[start(), end("")[1].clone()]).map(|heard| heard.stop), Ok(Some(Stop::Done)));
}

#[test]
fn a_reply_cut_at_the_limit_keeps_its_torn_call_and_carries_no_unsealed_thinking() {
    let mut events = vec![
        start(),
        open(0, &json!({"type": "thinking", "thinking": "So", "signature": ""})),
        open(1, &tool_use("a", "one")),
        piece(1, "{\"text\": \"tor"),
    ];
    events.extend(end("max_tokens"));
    let torn = call("a", "one", "{\"text\": \"tor");
    assert_eq!(hear(&events), Ok(heard("", vec![torn.clone()], Stop::Length, None)));
    // For servers without signatures, complete thinking is sent back.
    events[4] = end("tool_use")[0].clone();
    let carried = json!([{"type": "thinking", "thinking": "So", "signature": ""}]);
    assert_eq!(hear(&events), Ok(heard("", vec![torn], Stop::Done, Some(carried))));
}

#[test]
fn a_stream_that_was_cut_is_broken_wherever_it_was_cut() {
    let events = [&[start(), open(0, &tool_use("a", "one")), piece(0, "{}"), close(0)][..], &end("tool_use")].concat();
    for length in 0..events.len() - 2 {
        assert_eq!(hear(&events[..length]).map_err(|failure| failure.kind), Err(FailureKind::BrokenStream), "{length}");
    }
    let mut decoder = Anthropic.decoder();
    for (place, event) in events.iter().enumerate() {
        assert!(!decoder.is_complete(), "{place}");
        decoder.event(None, &event.to_string()).unwrap();
    }
    assert!(decoder.is_complete());
}

#[test]
fn odd_counts_are_read_and_missing_ones_are_not_made_up() {
    let begin = |usage: Value| json!({"type": "message_start", "message": {"model": "m", "usage": usage}});
    let read = |usage: Value| hear(&[&[begin(usage)][..], &end("end_turn")[1..]].concat()).map(|heard| heard.usage);
    assert_eq!(read(Value::Null), Ok(None));
    assert_eq!(read(json!(7)), Ok(None));
    let odd = json!({"input_tokens": 3.0, "output_tokens": "4", "cache_read_input_tokens": -5, "cache_creation_input_tokens": null});
    assert_eq!(read(odd), Ok(Some(Usage { input: 3, output: 4, ..Usage::default() })));
    let huge = json!({"input_tokens": u64::MAX, "cache_read_input_tokens": 1e300, "output_tokens": {}});
    assert_eq!(read(huge), Ok(Some(Usage { input: u64::MAX, cached: u64::MAX, ..Usage::default() })));
}

#[test]
fn a_body_that_was_not_streamed() {
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-1",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "text", "text": "I read."},
            {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}},
            {"type": "tool_use", "id": "toolu_2", "name": "todo_list", "input": null},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 70, "output_tokens": 30},
    });
    let calls = vec![call("toolu_1", "read_file", "{\"path\":\"a\"}"), call("toolu_2", "todo_list", "{}")];
    let carried = json!([{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]);
    assert_eq!(hear_whole(&body), Ok(heard("I read.", calls, Stop::Done, Some(carried))));
    let kind = |body: Value| hear_whole(&body).map_err(|failure| failure.kind);
    assert_eq!(kind(json!({"choices": []})), Err(FailureKind::Malformed));
    assert_eq!(kind(json!("hello")), Err(FailureKind::Malformed));
    assert_eq!(kind(json!({"content": [], "stop_reason": null})), Err(FailureKind::BrokenStream));
    let error = json!({"type": "error", "error": {"type": "api_error", "message": "Internal"}});
    assert_eq!(kind(error), Err(FailureKind::Server));
}

#[test]
fn an_error_within_a_stream_ends_it_with_its_kind() {
    let error = |error: Value| hear(&[start(), json!({"type": "error", "error": error})]).unwrap_err();
    let failure = error(json!({"type": "overloaded_error", "message": "Overloaded"}));
    assert_eq!(failure, Failure::new(FailureKind::Overloaded, "the server answered with an error: Overloaded"));
    assert_eq!(error(json!({"type": "something_new", "message": "Oh"})).kind, FailureKind::Server);
    let mut decoder = Anthropic.decoder();
    let bare = decoder.event(Some("error"), r#"{"message": "prompt is too long"}"#);
    assert_eq!(bare.map_err(|failure| failure.kind), Err(FailureKind::ContextLength));
}

#[test]
fn refusals_are_told_apart_by_the_servers_own_name_for_them() {
    use FailureKind::{
        BadRequest, ContextLength, KeyRefused, NotFound, Overloaded, QuotaUsed, RateLimited, Server, TimedOut,
    };
    let invalid = "invalid_request_error";
    let long = "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000";
    for (status, name, message, expected) in [
        (529, "overloaded_error", "Overloaded", Overloaded),
        (429, "rate_limit_error", "This request would exceed your organization's rate limit", RateLimited),
        (500, "api_error", "Internal server error", Server),
        (504, "timeout_error", "Request timed out", TimedOut),
        (401, "authentication_error", "invalid x-api-key", KeyRefused),
        (403, "permission_error", "Your API key does not have permission", KeyRefused),
        (404, "not_found_error", "model: claude-y", NotFound),
        (402, "billing_error", "Payment required", QuotaUsed),
        (413, "request_too_large", "Request exceeds the maximum size", ContextLength),
        (400, "exceed_context_size_error", "the request exceeds the available context size", ContextLength),
        (400, invalid, "prompt is too long: 210000 tokens > 200000 maximum", ContextLength),
        (400, invalid, long, ContextLength),
        (400, invalid, "Your credit balance is too low to access the Anthropic API", QuotaUsed),
        (400, invalid, "messages: first message must use the user role", BadRequest),
        (503, "something_new", "Loading model", Overloaded),
    ] {
        let body = json!({"type": "error", "error": {"type": name, "message": message}, "request_id": "req_1"});
        assert_eq!(Anthropic.refusal(status, &body.to_string()), (expected, message.to_owned()), "{message}");
    }
    assert_eq!(Anthropic.refusal(502, "Bad gateway"), (Server, "Bad gateway".to_owned()));
    assert_eq!(Anthropic.refusal(401, ""), (KeyRefused, String::new()));
}

#[test]
fn a_hostile_stream_is_a_failure_and_nothing_deep_is_carried() {
    let kind = |events: &[Value]| hear(events).map(|_| ()).map_err(|failure| failure.kind);
    let blocks: Vec<Value> = (0..300).map(|n| open(n, &json!({"type": "text"}))).collect();
    assert_eq!(kind(&blocks), Err(FailureKind::Malformed));
    assert_eq!(kind(&[piece(0, "{}")]), Err(FailureKind::Malformed));
    let mut decoder = Anthropic.decoder();
    for data in ["<html>", "{\"type\":", &"[".repeat(10_000)] {
        assert_eq!(decoder.event(None, data).map_err(|failure| failure.kind), Err(FailureKind::Malformed));
    }
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let events =
        [&[open(0, &json!({"type": "thinking", "signature": "s", "deep": deep}))][..], &end("end_turn")].concat();
    assert_eq!(hear(&events).map(|heard| heard.carried), Ok(None));
}

fn any_event() -> impl Strategy<Value = Value> {
    let names =
        ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "error"];
    let kinds = ["text", "tool_use", "thinking", "text_delta", "input_json_delta", "thinking_delta", "signature_delta"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(|n| json!(n)),
        any::<f64>().prop_map(|n| json!(n)),
        prop::sample::select(kinds.to_vec()).prop_map(|kind| json!(kind)),
        ".{0,8}".prop_map(|text| json!(text)),
    ];
    let fields =
        ["type", "text", "thinking", "signature", "partial_json", "input", "id", "stop_reason", "usage", "error"];
    let more = ["message", "delta", "content_block", "index", "input_tokens", "model", "content"];
    let field = prop::sample::select([&fields[..], &more].concat());
    let tree = leaf.prop_recursive(4, 32, 6, move |inner| {
        let map = prop::collection::btree_map(field.clone(), inner.clone(), 0..6);
        prop_oneof![prop::collection::vec(inner, 0..4).prop_map(Value::Array), map.prop_map(|map| json!(map))]
    });
    (prop::sample::select(names.to_vec()), tree).prop_map(|(name, mut event)| {
        if let Value::Object(fields) = &mut event {
            fields.insert("type".to_owned(), json!(name));
        }
        event
    })
}

proptest! {
    #[test]
    fn whatever_comes_gives_a_reply_with_an_end_or_a_failure(events in prop::collection::vec(any_event(), 0..12)) {
        if let Ok(heard) = hear(&events) {
            prop_assert!(heard.stop.is_some());
        }
        for event in &events {
            if let Ok(heard) = hear_whole(event) {
                prop_assert!(heard.stop.is_some());
            }
        }
    }
}
