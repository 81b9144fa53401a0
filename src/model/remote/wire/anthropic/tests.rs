//! Whole bodies as the Messages API expects them.

use super::*;
use overnight_core::message::ToolSpec;
use std::sync::Arc;

fn sent(messages: Vec<Message>, tools: Vec<ToolSpec>, quirks: &Quirks) -> Value {
    let prompt = Prompt::new(tools.into(), messages);
    Anthropic.outgoing(&WireRequest { prompt: &prompt, model: "org/model:1 x", quirks }).json()
}

fn unmarked() -> Quirks {
    Quirks { output_tokens: 100, cache_marks: Some(false), ..Quirks::default() }
}

fn system(text: &str) -> Message {
    Message::System { text: text.to_owned() }
}

fn user(text: &str) -> Message {
    Message::user(text.to_owned())
}

fn assistant(text: &str, calls: &[(&str, &str, Value)], carried: Option<Value>) -> Message {
    let calls = calls
        .iter()
        .map(|(id, name, arguments)| ToolCall {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            arguments: arguments.clone(),
        })
        .collect();
    Message::Assistant { text: text.to_owned(), calls, carried: carried.map(Arc::new) }
}

fn tool(call: &str, text: &str) -> Message {
    Message::Tool { call: call.to_owned(), name: "read_file".to_owned(), text: text.to_owned(), images: Vec::new() }
}

fn read_file() -> ToolSpec {
    ToolSpec {
        name: "read_file".to_owned(),
        description: "Reads.".to_owned(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }
}

#[test]
fn a_whole_conversation_with_its_marks() {
    let messages = vec![
        system("Work."),
        user("Layer 4."),
        user("Examined."),
        assistant(
            "I read.",
            &[("call_1_1", "read_file", json!({"path": "a"})), ("call_1_2", "read_file", json!({"path": "b"}))],
            Some(json!({"anthropic": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "eHh4"},
            ]})),
        ),
        tool("call_1_1", "A"),
        tool("call_1_2", " "),
        user("The board."),
    ];
    let quirks = Quirks { output_tokens: 4096, ..Quirks::default() };
    let prompt = Prompt::new(vec![read_file()].into(), messages);
    let outgoing = Anthropic.outgoing(&WireRequest { prompt: &prompt, model: "claude-x", quirks: &quirks });
    assert_eq!(
        outgoing,
        OutgoingRequest {
            path: "v1/messages".to_owned(),
            headers: vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())],
            body: written(&json!({
                "model": "claude-x",
                "max_tokens": 4096,
                "stream": true,
                "system": [{"type": "text", "text": "Work.", "cache_control": {"type": "ephemeral"}}],
                "messages": [
                    {"role": "user", "content": [
                        {"type": "text", "text": "Layer 4.", "cache_control": {"type": "ephemeral"}},
                        {"type": "text", "text": "Examined."},
                    ]},
                    {"role": "assistant", "content": [
                        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                        {"type": "redacted_thinking", "data": "eHh4"},
                        {"type": "text", "text": "I read."},
                        {"type": "tool_use", "id": "call_1_1", "name": "read_file", "input": {"path": "a"}},
                        {"type": "tool_use", "id": "call_1_2", "name": "read_file", "input": {"path": "b"}},
                    ]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "call_1_1", "content": "A"},
                        {"type": "tool_result", "tool_use_id": "call_1_2"},
                        {"type": "text", "text": "The board.", "cache_control": {"type": "ephemeral"}},
                    ]},
                ],
                "tools": [{
                    "name": "read_file",
                    "description": "Reads.",
                    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
                }],
            })),
        }
    );
}

