//! `report BATCH`: its numbers are the queue's, and its deliverables are gathered once for each label.

use super::{A, FUTURE, MINUTE, PAST, TestDir, at, batch, check, id, queued, wait};
use crate::queue::batch_id;
use overnight::{
    store::{NewBatch, QueuedJob},
    workspace::lock,
};
use overnight_core::job::record::JobStatus;
use serde_json::{Value, json};
use std::fs;

/// 11 is done in an earlier batch; of this one 12 is done, 13 and 14 are linked to 11, 15 is given up, 16 and 17 are held
/// after the trial, 18 waits for its time, and 19 for a worker.
fn whole() -> TestDir {
    let dir = TestDir::new();
    dir.submit(&batch(2, Some("before")), &[queued(11)]);
    dir.work();
    let same = |number| QueuedJob { documents_sha256: queued(11).documents_sha256, ..queued(number) };
    let held = |number| QueuedJob { is_held: true, ..queued(number) };
    let jobs = [
        queued(12),
        same(13),
        QueuedJob { label: "=a,\"b\"; c.md".to_owned(), ..same(14) },
        QueuedJob { max_attempts: 1, ..queued(15) },
        held(16),
        held(17),
        QueuedJob { run_after: Some(at(FUTURE)), ..queued(18) },
        queued(19),
    ];
    let night = NewBatch {
        budget_usd: Some(12.5),
        time_window: Some("22:00-06:00 Europe/Berlin".to_owned()),
        ..batch(1, Some("night"))
    };
    dir.submit(&night, &jobs);
    dir.work();
    let (job, lease) = dir.claim();
    wait(async { dir.store.give_back(job, lease, 0, Some("no room")).await.unwrap() });
    dir.sql(&format!(
        "update jobs set worked_ms = 61000, tokens_in = 4000, tokens_out = 300, tokens_cached = 1000 where turns > 0;
         update jobs set completed_at = '{PAST}' where completed_at is not null; update jobs set updated = '{PAST}'"
    ));
    dir
}

#[test]
fn report_of_a_batch_adds_up_with_the_queue() {
    let dir = whole();
    let text = |words: &[&str]| {
        let text = dir.says(0, words);
        let made =
            regex::Regex::new(r"Made \d{4}-\d\d-\d\d \d\d:\d\d").unwrap().replace(&text, "Made NOW").into_owned();
        // As wide as the paths, which are as long as the folder's.
        let narrow = regex::Regex::new(r"FILE +BYTES").unwrap().replace(&made, "FILE  BYTES").into_owned();
        regex::Regex::new(r"\b\d{3,5} bytes?\b|\b\d{3,5}(  as delivered| +\|? *as delivered)")
            .unwrap()
            .replace_all(&narrow, "N$1")
            .into_owned()
    };
    check("report.txt", &text(&["report", "night"]));
    assert_eq!(text(&["report", "--batch", "night"]), text(&["report", "night"]));
    assert_eq!(text(&["report", "00000001"]), text(&["report", "night"]));
    let report = dir.json(&["report", "night", "--json"]);
    let totals = wait(async { dir.store.totals(batch_id(1)).await.unwrap() });
    for status in ["queued", "running", "held", "completed", "partial", "blocked", "failed", "cancelled"] {
        let of: JobStatus = serde_json::from_value(json!(status)).unwrap();
        assert_eq!(report["counts"][status], json!(totals.of(of)), "{status}");
        assert_eq!(report["batches"][0][status], json!(totals.of(of)), "{status}");
    }
    assert_eq!((&report["counts"]["jobs"], &report["counts"]["linked"]), (&json!(totals.all()), &json!(totals.linked)));
    let batch = &report["batches"][0];
    assert_eq!(
        (&batch["name"], &batch["budget_usd"], &batch["time_window"], &batch["linked"]),
        (&json!("night"), &json!(12.5), &json!("22:00-06:00 Europe/Berlin"), &json!(2))
    );
    assert_eq!(report["given_up"], json!([id(15)]));
    assert_eq!(
        report["waits_for"],
        json!([
            {"status": "queued", "hold_reason": null, "host": null, "jobs": 1, "until": null},
            {"status": "queued", "hold_reason": null, "host": null, "jobs": 1, "until": FUTURE},
            {"status": "held", "hold_reason": "paused", "host": null, "jobs": 2, "until": null},
        ])
    );
    let record = |job: &Value| job["record"].as_str().unwrap().to_owned();
    let records: Vec<String> = report["jobs"].as_array().unwrap().iter().map(record).collect();
    assert_eq!(records, ["whole", "linked", "linked", "not_begun", "not_begun", "not_begun", "not_begun", "not_begun"]);
    // Work is counted where it was done.
    let row = wait(async { dir.store.job(id(12)).await.unwrap().unwrap() });
    assert_eq!(report["spent"]["turns"], json!(row.state.turns));
    // A night with more than one batch has a line for each.
    let both = dir.json(&["report", "night", "before", "--json"]);
    assert_eq!((both["counts"]["jobs"].clone(), both["batches"].as_array().unwrap().len()), (json!(9), 2));
    let one = dir.json(&["report", &id(16).to_string(), "--json"]);
    assert_eq!((one["counts"]["jobs"].clone(), one["batches"][0]["jobs"].clone()), (json!(1), json!(8)));
}

