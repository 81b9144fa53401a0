//! Whole bodies as the Gemini API expects them.

use super::*;
use crate::model::table::Quirks;
use overnight_core::message::ToolSpec;
use std::sync::Arc;

fn outgoing(messages: Vec<Message>, tools: Vec<ToolSpec>, model: &str, quirks: &Quirks) -> OutgoingRequest {
    let prompt = Prompt::new(tools.into(), messages);
    Gemini.outgoing(&WireRequest { prompt: &prompt, model, quirks })
}

fn system(text: &str) -> Message {
    Message::System { text: text.to_owned() }
}

fn user(text: &str) -> Message {
    Message::user(text.to_owned())
}

fn call(id: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.to_owned(), name: "read_file".to_owned(), arguments }
}

fn assistant(text: &str, calls: Vec<ToolCall>, carried: Option<Value>) -> Message {
    Message::Assistant { text: text.to_owned(), calls, carried: carried.map(Arc::new) }
}

fn tool(call: &str, text: &str) -> Message {
    Message::Tool { call: call.to_owned(), name: "read_file".to_owned(), text: text.to_owned(), images: Vec::new() }
}

fn read_file() -> ToolSpec {
    ToolSpec {
        name: "read_file".to_owned(),
        description: "Reads.".to_owned(),
        parameters: json!({"type": "object", "additionalProperties": false}),
    }
}

#[track_caller]
fn check_contents(messages: Vec<Message>, expected: &Value) {
    assert_eq!(&outgoing(messages, Vec::new(), "m", &Quirks::default()).json()["contents"], expected);
}

