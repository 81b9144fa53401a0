//! `jobs` and `show`: each way in which a job of the queue can stand.

use super::{
    A, FUTURE, HOSTILE, MINUTE, PAST, TestDir, at, batch, check, check_json, id, is_plain, queued, told_once, wait,
};
use crate::{
    queue::batch_id,
    scenarios::common::marked,
    sections,
    store::{at_work, checkpoint},
};
use overnight::{
    store::{Group, JobTarget, NewBatch, QueuedJob},
    workspace::lock,
};
use overnight_core::job::record::{Checkpoint, HoldReason, JobStatus, JobSummary};
use serde_json::{Value, json};

/// A batch with a job of each kind: 11 is done, 12 linked to it, 13 given up, 14 waits after an attempt, 15 waits in a group,
/// 16 is held, 17 waits for its time, 18 is held for review elsewhere, 19 was cancelled, 20 runs elsewhere, 21 was just
/// claimed, 22 is here and its worker died.
fn whole() -> TestDir {
    let dir = TestDir::new();
    let night = NewBatch {
        budget_usd: Some(12.5),
        time_window: Some("22:00-06:00 Europe/Berlin".to_owned()),
        ..batch(1, Some("night"))
    };
    dir.submit(&batch(2, Some("before")), &[queued(11)]);
    dir.work();
    let group = Some(Group { key: "big".to_owned(), at_once: 1 });
    let jobs = [
        QueuedJob { documents_sha256: queued(11).documents_sha256, ..queued(12) },
        QueuedJob { max_attempts: 1, ..queued(13) },
        queued(14),
        QueuedJob { group, priority: -9, ..queued(15) },
        QueuedJob { is_held: true, ..queued(16) },
        QueuedJob { run_after: Some(at(FUTURE)), ..queued(17) },
        queued(18),
        queued(19),
        queued(20),
        queued(21),
        queued(22),
    ];
    dir.submit(&night, &jobs);
    let store = dir.store.clone();
    wait(async {
        let here = lock::host();
        let claimed = store.claim_next(A, &here, 1, MINUTE).await.unwrap();
        store.give_back(claimed[0].id, claimed[0].lease, 0, Some("the disk is slow")).await.unwrap();
        let claimed = store.claim_next(A, &here, 1, MINUTE).await.unwrap();
        store.give_back(claimed[0].id, claimed[0].lease, 1_000, Some("a hiccup")).await.unwrap();
        // 18 and 20, on another machine.
        store.hold(JobTarget::Job(id(19)), HoldReason::Paused, None).await.unwrap();
        let claimed = store.claim_next(A, &here, 4, MINUTE).await.unwrap();
        let ids: Vec<_> = claimed.iter().map(|job| job.id).collect();
        assert_eq!(ids, [18, 20, 21, 22].map(id));
        for (number, status, hold) in [(18, JobStatus::Held, Some(HoldReason::Review)), (20, JobStatus::Running, None)]
        {
            store.set_workspace(id(number), 1, "/there/x", Some("there")).await.unwrap();
            let state =
                JobSummary { status, hold_reason: hold, reason: hold.map(|_| "read it".to_owned()), ..at_work() };
            store.checkpoint(id(number), 1, &Checkpoint { ..checkpoint(state) }).await.unwrap();
        }
    });
    dir.workspace(id(22), 1, Some(&lock::host()));
    dir.says(0, &["cancel", &id(19).to_string()]);
    dir.sql(&format!(
        "update jobs set run_after = '{FUTURE}' where run_after is not null;
         update jobs set worked_ms = 61000, tokens_in = 4000, tokens_out = 300 where turns > 0;
         update jobs set completed_at = '{PAST}' where completed_at is not null; update jobs set updated = '{PAST}'"
    ));
    dir
}

#[test]
fn jobs_of_batches_are_listed_with_their_labels() {
    let dir = whole();
    check("jobs.txt", &dir.says(0, &["jobs"]));
    check("jobs-batch-json.txt", &told_once(&dir.json(&["jobs", "--batch", "night", "--json"])));
    let ids = |words: &[&str]| -> Vec<u64> {
        let jobs = dir.json(&[&["jobs", "--json"], words].concat());
        let number = |job: &Value| job["id"].as_str().unwrap()[..8].parse().unwrap();
        jobs.as_array().unwrap().iter().map(number).collect()
    };
    assert_eq!(ids(&["--batch", "night", "--needs-review"]), [18]);
    assert_eq!(ids(&["--needs-review"]), [18]);
    assert_eq!(ids(&["--batch", "before"]), [11]);
    assert_eq!(ids(&["--status", "held"]), [18, 16]);
    assert_eq!(ids(&["--status", "held", "--status", "failed"]), [18, 16, 13]);
    assert_eq!(ids(&["--status", "held,failed", "--limit", "2"]), [18, 16]);
    assert_eq!(ids(&["--status", "completed", "--batch", "night"]), [12]);
    assert_eq!(ids(&["--batch", "last", "--limit", "1"]), [11]);
    assert_eq!(
        dir.refuses(2, &["jobs", "--batch", "nobody"]),
        "error: no batch has the name 'nobody', or an id that is it or begins so\n"
    );
    assert_eq!(dir.refuses(0, &["jobs", "--batch", "before", "--needs-review"]), "no job fits\n");
}

