//! Several processes on one job: exactly one works on it, and the others are told in one sentence.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    script,
    test_dir::{RUN, Ran, TestDir, ran, rows},
};
use crate::{store::postgres_url, support::wait};
use overnight_core::job::id::JobId;
use serde_json::json;
use std::{process::Stdio, sync::mpsc, time::Duration};

const PROCESSES: usize = 8;

/// Starts the same command many times at once; each tells how it ended.
fn many(dir: &TestDir, words: &[&str]) -> mpsc::Receiver<Ran> {
    let (tell, told) = mpsc::channel();
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| dir.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
        .collect();
    for child in children {
        let tell = tell.clone();
        std::thread::spawn(move || tell.send(ran(&child.wait_with_output().unwrap())));
    }
    told
}

/// A job held after three turns.
fn held(dir: &TestDir) -> JobId {
    let (code, result) = dir.json(&[&RUN[..], &["--turns", "3", "--quiet"]].concat());
    assert_eq!(code, 4);
    result["id"].as_str().unwrap().parse().unwrap()
}

/// How often a process took the job up, by its journal.
fn openings(dir: &TestDir, id: JobId) -> usize {
    let files = walkdir::WalkDir::new(dir.workspace(id)).into_iter().map(Result::unwrap);
    files
        .filter(|entry| entry.file_name() == "journal.jsonl")
        .map(|entry| std::fs::read_to_string(entry.path()).unwrap().matches(r#""type":"opened""#).count())
        .sum()
}

fn exactly_one_of_many_works(dir: &TestDir) {
    dir.put("task.md", script::task(script::ENDLESS));
    dir.script(&script::dawdling(1_000_000));
    let id = held(dir);
    let told = many(dir, &["resume", &id.to_string(), "--turns", "10000000", "--quiet"]);
    // Where two of them worked, the last of these would not come.
    let refused: Vec<Ran> = (1..PROCESSES).map(|_| told.recv_timeout(Duration::from_mins(2)).unwrap()).collect();
    for ran in &refused {
        let begin = format!("error: job {id} is being worked on by ");
        let end = format!(": wait for it, or stop it with `overnight pause {id}`\n");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.starts_with(&begin) && ran.stderr.ends_with(&end), "{ran:?}");
    }
    assert_eq!(dir.run(&["cancel", "last"]).code, 0);
    let last = told.recv_timeout(Duration::from_mins(2)).unwrap();
    assert_eq!((last.code, last.stderr.as_str()), (5, ""), "{last:?}");
    assert_eq!(openings(dir, id), 2);
    assert_eq!(wait(async { rows(&*dir.store().await, id).await.unwrap() }).job.lease, 2);
    let verified = dir.run(&["audit", "verify", "last"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn exactly_one_of_many_works_with_sqlite() {
    exactly_one_of_many_works(&TestDir::new());
}

#[test]
fn exactly_one_of_many_works_with_postgres() {
    exactly_one_of_many_works(&TestDir::on(wait(postgres_url())));
}

/// A job that ends while others wait for their turn at it.
fn a_short_job_is_worked_once(dir: &TestDir) {
    for _ in 0..3 {
        let id = held(dir);
        let told = many(dir, &["resume", &id.to_string(), "--turns", "100", "--quiet", "--json"]);
        let mut worked = 0;
        for _ in 0..PROCESSES {
            let ran = told.recv_timeout(Duration::from_mins(2)).unwrap();
            match ran.code {
                // Who worked on it, and who came when it had ended.
                0 => {
                    worked += 1;
                    let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
                    assert_eq!((&result["status"], &result["turns"]), (&json!("completed"), &json!(10)));
                    assert_eq!(ran.stderr, "");
                }
                2 => assert!(ran.stderr.contains(" is being worked on by ") && ran.stdout.is_empty(), "{ran:?}"),
                _ => unreachable!("{ran:?}"),
            }
        }
        assert!(worked >= 1);
        assert_eq!(openings(dir, id), 2);
        assert_eq!(dir.read(format!("workspaces/{id}/output/report.md")), script::REPORT);
    }
    let verified = dir.run(&["audit", "verify", "--all"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn a_short_job_is_worked_once_with_sqlite() {
    a_short_job_is_worked_once(&TestDir::new());
}

#[test]
fn a_short_job_is_worked_once_with_postgres() {
    a_short_job_is_worked_once(&TestDir::on(wait(postgres_url())));
}

#[test]
fn a_job_at_work_can_only_be_asked_of_its_process() {
    let dir = TestDir::new();
    dir.put("task.md", script::task(script::ENDLESS));
    dir.script(&script::dawdling(1_000_000));
    let mut child = dir.working(&RUN);
    for words in [&["resume", "last"][..], &["approve", "last"], &["feedback", "last", "More."]] {
        let ran = dir.run(words);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (2, "", 1), "{ran:?}");
        assert!(ran.stderr.contains(&format!("is being worked on by process {} on ", child.id())), "{ran:?}");
    }
    // Another database knows nothing of it, and changes nothing in it.
    let other = dir.run(&["--database-url", "sqlite://other.db", "resume", "last"]);
    assert_eq!(other.stderr, "error: there is no job yet\n");
    assert_eq!(dir.run(&["cancel", "last"]).code, 0);
    assert_eq!(child.wait().unwrap().code(), Some(5));
}
