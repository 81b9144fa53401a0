//! `watch`: a look, and looks until nothing runs.

use super::{A, MINUTE, TestDir, batch, check, id, queued, told_once, wait};
use crate::store::{at_work, checkpoint, completed, phase};
use overnight::store::QueuedJob;
use overnight_core::job::{
    record::{Checkpoint, JobSummary, TodoRow},
    todo::{Todo, TodoStatus},
};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

fn todo(number: u32, status: TodoStatus) -> TodoRow {
    let moment = crate::store::at("2026-11-21T03:15:00.000Z");
    TodoRow {
        phase: 2,
        attempt: 1,
        todo: Todo {
            id: number,
            content: format!("Extract section {number}"),
            active_form: format!("Extracting\u{1b}[31m section {number}"),
            status,
            context: None,
            completion_criteria: None,
            agent_type: None,
            order: number,
            outcome: None,
            unevidenced: false,
            created: moment,
            started: None,
            completed: None,
        },
    }
}

/// At the second of four phases, with its todo `current`.
fn working(current: u32) -> Checkpoint {
    let state = JobSummary {
        phase_number: 2,
        phase_title: "Extraction".to_owned(),
        phases_planned: 4,
        phases_complete: 1,
        turns: 12,
        tokens_in: 34_000,
        tokens_out: 500,
        cost_usd: Some(0.125),
        worked_ms: 60_000,
        ..at_work()
    };
    let status = |number: u32| match number.cmp(&current) {
        std::cmp::Ordering::Less => TodoStatus::Completed,
        std::cmp::Ordering::Equal => TodoStatus::InProgress,
        std::cmp::Ordering::Greater => TodoStatus::Pending,
    };
    Checkpoint {
        phases: vec![phase(2, 1)],
        todos: (1..=3).map(|number| todo(number, status(number))).collect(),
        ..checkpoint(state)
    }
}

fn done(worked_ms: u64) -> Checkpoint {
    checkpoint(JobSummary { worked_ms, turns: 30, cost_usd: None, ..completed() })
}

#[test]
fn a_look_tells_what_each_running_job_does() {
    let dir = TestDir::new();
    assert_eq!(dir.refuses(0, &["watch", "--once"]), "nothing runs\n");
    let jobs: Vec<QueuedJob> = (11..=16).map(queued).collect();
    dir.submit(&batch(1, Some("night")), &jobs);
    wait(async {
        dir.store.claim_next(A, "there", 4, MINUTE).await.unwrap();
        dir.store.checkpoint(id(11), 1, &working(2)).await.unwrap();
        dir.store.checkpoint(id(12), 1, &done(90_000)).await.unwrap();
    });
    // 11: as long as 12 took; 13 and 14: nothing is known, so as long as 12.
    check("watch.txt", &dir.says(0, &["watch", "--once"]));
    assert_eq!(dir.says(0, &["watch", "night", "--once"]), dir.says(0, &["watch", "--once"]));
    let one = dir.says(0, &["watch", "00000011", "--once"]);
    assert_eq!(one.lines().count(), 3, "{one}");
    let look = dir.says(0, &["watch", "--once", "--json"]);
    assert_eq!(look.lines().count(), 1);
    let look: Value = serde_json::from_str(&look).unwrap();
    assert!(look["at"].is_string());
    assert!(look.as_object().unwrap().keys().eq(["at", "jobs", "batches"]));
    check("watch-json.txt", &(told_once(&look["jobs"]) + &told_once(&look["batches"])));
}

#[test]
fn each_change_is_a_line_until_nothing_runs() {
    let dir = TestDir::new();
    dir.submit(&batch(1, Some("night")), &[queued(11), queued(12)]);
    let mut child = dir.command(&["watch", "night"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // What is printed is waited for before the next thing happens. A line begins with its time.
    let mut next = || dir.steady(&lines.next().unwrap().unwrap()[25..]);
    let store = &dir.store;
    assert_eq!(next(), "batch 'night': 2 jobs, 2 queued");
    wait(async { store.claim_next(A, "there", 1, MINUTE).await.unwrap() });
    assert_eq!(next(), "00000011  contract 11.md  bootstrap  –  (0 turns, 0 tokens, MS)");
    assert_eq!(next(), "batch 'night': 2 jobs, 1 queued, 1 running");
    wait(async { store.checkpoint(id(11), 1, &working(1)).await.unwrap() });
    assert_eq!(
        next(),
        "00000011  contract 11.md  2 of 4: Extraction  Extracting [31m section 1  (12 turns, 34.5k tokens, 0.12 USD, 1m 00s)"
    );
    wait(async { store.checkpoint(id(11), 1, &working(2)).await.unwrap() });
    assert_eq!(
        next(),
        "00000011  contract 11.md  2 of 4: Extraction  Extracting [31m section 2  (12 turns, 34.5k tokens, 0.12 USD, 1m 00s)"
    );
    wait(async { store.checkpoint(id(11), 1, &done(90_000)).await.unwrap() });
    let ended = next();
    assert!(ended.starts_with("00000011  contract 11.md  completed  (30 turns, "), "{ended}");
    assert_eq!(next(), "batch 'night': 2 jobs, 1 queued, 1 completed; cost unknown");
    dir.says(0, &["cancel", "night"]);
    assert_eq!(next(), "batch 'night': 2 jobs, 1 completed, 1 cancelled; cost unknown");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(lines.next().is_none());
}
