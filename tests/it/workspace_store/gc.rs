//! What gc takes, and what it leaves where that can't be known.

use super::{Night, files, gate::Gate};
use crate::{
    cli_run::{PROGRAM, Ran},
    store::Place,
    support::wait,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

impl Night {
    fn gc(&self, more: &[&str]) -> Ran {
        self.run(&[&["gc", "--workspace-store", &self.address], more].concat())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("store").join(name)
    }

    fn blocks(&self) -> BTreeSet<String> {
        self.stored().into_iter().filter(|name| name.starts_with("objects/")).collect()
    }

    fn manifests(&self, job: &str) -> usize {
        self.stored().iter().filter(|name| name.starts_with(&format!("manifests/{job}/"))).count()
    }
}

fn short_graces_wait_for_workers(night: &Night) {
    night.die("first", "workspace_store.pointed=4*off->return");
    let all = night.stored();
    for grace in ["0s", "59m"] {
        let ran = night.gc(&["--grace", grace]);
        let expected = "error: a worker was seen within the last minute, and a grace of less than an hour may take from workers what they count on: stop them, or give --grace 1h or more\n";
        assert_eq!((ran.code, ran.stderr.as_str(), ran.stdout.as_str()), (2, expected, ""), "{grace}");
    }
    assert_eq!(night.stored(), all);
    assert_eq!(night.gc(&["--grace", "0s", "--dry-run"]).code, 0);
    assert_eq!(night.gc(&["--grace", "1h"]).code, 0);
    // It has not been seen for a while, and its lease lasts.
    night.sql("update workers set seen = '2020-01-01T00:00:00.000Z'");
    assert_eq!(night.gc(&["--grace", "0s"]).code, 2);
    night.take_away();
    assert_eq!(night.gc(&["--grace", "0s"]).code, 0);
    night.work("second");
    night.is_as_undisturbed();
}

#[test]
fn a_short_grace_is_refused_while_workers_are_at_work() {
    short_graces_wait_for_workers(&Night::in_a_folder());
}

#[test]
fn a_short_grace_is_refused_with_the_other_database() {
    short_graces_wait_for_workers(&Night::in_a_folder_with(wait(Place::postgres())));
}

/// One job's manifest is missing or damaged: the others' are cleared, and no block goes that it may need.
#[test]
fn a_broken_manifest_stops_nothing_but_what_depends_on_it() {
    let night = Night::in_a_folder();
    night.work("first");
    let mut entries = night.entries().into_values();
    let (entry, key) = entries.next().unwrap();
    let (other, _) = entries.next().unwrap();
    let (id, other) = (entry.job.id.to_string(), other.job.id.to_string());
    let name = key.unwrap().to_string();
    let good = std::fs::read(night.path(&name)).unwrap();
    let stray = format!("objects/ab/ab{}", "0".repeat(62));
    std::fs::create_dir_all(night.path("objects/ab")).unwrap();
    std::fs::write(night.path(&stray), "stray").unwrap();
    let (blocks, its, others) = (night.blocks(), night.manifests(&id), night.manifests(&other));
    assert!(its > 1 && others > 1);
    std::fs::remove_file(night.path(&name)).unwrap();
    let ran = night.gc(&["--grace", "0s", "--json"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let why = format!("{name} is missing in the workspace store {}", night.address);
    let sentence = format!(
        "job {id}: {why}: no block was deleted, because what it needs isn't known; bring it back from a copy of the store\n"
    );
    assert_eq!((ran.code, ran.stderr), (1, sentence));
    assert_eq!((&told["blocks"], &told["broken"]), (&json!(0), &json!([{"job": id, "why": why}])));
    assert_eq!((night.blocks(), night.manifests(&id), night.manifests(&other)), (blocks.clone(), its - 1, 1));
    let mut bad = good.clone();
    bad[20] ^= 1;
    std::fs::write(night.path(&name), bad).unwrap();
    let ran = night.gc(&["--grace", "0s"]);
    let why =
        format!("{name} in the workspace store {} is damaged: its hash is not the one in its name", night.address);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains(&why), "{}", ran.stderr);
    assert_eq!((night.blocks(), night.manifests(&id)), (blocks, its));
    // Brought back, nothing of it is missing.
    std::fs::write(night.path(&name), good).unwrap();
    night.told(&["gc", "--grace", "0s"]);
    assert!(!night.path(&stray).exists());
    assert_eq!(night.manifests(&id), 1);
    night.is_as_undisturbed();
}

/// A job went on, and another gc took its old manifest, after the pointers were read.
#[test]
fn a_job_that_goes_on_beside_gc_is_taken_up_again() {
    let night = Night::in_a_folder();
    night.work("first");
    // The last whose manifest is read.
    let (entry, key) = night.entries().into_values().max_by_key(|(entry, _)| entry.job.id).unwrap();
    let (id, now) = (entry.job.id, key.unwrap().to_string());
    let old = night.stored().into_iter().find(|name| name.starts_with(&format!("manifests/{id}/")) && *name != now);
    let old = old.unwrap();
    let point = |to: &str| {
        wait(
            night.place.sql(Box::leak(format!("update jobs set manifest = '{to}' where id = '{id}'").into_boxed_str())),
        );
    };
    point(&old);
    let begun = night.dir.path().join("begun");
    let gate = Gate::new(night.dir.path());
    let points = format!("workspace_store.cleared=1*return({})->1*{}->off", begun.display(), gate.action());
    let mut command = Command::new(PROGRAM);
    command.current_dir(night.dir.path()).env_clear().envs(night.variables(&[("FAILPOINTS", &points)]));
    command.args(["gc", "--grace", "0s", "--workspace-store", &night.address]);
    let gc = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..600 {
        if begun.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    point(&now);
    std::fs::remove_file(night.path(&old)).unwrap();
    gate.open();
    let ran = gc.wait_with_output().unwrap();
    assert_eq!((ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned()), (Some(0), String::new()));
    assert!(files(&night.dir.path().join("store")).contains_key(&now));
    night.is_as_undisturbed();
}
