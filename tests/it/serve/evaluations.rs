//! What golden sets say of candidates, and a person who says that a set is wrong.

use super::Served;
use crate::evals::ground;
use reqwest::StatusCode;

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
    let right = [("case", "lease"), ("place", "$.rent"), ("value", "90")];
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
