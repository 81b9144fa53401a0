//! What golden sets say of candidates, and a person who says that a set is wrong.

use super::Served;
use crate::{
    cli_run::{bootstrap, done, reply},
    evals::ground,
};
use reqwest::StatusCode;
use serde_json::json;

#[test]
fn a_set_is_corrected_where_a_candidate_was_right() {
    let dir = ground();
    dir.put("bench/documents/lease.md", "# Lease\n\nThe rent is 90.\n");
    dir.put("bench/expected/lease.json", r#"{"tenant": "Ann", "rent": 100, "terms": [{"year": 1}, {"year": 2}]}"#);
    dir.run(&["gold", "add", "bench"]);
    let models = "scripted:good.json,scripted:poor.json";
    assert_eq!(dir.run(&["eval", "gold", "--instructions", "task.md", "-m", models]).code, 0);
    let served = Served::start(&dir, &["--as", "berta"]);
    let list = served.page("/evaluations");
    let path = list.split("href=\"/evaluations/").nth(1).unwrap().split('"').next().unwrap();
    let path = format!("/evaluations/{path}");
    let page = served.page(&path);
    assert!(
        page.contains("<span class=\"bad\">90</span>") && page.contains("The set is wrong: this is right"),
        "{page}"
    );
    let right = [("case", "lease"), ("file", ""), ("place", "$.rent"), ("value", "90")];
    assert_eq!(served.post(&path, &right).send().unwrap().status(), StatusCode::SEE_OTHER);
    let page = served.page(&path);
    assert!(
        page.contains("<span class=\"bad\">100</span>") && !page.contains("<span class=\"bad\">90</span>"),
        "{page}"
    );
    let changes = std::fs::read_to_string(dir.path().join("gold/changes.jsonl")).unwrap();
    assert!(changes.contains("\"by\":\"berta\"") && changes.contains("\"before\":100,\"after\":90"), "{changes}");
    assert_eq!(served.get("/evaluations/0123456789ab").status(), StatusCode::NOT_FOUND);

    let reader = Served::start(&dir, &["--read-only"]);
    assert!(!reader.page(&path).contains("<form"));
    assert_eq!(reader.post(&path, &right).send().unwrap().status(), StatusCode::FORBIDDEN);
}

#[test]
fn the_file_that_is_meant_is_corrected() {
    let dir = ground();
    dir.put("bench/documents/lease.md", "# Lease\n\nThe rent is 100, the fee 80.\n");
    dir.put("bench/expected/lease.json", r#"{"sum": 100}"#);
    dir.run(&["gold", "add", "bench"]);
    // The case has two files, both with that place.
    let set = std::fs::read_to_string(dir.path().join("gold/gold.yaml")).unwrap();
    let both = "  - { deliverable: output/rent.json, file: expected/lease.json }\n  - { deliverable: output/fee.json, file: expected/fee.json }\n";
    dir.put("gold/gold.yaml", set.replace("  - file: expected/lease.json\n", both));
    dir.put("gold/expected/fee.json", r#"{"sum": 70}"#);
    dir.put(
        "task.md",
        "---\nname: sums\ndescription: Sums\ncoverage: 0\ndeliverables:\n  - path: output/rent.json\n  - path: output/fee.json\n---\n# Task\n\nRecord the sums.\n",
    );
    let write =
        |path: &str, sum: u64| json!({"write_file": {"path": path, "content": json!({"sum": sum}).to_string()}});
    let files = ["output/rent.json", "output/fee.json"];
    let complete = json!({"job_complete": {"summary": "All.", "deliverables": files, "confidence": 0.9}});
    let begin = [&[write(files[0], 100), write(files[1], 80)][..], &vec![done(); 5]].concat();
    let review = [&vec![done(); 5][..], &[complete]].concat();
    dir.script("both.json", &[bootstrap(&["Reading"]), reply(&begin), reply(&review)]);
    let ran = dir.run(&["eval", "gold", "--instructions", "task.md", "-m", "scripted:both.json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let served = Served::start(&dir, &["--as", "berta"]);
    let list = served.page("/evaluations");
    let path = list.split("href=\"/evaluations/").nth(1).unwrap().split('"').next().unwrap();
    let path = format!("/evaluations/{path}");
    let page = served.page(&path);
    assert!(page.contains("name=\"file\" value=\"output/fee.json\"") && page.contains(">80<"), "{page}");
    let right = [("case", "lease"), ("file", files[1]), ("place", "$.sum"), ("value", "80")];
    assert_eq!(served.post(&path, &right).send().unwrap().status(), StatusCode::SEE_OTHER);
    assert!(served.page(&path).contains("Every value is right."));
    let expected = |name: &str| std::fs::read_to_string(dir.path().join("gold/expected").join(name)).unwrap();
    assert_eq!([expected("lease.json"), expected("fee.json")], ["{\n  \"sum\": 100\n}\n", "{\n  \"sum\": 80\n}\n"]);
}
