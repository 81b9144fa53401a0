//! A clock that goes wrong: set back, or ahead by years. The times in a journal never decrease, and no bound on the time of
//! work is used up by a jump.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    script,
    test_dir::{TestDir, id, rows},
};
use overnight::{
    runner::{JobOutcome, now, reindex},
    workspace::{
        Workspace,
        journal::{self, Journal},
    },
};
use overnight_core::{
    job::{
        event::{Event, LifeEvent},
        limits::Limits,
        record::{HoldReason, JobStatus},
        time::Timestamp,
    },
    machine::effect::Command as Word,
};
use serde_json::json;
use std::path::Path;

fn opened(version: &str, model: &str) -> Event {
    let (version, model) = (version.to_owned(), model.to_owned());
    Event::Life(LifeEvent::Opened { version, model, tools_sha256: String::new(), torn_bytes: None })
}

/// A line at `at`, written by a process whose clock said so.
fn append(path: &Path, at: Timestamp, events: &[Event]) {
    let workspace = Workspace::open(path).unwrap();
    Journal::open::<Event>(&workspace, |_| Ok(())).unwrap().append(at, 7, events).unwrap();
}

fn moment(text: &str) -> Timestamp {
    serde_json::from_value(json!(text)).unwrap()
}

fn times(path: &Path) -> Vec<Timestamp> {
    let mut times = Vec::new();
    journal::read::<Event>(&Workspace::open(path).unwrap(), |line| {
        times.push(line.at);
        Ok(())
    })
    .unwrap();
    times
}

const BOUNDED: &str = "limits: { wall_clock: 1h, turns: 4 }\n";
const HOUR: u64 = 3_600_000;

/// Goes on with the job in `path`, whose last line is later than now; the result is as ever.
async fn goes_on(dir: &TestDir, path: &Path, last: Timestamp) {
    let store = dir.store().await;
    let limits = Limits { wall_clock_ms: Some(HOUR), ..Limits::default() };
    let outcome = dir.work(&*store, path, vec![Word::Resume { limits }]).await.unwrap();
    assert_eq!(outcome, JobOutcome::Ended(JobStatus::Completed));
    let times = times(path);
    assert!(times.is_sorted() && *times.last().unwrap() >= last);
    // Time went on from there at its own pace, rather than standing still or jumping.
    assert!(times.last().unwrap().millis_since(last) < HOUR);
    assert!(times.last().unwrap() > times.iter().find(|time| **time >= last).unwrap());
    reindex(&*store, &dir.workspaces()).await.unwrap();
    let rows = rows(&*store, id(path)).await.unwrap();
    assert!(rows.job.state.worked_ms < HOUR, "{}", rows.job.state.worked_ms);
    assert!(rows.phases.iter().all(|phase| phase.ended.unwrap() >= phase.started));
    assert!(rows.todos.iter().all(|row| row.todo.completed.is_none_or(|at| Some(at) >= row.todo.started)));
    for words in [&["audit", "verify", "last"][..], &["audit", "last"], &["show", "last"], &["logs", "last"], &["jobs"]]
    {
        let ran = dir.run(words);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{words:?}");
    }
}

#[tokio::test]
async fn a_job_from_the_future_is_gone_on_with() {
    for last in ["2031-01-01T00:00:00.000Z", "9998-12-31T23:59:59.999Z"] {
        let dir = TestDir::new();
        dir.put("task.md", script::task(BOUNDED));
        let path = dir.make();
        let outcome = dir.work(&*dir.store().await, &path, vec![]).await.unwrap();
        assert_eq!(outcome, JobOutcome::Held(HoldReason::Limit));
        append(&path, moment(last), &[opened(env!("CARGO_PKG_VERSION"), "m")]);
        goes_on(&dir, &path, moment(last)).await;
    }
}

#[tokio::test]
async fn a_jump_ahead_in_the_middle_of_work_uses_up_no_time() {
    let dir = TestDir::new();
    dir.put("task.md", script::task(BOUNDED));
    let path = dir.make();
    dir.die(&*dir.store().await, &path, 20).await;
    // At work all the while, as far as the journal tells.
    let last = moment("2034-01-01T00:00:00.000Z");
    append(
        &path,
        last,
        &[Event::Life(LifeEvent::Held { reason: HoldReason::Paused, detail: "stopped by a person".to_owned() })],
    );
    goes_on(&dir, &path, last).await;
}

#[tokio::test]
async fn the_last_moment_that_can_be_written_is_the_last() {
    let dir = TestDir::new();
    dir.put("task.md", script::task(BOUNDED));
    let path = dir.make();
    dir.work(&*dir.store().await, &path, vec![]).await.unwrap();
    let last = moment("9999-12-31T23:59:59.999Z");
    append(&path, last, &[opened("", "")]);
    let words = vec![Word::Resume { limits: Limits::default() }];
    let outcome = dir.work(&*dir.store().await, &path, words).await.unwrap();
    assert_eq!(outcome, JobOutcome::Ended(JobStatus::Completed));
    assert_eq!(*times(&path).last().unwrap(), last);
    assert!(now() < last);
}
