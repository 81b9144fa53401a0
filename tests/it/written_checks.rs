//! Checks at every write: a call that writes a deliverable is answered with what the contract finds in the file, records are
//! checked one by one, and a crash repeats no record.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{Ran, TestDir, reply, write},
    support::events,
};
use overnight_core::answer;
use serde_json::{Value, json};

/// One turn, then the job is held.
const TASK: &str = r#"---
name: listed
context: { inline: never }
description: What binds whom
limits: { turns: 1 }
deliverables:
  - path: output/list.json
    schema:
      type: object
      required: [records]
      properties:
        records:
          type: array
          items:
            type: object
            required: [document, quote]
            properties: { document: { type: string }, quote: { type: string }, line: { type: integer } }
    quotes: { each: "$.records[*]", text: quote, document: document, page: line }
  - path: output/notes.md
    min_words: 3
---
# Task

List what binds.
"#;

fn record(document: &str, quote: &str) -> Value {
    json!({"document": document, "quote": quote})
}

fn add(records: &[Value]) -> Value {
    json!({"add_records": {"path": "output/list.json", "records": records}})
}

fn dir(calls: &[Value]) -> TestDir {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    dir.script("script.json", &[reply(calls)]);
    dir
}

const RUN: [&str; 7] = ["run", "task.md", "--documents", "docs", "--model", "scripted:script.json", "--quiet"];

/// How each call ended, what it was told, and what it found in deliverables.
fn results(dir: &TestDir) -> Vec<(String, String, Value)> {
    events(&dir.workspace())
        .into_iter()
        .filter(|event| event["type"] == "tool_returned")
        .map(|event| {
            let text = |key: &str| event["result"][key].as_str().unwrap().to_owned();
            (text("end"), text("text"), event["result"]["checked"].clone())
        })
        .collect()
}

