//! Equal sentences at several places, and what is nearly equal: names of files, quotes of a letter. Records, marks, tables and the
//! comparison of two readers go by the same places.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::{TestDir, done, reply, write};
use serde_json::{Value, json};

const SEAL: &str = "The seal is worn and must be replaced.";

/// The seal is worn on the lines 5, 13 and 17.
fn place(line_rule: &str, document: &str) -> TestDir {
    let dir = TestDir::new();
    let site = format!(
        "# Site\n\n## Pump 1\n\n{SEAL}\n\n## Pump 2\n\nNo findings.\n\n## Pump 3\n\n{SEAL}\n\n## Pump 4\n\n{SEAL}\n"
    );
    dir.put(&format!("site/{document}"), site);
    let task = format!(
        "---\nname: worn\ndeliverables:\n  - path: output/list.json\n    quotes: {{ each: \"$.items[*]\", text: quote, \
         document: document{line_rule} }}\nsecond_reader: {{ deliverable: output/list.json }}\n\
         models: {{ second_reader: \"scripted:second.json\" }}\n---\nList each finding.\n"
    );
    dir.put("worn.md", task);
    dir
}

fn record(line: Option<u64>) -> Value {
    json!({"document": "site.md", "line": line, "quote": SEAL})
}

/// Equal records would be one: each has its number.
fn records(lines: &[Option<u64>]) -> Vec<Value> {
    let numbered = |(number, line): (usize, &Option<u64>)| {
        let mut record = record(*line);
        record["number"] = json!(number);
        record
    };
    lines.iter().enumerate().map(numbered).collect()
}

/// Both readers list the seal on these lines.
fn run(dir: &TestDir, first: &[Value], second: &[Value]) -> Value {
    let complete =
        json!({"job_complete": {"summary": "All.", "deliverables": ["output/list.json"], "confidence": 0.9}});
    let plan = "# Execution Plan\n\n## Phase 1: Listing\n\n- [ ] Read\n- [ ] List\n";
    let add = json!({"add_records": {"path": "output/list.json", "records": first}});
    dir.script(
        "first.json",
        &[
            reply(&[write("main_plan.md", plan), json!({"read_document": {"name": "site.md"}})]),
            reply(&[add, done(), done(), done(), done(), complete.clone()]),
            reply(&[done(), done(), done(), done(), complete.clone()]),
            reply(&[complete]),
        ],
    );
    let add = json!({"add_records": {"path": "output/list.json", "records": second}});
    dir.script(
        "second.json",
        &[
            reply(&[json!({"read_document": {"name": "site.md"}})]),
            reply(&[add, json!({"report": {"text": "All."}})]),
            reply(&[json!({"report": {"text": "All."}})]),
        ],
    );
    let ran = dir.run_with(&[], &["run", "./worn.md", "-d", "site", "-m", "scripted:first.json", "-q"]);
    assert!([0, 3].contains(&ran.code), "{}{}", ran.stdout, ran.stderr);
    serde_json::from_str(&dir.run_with(&[], &["show", "last", "--json"]).stdout).unwrap()
}

/// Records in both lists, and the lines that only one has.
fn compared(shown: &Value) -> (u64, Vec<(String, u64)>) {
    let comparison = &shown["proof"]["reading"]["comparison"];
    let findings = shown["findings"].as_array().unwrap().iter();
    let findings = findings.map(|it| (it["kind"].as_str().unwrap().to_owned(), it["line"].as_u64().unwrap()));
    (comparison["both"].as_u64().unwrap(), findings.collect())
}

fn only(kind: &str, lines: &[u64]) -> Vec<(String, u64)> {
    lines.iter().map(|line| (kind.to_owned(), *line)).collect()
}

