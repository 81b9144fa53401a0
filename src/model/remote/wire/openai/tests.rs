//! Whole replies in the shapes of real servers, and others that no server should send.

mod sent;

use super::*;
use crate::model::{
    Failure,
    remote::{
        sse::EventSplitter,
        wire::{RawCall, RawReply},
    },
};
use overnight_core::message::{Stop, Tier, Usage};

/// The reply read from a stream whose bytes come in chunks of `size`.
fn heard_in(stream: &str, size: usize) -> Result<RawReply, Failure> {
    let mut decoder = OpenAi.decoder();
    let mut splitter = EventSplitter::new(OpenAi.framing());
    for chunk in stream.as_bytes().chunks(size) {
        splitter.take(chunk, &mut |name, data| decoder.event(name, data))?;
    }
    splitter.end(&mut |name, data| decoder.event(name, data))?;
    decoder.finish()
}

fn heard(stream: &str) -> Result<RawReply, Failure> {
    heard_in(stream, usize::MAX)
}

/// A stream of these chunks, followed by `[DONE]`.
fn stream(chunks: &[Value]) -> String {
    let events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    format!("{}data: [DONE]\n\n", events.concat())
}

fn whole(body: &Value) -> Result<RawReply, Failure> {
    let mut decoder = OpenAi.decoder();
    decoder.whole(&body.to_string())?;
    decoder.finish()
}

fn said(result: Result<RawReply, Failure>) -> String {
    let failure = result.unwrap_err();
    format!("{}: {}", failure.kind, failure.reason)
}

