//! Whole replies in the server's shape, and others that no server should send.

use super::*;
use crate::model::{
    remote::{sse::EventSplitter, wire::RawCall},
    table::{Quirks, ToolChoice},
};
use overnight_core::message::{Prompt, ToolCall, ToolSpec};
use std::sync::Arc;

fn heard_in(stream: &str, size: usize) -> Result<RawReply, Failure> {
    let mut decoder = Ollama.decoder();
    let mut splitter = EventSplitter::new(Ollama.framing());
    for chunk in stream.as_bytes().chunks(size) {
        splitter.take(chunk, &mut |name, data| decoder.event(name, data))?;
    }
    splitter.end(&mut |name, data| decoder.event(name, data))?;
    decoder.finish()
}

fn said(stream: &str) -> String {
    let failure = heard_in(stream, usize::MAX).unwrap_err();
    format!("{}: {}", failure.kind, failure.reason)
}

const STREAM: &str = r#"{"model":"small:1b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"Erst "},"done":false}
{"model":"small:1b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"prüfen."},"done":false}
{"model":"small:1b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"I "},"done":false}
{"model":"small:1b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"read 😀."},"done":false}
{"model":"small:1b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"index":0,"name":"read_file","arguments":{"path":"a.md"}}},{"id":"call_9","function":{"index":0,"name":"read_file","arguments":{"path":"b.md"}}}]},"done":false}
{"model":"small:1b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_9","function":{"name":"todo_complete","arguments":{}}}]},"done":false}
{"model":"small:1b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"total_duration":5,"load_duration":1,"prompt_eval_count":210,"prompt_eval_duration":1,"eval_count":33,"eval_duration":2}
"#;

fn expected() -> RawReply {
    let call = |id: &str, name: &str, arguments: &str| RawCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    RawReply {
        text: "I read 😀.".to_owned(),
        calls: vec![
            call("", "read_file", r#"{"path":"a.md"}"#),
            call("call_9", "read_file", r#"{"path":"b.md"}"#),
            call("call_9", "todo_complete", "{}"),
        ],
        usage: Some(Usage { input: 210, output: 33, ..Usage::default() }),
        stop: Some(Stop::Done),
        model: "small:1b".to_owned(),
        tier: None,
        carried: Some(json!({ "thinking": "Erst prüfen." })),
    }
}

#[test]
fn a_stream_is_read_however_it_is_cut_into_chunks() {
    for size in [1, 2, 3, 7, 64, usize::MAX] {
        assert_eq!(heard_in(STREAM, size), Ok(expected()), "chunks of {size}");
    }
    assert_eq!(heard_in(&STREAM.replace('\n', "\r\n"), 5), Ok(expected()));
}

#[test]
fn a_stream_that_is_cut_is_broken() {
    let whole = STREAM.trim_end().len();
    for end in (0..STREAM.len()).filter(|end| STREAM.is_char_boundary(*end)) {
        let kind = heard_in(&STREAM[..end], usize::MAX).map(|_| ()).map_err(|failure| failure.kind);
        let expected = if end < whole { Err(FailureKind::BrokenStream) } else { Ok(()) };
        assert_eq!(kind, expected, "cut at {end} of {}", STREAM.len());
    }
}

#[test]
fn a_whole_body_is_read_as_one_object_or_as_lines() {
    let whole = |body: &str| {
        let mut decoder = Ollama.decoder();
        decoder.whole(body)?;
        decoder.finish()
    };
    assert_eq!(whole(STREAM), Ok(expected()));
    let body = json!({ "model": "m", "message": { "content": "x" }, "done": true, "done_reason": "length" });
    let heard =
        RawReply { text: "x".to_owned(), stop: Some(Stop::Length), model: "m".to_owned(), ..RawReply::default() };
    assert_eq!(whole(&serde_json::to_string_pretty(&body).unwrap()), Ok(heard));
    let kind = |body: &str| whole(body).map_err(|failure| format!("{}: {}", failure.kind, failure.reason)).unwrap_err();
    assert_eq!(kind(""), "malformed: the reply is empty");
    assert_eq!(kind("<title>Hi</title>"), "malformed: a line of the reply is no JSON; it begins with: Hi");
    let end = "broken_stream: the reply ended, and what marks the end of a whole one never came";
    assert_eq!(kind(r#"{"message":{"content":""}}"#), end);
    // A body with content, but without an end mark, can't have been cut off.
    assert_eq!(whole(r#"{"message":{"content":"x"}}"#).unwrap().stop, Some(Stop::Done));
}

#[test]
fn an_error_ends_the_reply() {
    let begun = "{\"message\":{\"content\":\"x\"},\"done\":false}\n";
    assert_eq!(
        said(&format!("{begun}{{\"error\":\"an error was encountered while running the model\"}}\n")),
        "server: the server answered with an error: an error was encountered while running the model"
    );
    assert_eq!(
        said("{\"error\":\"the input length exceeds the context length\"}\n"),
        "context_length: the server answered with an error: the input length exceeds the context length"
    );
    assert_eq!(
        said("{\"detail\":\"what?\"}\n"),
        "malformed: a line of the reply has neither a message nor an end: what?"
    );
    assert_eq!(said("[1]\n"), "malformed: a line of the reply has neither a message nor an end: ");
    assert_eq!(
        Ollama.refusal(404, r#"{"error":"model \"x\" not found, try pulling it first"}"#),
        (FailureKind::NotFound, "model \"x\" not found, try pulling it first".to_owned())
    );
}

#[test]
fn odd_calls_are_read_and_bounded() {
    let line = |calls: Value| format!("{}\n", json!({ "message": { "tool_calls": calls }, "done": true }));
    let calls = |calls: Value| {
        let heard = heard_in(&line(calls), usize::MAX).unwrap();
        heard.calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect::<Vec<_>>()
    };
    assert_eq!(calls(json!(7)), [""; 0]);
    assert_eq!(
        calls(
            json!([null, {}, { "function": { "name": "f" } }, { "function": { "name": "g", "arguments": "{torn" } }])
        ),
        ["f ", "g {torn"]
    );
    let many = vec![json!({ "function": { "name": "f", "arguments": {} } }); 129];
    assert_eq!(said(&line(many.into())), "malformed: the reply has more than 128 tool calls");
}

#[test]
fn a_prompt_becomes_a_body() {
    let tool = ToolSpec { name: "f".to_owned(), description: "F.".to_owned(), parameters: json!({ "type": "object" }) };
    let call = |id: &str, arguments: Value| ToolCall { id: id.to_owned(), name: "f".to_owned(), arguments };
    let prompt = Prompt::new(
        Arc::new([tool]),
        vec![
            Message::System { text: "s".to_owned() },
            Message::user("u"),
            Message::Assistant {
                text: String::new(),
                calls: vec![call("a", json!({ "x": 1 })), call("b", json!("{torn")), call("c", json!([1]))],
                carried: Some(Arc::new(json!({ "ollama": { "thinking": "t" }, "openai": { "reasoning": "r" } }))),
            },
            Message::Tool { call: "a".to_owned(), name: "f".to_owned(), text: "ok".to_owned(), images: Vec::new() },
        ],
    );
    let quirks = Quirks {
        window_tokens: 8_192,
        output_tokens: 512,
        tool_choice: ToolChoice::Required,
        parallel_calls: Some(false),
        stop: vec!["x".to_owned()],
        extra: Map::from_iter([
            ("keep_alive".to_owned(), json!("1h")),
            ("options".to_owned(), json!({ "temperature": 0, "num_predict": 64 })),
        ]),
        ..Quirks::default()
    };
    let outgoing = Ollama.outgoing(&WireRequest { prompt: &prompt, model: "small:1b", quirks: &quirks });
    let body = json!({
        "model": "small:1b",
        "messages": [
            { "role": "system", "content": "s" },
            { "role": "user", "content": "u" },
            { "role": "assistant", "content": "", "tool_calls": [
                { "id": "a", "function": { "name": "f", "arguments": { "x": 1 } } },
                { "id": "b", "function": { "name": "f", "arguments": { "unreadable": "{torn" } } },
                { "id": "c", "function": { "name": "f", "arguments": { "unreadable": "[1]" } } },
            ], "thinking": "t" },
            { "role": "tool", "tool_call_id": "a", "tool_name": "f", "content": "ok" },
        ],
        "tools": [{ "type": "function", "function": { "name": "f", "description": "F.", "parameters": { "type": "object" } } }],
        "stream": true,
        "keep_alive": "1h",
        "options": { "num_ctx": 8_192, "num_predict": 64, "stop": ["x"], "temperature": 0 },
    });
    assert_eq!(outgoing, OutgoingRequest { path: "api/chat".to_owned(), headers: Vec::new(), body: written(&body) });
}

proptest::proptest! {
    #[test]
    fn any_lines_give_a_reply_or_a_failure(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "{\"message\":{", "\"content\":\"x\"", "\"tool_calls\":[", "{\"function\":{}}", "]", "}", ",", "\n", "null",
                "\"done\":true", "{\"error\":1}", "\u{0}", "7",
            ]),
            0..40,
        ),
    ) {
        let text = parts.concat();
        let outcome = heard_in(&text, usize::MAX).map_err(|failure| failure.kind);
        proptest::prop_assert_eq!(heard_in(&text, 3).map_err(|failure| failure.kind), outcome);
        let _ = Ollama.decoder().whole(&text);
    }
}