#[test]
fn report_collects_once_for_each_label() {
    let dir = whole();
    let report = dir.json(&["report", "night", "--json", "--collect", "results"]);
    let index: Value = serde_json::from_str(&fs::read_to_string(dir.path("results/index.json")).unwrap()).unwrap();
    let entries = index["entries"].as_array().unwrap();
    let told: Vec<(String, Value, Value)> = entries
        .iter()
        .map(|entry| (entry["label"].as_str().unwrap().to_owned(), entry["path"].clone(), entry["state"].clone()))
        .filter(|(_, path, _)| path.as_str().is_none_or(|path| path.ends_with("/requirements.json")))
        .collect();
    let delivered = |label: &str, path: &str| (label.to_owned(), json!(path), json!("as_delivered"));
    let nothing = |label: &str| (label.to_owned(), json!(null), json!(null));
    assert_eq!(
        told,
        [
            delivered("contract 12.md", "00000012-contract-12-md/requirements.json"),
            delivered("contract 13.md", "00000013-contract-13-md/requirements.json"),
            delivered("=a,\"b\"; c.md", "00000014-a--b---c-md/requirements.json"),
            nothing("contract 15.md"),
            nothing("contract 16.md"),
            nothing("contract 17.md"),
            nothing("contract 18.md"),
            nothing("contract 19.md"),
        ]
    );
    let original = fs::read(dir.path(&format!("workspaces/{}/output/requirements.json", id(11)))).unwrap();
    for folder in ["00000013-contract-13-md", "00000014-a--b---c-md"] {
        assert_eq!(fs::read(dir.path(&format!("results/{folder}/requirements.json"))).unwrap(), original);
    }
    assert_eq!(report["collected"]["faults"], json!([]));
    let table = fs::read_to_string(dir.path("results/index.csv")).unwrap();
    assert!(table.starts_with("job,label,status,"), "{table}");
    assert!(table.contains(",\"'=a,\"\"b\"\"; c.md\",completed,"), "{table}");
    // Again, the same.
    let again = dir.json(&["report", "night", "--json", "--collect", "results"]);
    assert_eq!(again["collected"], report["collected"]);
}

#[test]
fn what_lies_on_another_machine_is_not_called_missing() {
    let dir = whole();
    dir.sql(&format!("update jobs set host = 'there' where id = '{}'", id(12)));
    let report = dir.json(&["report", "night", "--json", "--collect", "results"]);
    let job = &report["jobs"][0];
    assert_eq!(
        (&job["record"], &job["record_fault"], &job["host"]),
        (&json!("elsewhere"), &json!(null), &json!("there"))
    );
    let files = job["deliverables"].as_array().unwrap().len();
    assert_eq!((&report["deliverables"]["missing"], &report["deliverables"]["elsewhere"]), (&json!(0), &json!(files)));
    let why: Vec<&Value> = report["needs_person"].as_array().unwrap().iter().map(|need| &need["why"]).collect();
    assert_eq!(why, ["held", "held", "failed"]);
    let faults = report["collected"]["faults"].as_array().unwrap();
    assert_eq!(faults.len(), files);
    assert!(faults[0].as_str().unwrap().ends_with(" is on another machine: collect it there"), "{faults:?}");
}

#[test]
fn a_report_of_many_jobs_asks_the_database_for_all_at_once() {
    let dir = TestDir::new();
    let jobs: Vec<QueuedJob> = (1_000..3_000).map(queued).collect();
    dir.submit(&batch(1, Some("night")), &jobs);
    wait(async { dir.store.claim_next(A, &lock::host(), 1_000, MINUTE).await.unwrap() });
    let report = dir.json(&["report", "night", "--json"]);
    assert_eq!((&report["counts"]["queued"], &report["counts"]["running"]), (&json!(1_000), &json!(1_000)));
    let text = dir.says(0, &["report", "night"]);
    assert!(text.contains("Report on 2000 jobs of batch 'night'"), "{text}");
}

/// A workspace that no worker could make was never anywhere.
#[test]
fn a_job_that_was_never_begun_has_no_workspace_that_is_gone() {
    let dir = crate::cli_run::TestDir::new();
    let ran = |arguments: &[&str]| dir.run_with(&[], arguments);
    let submit = ["submit", "extract-requirements", "--documents", "docs", "--each", "--batch", "night"];
    assert_eq!(ran(&[&submit[..], &["--max-attempts", "1"]].concat()).code, 0);
    std::fs::remove_file(dir.path().join("docs/a.md")).unwrap();
    assert_eq!(ran(&["work", "--until-empty", "-q"]).code, 3);
    let report: Value = serde_json::from_str(&ran(&["report", "night", "--json"]).stdout).unwrap();
    let whys: Vec<&Value> = report["needs_person"].as_array().unwrap().iter().map(|need| &need["why"]).collect();
    assert_eq!(whys, ["failed"], "{report}");
}