fn call(id: &str, name: &str, arguments: &str) -> RawCall {
    RawCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

const OPENAI: &str = include_str!("../../../../../tests/formats/streams/openai.txt");
const LLAMA_CPP: &str = include_str!("../../../../../tests/formats/streams/llama_cpp.txt");
const VLLM: &str = include_str!("../../../../../tests/formats/streams/vllm.txt");
const DEEPSEEK: &str = include_str!("../../../../../tests/formats/streams/deepseek.txt");
const OPENROUTER: &str = include_str!("../../../../../tests/formats/streams/openrouter.txt");

#[test]
fn a_stream_of_openai_is_read() {
    let expected = RawReply {
        text: String::new(),
        calls: vec![
            call("call_a1", "read_file", r#"{"path":"Prüfung.md"}"#),
            call("call_b2", "todo_complete", r#"{"summary":"done"}"#),
        ],
        usage: Some(Usage { input: 1_200, output: 64, cached: 1_024, cache_written: 0, reasoning: 20 }),
        stop: Some(Stop::Done),
        model: "gpt-test-2026".to_owned(),
        tier: Some(Tier::Standard),
        carried: None,
    };
    assert_eq!(heard(OPENAI), Ok(expected));
}

#[test]
fn a_stream_of_llama_cpp_is_read() {
    let expected = RawReply {
        text: String::new(),
        calls: vec![call("Xk3", "list_files", r#"{"folder":"."}"#)],
        usage: Some(Usage { input: 310, output: 40, cached: 290, ..Usage::default() }),
        stop: Some(Stop::Length),
        model: "small.gguf".to_owned(),
        tier: None,
        carried: Some(json!({ "reasoning_content": "The folder first." })),
    };
    assert_eq!(heard(LLAMA_CPP), Ok(expected));
}

#[test]
fn a_stream_of_vllm_is_read() {
    let expected = RawReply {
        text: "Two files – both read. 😀".to_owned(),
        calls: Vec::new(),
        usage: Some(Usage { input: 52, output: 9, ..Usage::default() }),
        stop: Some(Stop::Done),
        model: "org/model".to_owned(),
        tier: None,
        carried: Some(json!({ "reasoning": "Short." })),
    };
    assert_eq!(heard(VLLM), Ok(expected));
}

#[test]
fn a_stream_of_deepseek_is_read() {
    let expected = RawReply {
        text: "I look.".to_owned(),
        calls: vec![call("call_00_x", "search", r#"{"query":"MUST"}"#)],
        usage: Some(Usage { input: 900, output: 120, cached: 832, cache_written: 0, reasoning: 77 }),
        stop: Some(Stop::Done),
        model: "deepseek-test".to_owned(),
        tier: None,
        carried: Some(json!({ "reasoning_content": "Where is MUST?" })),
    };
    assert_eq!(heard(DEEPSEEK), Ok(expected));
}

#[test]
fn a_stream_of_openrouter_is_read() {
    let expected = RawReply {
        text: String::new(),
        calls: vec![call("tool_0", "read_file", "{}")],
        usage: Some(Usage { input: 100, output: 30, cached: 50, cache_written: 20, reasoning: 10 }),
        stop: Some(Stop::Done),
        model: "vendor/model".to_owned(),
        tier: None,
        carried: Some(json!({ "reasoning_details": [
            { "type": "reasoning.text", "index": 0, "text": "First, read.", "signature": "c2ln", "format": "f1", "id": null },
            { "type": "reasoning.encrypted", "index": 1, "data": "QUJD" },
        ] })),
    };
    assert_eq!(heard(OPENROUTER), Ok(expected));
}

#[test]
fn any_chunking_gives_the_same() {
    for stream in [OPENAI, LLAMA_CPP, VLLM, DEEPSEEK, OPENROUTER] {
        let expected = heard(stream);
        for size in [1, 2, 3, 5, 7, 64, 1_000] {
            assert_eq!(heard_in(stream, size), expected, "chunks of {size}");
        }
    }
}

#[test]
fn a_stream_that_is_cut_anywhere_before_its_end_is_broken() {
    for stream in [OPENAI, LLAMA_CPP, VLLM, DEEPSEEK, OPENROUTER] {
        let reason = stream.find("\"finish_reason\":\"").unwrap();
        let event_end = reason + stream[reason..].find("\n\n").unwrap();
        for end in (0..=stream.len()).filter(|end| stream.is_char_boundary(*end)) {
            let kind = heard(&stream[..end]).map(|_| ()).map_err(|failure| failure.kind);
            // The event's own end is enough: no line need follow it.
            let expected = if end < event_end { Err(FailureKind::BrokenStream) } else { Ok(()) };
            assert_eq!(kind, expected, "cut at {end} of {}", stream.len());
        }
    }
}

#[test]
fn what_is_complete_is_not_waited_for() {
    let finish = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 1, "completion_tokens": 1 } });
    let complete = |events: &[String]| {
        let mut decoder = OpenAi.decoder();
        events
            .iter()
            .map(|event| decoder.event(None, event).map(|()| decoder.is_complete()).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(complete(&[usage.to_string(), finish.to_string(), usage.to_string()]), [false, false, true]);
    assert_eq!(complete(&[finish.to_string(), "[DONE]".to_owned()]), [false, true]);
}

#[test]
fn a_reply_without_a_reason_ends_with_done_or_with_its_counts() {
    let call = |arguments: &str| json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "f", "arguments": arguments } }] }, "finish_reason": null }] });
    let text = json!({ "choices": [{ "delta": { "content": "Hm." }, "finish_reason": "" }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 1, "completion_tokens": 1 } });
    let within = json!({ "choices": [{ "delta": { "content": "x" } }], "usage": { "prompt_tokens": 1, "completion_tokens": 1 } });
    let kind = |chunks: &[Value], is_done: bool| {
        let stream = stream(chunks);
        let stream = if is_done { stream.as_str() } else { stream.trim_end_matches("data: [DONE]\n\n") };
        heard(stream).map(|heard| heard.stop.unwrap()).map_err(|failure| failure.kind)
    };
    let broken = Err(FailureKind::BrokenStream);
    for (chunks, with_done, without) in [
        (vec![call("{}")], Ok(Stop::Done), broken),
        (vec![call("{}"), usage.clone()], Ok(Stop::Done), Ok(Stop::Done)),
        (vec![text.clone()], Ok(Stop::Done), broken),
        (vec![text.clone(), usage.clone()], Ok(Stop::Done), Ok(Stop::Done)),
        (vec![text, usage.clone(), within], Ok(Stop::Done), broken),
        // Truncated, or empty.
        (vec![call("{\"x\":"), usage.clone()], broken, broken),
        (vec![usage], broken, broken),
        (vec![], broken, broken),
    ] {
        assert_eq!((kind(&chunks, true), kind(&chunks, false)), (with_done, without), "{chunks:?}");
    }
}

