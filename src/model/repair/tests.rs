//! Schemas that the catalogue doesn't have, and limits for replies that are worse than odd. The merely odd ones are in
//! `tests/formats/replies`.

use super::*;
use crate::model::remote::wire::RawCall;
use overnight_core::prompt::tools::ToolList;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Longer than a megabyte takes on a busy machine without optimisation, and far shorter than its square.
const MUCH: Duration = Duration::from_secs(10);

fn said(text: &str) -> RawReply {
    RawReply { text: text.to_owned(), stop: Some(Stop::Done), ..RawReply::default() }
}

fn called(calls: &[(&str, &str, &str)]) -> RawReply {
    let raw = |(id, name, arguments): &(&str, &str, &str)| RawCall {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    RawReply { calls: calls.iter().map(raw).collect(), stop: Some(Stop::Done), ..RawReply::default() }
}

fn tool(parameters: Value) -> ToolSpec {
    ToolSpec { name: "look_up".to_owned(), description: String::new(), parameters }
}

/// The arguments after the repair.
fn fitted(parameters: Value, arguments: &Value) -> Value {
    let heard = called(&[("1", "look_up", &arguments.to_string())]);
    repair_reply(heard, &[tool(parameters)], true).calls.remove(0).arguments
}

#[test]
fn a_reply_that_never_ended_has_calls_only_where_their_own_end_came() {
    let closed = r#"<tool_call>{"name": "todo_complete", "arguments": {}}</tool_call>"#;
    let open = closed.replace("</tool_call>", "");
    let calls =
        |text: &str, stop| repair_reply(RawReply { stop, ..said(text) }, &ToolList::usual().specs, true).calls.len();
    for stop in [None, Some(Stop::Length), Some(Stop::Refused)] {
        assert_eq!((calls(closed, stop), calls(&open, stop)), (1, 0), "{stop:?}");
    }
    assert_eq!((calls(closed, Some(Stop::Done)), calls(&open, Some(Stop::Done))), (1, 1));
}

#[test]
fn a_name_that_two_tools_could_mean_is_nobodys() {
    let mut tools = vec![tool(json!({})), tool(json!({}))];
    tools[1].name = "lookUp".to_owned();
    let name = |said: &str| repair_reply(called(&[("1", said, "{}")]), &tools, true).calls.remove(0).name;
    assert_eq!(name("LookUp"), "LookUp");
    assert_eq!(name("lookUp"), "lookUp");
    assert_eq!(name("look"), "look");
    assert_eq!(name(""), "");
}

#[test]
fn texts_that_say_another_type_are_read_as_it() {
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "f": {"type": "number"}, "b": {"type": "boolean"}, "s": {"type": "string"},
        "all": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    }});
    for (given, expected) in [
        (json!({"n": " 5 ", "f": "0.5", "b": "True"}), json!({"n": 5, "f": 0.5, "b": true})),
        (json!({"n": "five", "f": "", "b": "yes"}), json!({"n": "five", "f": "", "b": "yes"})),
        (json!({"n": "2.5", "s": 7, "x": "5"}), json!({"n": "2.5", "s": 7, "x": "5"})),
        (json!({"n": "99999999999999999999"}), serde_json::from_str(r#"{"n":99999999999999999999}"#).unwrap()),
        (json!({"all": "[{\"n\": \"1\"}]"}), json!({"all": [{"n": 1}]})),
        (json!({"all": [{"n": "1"}, 2]}), json!({"all": [{"n": 1}, 2]})),
    ] {
        assert_eq!(fitted(schema.clone(), &given), expected, "{given}");
    }
}

#[test]
fn of_a_vendors_own_model_only_the_arguments_are_read() {
    let text = r#"<tool_call>{"name": "todo_complete", "arguments": {}}</tool_call>"#;
    let heard = RawReply { text: text.to_owned(), ..called(&[("1", "Read_File", r#"{"path": "a", "offset": "5"}"#)]) };
    let kept = repair_reply(heard, &ToolList::usual().specs, false);
    let call =
        ToolCall { id: "1".to_owned(), name: "Read_File".to_owned(), arguments: json!({"path": "a", "offset": "5"}) };
    assert_eq!(kept, RepairedReply { text: text.to_owned(), calls: vec![call], notes: Vec::new() });
    let read = |raw: &str| {
        repair_reply(called(&[("1", "list_files", raw)]), &ToolList::usual().specs, false).calls.remove(0).arguments
    };
    assert_eq!(["", "null", "\"\"", " {} "].map(read), [json!({}), json!({}), json!({}), json!({})]);
    assert_eq!(read(r#""{\"path\": \"output\"}""#), json!({"path": "output"}));
    assert_eq!(read("{\"path\": \"a\",}"), json!("{\"path\": \"a\",}"));
}

#[test]
fn a_reply_is_bounded() {
    let text = "ä".repeat(MOST_TEXT);
    let cut = repair_reply(said(&text), &ToolList::usual().specs, true);
    assert_eq!(cut.text, "ä".repeat(MOST_TEXT / 2));
    assert_eq!(cut.notes, ["the text was longer than 1 MiB and is cut"]);

    let many: Vec<(String, String)> = (0..400).map(|n| (n.to_string(), format!(r#"{{"text": "{n}"}}"#))).collect();
    let many: Vec<(&str, &str, &str)> = many.iter().map(|(id, raw)| (id.as_str(), "AddNote", raw.as_str())).collect();
    let mended = repair_reply(called(&many), &ToolList::usual().specs, true);
    assert_eq!(mended.calls.len(), MOST_CALLS);
    assert_eq!(mended.notes.len(), MOST_NOTES + 1);
    assert_eq!(mended.notes[0], "272 calls behind the first 128 are left out");

    let deep = format!(r#"{{"path": {}1{}}}"#, "[".repeat(100), "]".repeat(100));
    let kept =
        repair_reply(called(&[("1", "read_file", &deep)]), &ToolList::usual().specs, true).calls.remove(0).arguments;
    assert!(kept.is_string(), "{kept}");
    let deeper = deep.replace('1', &format!("{}1{}", "[".repeat(9999), "]".repeat(9999)));
    let kept =
        repair_reply(called(&[("1", "read_file", &deeper)]), &ToolList::usual().specs, true).calls.remove(0).arguments;
    assert_eq!(kept, Value::String(deeper));
}

#[test]
fn a_megabyte_of_anything_takes_no_time() {
    let parts = [
        "<tool_call>",
        "<tool_call>{",
        "<tool_call>{\"name\":\"add_note\",\"arguments\":{\"text\":\"a\"}}</tool_call>",
        "{\"name\":\"add_note\",\"arguments\":{\"text\":\"a\"}}",
        "`<tool_call>{",
        "{",
        "[{",
        "[[",
        "<",
        "        <",
        "```json\n{\n```\n",
        "```\n",
        "\n```json\n{\"name\":\"add_note\",\"arguments\":{}}\n```",
        "<think>",
        "<think></think>",
        "\"",
        "\\",
        " ",
        "\n",
    ];
    for part in parts {
        for head in ["", "{", "<tool_call>{\"name\":\""] {
            let most = if head.is_empty() { MOST_TEXT - 100 } else { 100_000 };
            let text = format!("{head}{}", part.repeat(most / part.len()));
            let raw = format!("{{\"path\":[{}]}}", part.repeat(most / part.len()));
            let begun = Instant::now();
            repair_reply(said(&text), &ToolList::usual().specs, true);
            repair_reply(
                called(&[("1", "read_file", &text), ("2", "read_file", &raw)]),
                &ToolList::usual().specs,
                true,
            );
            assert!(begun.elapsed() < MUCH, "{head}{part}: {:?}", begun.elapsed());
        }
    }
    let commas = format!("{{\"path\": [{}]}}", "[1,],".repeat(100_000));
    let begun = Instant::now();
    repair_reply(called(&[("1", "read_file", &commas)]), &ToolList::usual().specs, true);
    assert!(begun.elapsed() < MUCH, "{:?}", begun.elapsed());
}

/// Texts out of the pieces that the forms are made of.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "<tool_call>",
            "</tool_call>",
            "{",
            "}",
            "[",
            "]",
            "\"",
            "\\",
            ",",
            ":",
            "\n",
            "```",
            "```json\n",
            "name",
            "\"name\":",
            "\"arguments\":",
            "\"todo_complete\"",
            "todo_complete",
            ">",
            "<think>",
            "</think>",
            "<",
            "ä",
            "'",
            ";",
            " ",
            "    ",
            "null",
            "-1",
            "1e999",
            "\u{0}",
            "\u{2028}",
            ">",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_makes_mending_panic(text in pieces(), name in pieces(), raw in pieces()) {
        let tools = ToolList::usual().specs.clone();
        let written = repair_reply(said(&text), &tools, true);
        for call in &written.calls {
            prop_assert!(tools.iter().any(|tool| tool.name == call.name));
            prop_assert!(call.arguments.is_object());
        }
        prop_assert!(text.contains(&written.text));
        let mended = repair_reply(called(&[("1", &name, &raw), ("2", "todo_write", &raw)]), &tools, true);
        prop_assert!((1..=2).contains(&mended.calls.len()));
    }

    #[test]
    fn what_was_mended_stays_as_it_is(raw in pieces()) {
        let tools = ToolList::usual().specs.clone();
        let once = repair_reply(called(&[("1", "todo_write", &raw)]), &tools, true).calls.remove(0);
        if once.arguments.is_object() {
            let again = repair_reply(called(&[("1", "todo_write", &once.arguments.to_string())]), &tools, true);
            prop_assert_eq!((&again.calls[0], again.notes.len()), (&once, 0));
        }
    }
}
