//! Readers side by side, from the command line: what they may take is told before, and what they took behind.

use crate::cli_run::{TestDir, bootstrap, done, reply};
use serde_json::{Value, json};

const TASK: &str = r#"---
name: rules
coverage: 0
readers: { deliverable: output/rules.json, parallel: 2, part_tokens: 1000, model: "scripted:reader.json" }
deliverables:
  - path: output/rules.json
    quotes: { each: "$.rules[*]", text: quote, document: document }
---
List every rule.
"#;

/// A folder with so many documents of some 900 tokens, each with one rule.
fn ground(documents: usize) -> TestDir {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    let line = "Nothing binds anybody here, and nobody reads it.\n";
    for number in 0..documents {
        dir.put(&format!("rules/{number}.md"), format!("Rule {number}: it must be done.\n{}", line.repeat(70)));
    }
    dir
}

#[test]
fn what_readers_save_is_told_before() {
    let dir = ground(8);
    for name in ["own.json", "reader.json"] {
        dir.script(name, &[reply(&[done()])]);
    }
    let words = ["submit", "task.md", "-d", "rules", "-m", "scripted:own.json", "--dry-run"];
    let told: Value = serde_json::from_str(&dir.run(&[&words[..], &["--json", "-q"]].concat()).stdout).unwrap();
    assert_eq!(told["waits"], json!({"one_after_the_other": 21, "side_by_side": 12, "parts": 8}));
    let line = "time: 12 replies wait for each other in the longest job with 8 parts read side by side, 21 without: 2m 00s or 3m 30s, at 10.0s a reply\n";
    let ran = dir.run(&words);
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
}

#[test]
fn what_each_role_took_is_told() {
    let dir = ground(2);
    let rule = |number: usize| {
        let record = json!({"quote": format!("Rule {number}: it must be done."), "document": format!("{number}.md")});
        reply(&[json!({"add_records": {"path": "output/rules.json", "records": [record]}})])
    };
    let complete =
        json!({"job_complete": {"summary": "All.", "deliverables": ["output/rules.json"], "confidence": 0.9}});
    dir.script("own.json", &[bootstrap(&["Looking"]), reply(&[&vec![done(); 7][..], &[complete]].concat())]);
    dir.script("reader.json", &[rule(0), rule(1)]);
    let ran = dir.run(&["run", "task.md", "-d", "rules", "-m", "scripted:own.json", "-q"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let shown: Value = serde_json::from_str(&dir.run(&["show", "last", "--json"]).stdout).unwrap();
    let paid: Vec<Value> =
        shown["paid"].as_array().unwrap().iter().map(|one| json!([one["role"], one["tier"], one["turns"]])).collect();
    assert_eq!(paid, [json!(["work", "standard", 2]), json!(["readers", "standard", 2])]);
    let sum: u64 = shown["paid"].as_array().unwrap().iter().map(|one| one["tokens_in"].as_u64().unwrap()).sum();
    assert_eq!(shown["tokens_in"], sum);
    let text = dir.run(&["show", "last"]).stdout;
    assert!(text.contains("    readers: 2 turns, "), "{text}");
    let report = dir.run(&["report", "--format", "markdown"]).stdout;
    assert!(report.contains("| of all that, readers | 2 turns, "), "{report}");
}