#[test]
fn what_quirks_say_is_in_the_body() {
    let mut quirks = unmarked();
    quirks.tool_choice = ToolChoice::Required;
    quirks.parallel_calls = Some(false);
    quirks.streams = false;
    quirks.output_field = Some("most_tokens".to_owned());
    quirks.stop = vec!["\n}".to_owned()];
    if let Value::Object(extra) = json!({"temperature": 0, "tool_choice": {"name": "x"}, "stream": null}) {
        quirks.extra = extra;
    }
    assert_eq!(
        sent(vec![system("S"), user("U")], vec![read_file()], &quirks),
        json!({
            "model": "org/model:1 x",
            "most_tokens": 100,
            "stream": null,
            "system": [{"type": "text", "text": "S"}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "U"}]}],
            "tools": [{"name": "read_file", "description": "Reads.", "input_schema": read_file().parameters}],
            "tool_choice": {"type": "any", "disable_parallel_tool_use": true, "name": "x"},
            "stop_sequences": ["\n}"],
            "temperature": 0,
        })
    );
    let choice = |tool_choice, parallel_calls| choice(&Quirks { tool_choice, parallel_calls, ..Quirks::default() });
    assert_eq!(choice(ToolChoice::Unset, None), None);
    assert_eq!(choice(ToolChoice::Unset, Some(true)), None);
    assert_eq!(
        choice(ToolChoice::Unset, Some(false)),
        Some(json!({"type": "auto", "disable_parallel_tool_use": true}))
    );
    assert_eq!(choice(ToolChoice::Auto, None), Some(json!({"type": "auto"})));
    assert_eq!(choice(ToolChoice::Required, Some(true)), Some(json!({"type": "any"})));
}

#[track_caller]
fn check_messages(messages: Vec<Message>, expected: &Value) {
    assert_eq!(&sent(messages, Vec::new(), &unmarked())["messages"], expected);
}

#[test]
fn nothing_that_the_vendor_refuses_is_sent() {
    // An assistant first, an empty message, unreadable arguments, an invalid tool name, another vendor's thinking.
    check_messages(
        vec![
            user(" "),
            assistant(
                "\n",
                &[
                    ("a", "functions.read file", json!("{\"path\": ")),
                    ("b", "", json!([1])),
                    ("c", &"ü".repeat(100), Value::Null),
                ],
                Some(json!({"gemini": [{"text": "x", "thoughtSignature": "s"}]})),
            ),
            tool("a", "A"),
            tool("b", "B"),
            tool("c", "C"),
            assistant("", &[], Some(json!({"anthropic": [{"type": "thinking", "thinking": "t", "signature": "s"}]}))),
            user("Go on."),
        ],
        &json!([
            {"role": "user", "content": [{"type": "text", "text": "(the conversation begins here)"}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": "functions_read_file", "input": {"unreadable": "{\"path\": "}},
                {"type": "tool_use", "id": "b", "name": "_", "input": {"unreadable": "[1]"}},
                {"type": "tool_use", "id": "c", "name": "_".repeat(64), "input": {"unreadable": "null"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "A"},
                {"type": "tool_result", "tool_use_id": "b", "content": "B"},
                {"type": "tool_result", "tool_use_id": "c", "content": "C"},
                {"type": "text", "text": "Go on."},
            ]},
        ]),
    );
    check_messages(
        Vec::new(),
        &json!([{"role": "user", "content": [{"type": "text", "text": "(the conversation begins here)"}]}]),
    );
    // Results come first in their message, whichever role came before.
    check_messages(
        vec![user("One."), tool("a", "A"), user("Two."), tool("b", "B")],
        &json!([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "A"},
            {"type": "tool_result", "tool_use_id": "b", "content": "B"},
            {"type": "text", "text": "One."},
            {"type": "text", "text": "Two."},
        ]}]),
    );
}

