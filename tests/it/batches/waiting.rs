//! What is told of jobs that wait: for another machine, for a time; and of batches that share a name.

use super::{FUTURE, TestDir, at, batch, batch_id, id, queued, wait};
use overnight::store::JobTarget;
use overnight_core::job::record::HoldReason;
use serde_json::{Value, json};

impl TestDir {
    /// The jobs' workspaces are on that machine.
    fn bound(&self, numbers: &[u32], machine: &str) {
        for number in numbers {
            self.sql(&format!(
                "update jobs set host = '{machine}', workspace = '/there/x' where id = '{}'",
                id(*number)
            ));
        }
    }

    fn both(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let output = self.output(words);
        let text = |bytes| self.steady(&String::from_utf8(bytes).unwrap());
        (output.status.code(), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn of_batches_that_share_a_name_the_newest_is_meant_and_said_so() {
    let dir = TestDir::new();
    for number in 1..=3 {
        dir.submit(&batch(number, Some("nightly")), &[queued(10 + number)]);
    }
    dir.submit(&batch(4, Some("other")), &[queued(21)]);
    let said = format!("3 batches are called nightly: this is the newest, {}; name another by its id\n", batch_id(3));
    for words in [&["show", "nightly"][..], &["report", "nightly"], &["jobs", "--batch", "nightly"]] {
        let (code, stdout, stderr) = dir.both(words);
        assert_eq!((code, stderr), (Some(0), said.clone()), "{words:?}");
        assert!(stdout.contains("nightly") || stdout.contains("contract 13.md"), "{stdout}");
    }
    let (_, stdout, stderr) = dir.both(&["show", "nightly", "--json"]);
    let shown: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&shown["batch"], stderr), (&json!(batch_id(3)), said.clone()));
    for verb in ["pause", "resume", "cancel"] {
        let (code, _, stderr) = dir.both(&[verb, "nightly"]);
        assert_eq!((code, stderr), (Some(0), said.clone()), "{verb}");
    }
    let (code, stdout, stderr) = dir.both(&["retry", "nightly"]);
    assert_eq!((code, stdout), (Some(2), String::new()));
    assert!(stderr.starts_with(&format!("{said}error: no job of batch 'nightly' has failed")), "{stderr}");
    assert_eq!(dir.manifest(1), ["11 queued"]);
    assert_eq!(dir.manifest(3), ["13 cancelled"]);
    // By its id, and a name that is one batch's: nothing to say.
    for name in [&batch_id(1).to_string(), "other"] {
        assert_eq!(dir.both(&["pause", name]).2, "", "{name}");
        assert_eq!(dir.both(&["cancel", name]).2, "", "{name}");
    }
}

#[test]
fn jobs_of_another_machine_are_told_with_its_name() {
    let dir = TestDir::new();
    dir.submit(&batch(1, Some("night")), &(11..=16).map(queued).collect::<Vec<_>>());
    dir.bound(&[11, 12], "machA");
    dir.bound(&[13, 14, 15], "mach\u{1b}[31mB");
    dir.bound(&[16], &overnight::workspace::lock::host());
    wait(async { dir.store.hold(JobTarget::Job(id(15)), HoldReason::Window, Some(at(FUTURE))).await.unwrap() });
    let shown = dir.says(0, &["show", "night"]);
    let waits = "\nWaits\n  \
                 queued         2: for a worker on mach [31mB, which has the workspace\n  \
                 queued         2: for a worker on machA, which has the workspace\n  \
                 held (window)  1: goes on by itself, with a worker on mach [31mB; the first at 2099-01-01 06:30 UTC\n";
    assert!(shown.contains(waits), "{shown}");
    // One of this machine can be worked here.
    assert!(shown.contains("\nNext\n  overnight work\n"), "{shown}");
    let waiting = json!([
        {"status": "queued", "hold_reason": null, "host": null, "jobs": 1, "until": null},
        {"status": "queued", "hold_reason": null, "host": "mach\u{1b}[31mB", "jobs": 2, "until": null},
        {"status": "queued", "hold_reason": null, "host": "machA", "jobs": 2, "until": null},
        {"status": "held", "hold_reason": "window", "host": "mach\u{1b}[31mB", "jobs": 1, "until": FUTURE},
    ]);
    assert_eq!(dir.json(&["show", "night", "--json"])["waits_for"], waiting);
    assert_eq!(dir.json(&["report", "night", "--json"])["waits_for"], waiting);
    let there = "for a worker on machA, which has the workspace";
    for words in [
        &["report", "night"][..],
        &["report", "night", "--format", "markdown"],
        &["report", "night", "--format", "html"],
    ] {
        let report = dir.says(0, words);
        assert!(report.contains(there), "{words:?} {report}");
    }

    // With nothing that this machine could do.
    dir.says(0, &["cancel", &id(16).to_string()]);
    dir.sql(&format!("update jobs set status = 'cancelled', wants = null where id = '{}'", id(16)));
    let shown = dir.says(0, &["show", "night"]);
    assert!(shown.contains("\nNext\n  overnight pause night\n"), "{shown}");
    let notes = "3 jobs stay in the queue for a worker on mach [31mB, which has their workspaces: run `overnight work` there\n\
                 2 jobs stay in the queue for a worker on machA, which has their workspaces: run `overnight work` there\n";
    assert_eq!(dir.both(&["work", "--until-empty"]), (Some(0), "nothing was done\n".to_owned(), notes.to_owned()));
    let (_, stdout, _) = dir.both(&["work", "--until-empty", "--json", "--quiet"]);
    let summary: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(summary["elsewhere"], json!({"machA": 2, "mach\u{1b}[31mB": 3}));
}

#[test]
fn a_batch_that_is_held_for_a_time_says_when_it_goes_on() {
    for (reason, name) in [(HoldReason::Window, "window"), (HoldReason::Outage, "outage"), (HoldReason::Disk, "disk")] {
        let dir = TestDir::new();
        dir.submit(&batch(1, Some("night")), &[queued(11), queued(12)]);
        wait(async { dir.store.hold(JobTarget::Batch(batch_id(1)), reason, Some(at(FUTURE))).await.unwrap() });
        let shown = dir.says(0, &["show", "night"]);
        let standing = format!("held ({name})");
        let waits = format!("\nWaits\n  {standing:<13}  2: goes on by itself; the first at 2099-01-01 06:30 UTC\n");
        assert!(shown.contains(&waits), "{shown}");
    }
}
