//! What happens to a job while nobody works on it: what someone else changes, and what a dead process was asked.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::TestDir,
    support::{samples, wait},
};
use overnight::store::{ControlSignal, connect};
use serde_json::Value;
use std::path::PathBuf;

/// A job of the samples, held after so many turns.
fn held(dir: &TestDir, turns: &str) -> Value {
    let samples = samples().display().to_string();
    let ran = dir.run_with(&[], &["run", "extract-requirements", "-d", &samples, "-q", "--json", "--turns", turns]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// An edit of a deliverable is named for ever, whether the job goes on over it or beside it.
#[test]
fn a_deliverable_that_someone_else_changed_stays_named_when_the_job_went_on() {
    for (turns, expected) in [
        (
            "9",
            "archive/phase-01-normative-statements/journal.jsonl line 78: output/requirements.json was not as the \
             journal knew it when this call began: someone else changed it\n",
        ),
        (
            "14",
            "archive/phase-01-normative-statements/manifest.json: output/requirements.json was changed before this, \
             and the journal doesn't know by whom\n",
        ),
    ] {
        let dir = TestDir::new();
        let shown = held(&dir, turns);
        let output = PathBuf::from(shown["workspace"].as_str().unwrap()).join("output/requirements.json");
        let forged = std::fs::read_to_string(&output).unwrap() + " ";
        std::fs::write(&output, forged).unwrap();
        let resumed = dir.run_with(&[], &["resume", "last", "-q", "--turns", "500"]);
        assert_eq!(resumed.code, 0, "{}", resumed.stderr);
        let verified = dir.run_with(&[], &["audit", "verify", "last"]);
        assert_eq!((verified.code, verified.stdout.as_str()), (1, expected));
    }
}

/// A wish to cancel outlives the process that was asked: no turn is worked after it.
#[test]
fn a_cancel_that_a_dead_process_did_not_hear_is_heard_first() {
    let dir = TestDir::new();
    let before = held(&dir, "5");
    let url = format!("sqlite://{}/workspaces/overnight.db", dir.path().display());
    wait(async {
        let store = connect(&url).await.unwrap();
        store.send_signal(before["id"].as_str().unwrap().parse().unwrap(), ControlSignal::Cancel).await.unwrap();
    });
    let resumed = dir.run_with(&[], &["resume", "last", "-q", "--json", "--turns", "500"]);
    let after: Value = serde_json::from_str(&resumed.stdout).unwrap();
    assert_eq!((resumed.code, &after["status"], &after["turns"]), (5, &"cancelled".into(), &before["turns"]));
}