#[test]
fn each_job_of_a_batch_is_shown_as_it_stands() {
    let dir = whole();
    let pages = (12..=22).map(|number| (number.to_string(), dir.says(0, &["show", &id(number).to_string()])));
    let pages: Vec<(String, String)> = pages.collect();
    let told = pages.iter().enumerate().map(|(place, (name, text))| (name.clone(), marked(text, &pages[..place])));
    check("show.txt", &sections::write(&told.collect::<Vec<_>>()));
    let done = dir.says(0, &["show", &id(11).to_string()]);
    let place = "\nBatch 'before'\n  id            00000002-0000-7000-9000-0123456789ab\n  label         contract 11.md\n  \
                 attempts      0 of 3 failed\n  place         its workspace is on HERE (this machine); only workers there can \
                 go on with it\n\nResult\n";
    assert!(done.contains(place), "{done}");
    check_json("show-12-json.txt", &dir.says(0, &["show", &id(12).to_string(), "--json"]));
    check_json("show-20-json.txt", &dir.says(0, &["show", &id(20).to_string(), "--json"]));
    // The same fields, whether the workspace is here or not.
    let names = |number: u32| -> Vec<String> {
        let shown = dir.json(&["show", &id(number).to_string(), "--json"]);
        shown.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(names(11), names(14));
    check("show-night.txt", &dir.says(0, &["show", "night"]));
    check_json("show-night-json.txt", &dir.says(0, &["show", "night", "--json"]));
    let linked = id(12).to_string();
    for words in [&["logs", &linked][..], &["audit", &linked], &["audit", "verify", &linked], &["approve", &linked]] {
        let sentence = format!(
            "error: job {linked} was done before by job {}: the record is that job's, so name that one\n",
            id(11)
        );
        assert_eq!(dir.refuses(2, words), sentence, "{words:?}");
    }
    assert_eq!(
        dir.says(0, &["resume", &linked]),
        format!("job {linked} has ended already: it is completed (done before by job {})\n", id(11))
    );
    let verified = dir.output(&["audit", "verify", "--all"]);
    let (stdout, stderr) = (String::from_utf8(verified.stdout).unwrap(), String::from_utf8(verified.stderr).unwrap());
    assert_eq!(stderr, "not looked at: 2 workspaces on other machines; verify there too\n");
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{stdout}");
    for (line, (number, what)) in lines.iter().zip([(11, "ok: "), (22, "ok up to line 1: ")]) {
        assert!(line.starts_with(&format!("{} {what}", id(number))), "{line}");
    }
    assert_eq!(verified.status.code(), Some(0));
}

#[test]
fn only_a_job_that_is_here_and_left_alone_is_interrupted() {
    let dir = whole();
    let before = wait(async { dir.store.batch_entries(batch_id(1)).await.unwrap() });
    let jobs = dir.json(&["jobs", "--status", "running", "--json"]);
    let told = |job: &Value| (job["id"].as_str().unwrap().to_owned(), job["interrupted"].as_bool().unwrap());
    let told: Vec<_> = jobs.as_array().unwrap().iter().map(told).collect();
    assert_eq!(told, [(22, true), (21, false), (20, false)].map(|(number, is)| (id(number).to_string(), is)));
    for number in 20..=22 {
        let shown = dir.json(&["show", &id(number).to_string(), "--json"]);
        assert_eq!(shown["interrupted"], json!(number == 22));
    }
    let report = dir.json(&["report", "night", "--json", "--status", "interrupted"]);
    assert_eq!((report["counts"]["jobs"].clone(), report["jobs"][0]["id"].clone()), (json!(1), json!(id(22))));
    // Looking takes nothing from the worker that may be about to open it.
    assert_eq!(wait(async { dir.store.batch_entries(batch_id(1)).await.unwrap() }), before);
    // Where the workspace is on no one machine's disk, it may be worked on anywhere.
    dir.sql(&format!("update jobs set host = null where id = '{}'", id(22)));
    assert_eq!(dir.json(&["show", &id(22).to_string(), "--json"])["interrupted"], json!(false));
}

#[test]
fn hostile_names_and_labels_come_out_as_one_line() {
    let dir = TestDir::new();
    let long = "long ".repeat(2_000);
    dir.submit(
        &NewBatch { time_window: Some(HOSTILE.to_owned()), ..batch(1, Some(HOSTILE)) },
        &[
            QueuedJob { label: HOSTILE.to_owned(), ..queued(11) },
            QueuedJob { label: long.clone(), ..queued(12) },
            QueuedJob { label: " \n".to_owned(), ..queued(13) },
        ],
    );
    dir.submit(&batch(2, Some(&long)), &[QueuedJob { label: HOSTILE.to_owned(), ..queued(14) }]);
    for words in [
        &["jobs"][..],
        &["show", "00000011"],
        &["show", "00000012"],
        &["show", "00000013"],
        &["show", HOSTILE],
        &["show", "00000002"],
        &["report", HOSTILE],
        &["report", HOSTILE, "--format", "markdown"],
        &["report", HOSTILE, "--format", "html"],
        &["report", "00000002"],
    ] {
        let text = dir.says(0, words);
        assert!(is_plain(&text), "{words:?}: {text}");
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest < 1_000, "{words:?}: {longest}");
    }
    let watched = dir.output(&["watch", HOSTILE, "--once"]);
    assert_eq!(String::from_utf8(watched.stdout).unwrap(), "batch 'a [31m|b c `d` <script>': 3 jobs, 3 queued\n");
    // A program gets them whole.
    assert_eq!(dir.json(&["jobs", "--json"])[2]["label"], json!(long));
    assert_eq!(dir.json(&["show", HOSTILE, "--json"])["name"], json!(HOSTILE));
}
