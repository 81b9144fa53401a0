//! `--only-fields`: a second night asks for some fields only, and begins with what the first one has found.

use super::{TestDir, Value, json};
use crate::{
    cli_run::{RUN, bootstrap, done, reply},
    review_fields::TERMS,
};

const FILE: &str = "output/terms.json";
fn record(tenant: &str, rent: u64) -> Value {
    json!({"tenant": tenant, "rent": rent, "quote": format!("{tenant} rents for EUR {rent}."), "document": "a.md"})
}

fn finished() -> Value {
    reply(&[json!({"job_complete": {"summary": "All.", "deliverables": [FILE], "confidence": 0.9}})])
}

#[test]
fn a_second_night_changes_only_what_is_asked_for() {
    let dir = TestDir::new();
    dir.put("docs/a.md", "Ada rents for EUR 10.\n\nBob rents for EUR 200.\n\nCid rents for EUR 30.\n");
    dir.put("task.md", TERMS);
    let terms = json!({"terms": [record("Ada", 10), record("Bob", 100), record("Cid", 30)]});
    let first = json!({"write_file": {"path": FILE, "content": terms.to_string()}});
    // The second quote is not found: the result is partial.
    let replies =
        [&[bootstrap(&["Reading"]), reply(&[first]), reply(&vec![done(); 5])][..], &vec![finished(); 4]].concat();
    dir.script("script.json", &replies);
    std::fs::remove_file(dir.path().join("docs/b.md")).unwrap();
    let ran = dir.run(&RUN);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    // A person mends the second record, and deletes the third.
    for (place, value) in
        [("$.terms[1].rent", "200"), ("$.terms[1].quote", "Bob rents for EUR 200."), ("$.terms[2]", "null")]
    {
        assert_eq!(dir.run(&["correct", "last", place, value, "--as", "Eve"]).code, 0, "{place}");
    }
    let earlier: Value = serde_json::from_str(&dir.run(&["show", "last", "--json"]).stdout).unwrap();
    let earlier = earlier["id"].as_str().unwrap();
    let asked = "properties: { currency: { type: string }, currency_quote: { type: string }, tenant";
    dir.put("task.md", TERMS.replace("properties: { tenant", asked));
    dir.put("more/b.md", "# B\n\nNothing.\n");
    let submit = |fields: &str, documents: &str| {
        let words = ["./task.md", "-d", documents, "--each", "-m", "scripted:second.json", "--from", earlier];
        dir.submit(&[&words[..], &["--only-fields", fields]].concat())
    };
    // What can't be asked for is refused before anything is written.
    dir.script("second.json", &[finished()]);
    for (fields, documents, why) in [
        (
            "curency",
            "docs",
            "no record of terms has a field 'curency'; they have currency, currency_quote, document, quote, rent, tenant",
        ),
        ("currency", "more", "has no result of any of these documents"),
    ] {
        let ran = submit(fields, documents);
        assert_eq!((ran.code, ran.stderr.contains(why)), (2, true), "{}", ran.stderr);
    }
    let set = |place: &str, fields: Value| json!({"place": place, "set": fields});
    let edit = |edits: Value| json!({"edit_records": {"path": FILE, "edits": edits}});
    let euro = |tenant: &str| json!({"currency": "EUR", "currency_quote": format!("{tenant} rents for EUR")});
    let wrong =
        edit(json!([set("$.terms[0]", euro("Ada")), set("$.terms[1]", json!({"rent": 201, "currency": "EUR"}))]));
    let right = edit(json!([set("$.terms[1]", json!({"rent": 200, "currency_quote": "Bob rents for EUR"}))]));
    let last = reply(&[right, finished()["calls"][0].clone()]);
    dir.script("second.json", &[bootstrap(&["Reading"]), reply(&[wrong]), reply(&vec![done(); 5]), finished(), last]);
    let ran = submit("currency", "docs");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let note = format!("1 job begins of 1 with a result of {earlier}, and only currency may change in it");
    assert!(ran.stderr.contains(&note), "{}", ran.stderr);
    let ran = dir.run(&["work", "--until-empty", "-q"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let job: Value = serde_json::from_str(&dir.run(&["show", "last", "--json"]).stdout).unwrap();
    let workspace = dir.path().join("workspaces").join(job["id"].as_str().unwrap());
    let result: Value = serde_json::from_slice(&std::fs::read(workspace.join(FILE)).unwrap()).unwrap();
    let with = |mut record: Value, tenant: &str| {
        record.as_object_mut().unwrap().extend(euro(tenant).as_object().unwrap().clone());
        record
    };
    assert_eq!(result, json!({"terms": [with(record("Ada", 10), "Ada"), with(record("Bob", 200), "Bob")]}));
    // The task says it, the refusal named what was changed besides, and the record shows where it began.
    let task = std::fs::read_to_string(workspace.join("instructions.md")).unwrap();
    assert!(task.contains("## Only currency\n"), "{task}");
    let log = dir.run(&["logs", "last"]).stdout;
    let refused = "Only currency may change. $.terms[1].rent was 200, and is 201.";
    assert!(log.contains(refused), "{log}");
    let verified = dir.run(&["audit", "verify", "last"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    let spec = std::fs::read_to_string(workspace.join("job.yaml")).unwrap();
    assert!(spec.contains(&format!("earlier:\n  job: {earlier}\n  only:\n  - currency\n")), "{spec}");
}
