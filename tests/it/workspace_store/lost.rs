//! A store in a folder that goes away, as a share does that is not mounted any more: an outage, in which nothing is made.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{Night, files, gate::Gate, output};
use overnight::store::QueueEntry;
use overnight_core::job::{id::JobId, record::JobStatus};
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

const MARKER: &str = "workspace-store.json";
const GONE: &str =
    "has no marker of a workspace store any more: is it mounted? (a new one is begun by a folder 'objects' in it)";

impl Night {
    fn folder(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    /// The store goes away; where it was is an empty folder, or nothing.
    fn unmount(&self, leaves_folder: bool) {
        std::fs::rename(self.folder(), self.dir.path().join("away")).unwrap();
        if leaves_folder {
            std::fs::create_dir(self.folder()).unwrap();
        }
    }

    /// Nothing was made where it was, or what was on its way is taken back, but for the folder itself; it comes back.
    fn mount(&self, left_folder: bool) {
        // Something may come between a look whether it is empty and its removal: that it can be removed is the look.
        let is_gone = |removed: &std::io::Result<()>| match removed {
            Ok(()) => true,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound && !left_folder,
        };
        let mut removed = std::fs::remove_dir(self.folder());
        for _ in 0..600 {
            if is_gone(&removed) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
            removed = std::fs::remove_dir(self.folder());
        }
        assert!(is_gone(&removed), "{removed:?}");
        std::fs::rename(self.dir.path().join("away"), self.folder()).unwrap();
    }

    /// Waits until a job is held.
    fn held(&self) -> QueueEntry {
        for _ in 0..1200 {
            let held = self.entries().into_values().map(|(entry, _)| entry).find(|it| it.status == JobStatus::Held);
            if let Some(held) = held {
                return held;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        unreachable!("no job was held");
    }

    /// The held jobs' time has come.
    fn wake(&self) {
        self.sql("update jobs set run_after = '2020-01-01T00:00:00.000Z' where status = 'held'");
    }

    fn lost(&self) -> String {
        format!("the workspace store {} {GONE}", self.address)
    }

    fn pointers(&self) -> BTreeMap<JobId, Option<String>> {
        let entries = self.entries().into_values();
        entries.map(|(entry, key)| (entry.job.id, key.map(|key| key.to_string()))).collect()
    }
}

/// The store goes while a worker is on its way to it.
#[test]
fn a_store_that_goes_while_a_worker_works_is_an_outage() {
    for leaves_folder in [true, false] {
        let night = Night::in_a_folder();
        let gate = Gate::new(night.dir.path());
        let mut worker = night.stands_before_its_fourth_upload(&gate);
        night.unmount(leaves_folder);
        gate.open();
        let before = night.pointers();
        let held = night.held();
        assert_eq!(held.reason, Some(night.lost()));
        assert!(held.job.run_after.is_some(), "it goes on by itself");
        assert_eq!(night.pointers(), before, "nothing points to what was lost");
        night.mount(leaves_folder);
        night.wake();
        let summary: Value = serde_json::from_slice(&output(&mut worker)).unwrap();
        assert_eq!((&summary["ended"], &summary["lost"]), (&json!({"completed": 3}), &json!(0)), "{summary}");
        night.is_as_undisturbed();
    }
}

/// A worker that starts without the store neither begins a new one nor gives up what is in the old.
#[test]
fn a_worker_that_starts_without_its_store_waits_for_it() {
    for leaves_folder in [true, false] {
        let night = Night::in_a_folder();
        night.die("first", "workspace_store.pointed=3*off->return");
        let (id, _) = night.running().unwrap();
        night.take_away();
        night.unmount(leaves_folder);
        let mut worker = night.start("second", "");
        assert_eq!(night.held().reason, Some(night.lost()));
        night.mount(leaves_folder);
        night.wake();
        let summary: Value = serde_json::from_slice(&output(&mut worker)).unwrap();
        assert_eq!((&summary["ended"], &summary["lost"]), (&json!({"completed": 3}), &json!(0)), "{summary}");
        assert!(night.dir.path().join("second").join(id.to_string()).is_dir());
        night.is_as_undisturbed();
    }
}

/// The right folder's name, and another store in it.
#[test]
fn another_store_at_the_same_place_is_an_outage() {
    let night = Night::in_a_folder();
    let gate = Gate::new(night.dir.path());
    let mut worker = night.stands_before_its_fourth_upload(&gate);
    night.unmount(true);
    let other = json!({"format": 1, "id": "019ab3c0-1234-7000-8000-000000000001"}).to_string();
    // At once, as another store would stand there: a marker that is being written is no marker.
    std::fs::write(night.dir.path().join("marker"), &other).unwrap();
    std::fs::rename(night.dir.path().join("marker"), night.folder().join(MARKER)).unwrap();
    gate.open();
    let expected = format!(
        "the workspace store {} is not the workspace store that it was: is the right one mounted?",
        night.address
    );
    assert_eq!(night.held().reason, Some(expected));
    // Another job may have been on its way to it: what that put there is taken back.
    let found = || std::fs::read_dir(night.folder()).unwrap().count();
    for _ in 0..100 {
        if found() == 1 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(files(&night.folder()), BTreeMap::from([(MARKER.to_owned(), other.into_bytes())]));
    std::fs::remove_file(night.folder().join(MARKER)).unwrap();
    night.mount(true);
    night.wake();
    let summary: Value = serde_json::from_slice(&output(&mut worker)).unwrap();
    assert_eq!(summary["ended"], json!({"completed": 3}), "{summary}");
    night.is_as_undisturbed();
}

/// A store from before there were markers gets one, and keeps it.
#[test]
fn a_store_without_a_marker_gets_one() {
    let night = Night::in_a_folder();
    night.die("first", "workspace_store.pointed=3*off->return");
    let marker = night.folder().join(MARKER);
    let first = std::fs::read(&marker).unwrap();
    std::fs::remove_file(&marker).unwrap();
    night.told(&["gc"]);
    assert!(!marker.exists(), "who only cleans makes none");
    night.take_away();
    night.work("second");
    let second = std::fs::read(&marker).unwrap();
    assert_ne!(second, first);
    night.is_as_undisturbed();
    night.work("third");
    assert_eq!(std::fs::read(&marker).unwrap(), second);
    // One that a later version has made is left alone.
    std::fs::write(&marker, r#"{"format": 2, "id": "019ab3c0-1234-7000-8000-000000000001"}"#).unwrap();
    let ran = night.run(&["gc", "--workspace-store", &night.address]);
    let expected = format!(
        "error: {MARKER} in the workspace store {} is damaged: its format is 2, and this version reads 1\n",
        night.address
    );
    assert_eq!((ran.code, ran.stderr), (1, expected));
}

/// Commands that only look or clean make no folder and no marker.
#[test]
fn who_looks_or_cleans_makes_nothing() {
    let night = Night::in_a_folder();
    night.work("first");
    let id = night.entries().into_values().next().unwrap().0.job.id.to_string();
    let commands: [&[&str]; 2] = [&["gc", "--grace", "0s"], &["fetch", &id, "--into", "fetched"]];
    for leaves_folder in [true, false] {
        night.unmount(leaves_folder);
        for command in commands {
            let ran = night.run(&[command, &["--workspace-store", &night.address]].concat());
            let expected = format!("error: {}\n", night.lost());
            assert_eq!((ran.code, ran.stderr, ran.stdout), (2, expected, String::new()), "{command:?}");
        }
        for command in [&["prune", "--older-than", "90d"][..], &["show", &id]] {
            assert_eq!(
                night.dir.run_with(&night.variables(&[("OVERNIGHT_WORKSPACE_STORE", &night.address)]), command).code,
                0
            );
        }
        night.mount(leaves_folder);
    }
    night.told(&["gc", "--grace", "0s"]);
    night.is_as_undisturbed();
}

#[test]
fn a_bucket_that_no_worker_has_used_is_no_store_yet() {
    let night = Night::in_a_bucket();
    let ran = night.run(&["gc", "--workspace-store", &night.address]);
    let expected = format!(
        "error: the workspace store {} is none yet: no worker has used it, or its address is another\n",
        night.address
    );
    assert_eq!((ran.code, ran.stderr), (2, expected));
    assert_eq!(night.stored().len(), 0);
    night.work("first");
    assert!(night.stored().contains(MARKER));
    night.told(&["gc"]);
}