#[test]
fn a_message_within_a_stream_is_read_once() {
    let delta = json!({ "choices": [{ "delta": { "content": "x" } }] });
    let other = json!({ "choices": [{ "index": 1, "delta": { "content": "y" }, "finish_reason": "length" }] });
    let message = json!({ "choices": [{ "message": { "content": "x" }, "finish_reason": "stop" }] });
    for chunks in [vec![message.clone()], vec![delta, other, message]] {
        let heard = heard(&stream(&chunks)).unwrap();
        assert_eq!((heard.text.as_str(), heard.stop), ("x", Some(Stop::Done)), "{chunks:?}");
    }
}

#[test]
fn a_call_is_put_together_whatever_its_numbers_are() {
    let calls = |pieces: &[Value]| {
        let mut chunks: Vec<Value> =
            pieces.iter().map(|piece| json!({ "choices": [{ "delta": { "tool_calls": [piece] } }] })).collect();
        chunks.push(json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }));
        let calls = heard(&stream(&chunks)).unwrap().calls;
        calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect::<Vec<_>>()
    };
    let piece = |index: Value, id: Value, name: Value, arguments: Value| json!({ "index": index, "id": id, "function": { "name": name, "arguments": arguments } });
    let none = || Value::Null;
    // Huge numbers, and numbers with gaps.
    let huge = [
        piece(u64::MAX.into(), "a".into(), "f".into(), "{".into()),
        piece(4_294_967_295_u64.into(), "b".into(), "g".into(), none()),
        piece(u64::MAX.into(), none(), none(), "}".into()),
    ];
    assert_eq!(calls(&huge), ["a f {}", "b g "]);
    // No numbers: told apart by id, or by a new name.
    let missing = [
        piece(none(), "a".into(), "f".into(), "{".into()),
        piece(none(), none(), none(), "}".into()),
        piece(none(), "b".into(), "f".into(), "{}".into()),
        piece(none(), "a".into(), none(), " ".into()),
        piece(none(), none(), "g".into(), json!({ "x": [1] })),
    ];
    assert_eq!(calls(&missing), ["a f {} ", "b f {}", " g {\"x\":[1]}"]);
    // The same number for all.
    let same = [
        piece(0.into(), "a".into(), "f".into(), "{}".into()),
        piece(0.into(), "b".into(), "f".into(), "{".into()),
        piece(0.into(), none(), none(), "}".into()),
        piece(0.into(), none(), "g".into(), "{}".into()),
    ];
    assert_eq!(calls(&same), ["a f {}", "b f {}", " g {}"]);
    // The same id for all, and no numbers; a repeated call counts once.
    let same_id = [
        piece(none(), "a".into(), "f".into(), "{\"x\":1}".into()),
        piece(none(), "a".into(), "f".into(), "{\"x\":2}".into()),
        piece(none(), "a".into(), "g".into(), "{}".into()),
        piece(none(), "a".into(), "g".into(), "{}".into()),
    ];
    assert_eq!(calls(&same_id), ["a f {\"x\":1}", "a f {\"x\":2}", "a g {}"]);
    // A name in pieces, a name with each piece, an id that changes with each piece.
    let names = [
        piece(0.into(), "a".into(), "read_".into(), "".into()),
        piece(0.into(), none(), "file".into(), "{".into()),
        piece(0.into(), "z".into(), none(), "}".into()),
        piece(1.into(), "b".into(), "g".into(), "{".into()),
        piece(1.into(), "b".into(), "g".into(), "}".into()),
    ];
    assert_eq!(calls(&names), ["a read_file {}", "b g {}"]);
    // Pieces under a number that no call has, without id and name: the call that is open goes on.
    let stray = [
        piece(0.into(), "a".into(), "f".into(), "".into()),
        piece(1.into(), none(), none(), "{\"x\":".into()),
        piece(1.into(), none(), "".into(), "1}".into()),
        piece(2.into(), "b".into(), "g".into(), "{".into()),
        piece(3.into(), none(), none(), "}".into()),
    ];
    assert_eq!(calls(&stray), ["a f {\"x\":1}", "b g {}"]);
    // All of the arguments once more, or their beginning; but an object within one that looks like it stays.
    let of = |pieces: &[&str]| {
        let pieces: Vec<Value> =
            pieces.iter().map(|text| piece(0.into(), "a".into(), "f".into(), (*text).into())).collect();
        calls(&pieces)
    };
    for pieces in [
        &["{\"x\":", "{\"x\":1}", "}"][..],
        &["{\"x\":", "{\"x\":1}}", "{\"x\":{\"x\":1}}"],
        &["{", "{\"x\":{\"x\":1}}"],
        &["{\"x\": {\"x\"", ":1}}", "{\"x\":{\"x\":1}}"],
        &["{\"x", "{\"x\":{", "{\"x\":{\"x\":1}}"],
    ] {
        assert_eq!(
            of(pieces).iter().map(|call| call.replace(' ', "")).collect::<Vec<_>>(),
            ["af{\"x\":{\"x\":1}}"],
            "{pieces:?}"
        );
    }
    assert_eq!(of(&["{\"x\":1}", "{\"y\":2}"]), ["a f {\"x\":1}", "a f {\"y\":2}"]);
    assert_eq!(calls(&[json!(null), json!({ "name": "f", "arguments": "{}" }), json!(7)]), [" f {}"]);
}

