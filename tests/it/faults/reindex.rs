//! `overnight reindex`: after a database is lost, all jobs are back as they were, on either engine.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    script,
    test_dir::{RUN, Ran, Rows, TestDir, id, rows},
};
use crate::store::postgres_url;
use overnight::{
    runner::{IndexOutcome, JobOutcome, reindex},
    store::Store,
};
use overnight_core::{
    job::{
        id::JobId,
        limits::Limits,
        record::{HoldReason, JobStatus},
    },
    machine::effect::Command as Word,
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A job in every state that a journal can tell, each with the status that its row has, oldest first.
async fn jobs_of_all_kinds(dir: &TestDir, store: &dyn Store) -> Vec<(JobId, JobStatus, Option<HoldReason>)> {
    let mut made = Vec::new();
    let mut rest = |path: PathBuf, outcome: JobOutcome| {
        let (status, hold) = match outcome {
            JobOutcome::Ended(status) => (status, None),
            JobOutcome::Held(reason) => (JobStatus::Held, Some(reason)),
            JobOutcome::Waiting | JobOutcome::Interrupted => {
                unreachable!("nobody interrupts, and answers come at once")
            }
        };
        made.push((id(&path), status, hold));
    };
    let ends = [script::whole(0.9), script::whole(0.1), {
        let mut replies = script::bootstrap().to_vec();
        replies.extend([script::plan(), script::reply(&[script::complete(1.0, "blocked")])]);
        replies
    }];
    for replies in ends.into_iter().chain([script::bootstrap().to_vec()]) {
        dir.script(&replies);
        let path = dir.make();
        rest(path.clone(), dir.work(store, &path, vec![]).await.unwrap());
    }
    dir.script(&script::whole(0.9));
    for reason in [
        HoldReason::Budget,
        HoldReason::Limit,
        HoldReason::Window,
        HoldReason::Outage,
        HoldReason::Paused,
        HoldReason::Disk,
    ] {
        dir.put("task.md", script::task("limits: { turns: 4 }\n"));
        let path = dir.make();
        let mut outcome = dir.work(store, &path, vec![]).await.unwrap();
        if reason != HoldReason::Limit {
            let limits = Limits { turns: 6, ..Limits::default() };
            let words = vec![Word::Resume { limits }, Word::Hold { reason, detail: format!("held for {reason}") }];
            outcome = dir.work(store, &path, words).await.unwrap();
        }
        rest(path, outcome);
    }
    dir.put("task.md", script::task("review: required\n"));
    let path = dir.make();
    rest(path.clone(), dir.work(store, &path, vec![]).await.unwrap());
    dir.put("task.md", script::task("limits: { turns: 4 }\n"));
    let path = dir.make();
    dir.work(store, &path, vec![]).await.unwrap();
    rest(path.clone(), dir.work(store, &path, vec![Word::Cancel]).await.unwrap());
    made
}

async fn everything_is_back_as_it_was(dir: TestDir, other: TestDir) {
    let store = dir.store().await;
    let jobs = jobs_of_all_kinds(&dir, &*store).await;
    let kinds: Vec<String> = jobs
        .iter()
        .map(|(_, status, hold)| hold.map_or_else(|| status.to_string(), |hold| format!("{status} ({hold})")))
        .collect();
    assert_eq!(
        kinds,
        [
            "completed",
            "partial",
            "blocked",
            "failed",
            "held (budget)",
            "held (limit)",
            "held (window)",
            "held (outage)",
            "held (paused)",
            "held (disk)",
            "held (review)",
            "cancelled"
        ]
    );
    let mut before: Vec<Rows> = Vec::new();
    for (id, status, hold) in &jobs {
        let rows = rows(&*store, *id).await.unwrap();
        assert_eq!((rows.job.state.status, rows.job.state.hold_reason), (*status, *hold));
        before.push(rows);
    }
    // The rewound attempt is a phase of its own.
    assert_eq!(before[0].phases.iter().filter(|phase| phase.number == 1).count(), 2);

    let lost = other.store().await;
    let done = reindex(&*lost, &dir.workspaces()).await.unwrap();
    assert!(done.jobs.iter().all(|job| job.outcome == IndexOutcome::Restored), "{done:?}");
    let mut after = Vec::new();
    for (id, ..) in &jobs {
        after.push(rows(&*lost, *id).await.unwrap());
    }
    assert_eq!(after, before);

    // Once more: nothing is to be done, in either database.
    for store in [&*lost, &*store] {
        let done = reindex(store, &dir.workspaces()).await.unwrap();
        assert!(done.jobs.iter().all(|job| job.outcome == IndexOutcome::Unchanged), "{done:?}");
    }
}

#[tokio::test]
async fn everything_is_back_as_it_was_in_sqlite() {
    everything_is_back_as_it_was(TestDir::new(), TestDir::new()).await;
}

#[tokio::test]
async fn everything_is_back_as_it_was_in_postgres() {
    everything_is_back_as_it_was(TestDir::on(postgres_url().await), TestDir::on(postgres_url().await)).await;
}

/// A process that died after decision `last` left a row behind; the workspace knows more.
async fn a_job_whose_process_died_goes_on(dir: TestDir, other: TestDir) {
    let lost = other.store().await;
    let undisturbed = dir.make();
    dir.work(&*dir.store().await, &undisturbed, vec![]).await.unwrap();
    for last in [1, 7, 20, 33, 50, 70] {
        let store = dir.store().await;
        let path = dir.make();
        dir.die(&*store, &path, last).await;
        // A second and a third process had it as well: the numbers of their leases are in the journal.
        dir.die(&*store, &path, 1).await;
        dir.die(&*store, &path, 1).await;
        let done = reindex(&*lost, &dir.workspaces()).await.unwrap();
        let job = done.jobs.iter().find(|job| job.path == path).unwrap();
        assert_eq!((&job.outcome, job.standing), (&IndexOutcome::Restored, Some((JobStatus::Running, None))));
        let back = rows(&*lost, id(&path)).await.unwrap();
        assert_eq!((back.job.lease, back.job.state.status), (3, JobStatus::Running));
        // Its own database lags at most by what came after the last checkpoint, and is brought up.
        reindex(&*store, &dir.workspaces()).await.unwrap();
        let kept = rows(&*store, id(&path)).await.unwrap();
        assert_eq!(kept.job.state, back.job.state);
        assert_eq!((kept.phases, kept.todos), (back.phases, back.todos));
        assert!(kept.job.lease >= 3);

        assert_eq!(dir.work(&*lost, &path, vec![]).await.unwrap(), JobOutcome::Ended(JobStatus::Completed));
        let ended = rows(&*lost, id(&path)).await.unwrap();
        assert_eq!(ended.job.lease, 4);
        for file in ["output/report.md", "workspace.md", "progress.md"] {
            assert_eq!(timeless(&path.join(file)), timeless(&undisturbed.join(file)));
        }
    }
}

/// A file without the times of `progress.md`.
fn timeless(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| match line.split_once(" phase ") {
        Some((time, rest)) if time.starts_with("- 20") => rest,
        Some(_) | None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_job_whose_process_died_goes_on_in_sqlite() {
    a_job_whose_process_died_goes_on(TestDir::new(), TestDir::new()).await;
}

#[tokio::test]
async fn a_job_whose_process_died_goes_on_in_postgres() {
    a_job_whose_process_died_goes_on(TestDir::on(postgres_url().await), TestDir::on(postgres_url().await)).await;
}

#[test]
fn the_lost_file_is_all_that_it_takes() {
    let dir = TestDir::new();
    assert_eq!(dir.run(&RUN).code, 0);
    assert_eq!(dir.run(&[&RUN[..], &["--turns", "4"]].concat()).code, 4);
    dir.put("task.md", script::task(script::ENDLESS));
    dir.script(&script::dawdling(1_000_000));
    let mut child = dir.working(&RUN);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = dir.run(&["jobs"]);
    assert_eq!((before.code, before.stdout.lines().count()), (0, 4), "{before:?}");
    // What the killed process left beside the file may stay or go.
    for gone in [&["overnight.db"][..], &["overnight.db", "overnight.db-wal", "overnight.db-shm"]] {
        for file in gone {
            let _ = std::fs::remove_file(dir.workspaces().join(file));
        }
        let ran = dir.run(&["reindex"]);
        let summary = "3 jobs: 3 restored (1 completed, 1 held (limit), 1 interrupted)\n";
        assert_eq!((ran.code, ran.stdout.as_str()), (0, summary), "{ran:?}");
        assert!(ran.stderr.contains(" was interrupted: `overnight resume "), "{ran:?}");
        let after = dir.run(&["jobs"]);
        // The row of the killed job may have lagged by a turn.
        let steady =
            |text: &str| text.lines().filter(|line| !line.contains(" running ")).collect::<Vec<_>>().join("\n");
        assert_eq!((steady(&after.stdout), after.stderr), (steady(&before.stdout), String::new()));
    }
    let again = dir.run(&["reindex"]);
    assert_eq!(
        again,
        Ran {
            code: 0,
            stdout: "3 jobs: 3 unchanged (1 completed, 1 held (limit), 1 running)\n".to_owned(),
            stderr: String::new(),
        }
    );
    let (_, jobs) = dir.json(&["jobs"]);
    assert_eq!(dir.run(&["cancel", "last"]).code, 0);
    dir.script(&script::whole(0.9));
    let held = jobs[1]["id"].as_str().unwrap();
    let (code, result) = dir.json(&["resume", held, "--turns", "100", "--quiet"]);
    assert_eq!((code, &result["status"], &result["turns"]), (0, &json!("completed"), &json!(10)));
    assert_eq!(dir.read(format!("workspaces/{held}/output/report.md")), script::REPORT);
}
