//! What an able model does: a whole job in three replies, and replies that reach over what they could not foresee.

use crate::{
    cli_run::{TestDir, reply, write},
    machine::world::{World, done, job_complete, read_file, remembered, say, write_file},
    support::events,
};
use overnight_core::job::state::MEMORY_FILE;
use serde_json::{Value, json};

const TASK: &str = r#"---
name: binding
description: What binds whom
coverage: 1.0
deliverables:
  - path: output/list.json
    schema:
      type: object
      required: [records]
      properties:
        records:
          type: array
          minItems: 3
          items:
            type: object
            required: [document, quote]
            properties: { document: { type: string }, quote: { type: string } }
    quotes: { each: "$.records[*]", text: quote, document: document }
  - path: output/report.md
    min_words: 5
---
# Task

List what binds, and report it.
"#;

const PLAN: &str = "# Execution Plan\n\n## Overview\n\nOne document.\n\n## Phase 1: Record and report\n\n- [ ] Record what binds\n- [ ] Write the report\n";

fn add(quotes: &[&str]) -> Value {
    let records: Vec<Value> = quotes.iter().map(|quote| json!({"document": "rules.md", "quote": quote})).collect();
    json!({"add_records": {"path": "output/list.json", "records": records}})
}

fn completed(outcome: &str) -> Value {
    json!({"todo_complete": {"outcome": outcome}})
}

#[test]
fn three_replies_are_a_job_with_all_that_belongs_to_it() {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    dir.put(
        "rules/rules.md",
        "# Rules\n\nA clerk must sign every\nreceipt. A guest may enter. The door shall be shut at night. The key should not be lost.\n",
    );
    dir.script(
        "script.json",
        &[
            reply(&[write("main_plan.md", PLAN), json!({"read_document": {"name": "rules.md"}})]),
            reply(&[add(&[
                "A clerk must sign every receipt.",
                "The door shall be closed at night.",
                "The key should not be lost.",
            ])]),
            reply(&[
                add(&["The door shall be shut at night."]),
                write("output/report.md", "Clerks sign receipts, doors are shut, keys are kept.\n"),
                completed("three records"),
                completed("the report is written"),
                json!({"job_complete": {"summary": "All is recorded.", "deliverables": [], "confidence": 0.9}}),
            ]),
        ],
    );
    let ran =
        dir.run_with(&[], &["run", "task.md", "--documents", "rules", "--model", "scripted:script.json", "--quiet"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);

    let workspace = dir.workspace();
    let mut archives: Vec<String> = std::fs::read_dir(workspace.join("archive"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    archives.sort();
    assert_eq!(archives, ["phase-00-bootstrap", "phase-01-record-and-report", "phase-02-review"]);
    for archive in &archives {
        for file in ["todos.md", "main_plan.md", "workspace_summary.md", "journal.jsonl", "manifest.json"] {
            // The bootstrap's todos of the system came before any plan; its archive holds the plan that ended it.
            assert!(workspace.join("archive").join(archive).join(file).is_file(), "{archive}/{file}");
        }
    }
    let told: Vec<String> = events(&workspace)
        .into_iter()
        .filter(|event| event["type"] == "tool_returned" && event["name"] == "add_records")
        .map(|event| event["result"]["text"].as_str().unwrap().to_owned())
        .collect();
    let [first, second] = &told[..] else { panic!("{told:?}") };
    assert!(first.starts_with("Added 2 records to $.records of output/list.json (2 now)"), "{first}");
    assert!(first.contains("nearest") && first.contains("shut at night") && first.contains("differs at"), "{first}");
    assert!(second.starts_with("Added 1 record to $.records of output/list.json (3 now)"), "{second}");

    let shown: Value = serde_json::from_str(&dir.run_with(&[], &["show", "last", "--json"]).stdout).unwrap();
    let phases: Vec<(&str, &str)> = shown["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| (phase["title"].as_str().unwrap(), phase["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!((&shown["status"], &shown["turns"]), (&json!("completed"), &json!(3)));
    assert_eq!(phases, [("Bootstrap", "done"), ("Record and report", "done"), ("Review", "done")]);
    assert_eq!(dir.run_with(&[], &["audit", "verify", "last"]).code, 0);
}

#[test]
fn outcomes_stay_with_their_todos_behind_a_failed_call() {
    let mut world = World::new();
    world.in_phase_one().play([say([read_file("nope.md"), done("first"), done("second")])]);
    assert_eq!(
        world.results(3),
        [
            "Failed: nope.md does not exist",
            "Refused: read_file failed: look at its result first, then go on with task 1",
            "Skipped: not run: a todo_complete before it in this reply was refused",
        ]
    );
    world.play([say([done("first"), done("second"), done("third")])]);
    let outcomes: Vec<Option<&str>> = world.job.phase.todos.all().iter().map(|todo| todo.outcome.as_deref()).collect();
    assert_eq!(outcomes, [Some("first"), Some("second"), Some("third"), None, None]);
}

#[test]
fn job_complete_behind_the_last_todo_is_checked_at_once() {
    let mut world = World::new();
    world.in_phase_one().work_phase().play([remembered()]);
    let all = (1..=5).map(|todo| done(&format!("pump {todo}")));
    world.play([say([write_file("output/report.md", "All pumps ran well.")]
        .into_iter()
        .chain(all)
        .chain([job_complete(0.9)]))]);
    assert_eq!(world.status(), "completed");
    assert_eq!(world.job.past.len(), 4);
}

#[test]
fn job_complete_waits_where_a_call_before_it_failed() {
    let mut world = World::new();
    world.in_phase_one().work_phase().play([say([write_file(MEMORY_FILE, "# Memory\n"), read_file("nope.md")])]);
    let all = (1..=5).map(|todo| done(&format!("pump {todo}")));
    let report = write_file("output/report.md", "All pumps ran well.");
    world.play([say([read_file("nope.md"), report].into_iter().chain(all).chain([job_complete(0.9)]))]);
    assert_eq!(
        world.results(1),
        ["Skipped: not run: read_file before it in this reply failed; look at its result first"]
    );
    world.play([say([job_complete(0.9)])]);
    assert_eq!(world.status(), "completed");
}
