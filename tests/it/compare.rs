//! `overnight compare`: what two runs have found in the same documents, field by field, and what of it is right by what people said.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::{Ran, TestDir, bootstrap, complete, done, read, reply, write};
use serde_json::{Value, json};
use std::path::PathBuf;

const TASK: &str = r#"---
name: prices
description: Every price, with its quote
coverage: 0
deliverables:
  - path: output/items.json
    schema:
      type: object
      properties:
        items: { type: array, items: { type: object, properties: { document: { type: string }, value: { type: number },
          currency: { type: [string, "null"] }, note: { type: [string, "null"] }, quote: { type: string } } } }
    quotes: { each: "$.items[*]", text: quote, document: document }
---
# List the prices
"#;
const ITEMS: &str = "output/items.json";
const A: &str = "# A\n\nThe rent is 900 euros.\n\nThe term is 3 years.\n";
const B: &str = "# B\n\nThe rent is 700 euros.\n\nThe fee is 20 euros.\n";

/// Document, value, currency, note and quote of a record.
type Item<'i> = (&'i str, f64, Option<&'i str>, Option<&'i str>, &'i str);

/// Works a job on the documents of a folder, which writes these records; its id.
fn night(dir: &TestDir, documents: &str, items: &[Item<'_>]) -> String {
    let item = |(document, value, currency, note, quote): &Item<'_>| json!({"document": document, "value": value, "currency": currency, "note": note, "quote": quote});
    let items = json!({"items": items.iter().map(item).collect::<Vec<_>>()}).to_string();
    let listed = [json!({"list_documents": {}}), done()];
    let work = [&[write(ITEMS, &items), done()][..], &listed, &listed, &listed, &listed].concat();
    let replies = [bootstrap(&["Work"]), reply(&work), reply(&[read(ITEMS), done(), complete(ITEMS)])];
    dir.script("script.json", &replies);
    let ran = dir.run(&["run", "./task.md", "-d", documents, "-m", "scripted:script.json", "-q"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let jobs: Value = serde_json::from_str(&dir.run(&["jobs", "--json"]).stdout).unwrap();
    jobs[0]["id"].as_str().unwrap().to_owned()
}

/// The first night on `a.md` and `b.md`; the second one, by another task, on the same under other names, and on one more.
fn nights() -> (TestDir, [String; 2]) {
    let dir = TestDir::new();
    for (path, text) in [("first/a.md", A), ("first/b.md", B), ("second/z.md", A), ("second/b.md", B)] {
        dir.put(path, text);
    }
    dir.put("second/c.md", "# C\n\nNothing costs anything.\n");
    dir.put("task.md", TASK);
    let [rent, term, low, fee] =
        ["The rent is 900 euros.", "The term is 3 years.", "The rent is 700 euros.", "The fee is 20 euros."];
    let first = night(
        &dir,
        "first",
        &[
            ("a.md", 900.0, None, Some("per  month"), rent),
            ("a.md", 2.0, None, None, term),
            ("b.md", 700.0, Some("EUR"), Some("x"), low),
        ],
    );
    dir.put("task.md", TASK.replace("List the prices", "List the prices and the fees"));
    let second = night(
        &dir,
        "second",
        &[
            ("z.md", 3.0, None, None, term),
            ("z.md", 900.0, Some("EUR"), Some("per month"), rent),
            ("b.md", 20.0, None, None, fee),
            ("b.md", 710.0, None, Some("x"), low),
        ],
    );
    (dir, [first, second])
}

fn compared(dir: &TestDir, words: &[&str]) -> Ran {
    dir.run(&[&["compare"], words].concat())
}

/// With the ids of the jobs and the hashes of their instructions by what they are called here.
fn masked(dir: &TestDir, ids: &[String; 2], text: &str) -> String {
    let hash = |id: &str| {
        let shown: Value = serde_json::from_str(&dir.run(&["show", id, "--json"]).stdout).unwrap();
        shown["instructions_sha256"].as_str().unwrap().to_owned()
    };
    ids.iter().zip(["A", "B"]).fold(text.to_owned(), |text, (id, name)| {
        let hash = hash(id);
        let text = text.replace(id, &format!("JOB-{name}")).replace(&hash, &format!("HASH-{name}"));
        text.replace(&hash[..12], &format!("SHORT-{name}"))
    })
}

/// All files with what is in them.
fn files(dir: &TestDir) -> Vec<(PathBuf, Vec<u8>)> {
    let all = walkdir::WalkDir::new(dir.path()).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = all.filter(|entry| entry.file_type().is_file());
    files.map(|file| (file.path().to_owned(), std::fs::read(file.path()).unwrap())).collect()
}

#[test]
fn two_nights_are_compared_field_by_field() {
    let (dir, ids) = nights();
    let [first, second] = &ids;
    let before = files(&dir);
    let ran = compared(&dir, &[first, second]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(files(&dir) == before, "comparing only reads");
    let expected = "\
job JOB-A (A, 1 job) and job JOB-B (B, 1 job): 2 documents compared, 0 only in A, 1 only in B.
The instructions differ: prices SHORT-A in A, prices SHORT-B in B.
Only in B: c.md

output/items.json: 3 records in both, 0 only in A, 1 only in B
FIELD     SAME  CHANGED  FILLED  EMPTIED
document     3        0       0        0
value        1        2       0        0
currency     1        0       1        1
note         3        0       0        0
quote        3        0       0        0

Changes
DOCUMENT  FIELD             A          B
a.md      currency          –      ->  EUR
a.md      value             2.0    ->  3.0
b.md      value             700.0  ->  710.0
b.md      currency          EUR    ->  –
b.md      record only in B  –      ->  {\"document\":\"b.md\",\"value\":20.0,\"currency\":null,\"note\":null,…
";
    assert_eq!(masked(&dir, &ids, &ran.stdout), expected);
    let all = compared(&dir, &[first, second, "--all"]).stdout;
    assert!(all.contains("\"quote\":\"The fee is 20 euros.\"}\n"), "{all}");
}

#[test]
fn what_people_accepted_in_one_night_is_the_truth_for_the_other() {
    let (dir, ids) = nights();
    let [first, second] = &ids;
    for words in [
        &["correct", first, "$.items[1].value", "3", "--as", "anna"][..],
        &["correct", first, "$.items[2].currency", "CHF", "--as", "anna"],
        &["approve", second, "--record", "$.items[1]", "--as", "ben"],
    ] {
        let ran = dir.run(words);
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
    }
    let ran = compared(&dir, &[first, second]);
    let tables = ran.stdout.split_once("\nFIELD").unwrap().1;
    let expected = "     SAME  CHANGED  FILLED  EMPTIED  A RIGHT  A WRONG  B RIGHT  B WRONG
document     3        0       0        0        1        0        0        0
value        2        1       0        0        1        0        1        0
currency     1        0       1        1        0        1        0        1
note         3        0       0        0        1        0        0        0
quote        3        0       0        0        1        0        0        0

Changes
DOCUMENT  FIELD             A          B                                                              WRONG
a.md      currency          –      ->  EUR                                                            A
b.md      value             700.0  ->  710.0
b.md      currency          CHF    ->  –                                                              B
b.md      record only in B  –      ->  {\"document\":\"b.md\",\"value\":20.0,\"currency\":null,\"note\":null,…
";
    assert_eq!(tables, expected);

    let json = compared(&dir, &[first, second, "--json"]).stdout;
    let json: Value = serde_json::from_str(&masked(&dir, &ids, &json)).unwrap();
    let run = |name: &str| {
        json!({
            "name": format!("JOB-{name}"), "jobs": 1, "unfinished": 0,
            "instructions": [{"name": "prices", "sha256": format!("HASH-{name}"), "jobs": 1}], "left_out": [],
        })
    };
    let field = |name: &str, counts: [u64; 8]| {
        let [same, changed, filled, emptied, right_a, wrong_a, right_b, wrong_b] = counts;
        json!({
            "field": name, "same": same, "changed": changed, "filled": filled, "emptied": emptied,
            "right_a": right_a, "wrong_a": wrong_a, "right_b": right_b, "wrong_b": wrong_b,
        })
    };
    let change =
        |document: &str, field: &str, kind: &str, values: [Value; 2], accepted: [bool; 2], places: [u64; 2]| {
            let [a, b] = values;
            json!({
                "list": ITEMS, "document": document, "field": field, "change": kind, "a": a, "b": b,
                "accepted_a": accepted[0], "accepted_b": accepted[1], "place_a": format!("$.items[{}]", places[0]),
                "place_b": format!("$.items[{}]", places[1]), "job_a": "JOB-A", "job_b": "JOB-B",
            })
        };
    let fee =
        json!({"document": "b.md", "value": 20.0, "currency": null, "note": null, "quote": "The fee is 20 euros."});
    let only_in_b = json!({
        "list": ITEMS, "document": "b.md", "field": null, "change": "only_in_b", "a": null, "b": fee, "accepted_a": false,
        "accepted_b": false, "place_a": null, "place_b": "$.items[2]", "job_a": null, "job_b": "JOB-B",
    });
    let expected = json!({
        "a": run("A"), "b": run("B"), "same_instructions": false,
        "documents": 2, "other_content": 0, "only_in_a": [], "only_in_b": ["c.md"], "without_result_in_a": [],
        "without_result_in_b": [],
        "lists": [{
            "list": ITEMS, "records": 3, "only_in_a": 0, "only_in_b": 1, "accepted_only_in_a": 0, "accepted_only_in_b": 0,
            "fields": [
                field("document", [3, 0, 0, 0, 1, 0, 0, 0]), field("value", [2, 1, 0, 0, 1, 0, 1, 0]),
                field("currency", [1, 0, 1, 1, 0, 1, 0, 1]), field("note", [3, 0, 0, 0, 1, 0, 0, 0]),
                field("quote", [3, 0, 0, 0, 1, 0, 0, 0]),
            ],
        }],
        "changes": [
            change("a.md", "currency", "filled", [Value::Null, json!("EUR")], [false, true], [0, 1]),
            change("b.md", "value", "changed", [json!(700.0), json!(710.0)], [false, false], [2, 3]),
            change("b.md", "currency", "emptied", [json!("CHF"), Value::Null], [true, false], [2, 3]),
            only_in_b,
        ],
        "more_changes": 0,
    });
    assert_eq!(json, expected);
}

#[test]
fn what_cannot_be_compared_is_one_sentence() {
    let (dir, [first, second]) = nights();
    dir.put("other/d.md", "# D\n\nA door must close.\n");
    let third = night(&dir, "other", &[]);
    let ran = compared(&dir, &[&first, &third]);
    let why = format!(
        "error: job {first} and job {third} have no document in common: name two runs over the same documents\n"
    );
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (2, "", why));
    let ran = compared(&dir, &[&first, "nothing"]);
    assert_eq!((ran.code, ran.stderr.starts_with("error: no job has the id 'nothing'")), (2, true), "{ran:?}");
    // The same name, with another content: its quotes are compared, and not their places.
    dir.put("changed/b.md", B.replace("# B", "# The second contract"));
    let low = "The rent is 700 euros.";
    let fourth =
        night(&dir, "changed", &[("b.md", 1.0, None, None, "# The second contract"), ("b.md", 710.0, None, None, low)]);
    let ran = compared(&dir, &[&second, &fourth]);
    for told in [
        ": 1 document compared, 2 only in A, 0 only in B.\n",
        "Paired by name alone, with other content: 1 document.\nOnly in A: c.md, z.md\n",
        "output/items.json: 1 record in both, 1 only in A, 1 only in B\n",
    ] {
        assert!(ran.stdout.contains(told), "{told}\n{}", ran.stdout);
    }
}