#[test]
fn a_whole_body_is_read_though_a_stream_was_asked_for() {
    let body = json!({
        "model": "m",
        "choices": [{ "index": 0, "finish_reason": "function_call", "message": {
            "role": "assistant",
            "content": [{ "type": "thinking", "thinking": [] }, { "type": "text", "text": "Hm." }],
            "tool_calls": [{ "id": "a", "type": "function", "function": { "name": "f", "arguments": { "b": 1, "a": 2 } } }],
            "function_call": { "name": "g", "arguments": "{torn" },
        } }],
        "usage": { "prompt_tokens": 3.0, "completion_tokens": -4, "prompt_tokens_details": { "cached_tokens": 9 } },
    });
    let expected = RawReply {
        text: "Hm.".to_owned(),
        calls: vec![call("a", "f", r#"{"b":1,"a":2}"#), call("", "g", "{torn")],
        usage: Some(Usage { input: 3, cached: 3, ..Usage::default() }),
        stop: Some(Stop::Done),
        model: "m".to_owned(),
        tier: None,
        carried: None,
    };
    assert_eq!(whole(&body), Ok(expected));
    // A body without a stop reason is whole all the same.
    assert_eq!(whole(&json!({ "choices": [{ "message": { "content": "x" } }] })).unwrap().stop, Some(Stop::Done));
}

#[test]
fn why_a_model_stopped_is_known() {
    let stop = |reason: &str, message: Value| {
        let result = whole(&json!({ "choices": [{ "finish_reason": reason, "message": message }] }));
        result.map(|heard| (heard.stop.unwrap(), heard.text)).map_err(|failure| failure.kind)
    };
    let text = || json!({ "content": "x" });
    let is = |stop: Stop| Ok((stop, "x".to_owned()));
    for reason in ["stop", "tool_calls", "function_call", "eos", "STOP", ""] {
        assert_eq!(stop(reason, text()), is(Stop::Done), "{reason}");
    }
    assert_eq!(stop("length", text()), is(Stop::Length));
    assert_eq!(stop("content_filter", text()), is(Stop::Refused));
    assert_eq!(stop("stop", json!({ "content": null, "refusal": "x" })), is(Stop::Refused));
    assert_eq!(stop("error", text()), Err(FailureKind::Server));
    assert_eq!(stop("insufficient_system_resource", text()), Err(FailureKind::Overloaded));
    assert_eq!(stop("abort", text()), Err(FailureKind::BrokenStream));
}

#[test]
fn an_error_is_found_wherever_it_stands() {
    let begun = json!({ "choices": [{ "delta": { "content": "x" } }] });
    let error = |error: Value| said(heard(&stream(&[begun.clone(), json!({ "error": error })])));
    assert_eq!(error(json!("boom")), "server: the server answered with an error: boom");
    assert_eq!(
        error(json!({ "code": "context_length_exceeded", "message": "too long" })),
        "context_length: the server answered with an error: too long"
    );
    assert_eq!(
        error(json!({ "code": 429, "message": "slow down" })),
        "rate_limited: the server answered with an error: slow down"
    );
    assert_eq!(
        said(heard("event: error\ndata: {\"message\":\"gone\",\"type\":\"overloaded_error\"}\n\n")),
        "overloaded: the server answered with an error: gone"
    );
    let choice =
        json!({ "choices": [{ "delta": {}, "error": { "code": 502, "message": "bad" }, "finish_reason": "error" }] });
    assert_eq!(said(heard(&stream(&[choice]))), "server: the server answered with an error: bad");
    assert_eq!(
        said(whole(&json!({ "object": "error", "message": "maximum context length is 10", "code": 400 }))),
        "context_length: the server answered with an error: maximum context length is 10"
    );
    assert_eq!(
        said(whole(&json!({ "error": {}, "choices": [] }))),
        "server: the server answered with an error that has no words"
    );
}

#[test]
fn what_is_no_reply_is_malformed() {
    assert_eq!(said(whole(&json!({ "choices": [] }))), "malformed: the reply has no choices");
    assert_eq!(said(whole(&json!({ "detail": "Not ready" }))), "malformed: the reply has no choices: Not ready");
    assert_eq!(
        said(whole(&json!({ "choices": [{ "index": 0 }] }))),
        "malformed: the reply's first choice has no message"
    );
    assert_eq!(said(whole(&json!([1]))), "malformed: the reply has no choices");
    let mut decoder = OpenAi.decoder();
    let failure = |result: Result<(), Failure>| result.unwrap_err().to_string();
    assert_eq!(failure(decoder.whole("<html><title>Welcome</title>")), "the reply is no JSON; it begins with: Welcome");
    assert_eq!(failure(decoder.whole(" ")), "the reply is empty");
    assert_eq!(failure(decoder.event(None, "{\"cho")), "an event of the reply is no JSON; it begins with: {\"cho");
    assert_eq!(failure(decoder.event(None, "7")), "an event of the reply is no JSON object");
    assert!(failure(decoder.event(None, &"[".repeat(1_000_000))).starts_with("an event of the reply is no JSON"));
}

#[test]
fn calls_and_arguments_are_bounded() {
    let calls = |count: usize| {
        let calls: Vec<Value> =
            (0..count).map(|index| json!({ "index": index, "function": { "name": "f" } })).collect();
        stream(&[json!({ "choices": [{ "delta": { "tool_calls": calls }, "finish_reason": "stop" }] })])
    };
    assert_eq!(heard(&calls(128)).unwrap().calls.len(), 128);
    assert_eq!(said(heard(&calls(129))), "malformed: the reply has more than 128 tool calls");
    let piece = json!({ "choices": [{ "delta": { "tool_calls": [
        { "index": 0, "function": { "arguments": " ".repeat(1024 * 1024) } }
    ] } }] });
    assert_eq!(said(heard(&stream(&vec![piece; 5]))), "malformed: the arguments of a tool call are larger than 4 MiB");
    let name = json!({ "choices": [{ "delta": { "tool_calls": [{ "function": { "name": "n".repeat(1_025) } }] } }] });
    assert_eq!(said(heard(&stream(&[name]))), "malformed: a tool call's id or name is longer than 1024 bytes");
}

#[test]
fn usage_never_fails() {
    let usage = |usage: Value| {
        let usage = heard(&stream(&[json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }], "usage": usage })]));
        usage.unwrap().usage
    };
    for odd in
        [json!(null), json!({}), json!([1]), json!("x"), json!({ "prompt_tokens": "7", "completion_tokens": null })]
    {
        assert_eq!(usage(odd.clone()), None, "{odd}");
    }
    assert_eq!(
        usage(json!({ "prompt_tokens": 1e300, "completion_tokens": -1.5 })),
        Some(Usage { input: 1_000_000_000_000, ..Usage::default() })
    );
    assert_eq!(
        usage(json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 22,
            "completion_tokens_details": { "reasoning_tokens": 7 } })),
        Some(Usage { input: 10, output: 12, reasoning: 7, ..Usage::default() })
    );
}

proptest::proptest! {
    #[test]
    fn any_events_give_a_reply_or_a_failure(
        bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300),
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "data: ", "{\"choices\":[", "{\"delta\":{", "\"content\":\"x\"", "\"tool_calls\":[", "{\"index\":-1}", "]", "}",
                "\"finish_reason\":\"stop\"", ",", "\n\n", "null", "[DONE]", "\"usage\":7", "\u{0}",
            ]),
            0..40,
        ),
    ) {
        let bytes = String::from_utf8_lossy(&bytes).into_owned();
        for text in [bytes, parts.concat()] {
            let outcome = heard(&text).map_err(|failure| failure.kind);
            proptest::prop_assert_eq!(heard_in(&text, 3).map_err(|failure| failure.kind), outcome);
            let _ = OpenAi.decoder().whole(&text);
        }
    }
}
