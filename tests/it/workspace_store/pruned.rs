//! A pruned workspace says so: what is gone is no tampering, and what is there is still checked.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::Night;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

impl Night {
    fn prune(&self, more: &[&str]) {
        let ran = self.run(&[&["prune", "--older-than", "0s", "--yes"], more].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    }

    /// Code and stdout.
    fn verify(&self, what: &str) -> (i32, String) {
        let ran = self.run(&["audit", "verify", what]);
        assert_eq!(ran.stderr, "");
        (ran.code, ran.stdout)
    }
}

fn record_of(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("pruned.json")).unwrap()).unwrap()
}

#[test]
fn a_pruned_workspace_is_told_from_a_tampered_one() {
    let night = Night::in_a_folder();
    // Without a store: of a job that is in one, that has all.
    assert_eq!(night.run(&["work", "--until-empty", "--quiet", "--workspaces", "first"]).code, 0);
    let (entry, _) = night.entries().into_values().next().unwrap();
    let (id, folder) = (entry.job.id.to_string(), PathBuf::from(&entry.workspace));
    let (code, whole) = night.verify(&id);
    assert_eq!(code, 0, "{whole}");
    let head = whole.trim_end().rsplit(' ').next().unwrap().to_owned();
    night.prune(&[]);
    let record = record_of(&folder);
    let names = |record: &Value| -> String {
        let names: Vec<&str> =
            record["removed"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        names.join(", ")
    };
    assert!(names(&record).contains("documents") && !names(&record).contains("journal"), "{record}");
    let begins = |record: &Value| {
        let at = record["at"].as_str().unwrap();
        format!("pruned at {at}, so that {} can't be checked any more: ", names(record))
    };
    for what in [&id, &entry.workspace] {
        let (code, told) = night.verify(what);
        assert_eq!((code, told.lines().count()), (3, 1), "{told}");
        assert!(
            told.starts_with(&(begins(&record) + "as they were left are "))
                && told.ends_with(&format!("head {head}\n")),
            "{told}"
        );
    }
    assert_eq!(night.run(&["audit", "verify", "--all"]).code, 3);
    let shown = night.run(&["show", &id]);
    let said = format!("the workspace was pruned at {}: {} are gone\n", record["at"].as_str().unwrap(), names(&record));
    assert_eq!((shown.code, shown.stderr), (0, said));
    let ran = night.run(&["audit", "verify", &id, "--json"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&told["ok"], &told["pruned"], &told["faults"]), (&json!(false), &record["at"], &json!([])));
    assert_eq!(told["verified"]["pruned"], record);

    // What is there is still checked.
    let deliverable = walkdir::WalkDir::new(folder.join("output")).into_iter().map(Result::unwrap);
    let deliverable =
        deliverable.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).next().unwrap();
    let path = deliverable.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
    let good = std::fs::read(&deliverable).unwrap();
    std::fs::write(&deliverable, "other").unwrap();
    let (code, told) = night.verify(&id);
    assert_eq!(code, 1);
    assert!(told.contains(&format!("{path}: changed: ")), "{told}");
    std::fs::remove_file(&deliverable).unwrap();
    let (code, told) = night.verify(&id);
    assert_eq!(code, 1);
    assert!(told.contains(&format!("{path}: missing: ")), "{told}");
    std::fs::write(&deliverable, &good).unwrap();
    let journal = std::fs::read(folder.join("journal.jsonl")).unwrap();
    std::fs::remove_file(folder.join("journal.jsonl")).unwrap();
    assert_eq!(night.verify(&id).0, 1, "that was not pruned");
    std::fs::write(folder.join("journal.jsonl"), journal).unwrap();
    // A record that is none explains nothing.
    let text = std::fs::read(folder.join("pruned.json")).unwrap();
    for wrong in ["{", r#"{"format": 1, "at": "2026-01-01T00:00:00.000Z", "removed": ["documents", "output"]}"#] {
        std::fs::write(folder.join("pruned.json"), wrong).unwrap();
        let (code, told) = night.verify(&id);
        assert_eq!(code, 1);
        assert!(told.contains("pruned.json: added: "), "{told}");
    }
    std::fs::write(folder.join("pruned.json"), text).unwrap();

    // Without the journal the deliverables have only the database.
    night.prune(&["--archives"]);
    let record = record_of(&folder);
    assert!(names(&record).contains("documents") && names(&record).contains("journal.jsonl"), "{record}");
    let count = night.run(&["audit", "verify", &id]);
    assert_eq!(count.code, 3, "{}{}", count.stdout, count.stderr);
    assert!(count.stdout.starts_with(&(begins(&record) + "as the database has them are ")), "{}", count.stdout);
    let (code, told) = night.verify(&entry.workspace);
    assert_eq!((code, told), (3, begins(&record) + "its deliverables can be checked against the database alone\n"));
    std::fs::write(&deliverable, "other").unwrap();
    assert_eq!(night.verify(&id), (1, format!("{path}: changed: the database holds another SHA-256 of it\n")));
}
