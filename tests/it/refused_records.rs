//! Records that `add_records` refused: none is lost without a word. What was refused is seen before anything is claimed, and what
//! is not mended is told in every view.

use crate::cli_run::{TestDir, done, reply, write};
use overnight_core::answer;
use serde_json::{Value, json};

const TASK: &str = r#"---
name: listed
deliverables:
  - path: output/list.json
    quotes: { each: "$.records[*]", text: quote, document: document }
---
List what binds.
"#;

fn add(records: &[(&str, &str, &str)]) -> Value {
    let record =
        |(document, quote, who): &(&str, &str, &str)| json!({"document": document, "quote": quote, "who": who});
    json!({"add_records": {"path": "output/list.json", "records": records.iter().map(record).collect::<Vec<_>>()}})
}

/// Records for a file that is none of the job's are counted too, and mended when they are sent for the right one.
#[test]
fn records_for_a_wrong_file_are_counted() {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    let plan = "# Execution Plan\n\n## Phase 1: Listing\n\n- [ ] List\n";
    let [right, wrong] =
        [("a.md", "The server MUST answer within 2 s.", "server"), ("b.md", "A client SHOULD wait.", "client")];
    let mut elsewhere = add(&[right, wrong]);
    elsewhere["add_records"]["path"] = json!("output/other.json");
    let read = |name: &str| json!({"read_document": {"name": name}});
    dir.script(
        "script.json",
        &[
            reply(&[write("main_plan.md", plan), read("a.md"), read("b.md"), elsewhere, done(), complete()]),
            reply(&[add(&[right]), done(), done(), done(), complete()]),
        ],
    );
    let ran = dir.run_with(&[], &["run", "task.md", "-d", "docs", "-m", "scripted:script.json", "-q"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let told = "2 records were refused when they were added: 1 was mended and written, 1 is not in the result";
    assert!(ran.stdout.contains(&format!("\nrefused: {told}\n")), "{}", ran.stdout);
    let shown: Value = serde_json::from_str(&dir.run_with(&[], &["show", "last", "--json"]).stdout).unwrap();
    let unmended = &shown["unmended_records"][0];
    assert_eq!((&unmended["file"], &unmended["record"]["who"]), (&json!("output/list.json"), &json!("client")));
}

fn complete() -> Value {
    json!({"job_complete": {"summary": "All.", "deliverables": ["output/list.json"], "confidence": 0.9}})
}

#[test]
fn what_was_refused_is_seen_first_and_what_is_not_mended_is_told() {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    let plan = "# Execution Plan\n\n## Phase 1: Listing\n\n- [ ] List\n";
    let read = |name: &str| json!({"read_document": {"name": name}});
    dir.script(
        "script.json",
        &[
            // All in one reply: two of three records are refused.
            reply(&[
                write("main_plan.md", plan),
                read("a.md"),
                read("b.md"),
                add(&[
                    ("a.md", "The server MUST answer within 2 s.", "server"),
                    ("b.md", "A client SHALL wait.", "client"),
                    ("b.md", "Pigs fly over the sea", "pigs"),
                ]),
                done(),
                done(),
                done(),
                complete(),
            ]),
            // One is mended, the other is sent again as it was: that is known, and holds nothing back.
            reply(&[
                add(&[("b.md", "A client SHOULD wait.", "client"), ("b.md", "Pigs fly over the sea", "pigs")]),
                done(),
                done(),
                done(),
                complete(),
            ]),
        ],
    );
    let ran = dir.run_with(&[], &["run", "task.md", "-d", "docs", "-m", "scripted:script.json", "-q"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let told = "2 records were refused when they were added: 1 was mended and written, 1 is not in the result";
    assert!(ran.stdout.contains(&format!("\nrefused: {told}\n")), "{}", ran.stdout);
    let log = dir.run_with(&[], &["logs", "last"]).stdout;
    let skipped = answer!("skipped.look_first", name = "add_records", what = "sent back 2 records");
    assert!(log.contains(&format!("todo_complete skipped: {skipped}")), "{log}");
    let not_taken = answer!("skipped.completion_not_taken");
    assert!(log.contains(&format!("todo_complete skipped: {not_taken}")), "{log}");
    assert!(log.contains(&format!("job_complete skipped: {skipped}")), "{log}");

    let counts = json!({"refused": 2, "mended": 1, "unmended": 1});
    let show = dir.run_with(&[], &["show", "last"]).stdout;
    assert!(show.contains(&format!("  {told}\n  refused: output/list.json refused a record (")), "{show}");
    let shown: Value = serde_json::from_str(&dir.run_with(&[], &["show", "last", "--json"]).stdout).unwrap();
    assert_eq!(shown["refused_records"], counts);
    assert_eq!(shown["unmended_records"][0]["record"]["who"], json!("pigs"));
    let report = dir.run_with(&[], &["report"]).stdout;
    assert!(report.contains("Records that were refused when they were added"), "{report}");
    let report: Value = serde_json::from_str(&dir.run_with(&[], &["report", "--json"]).stdout).unwrap();
    assert_eq!(report["jobs"][0]["refused_records"], counts);
    assert_eq!(dir.run_with(&[], &["review", "last", "-o", "pages"]).code, 0);
    let id = dir.workspace().file_name().unwrap().to_str().unwrap().to_owned();
    let page = std::fs::read_to_string(dir.path().join(format!("pages/{id}.html"))).unwrap();
    for part in
        ["One more was refused, and is not in the result.", "nothing like it stands in b.md", "Pigs fly over the sea"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
}

/// A list in the making has too few items up to its last record: that holds back no todo, and another fault of it does.
#[test]
fn a_list_that_is_not_finished_holds_no_todo_back() {
    let dir = TestDir::new();
    let schema = "    schema: { properties: { title: { type: string }, records: { minItems: 2 } } }\n";
    dir.put("task.md", TASK.replace("    quotes", &format!("{schema}    quotes")));
    let plan = "# Execution Plan\n\n## Phase 1: Listing\n\n- [ ] List a.md\n- [ ] List b.md\n";
    let read = |name: &str| json!({"read_document": {"name": name}});
    let [first, second] =
        [("a.md", "The server MUST answer within 2 s.", "server"), ("b.md", "A client SHOULD wait.", "client")];
    let begin = [write("main_plan.md", plan), read("a.md"), read("b.md")];
    let one_after_the_other = [add(&[first]), done(), add(&[second]), done(), done(), done(), complete()];
    dir.script("script.json", &[reply(&[&begin[..], &one_after_the_other].concat())]);
    let ran = dir.run_with(&[], &["run", "task.md", "-d", "docs", "-m", "scripted:script.json", "-q"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("1 turn"), "{}", ran.stdout);

    let untitled = write("output/list.json", r#"{"title": 7, "records": []}"#);
    dir.script("script.json", &[reply(&[&begin[..], &[untitled, done()]].concat())]);
    dir.run_with(&[], &["run", "task.md", "-d", "docs", "-m", "scripted:script.json", "-q"]);
    let log = dir.run_with(&[], &["logs", "last"]).stdout;
    let what = "found what fails (output/list.json: schema)";
    let skipped = answer!("skipped.look_first", name = "write_file", what);
    assert!(log.contains(&format!("todo_complete skipped: {skipped}")), "{log}");
}