#[test]
fn thinking_between_calls_goes_back_where_it_stood_unless_they_were_mended() {
    let carried = json!({"anthropic": [
        {"type": "thinking", "thinking": "1", "signature": "s1"},
        {"type": "text", "text": "I look. "},
        {"type": "tool_use"},
        {"type": "thinking", "thinking": "2", "signature": "s2"},
        {"type": "tool_use"},
        {"type": "image", "source": "made up"},
        "no block",
    ]});
    let call = |id| (id, "read_file", json!({}));
    let used = |id: &str| json!({"type": "tool_use", "id": id, "name": "read_file", "input": {}});
    let thought = |n: u32| json!({"type": "thinking", "thinking": n.to_string(), "signature": format!("s{n}")});
    let said = json!({"type": "text", "text": "I look. "});
    let content = |calls: &[(&str, &str, Value)]| {
        let body = sent(vec![user("U"), assistant("I look. ", calls, Some(carried.clone()))], Vec::new(), &unmarked());
        body["messages"][1]["content"].clone()
    };
    assert_eq!(content(&[call("a"), call("b")]), json!([thought(1), said, used("a"), thought(2), used("b")]));
    assert_eq!(content(&[call("a")]), json!([thought(1), thought(2), said, used("a")]));
    // A message that ends with thinking is refused.
    let carried = json!({"anthropic": [thought(1), said.clone(), thought(2)]});
    let messages = vec![user("U"), assistant("I look. ", &[], Some(carried)), user("Board.")];
    let body = sent(messages, Vec::new(), &Quirks::default());
    assert_eq!(body["messages"][1]["content"], json!([thought(1), said]));
}

#[test]
fn the_opening_and_the_newest_entry_are_marked() {
    let marks = |messages| {
        let body = sent(messages, Vec::new(), &Quirks::default());
        let blocks =
            body["messages"].as_array().into_iter().flatten().filter_map(|m| m["content"].as_array()).flatten();
        blocks
            .filter(|block| block.get("cache_control").is_some())
            .map(|block| block["text"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(marks(vec![system("S"), user("Only one.")]), ["Only one."]);
    assert_eq!(marks(vec![system("S"), user("Layer 4."), user("Board.")]), ["Layer 4.", "Board."]);
    assert_eq!(
        marks(vec![system("S"), user("Layer 4."), user("Examined."), assistant("Said.", &[], None), user("Board.")]),
        ["Layer 4.", "Board."]
    );
    assert_eq!(marks(vec![user("Layer 4."), assistant("Said.", &[], None)]), ["Layer 4.", "Said."]);
}

/// The blocks of the request without the marks, and the places of the marked ones.
fn blocks(messages: &[Message]) -> (Vec<Value>, Vec<usize>) {
    let prompt = Prompt::new(Arc::new([]), messages.to_vec());
    let mut body = body(&WireRequest { prompt: &prompt, model: "claude-x", quirks: &Quirks::default() });
    let mut blocks = body["system"].as_array().unwrap().clone();
    for message in body["messages"].as_array_mut().unwrap() {
        blocks.append(message["content"].as_array_mut().unwrap());
    }
    let marked = (0..blocks.len()).filter(|n| blocks[*n].get("cache_control").is_some()).collect();
    blocks.iter_mut().filter_map(Value::as_object_mut).for_each(|block| _ = block.remove("cache_control"));
    (blocks, marked)
}

#[test]
fn each_turn_continues_what_the_turn_before_had_cached() {
    let mut messages = vec![Message::System { text: "Work.".into() }, user("# Where things stand")];
    let (mut before, marked) = blocks(&messages);
    assert_eq!((before.len(), marked), (2, vec![0, 1]));
    for turn in 1..4_u32 {
        let id = format!("call_{turn}_1");
        let thinking = json!({"anthropic": [{"type": "thinking", "thinking": "t", "signature": "s"}]});
        let calls = [(id.as_str(), "read_file", json!({"path": "a"}))];
        messages.push(assistant("I read.", if turn == 2 { &[] } else { &calls }, Some(thinking)));
        messages.push(if turn == 2 { user("[runner · task 1]") } else { tool(&id, "1\ta\n\n[runner · task 1]") });
        let (now, marked) = blocks(&messages);
        // The system prompt, the opening, the newest message.
        assert_eq!(marked, [0, 1, now.len() - 1]);
        assert!(now.starts_with(&before) && now.len() > before.len());
        before = now;
    }
}
