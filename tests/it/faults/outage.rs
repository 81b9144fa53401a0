//! A database that goes away while a job is worked: the job goes on, and its rows are right in the end. Between the program and
//! the real server is a real connection that is cut and mended at a given decision.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::test_dir::{TestDir, id, rows, seen};
use crate::store::postgres_url;
use overnight::{
    runner::{JobOutcome, RunReport, reindex},
    store::{Store, connect},
};
use overnight_core::{
    job::{
        event::{Event, LifeEvent, PhaseEvent},
        limits::Limits,
        record::{HoldReason, JobStatus},
        state::Job,
    },
    machine::effect::Command as Word,
};
use std::{
    io::Read,
    net::{Shutdown, TcpListener, TcpStream},
    path::PathBuf,
    sync::{Arc, Mutex},
};

/// A wire to the database server that can be cut.
#[derive(Clone)]
struct Wire(Arc<Mutex<Ends>>);

#[derive(Default)]
struct Ends {
    /// Connections that are refused before it is mended by itself; `None`: it is whole.
    refuses: Option<u64>,
    refused: u64,
    open: Vec<TcpStream>,
}

impl Wire {
    /// A wire to the server of `url`, and the URL at its other end.
    fn to(url: &str) -> (Self, String) {
        let (before, rest) = url.split_once("127.0.0.1:").unwrap();
        let (port, database) = rest.split_once('/').unwrap();
        let server: u16 = port.parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = format!("{before}127.0.0.1:{}/{database}", listener.local_addr().unwrap().port());
        let wire = Self(Arc::default());
        let ends = wire.clone();
        // Ends with the test program; a test has one or two of them.
        std::thread::spawn(move || {
            for stream in listener.incoming().map(Result::unwrap) {
                ends.accept(stream, server);
            }
        });
        (wire, near)
    }

    fn accept(&self, mut near: TcpStream, server: u16) {
        let mut ends = self.0.lock().unwrap();
        if let Some(left) = ends.refuses {
            // By turns in the middle of the greeting, which ends the connection, and before it, which breaks it.
            if ends.refused.is_multiple_of(2) {
                let _ = near.read(&mut [0; 64]);
            }
            ends.refused += 1;
            ends.refuses = left.checked_sub(1).filter(|left| *left > 0);
            return;
        }
        let far = TcpStream::connect(("127.0.0.1", server)).unwrap();
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
        ends.open.extend([near, far]);
    }

    /// Cuts it, until so many connections were refused.
    fn cut(&self, until: u64) {
        let mut ends = self.0.lock().unwrap();
        ends.refuses = Some(until);
        for stream in ends.open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn mend(&self) {
        self.0.lock().unwrap().refuses = None;
    }

    fn refused(&self) -> u64 {
        self.0.lock().unwrap().refused
    }
}

/// A job whose database is behind a wire.
async fn wired() -> (String, Wire, TestDir, Arc<dyn Store>, PathBuf) {
    let url = postgres_url().await;
    let (wire, near) = Wire::to(&url);
    let dir = TestDir::on(near);
    let (store, path) = (dir.store().await, dir.make());
    (url, wire, dir, store, path)
}

/// Whether a report is of a decision with such an event.
fn is(report: &RunReport<'_>, wanted: impl Fn(&Event) -> bool) -> bool {
    match report {
        RunReport::Decided(decision) => decision.events.iter().any(wanted),
        RunReport::Calling(_) | RunReport::Note(_) => false,
    }
}

/// The rows say what the workspace says.
async fn agree(dir: &TestDir, url: &str) {
    let done = reindex(&*connect(url).await.unwrap(), &dir.workspaces()).await.unwrap();
    let outcomes: Vec<_> = done.jobs.iter().map(|job| job.outcome.clone()).collect();
    assert_eq!(outcomes, [overnight::runner::IndexOutcome::Unchanged]);
}

#[tokio::test]
async fn a_job_goes_on_while_its_database_is_away() {
    let (url, wire, dir, store, path) = wired().await;
    let mut told = Vec::new();
    let mut watch = |_: &Job, report: RunReport<'_>| {
        if is(&report, |event| matches!(event, Event::Phase(PhaseEvent::PhaseStarted { number: 1, attempt: 1, .. }))) {
            wire.cut(1_000_000);
        }
        if is(&report, |event| matches!(event, Event::Phase(PhaseEvent::PhaseStarted { number: 2, .. }))) {
            wire.mend();
        }
        if let RunReport::Note(text) = report {
            told.push(text);
        }
    };
    let outcome = dir.watched(&*store, &path, vec![], &mut watch).await.unwrap();
    assert_eq!(outcome, JobOutcome::Ended(JobStatus::Completed));
    assert!(wire.refused() > 0, "the wire was cut for nothing");
    assert!(
        told.len() == 1
            && told[0].contains("doesn't answer")
            && told[0].ends_with("the job goes on while its lease lasts, then waits; its rows are written later"),
        "{told:?}"
    );
    agree(&dir, &url).await;
    assert_eq!(rows(&*store, id(&path)).await.unwrap().job.lease, 1);
}

