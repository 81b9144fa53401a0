//! Two hundred documents that are broken, lie about themselves or are made to do harm, and three good ones among them, in
//! one batch: each is read or left out with a sentence, no worker falls, and the good ones are done.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

pub(crate) mod harm;

use crate::cli_run::TestDir;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn two_hundred_hostile_documents_cost_nobody_but_themselves() {
    let dir = TestDir::new();
    let hostile = harm::documents();
    assert!(hostile.len() >= 200, "{}", hostile.len());
    for (name, content) in &hostile {
        dir.put(&format!("in/{name}"), content);
    }
    for number in 1..=3 {
        dir.put(&format!("in/good-{number}.md"), format!("# Good\n\nThe keeper MUST count to {number}.\n"));
    }

    let submit = ["submit", "extract-requirements", "--documents", "in", "--each", "--batch", "night", "--json"];
    let submitted = dir.run_with(&[], &submit);
    assert_eq!(submitted.code, 0, "{}", submitted.stderr);
    assert!(!submitted.stderr.contains("panicked"), "{}", submitted.stderr);
    let told: Value = serde_json::from_str(&submitted.stdout).unwrap();
    let left_out: BTreeMap<&str, &str> = told["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["path"].as_str().unwrap(), one["why"].as_str().unwrap()))
        .collect();

    let worked = dir.run_with(&[], &["work", "--until-empty", "--concurrency", "4"]);
    assert!([0, 3].contains(&worked.code), "{} {}", worked.code, worked.stderr);
    assert!(!worked.stderr.contains("panicked"), "{}", worked.stderr);
    let report = dir.run_with(&[], &["report", "night", "--json"]);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let mut ended: BTreeMap<String, String> = BTreeMap::new();
    for job in report["jobs"].as_array().unwrap() {
        let document = job["document_names"][0].as_str().unwrap().to_owned();
        ended.insert(document, job["status"].as_str().unwrap().to_owned());
    }

    for number in 1..=3 {
        assert_eq!(ended.get(&format!("good-{number}.md")).map(String::as_str), Some("completed"));
    }
    // Each one is accounted for, with a sentence where it isn't read; what lies in an archive stands for the archive.
    let known = |name: &str| {
        let inside = |other: &str| other.split('/').any(|part| part == name) || other.starts_with(&format!("{name}/"));
        ended.keys().any(|other| inside(other)) || left_out.keys().any(|other| inside(other))
    };
    let lost: Vec<&String> = hostile.keys().filter(|name| !known(name)).collect();
    assert_eq!(lost, Vec::<&String>::new());
    let vague: BTreeSet<&&str> = left_out.values().filter(|why| why.len() < 10).collect();
    assert_eq!(vague, BTreeSet::new());
    let unended: Vec<_> =
        ended.iter().filter(|(_, status)| !["completed", "partial"].contains(&status.as_str())).collect();
    assert_eq!(unended, Vec::new());

    let mut wrong = Vec::new();
    for (name, why) in harm::EXPECTED {
        let is_of = |path: &str| path.split('/').any(|part| part == name);
        let said: Vec<&&str> = left_out.iter().filter(|(path, _)| is_of(path)).map(|(_, why)| why).collect();
        if !said.iter().any(|said| said.contains(why)) {
            wrong.push((name, said));
        }
    }
    assert_eq!(wrong, Vec::new());
}