fn held(ran: &Ran) {
    assert_eq!(ran.code, 4, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn each_write_answers_with_the_checks_of_its_file() {
    let wrong = record("a.md", "The server SHALL answer within 2 s.");
    let dir = dir(&[
        add(&[record("a.md", "The server MUST answer within 2 s."), wrong, record("a.md", "A client SHOULD wait.")]),
        write("output/notes.md", "Two"),
        write("output/list.json", r#"{"records": [{"document": "b.md", "quote": "Pigs fly over the sea"}], "x": 1}"#),
        add(&[record("b.md", "Nothing")]),
        json!({"add_records": {"path": "output/notes.md", "records": [{}]}}),
        json!({"add_records": {"path": "output/list.json", "records": []}}),
        json!({"check_deliverables": {}}),
        write("elsewhere.md", "Two"),
    ]);
    held(&dir.run_with(&[], &RUN));
    let added = |added: &str| answer!("records.added", added, list = "$.records", file = "output/list.json", now = 1);
    let refused = |refused: &str, faults: &str| answer!("records.refused", refused, faults);
    let wrote = |path: &str, amount: &str| answer!("done.wrote", path, amount);
    let two = refused(
        "2 records were",
        "\n- records[1] \"The server SHALL answer within 2 s.\": nearest on line 3 of a.md: \
         \"# A The server MUST answer within 2 s.\", differs at \"SHALL\".\n\
         - records[2] \"A client SHOULD wait.\" does not stand in a.md but in b.md.",
    );
    let one = refused("1 record was", "\n- records[0] \"Nothing\": nothing like it stands in b.md.");
    let failing = answer!("checks.fail", number = 3, all = 8);
    let passing = answer!(
        "checks.passed",
        names = "output/list.json: exists; output/list.json: not empty; output/list.json: schema; \
                 output/notes.md: exists; output/notes.md: not empty"
    );
    let expected = [
        (
            "done",
            format!("{} {two}\nSchema: ok. Quotes: 1 of 1 found.", added("1 record")),
            json!([{"path": "output/list.json", "records": 1, "quotes": {"found": 1, "all": 1}, "documents": {"a.md": 1}}]),
        ),
        (
            "done",
            wrote("output/notes.md", "3 bytes now") + " Words: 1 (at least 3). Write 2 more.",
            json!([{"path": "output/notes.md", "failed": [
                {"name": "output/notes.md: words", "passed": false, "detail": "1 (at least 3). Write 2 more.",
                 "unfinished": true}]}]),
        ),
        (
            "done",
            wrote("output/list.json", "1 record")
                + " Schema: ok. \
                   Quotes: 0 of 1 found. $.records[0] \"Pigs fly over the sea\": nothing like it stands in b.md.",
            json!([{"path": "output/list.json", "records": 1, "quotes": {"found": 0, "all": 1}, "failed": [
                {"name": "output/list.json: quotes", "passed": false,
                 "detail": "0 of 1 found. $.records[0] \"Pigs fly over the sea\": nothing like it stands in b.md."}],
                "documents": {"a.md": 0, "b.md": 1}}]),
        ),
        ("failed", format!("{} {one}", added("0 records")), Value::Null),
        (
            "failed",
            "nothing says where output/notes.md has its list; give list, such as $.records".to_owned(),
            Value::Null,
        ),
        ("refused", "records is empty; give the records to add".to_owned(), Value::Null),
        (
            "done",
            format!(
                "{failing}\n\
                 - output/list.json: quotes: 0 of 1 found. $.records[0] \"Pigs fly over the sea\": nothing like it stands in b.md.\n\
                 - output/notes.md: words: 1 (at least 3). Write 2 more.\n\
                 - coverage: not shown yet: a.md lines 1-3; b.md lines 1-3; read them with read_document\n\
                 {passing}"
            ),
            json!([
                {"path": "output/list.json", "records": 1, "quotes": {"found": 0, "all": 1}, "failed": [
                    {"name": "output/list.json: quotes", "passed": false,
                     "detail": "0 of 1 found. $.records[0] \"Pigs fly over the sea\": nothing like it stands in b.md."}]},
                {"path": "output/notes.md", "failed": [
                    {"name": "output/notes.md: words", "passed": false, "detail": "1 (at least 3). Write 2 more.",
                 "unfinished": true}]}
            ]),
        ),
        ("done", wrote("elsewhere.md", "3 bytes now"), Value::Null),
    ];
    let expected: Vec<(String, String, Value)> =
        expected.into_iter().map(|(end, text, checked)| (end.to_owned(), text, checked)).collect();
    assert_eq!(results(&dir), expected);
    assert!(!dir.workspace().join("quotes.jsonl").exists(), "looking changes nothing");
}

#[test]
fn a_crash_adds_no_record_twice_and_loses_none() {
    let calls = [
        add(&[record("a.md", "The server MUST answer within 2 s."), record("a.md", "It may not.")]),
        add(&[record("b.md", "A client SHOULD wait."), record("a.md", "The server MUST answer within 2 s.")]),
    ];
    let whole = dir(&calls);
    held(&whole.run_with(&[], &RUN));
    let told = results(&whole);
    let (list, file) = ("$.records", "output/list.json");
    let added = answer!("records.added_some", added = "1 record", list, file, now = 2, present = "1 was");
    assert!(told[1].1.starts_with(&format!("{added} Schema")), "{told:?}");
    let file = std::fs::read_to_string(whole.workspace().join("output/list.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&file).unwrap()["records"].as_array().unwrap().len(), 2);
    for point in ["tool.write.before", "tool.write.done"] {
        for times in ["", "1*off->"] {
            let dir = dir(&calls);
            let ran = dir.run_with(&[("FAILPOINTS", &format!("{point}={times}return"))], &RUN);
            assert_ne!(ran.code, 4, "{point} was not reached");
            held(&dir.run_with(&[], &["resume", "last", "--quiet"]));
            assert_eq!(results(&dir), told, "{point} {times}");
            assert_eq!(
                std::fs::read_to_string(dir.workspace().join("output/list.json")).unwrap(),
                file,
                "{point} {times}"
            );
        }
    }
}