#[tokio::test]
async fn connections_that_break_again_and_again_are_made_anew() {
    let (url, wire, dir, store, path) = wired().await;
    let mut watch = |_: &Job, report: RunReport<'_>| {
        if is(&report, |event| matches!(event, Event::Phase(PhaseEvent::TodoCompleted { .. }))) {
            wire.cut(1);
            wire.mend();
        }
    };
    let outcome = dir.watched(&*store, &path, vec![], &mut watch).await.unwrap();
    assert_eq!(outcome, JobOutcome::Ended(JobStatus::Completed));
    agree(&dir, &url).await;
}

#[tokio::test]
async fn an_end_waits_for_its_database() {
    let (url, wire, dir, store, path) = wired().await;
    let mut watch = |_: &Job, report: RunReport<'_>| {
        if is(&report, |event| matches!(event, Event::Life(LifeEvent::JobEnded { .. }))) {
            // The first try is refused.
            wire.cut(1);
        }
    };
    let outcome = dir.watched(&*store, &path, vec![], &mut watch).await.unwrap();
    assert_eq!((outcome, wire.refused()), (JobOutcome::Ended(JobStatus::Completed), 1));
    agree(&dir, &url).await;
}

#[tokio::test]
async fn a_stop_in_an_outage_leaves_the_rows_for_later() {
    let (url, wire, dir, store, path) = wired().await;
    let (tell, stop) = tokio::sync::watch::channel(false);
    let mut watch = |_: &Job, report: RunReport<'_>| {
        if is(&report, |event| matches!(event, Event::Phase(PhaseEvent::PhaseStarted { number: 1, .. }))) {
            wire.cut(1_000_000);
        }
        if matches!(report, RunReport::Note(_)) {
            tell.send(true).unwrap();
        }
    };
    let outcome = dir.stoppable(&*store, &path, vec![], stop, &mut watch).await.unwrap();
    assert_eq!(outcome, JobOutcome::Interrupted);
    let behind = rows(&*connect(&url).await.unwrap(), id(&path)).await.unwrap();
    assert_eq!(behind.job.state.status, JobStatus::Running);
    wire.mend();
    let done = reindex(&*store, &dir.workspaces()).await.unwrap();
    assert_eq!(seen(&done), [("updated", Some((JobStatus::Held, Some(HoldReason::Paused))))]);
    let words = vec![Word::Resume { limits: Limits::default() }];
    assert_eq!(dir.work(&*store, &path, words).await.unwrap(), JobOutcome::Ended(JobStatus::Completed));
    agree(&dir, &url).await;
}

#[test]
fn a_database_that_is_away_from_the_start_is_named_at_once() {
    // Nobody listens at a port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let dir = TestDir::on(format!("postgres://me:secret@127.0.0.1:{port}/jobs"));
    std::fs::create_dir(dir.workspaces()).unwrap();
    for words in [&super::test_dir::RUN[..], &["resume", "last"], &["jobs"], &["reindex"]] {
        let ran = dir.run(words);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (1, "", 1), "{ran:?}");
        let said = format!("error: database 127.0.0.1:{port}/jobs doesn't answer: ");
        assert!(ran.stderr.starts_with(&said) && !ran.stderr.contains("secret"), "{ran:?}");
    }
    assert_eq!(super::test_dir::tree(&dir.workspaces()).len(), 0);
}

/// A worker outlives its database, also at first; who wants it to stop is heard.
#[test]
fn a_worker_waits_for_its_database() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let dir = TestDir::on(format!("postgres://nobody@{gone}/overnight"));
    let (mut child, mut talk) = dir.start(&["work"]);
    let mut line = String::new();
    std::io::BufRead::read_line(&mut talk, &mut line).unwrap();
    assert!(line.ends_with("; it is waited for\n"), "{line}");
    std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let mut rest = String::new();
    talk.read_to_string(&mut rest).unwrap();
    assert_eq!((child.wait().unwrap().code(), rest.as_str()), (Some(0), "stopping; once more to end at once\n"));
    // Who works until all is done hears of it instead.
    let ran = dir.run(&["work", "--until-empty"]);
    assert_eq!((ran.code, ran.stderr), (1, format!("error: {}\n", line.trim_end_matches("; it is waited for\n"))));
}
