//! What a person meets after a kill, and what others' hands do to a job that is worked on: nobody has to know what
//! happened to go on, and nothing is judged or written that can't be.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::test_dir::{RUN, TestDir, id};
use crate::support::copy;
use overnight::{
    audit::verify::verify,
    runner::{OpenJob, reindex},
};
use overnight_core::machine::effect::Command as Word;
use serde_json::Value;
use std::{fs, io::Write};

/// The ids and how they stand, of `overnight jobs --json`.
fn standing(dir: &TestDir) -> Vec<(String, String, bool)> {
    let (code, jobs) = dir.json(&["jobs"]);
    assert_eq!(code, 0);
    let text = |job: &Value, name: &str| job[name].as_str().unwrap_or_default().to_owned();
    let jobs = jobs.as_array().unwrap().iter();
    jobs.map(|job| (text(job, "id"), text(job, "status"), job["interrupted"] == true)).collect()
}

/// Killed before it could write the row: the newest is not an older job, and not nothing.
#[test]
fn a_job_without_a_row_is_the_newest_one() {
    let dir = TestDir::new();
    for before in 0..2 {
        let path = dir.make();
        // Who only looks is told, and changes nothing.
        assert_eq!(standing(&dir).len(), before);
        let told = dir.run(&["jobs"]).stderr;
        assert!(told.contains("1 workspace in workspaces: `overnight reindex` brings in "), "{told}");
        let resumed = dir.run(&["resume", "last", "-q"]);
        assert_eq!(resumed.code, 0, "{resumed:?}");
        assert!(resumed.stdout.starts_with(&format!("job {}: completed\n", id(&path))), "{resumed:?}");
        assert_eq!(standing(&dir)[0], (id(&path).to_string(), "completed".to_owned(), false));
    }
    // A whole database that is gone is not brought back by the way, but told of.
    for _ in 0..8 {
        dir.make();
    }
    for entry in fs::read_dir(dir.workspaces()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
    let jobs = dir.run(&["jobs"]);
    assert!(
        jobs.stderr.contains(", and 10 workspaces in workspaces: `overnight reindex` brings in what is there"),
        "{jobs:?}"
    );
}

/// A process that died could not say so; nor that its job was held, where the database had no room for that.
#[tokio::test]
async fn a_job_whose_process_died_is_interrupted_until_it_is_resumed() {
    let dir = TestDir::new();
    let store = dir.store().await;
    let path = dir.make();
    dir.die(&*store, &path, 20).await;
    assert_eq!(standing(&dir), [(id(&path).to_string(), "running".to_owned(), true)]);
    assert!(dir.run(&["jobs"]).stdout.contains(" interrupted "));
    let mut session = OpenJob::open(&path, None).unwrap();
    assert!(
        session
            .command(Word::Hold { reason: overnight_core::job::record::HoldReason::Disk, detail: "full".into() })
            .unwrap()
    );
    drop(session);
    assert_eq!(standing(&dir), [(id(&path).to_string(), "held".to_owned(), false)]);
    assert_eq!(dir.run(&["resume", "last", "-q"]).code, 0);
}

/// While a process changes files, one that reads them can find what never was.
#[test]
fn what_is_being_worked_on_is_not_judged() {
    let dir = TestDir::new();
    assert_eq!(dir.run(&RUN).code, 0);
    let path = dir.workspaces().join(dir.json(&["show", "last"]).1["id"].as_str().unwrap());
    let whole = fs::read(path.join("output/report.md")).unwrap();
    fs::write(path.join("output/report.md"), "half").unwrap();
    let lock = fs::File::open(path.join(".lock")).unwrap();
    lock.lock().unwrap();
    for words in [vec!["audit", "verify", "last"], vec!["audit", "verify", path.to_str().unwrap()]] {
        let busy = dir.run(&words);
        assert_eq!(
            (busy.code, busy.stdout.as_str()),
            (4, "busy: a process works on the job; verify it when it rests\n")
        );
    }
    let (code, told) = dir.json(&["audit", "verify", "--all"]);
    assert_eq!((code, &told[0]["busy"], &told[0]["ok"]), (4, &Value::Bool(true), &Value::Bool(false)));
    // What is sound is sound, whoever works on it.
    fs::write(path.join("output/report.md"), whole).unwrap();
    assert_eq!(dir.run(&["audit", "verify", "last"]).code, 0);
    lock.unlock().unwrap();
    fs::write(path.join("output/report.md"), "half").unwrap();
    assert_eq!(dir.run(&["audit", "verify", "last"]).code, 1);
}

/// Whoever takes the lock's file away lets a second process in: the first writes nothing more.
#[test]
fn without_its_lock_a_process_writes_no_further_line() {
    let dir = TestDir::new();
    let path = dir.make();
    let before = fs::read(path.join("journal.jsonl")).unwrap();
    let open = || Word::Open { version: "test".to_owned(), model: "offline".to_owned(), torn_bytes: None };
    let mut first = OpenJob::open(&path, None).unwrap();
    fs::remove_file(path.join(".lock")).unwrap();
    let mut second = OpenJob::open(&path, None).unwrap();
    let error = first.command(open()).unwrap_err().to_string();
    let expected = "was taken away while it was worked on, so another process may work on it too";
    assert!(error.starts_with("the lock file of job ") && error.ends_with(expected), "{error}");
    assert_eq!(fs::read(path.join("journal.jsonl")).unwrap(), before);
    assert!(second.command(open()).unwrap());
}

/// A line behind what somebody else wrote could never be read.
#[test]
fn no_line_is_written_behind_what_is_not_a_line() {
    let dir = TestDir::new();
    let path = dir.make();
    let mut session = OpenJob::open(&path, None).unwrap();
    let mut journal = fs::OpenOptions::new().append(true).open(path.join("journal.jsonl")).unwrap();
    let length = journal.metadata().unwrap().len();
    journal.write_all(b"hello\n").unwrap();
    let open = || Word::Open { version: "test".to_owned(), model: "offline".to_owned(), torn_bytes: None };
    let expected = format!(
        "the journal is broken at journal.jsonl: it has {} bytes, and this process left {length}: something else writes to it",
        length + 6
    );
    assert_eq!(session.command(open()).unwrap_err().to_string(), expected);
    assert!(session.command(open()).is_err());
    assert_eq!(journal.metadata().unwrap().len(), length + 6);
}

#[tokio::test]
async fn a_whole_archive_that_is_gone_is_named_first() {
    let dir = TestDir::new();
    assert_eq!(dir.run(&RUN).code, 0);
    let path = dir.workspaces().join(dir.json(&["show", "last"]).1["id"].as_str().unwrap());
    let names = || fs::read_dir(path.join("archive")).unwrap().map(|entry| entry.unwrap().file_name());
    for name in names() {
        let name = name.into_string().unwrap();
        let aside = dir.path("aside");
        copy(&path.join("archive").join(&name), &aside);
        fs::remove_dir_all(path.join("archive").join(&name)).unwrap();
        let faults = verify(&path, None).unwrap_err();
        assert_eq!(faults[0].file, format!("archive/{name}"), "{faults:#?}");
        copy(&aside, &path.join("archive").join(&name));
        fs::remove_dir_all(&aside).unwrap();
    }
    assert!(verify(&path, None).is_ok());
    let done = reindex(&*dir.store().await, &dir.workspaces()).await.unwrap();
    assert_eq!(done.jobs.len(), 1);
}

/// Who stops it while documents are still read gets the code of a stop and a sentence, and no job.
#[test]
fn a_stop_while_documents_are_read_is_a_stop() {
    let dir = TestDir::new();
    dir.put("docs/long.txt", "The server must answer.\n".repeat(2_000_000));
    let what = ["./task.md", "--documents", "docs", "--model", "offline"];
    let said = [
        ("run", "interrupted before there was a job: nothing is kept\n"),
        ("submit", "interrupted: nothing was submitted\n"),
    ];
    for (command, sentence) in said {
        let (mut child, mut talk) = dir.start(&[&[command], &what[..]].concat());
        for _ in 0..12_000 {
            if is_reading(child.id()) && catches_sigterm(child.id()) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        let mut told = String::new();
        std::io::Read::read_to_string(&mut talk, &mut told).unwrap();
        assert_eq!((child.wait().unwrap().code(), told.as_str()), (Some(130), sentence));
        assert_eq!(dir.run(&["jobs", "--json"]).stdout.trim(), "[]");
    }
}

/// Whether the process does something of its own at SIGTERM.
fn catches_sigterm(process: u32) -> bool {
    const SIGTERM: u32 = 15;
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    caught & (1 << (SIGTERM - 1)) != 0
}

/// Whether the process has a reader at work.
fn is_reading(process: u32) -> bool {
    let parent = format!(" {process} ");
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        // After the name in brackets: state, parent.
        let is_child = read("stat")
            .rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.get(1..).is_some_and(|rest| rest.starts_with(&parent)));
        is_child && read("cmdline").contains("extract-document")
    })
}