#[test]
fn a_whole_conversation_with_parts_as_they_came() {
    let carried = json!({"gemini": [
        {"text": "I read."},
        {"functionCall": {"id": "fc1", "name": "Read_File", "args": {"path": "a"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "read_file", "args": {"path": "b"}}},
    ]});
    let calls = vec![call("call_1_1", json!({"path": "a"})), call("call_1_2", json!({"path": "b"}))];
    let messages = vec![
        system("Work."),
        user("Layer 4."),
        user("Examined."),
        assistant("I read.", calls, Some(carried)),
        tool("call_1_1", "A"),
        tool("call_1_2", "B"),
        user("The board."),
    ];
    let quirks = Quirks { output_tokens: 4096, ..Quirks::default() };
    assert_eq!(
        outgoing(messages, vec![read_file()], "gemini-x", &quirks),
        OutgoingRequest {
            path: "models/gemini-x:streamGenerateContent?alt=sse".to_owned(),
            headers: Vec::new(),
            body: written(&json!({
                "systemInstruction": {"parts": [{"text": "Work."}]},
                "contents": [
                    {"role": "user", "parts": [{"text": "Layer 4."}, {"text": "Examined."}]},
                    {"role": "model", "parts": [
                        {"text": "I read."},
                        {
                            "functionCall": {"id": "fc1", "name": "Read_File", "args": {"path": "a"}},
                            "thoughtSignature": "c2ln",
                        },
                        {"functionCall": {"name": "read_file", "args": {"path": "b"}}},
                    ]},
                    {"role": "user", "parts": [
                        {"functionResponse": {"name": "Read_File", "response": {"result": "A"}, "id": "fc1"}},
                        {"functionResponse": {"name": "read_file", "response": {"result": "B"}}},
                        {"text": "The board."},
                    ]},
                ],
                "tools": [{"functionDeclarations": [{
                    "name": "read_file",
                    "description": "Reads.",
                    "parametersJsonSchema": {"type": "object", "additionalProperties": false},
                }]}],
                "generationConfig": {"maxOutputTokens": 4096},
            })),
        }
    );
}

#[test]
fn what_quirks_say_is_in_the_body_and_a_name_cannot_leave_its_place_in_the_path() {
    let mut quirks = Quirks { output_tokens: 9, streams: false, stop: vec!["END".to_owned()], ..Quirks::default() };
    quirks.tool_choice = ToolChoice::Required;
    quirks.output_field = Some("mostTokens".to_owned());
    if let Value::Object(extra) = json!({"generationConfig": {"temperature": 0}, "safetySettings": []}) {
        quirks.extra = extra;
    }
    assert_eq!(
        outgoing(vec![user("U")], vec![read_file()], "../a b:ü?x#y", &quirks),
        OutgoingRequest {
            path: "models/..%2Fa%20b%3A%C3%BC%3Fx%23y:generateContent".to_owned(),
            headers: Vec::new(),
            body: written(&json!({
                "contents": [{"role": "user", "parts": [{"text": "U"}]}],
                "tools": [{"functionDeclarations": [{
                    "name": "read_file",
                    "description": "Reads.",
                    "parametersJsonSchema": read_file().parameters,
                }]}],
                "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
                "generationConfig": {"mostTokens": 9, "stopSequences": ["END"], "temperature": 0},
                "safetySettings": [],
            })),
        }
    );
    quirks.tool_choice = ToolChoice::Auto;
    let body = outgoing(vec![user("U")], vec![read_file()], "m", &quirks).json();
    assert_eq!(body["toolConfig"], json!({"functionCallingConfig": {"mode": "AUTO"}}));
    // A tool choice without tools would be refused.
    assert_eq!(outgoing(vec![user("U")], Vec::new(), "m", &quirks).json().get("toolConfig"), None);
}

#[test]
fn a_conversation_of_another_vendor_is_signed_as_such_and_carries_nothing_of_it() {
    let thinking = json!({"anthropic": [{"type": "thinking", "thinking": "t", "signature": "s"}]});
    let calls = vec![call("a", json!({"path": "a"})), call("b", json!("{\"torn"))];
    check_contents(
        vec![assistant("Said.", calls, Some(thinking)), tool("a", "A"), tool("b", ""), user("Board.")],
        &json!([
            {"role": "user", "parts": [{"text": "(the conversation begins here)"}]},
            {"role": "model", "parts": [
                {"text": "Said."},
                {
                    "functionCall": {"name": "read_file", "args": {"path": "a"}},
                    "thoughtSignature": "skip_thought_signature_validator",
                },
                {"functionCall": {"name": "read_file", "args": {"unreadable": "{\"torn"}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "read_file", "response": {"result": "A"}}},
                {"functionResponse": {"name": "read_file", "response": {"result": ""}}},
                {"text": "Board."},
            ]},
        ]),
    );
}

#[test]
fn parts_that_no_longer_say_what_the_reply_says_are_made_anew() {
    // A call was found in the text: its result must have a call before it.
    let written = json!({"gemini": [{"text": "read_file(a)", "thoughtSignature": "s"}]});
    check_contents(
        vec![user("U"), assistant("", vec![call("a", json!({"path": "a"}))], Some(written)), tool("a", "A")],
        &json!([
            {"role": "user", "parts": [{"text": "U"}]},
            {"role": "model", "parts": [{
                "functionCall": {"name": "read_file", "args": {"path": "a"}},
                "thoughtSignature": "skip_thought_signature_validator",
            }]},
            {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"result": "A"}}}]},
        ]),
    );
    // The reply was empty; a value that is no list of parts counts as empty.
    let silent = json!({"gemini": [{"text": "", "thoughtSignature": "s"}]});
    check_contents(
        vec![user("U"), assistant("(an empty reply)", Vec::new(), Some(silent)), user("V")],
        &json!([
            {"role": "user", "parts": [{"text": "U"}]},
            {"role": "model", "parts": [{"text": "(an empty reply)"}]},
            {"role": "user", "parts": [{"text": "V"}]},
        ]),
    );
    check_contents(
        vec![user("U"), assistant(" ", Vec::new(), Some(json!({"gemini": 1}))), user("V")],
        &json!([{"role": "user", "parts": [{"text": "U"}, {"text": "V"}]}]),
    );
}
