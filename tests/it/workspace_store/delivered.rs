//! What jobs delivered, where their workspaces are not here any more and a workspace store has them.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{Night, UNDISTURBED};
use crate::support::wait;
use overnight::store::QueueEntry;
use overnight_core::job::record::JobStatus;
use overnight_documents::{InProcess, discover};
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::PathBuf};

impl Night {
    /// The worker's machine is gone.
    fn lose(&self, folder: &str) {
        std::fs::remove_dir_all(self.dir.path().join(folder)).unwrap();
    }

    /// What was collected into `folder`, by label and path in the workspace.
    fn collected(&self, folder: &str) -> BTreeMap<String, BTreeMap<String, Vec<u8>>> {
        let folder = self.dir.path().join(folder);
        let index: Value = serde_json::from_slice(&std::fs::read(folder.join("index.json")).unwrap()).unwrap();
        let mut found: BTreeMap<String, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
        for entry in index["entries"].as_array().unwrap() {
            let Some(path) = entry["path"].as_str() else { continue };
            assert_eq!(entry["state"], "as_delivered", "{entry}");
            let delivered = entry["delivered_path"].as_str().unwrap().strip_prefix("output/").unwrap();
            let text = std::fs::read(folder.join(path)).unwrap();
            found.entry(entry["label"].as_str().unwrap().to_owned()).or_default().insert(delivered.to_owned(), text);
        }
        found
    }

    fn entries_of(&self, batch: &str) -> Vec<QueueEntry> {
        wait(async {
            let store = self.place.store().await;
            let batch = store.batch(batch).await.unwrap().batch.id;
            store.batch_entries(batch).await.unwrap()
        })
    }

    fn unfinished(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.dir.path()).unwrap().map(|it| it.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).filter(|name| name.starts_with(".overnight-tmp-")).collect()
    }
}

fn collects_what_the_store_has(night: &Night) {
    night.work("first");
    night.lose("first");
    // Without the store's name nothing can be had.
    let ran = night.run(&["report", "night", "--json", "--collect", "without"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &told["collected"]["files"]), (0, &json!(0)));
    let faults: Vec<&str> =
        told["collected"]["faults"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(!faults.is_empty());
    for fault in faults {
        let end = "is in the workspace store: name that with --workspace-store, or OVERNIGHT_WORKSPACE_STORE";
        assert!(fault.ends_with(end), "{fault}");
    }
    let told = night.told(&["report", "night", "--collect", "results"]);
    assert_eq!(told["collected"]["faults"], json!([]));
    assert_eq!(night.collected("results"), *UNDISTURBED);
    assert_eq!(night.unfinished(), Vec::<String>::new());
    // Again, and with nothing of it here.
    let again = night.told(&["report", "night", "--collect", "results"]);
    assert_eq!(again["collected"]["files"], told["collected"]["files"]);
    assert_eq!(night.collected("results"), *UNDISTURBED);
}

#[test]
fn report_collects_from_a_folder() {
    collects_what_the_store_has(&Night::in_a_folder());
}

#[test]
fn report_collects_from_a_bucket() {
    collects_what_the_store_has(&Night::in_a_bucket());
}

#[test]
fn report_says_what_the_store_does_not_have() {
    let night = Night::in_a_folder();
    night.work("first");
    night.lose("first");
    let (label, (entry, key)) = night.entries().into_iter().next().unwrap();
    let key = key.unwrap().to_string();
    std::fs::remove_file(night.dir.path().join("store").join(&key)).unwrap();
    let told = night.told(&["report", "night", "--collect", "results"]);
    let paths = UNDISTURBED[&label].keys();
    let why = format!("can't be had: {key} is missing in the workspace store {}", night.address);
    let expected: Vec<String> = paths.map(|path| format!("job {}: output/{path} {why}", entry.job.id)).collect();
    assert_eq!(told["collected"]["faults"], json!(expected));
    let mut others = UNDISTURBED.clone();
    others.remove(&label);
    assert_eq!(night.collected("results"), others);
    // The whole store is away.
    std::fs::rename(night.dir.path().join("store"), night.dir.path().join("away")).unwrap();
    let ran = night.run(&["report", "night", "--collect", "other", "--workspace-store", &night.address]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(!night.dir.path().join("store").exists() && !night.dir.path().join("other").exists());
}

/// The closing job reads what another machine's worker delivered, and that machine is gone.
fn a_closing_job_reads_what_is_only_in_the_store(night: &Night) {
    assert_eq!(night.run(&["cancel", "night"]).code, 0);
    let submit = ["submit", "extract-requirements", "--documents", "docs", "--each", "--batch", "closed"];
    let submitted = night.run(&[&submit[..], &["--then", "extract-requirements"]].concat());
    assert_eq!(submitted.code, 0, "{}", submitted.stderr);
    night.die("first", "checkpoint.done=30*off->return");
    let ended = night.entries_of("closed").into_iter().filter(|entry| entry.status.is_end()).count();
    assert!(ended > 0 && ended < 3, "{ended}");
    night.lose("first");
    night.take_away();
    night.work("second");
    let closing = night.entries_of("closed, then").remove(0);
    let sources: Vec<PathBuf> = closing.job.sources.iter().map(PathBuf::from).collect();
    let mut found: BTreeMap<String, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
    for document in discover(&sources, &[], &InProcess).unwrap().documents {
        let (label, path) = document.name.split_once('/').unwrap();
        let text = std::fs::read(&document.path).unwrap();
        found.entry(label.to_owned()).or_default().insert(path.to_owned(), text);
    }
    assert_eq!(found, *UNDISTURBED);
    assert_eq!(closing.status, JobStatus::Completed);
    let brought =
        std::fs::read_dir(night.dir.path().join("second/delivered")).unwrap().map(|batch| batch.unwrap().path());
    let brought: usize = brought.map(|batch| std::fs::read_dir(batch).unwrap().count()).sum();
    assert_eq!(brought, ended);
    let prune = |more: &[&str]| night.run(&[&["prune", "--older-than", "0s", "--workspaces", "second"], more].concat());
    assert_eq!(prune(&["--dry-run"]).code, 0);
    assert!(night.dir.path().join("second/delivered").read_dir().unwrap().next().is_some());
    // A folder for what was brought is nothing that a command stumbles over.
    let ran = night.run(&["jobs", "--workspaces", "second"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    // It goes with the closing job's workspace.
    let ran = prune(&["--yes"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(night.dir.path().join("second/delivered").read_dir().unwrap().next().is_none());
}

#[test]
fn a_closing_job_reads_what_is_only_in_a_folder() {
    a_closing_job_reads_what_is_only_in_the_store(&Night::in_a_folder());
}

#[test]
fn a_closing_job_reads_what_is_only_in_a_bucket() {
    a_closing_job_reads_what_is_only_in_the_store(&Night::in_a_bucket());
}