#[test]
fn two_readers_are_compared_place_by_place() {
    let all = [Some(5), Some(13), Some(17)];
    for (rule, first, second, both, findings) in [
        // By the line that the rule names, or the field is called so; else by their order.
        (
            ", line: line",
            &[Some(5), Some(13)][..],
            &[Some(5), Some(17)][..],
            1,
            [only("missing", &[17]), only("unconfirmed", &[13])].concat(),
        ),
        (
            "",
            &[Some(5), Some(13)],
            &[Some(17), Some(5)],
            1,
            [only("missing", &[17]), only("unconfirmed", &[13])].concat(),
        ),
        (", line: line", &[None], &[None, None, None], 1, only("missing", &[13, 17])),
        ("", &[Some(5)], &all, 1, only("missing", &[13, 17])),
        ("", &all, &[None, None, None], 3, Vec::new()),
        // Who names a wrong line that nobody asked for is counted with those that name none.
        (
            "",
            &[Some(99), Some(13)],
            &[Some(5), Some(17)],
            1,
            [only("missing", &[17]), only("unconfirmed", &[13])].concat(),
        ),
    ] {
        let dir = place(rule, "site.md");
        let shown = run(&dir, &records(first), &records(second));
        assert_eq!(compared(&shown), (both, findings), "{rule} {first:?} {second:?}");
    }
}

#[test]
fn positions_tables_and_pages_show_each_at_its_own_place() {
    let dir = place("", "site.md");
    run(&dir, &records(&[None, Some(17), None]), &records(&[Some(13)]));
    let quotes = std::fs::read_to_string(dir.workspace().join("quotes.jsonl")).unwrap();
    let lines: Vec<u64> = quotes
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["from"]["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [5, 17, 13]);
    let table = dir.run_with(&[], &["export", "last", "--format", "jsonl", "-o", "-"]).stdout;
    let rows: Vec<Value> = table.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<(u64, &str)> =
        rows.iter().map(|row| (row["line_found"].as_u64().unwrap(), row["found_by"].as_str().unwrap())).collect();
    assert_eq!(found, [(5, "first"), (17, "first"), (13, "both")]);
    let made = dir.run_with(&[], &["review", "last", "-o", "pages"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let id = dir.workspace().file_name().unwrap().to_str().unwrap().to_owned();
    let page = std::fs::read_to_string(dir.path().join(format!("pages/{id}.html"))).unwrap();
    assert_eq!(page.matches("<mark").count(), 3, "{page}");
}

#[test]
fn a_line_that_is_asked_for_must_be_right_and_a_letter_proves_nothing() {
    let dir = place(", line: line", "site.md");
    let short = json!({"document": "site.md", "line": null, "quote": "."});
    run(&dir, &[record(Some(5)), record(Some(6)), short], &records(&[Some(5)]));
    let told = dir.run_with(&[], &["audit", "prompt", "last", "--turn", "3"]).stdout;
    assert!(told.contains("is not on line 6 of site.md but on line 5."), "{told}");
    assert!(told.contains("\".\" is too short to prove anything. Quote the words around it too."), "{told}");
}

#[test]
fn a_document_is_known_by_its_name_however_it_is_typed() {
    let names = [
        ("Cafe\u{301}.md", "Caf\u{e9}.md"),
        ("A \u{2013} b.txt", "A - b.txt"),
        ("it\u{2019}s.txt", "it's.txt"),
        ("no\u{a0}break.txt", "documents/no break.txt"),
        ("two  spaces.txt", "two spaces.txt"),
    ];
    for (name, typed) in names {
        let dir = TestDir::new();
        dir.put(&format!("site/{name}"), "The pump ran.\n");
        let task = "---\nname: t\ndeliverables:\n  - path: output/list.json\n    quotes: { each: \"$.items[*]\", text: quote, \
                    document: document }\n---\nList.\n";
        dir.put("t.md", task);
        let plan = "# Execution Plan\n\n## Phase 1: Listing\n\n- [ ] Read\n";
        let record = json!({"document": typed, "quote": "The pump ran."});
        let complete =
            json!({"job_complete": {"summary": "All.", "deliverables": ["output/list.json"], "confidence": 0.9}});
        dir.script(
            "s.json",
            &[
                reply(&[
                    write("main_plan.md", plan),
                    json!({"read_document": {"name": typed}}),
                    json!({"search_files": {"pattern": "pump", "path": typed}}),
                ]),
                reply(&[
                    json!({"add_records": {"path": "output/list.json", "records": [record]}}),
                    done(),
                    done(),
                    done(),
                    complete,
                ]),
            ],
        );
        let ran = dir.run_with(&[], &["run", "./t.md", "-d", "site", "-m", "scripted:s.json", "-q"]);
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.stdout, ran.stderr);
        let quotes = std::fs::read_to_string(dir.workspace().join("quotes.jsonl")).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&quotes).unwrap()["document"], json!(name));
    }
}
