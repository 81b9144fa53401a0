//! A disk that gets full in the middle: the job is held with reason `disk`, what was written verifies, and it goes on to the
//! same deliverables once there is room. Real tmpfs with real ENOSPC; what strikes first differs with the room that is left.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    room::Room,
    script,
    test_dir::{PROGRAM, RUN, Ran, TestDir, ran},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What the disk had no room for: the words of the sentence without names, numbers and the system's own.
fn struck(sentence: &str) -> String {
    let end = sentence.find(['\'', '(']).unwrap_or(sentence.len());
    sentence[..end].trim_end_matches(" the disk is full ").trim().to_owned()
}

fn one_line(ran: &Ran) {
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.lines().count() == 1, "{ran:?}");
}

/// The whole job with a longer report.
fn reporting(report: &str) -> Vec<Value> {
    let text = serde_json::to_string(&script::whole(0.9)).unwrap();
    serde_json::from_str(&text.replace(&json!(script::REPORT).to_string(), &json!(report).to_string())).unwrap()
}

/// Runs a job with ever more room, until it needs no more; gives what it was struck at.
fn a_job_at_every_size(room: &mut Room, step_kib: u64) -> (BTreeSet<String>, u64) {
    let report = "The server must answer.\n".repeat(2_000);
    room.dir.script(&reporting(&report));
    let mut strikes = BTreeSet::new();
    let mut held = 0;
    for kib in (0..).step_by(usize::try_from(step_kib).unwrap()) {
        room.must("rm -rf disk/* database/*; mkdir disk/workspaces disk/database");
        room.leave_kib(kib);
        let ran = room.run(&[&RUN[..], &["--json", "--quiet"]].concat());
        match ran.code {
            0 => return (strikes, held),
            // Nothing was made, and nothing is left of it.
            1 | 2 => {
                one_line(&ran);
                assert!(ran.stderr.contains("disk is full") || ran.stderr.contains("no room left"), "{kib}: {ran:?}");
                strikes.insert(struck(&ran.stderr));
                assert_eq!(room.must("ls -A disk/workspaces"), "", "{kib}: {ran:?}");
                room.make_room();
            }
            4 => {
                held += 1;
                if ran.stderr.is_empty() {
                    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
                    assert_eq!((&result["status"], &result["hold_reason"]), (&json!("held"), &json!("disk")));
                    strikes.insert(struck(result["reason"].as_str().unwrap()));
                } else {
                    one_line(&ran);
                    strikes.insert(struck(&ran.stderr));
                }
                // On the full disk already: what is there is whole.
                let workspace = room.must("echo disk/workspaces/*-*-*-*-*").trim().to_owned();
                let verified = room.run(&["audit", "verify", &workspace]);
                assert_eq!(verified.code, 0, "{kib}: {verified:?} after {ran:?}");
                room.make_room();
                let indexed = room.run(&["reindex", "--json"]);
                assert_eq!(indexed.code, 0, "{kib}: {indexed:?} after {ran:?}");
                let resumed = room.run(&["resume", "last", "--json", "--quiet"]);
                assert_eq!(resumed.code, 0, "{kib}: {resumed:?} after {ran:?}");
                let result: Value = serde_json::from_str(&resumed.stdout).unwrap();
                // No turn was lost, and none was made twice.
                assert_eq!((&result["status"], &result["turns"]), (&json!("completed"), &json!(10)), "{kib}");
                assert_eq!(room.must(&format!("cat {workspace}/output/report.md")), report);
                let verified = room.run(&["audit", "verify", "--all"]);
                assert_eq!(verified.code, 0, "{kib}: {verified:?}");
                let agreed = room.run(&["reindex"]);
                assert_eq!(agreed.stdout, "1 job: 1 unchanged (1 completed)\n", "{kib}");
            }
            _ => unreachable!("{kib}: {ran:?}"),
        }
    }
    unreachable!("it needs no end of room")
}

#[test]
fn wherever_a_full_disk_strikes_the_job_is_held_and_goes_on() {
    let Some(mut room) = Room::new(false) else { return };
    let (strikes, held) = a_job_at_every_size(&mut room, 20);
    let all = ["write", "append to the journal", "archive"];
    let all = all.iter().all(|what| strikes.iter().any(|strike| strike.starts_with(&format!("failed to {what}"))));
    assert!(held >= 5 && all, "{held}: {strikes:#?}");
}

#[test]
fn a_database_on_the_full_disk_is_no_worse() {
    let Some(mut room) = Room::new(true) else { return };
    let (strikes, held) = a_job_at_every_size(&mut room, 90);
    assert!(
        held >= 5 && strikes.iter().any(|strike| strike.contains("no room left for database")),
        "{held}: {strikes:#?}"
    );
}

/// Where nothing can be mounted, this one is left: another error of the system, which calls for the same.
#[test]
fn a_bound_on_the_size_of_files_is_taken_for_a_full_disk() {
    let dir = TestDir::new();
    let report = "The server must answer.\n".repeat(40_000);
    dir.script(&reporting(&report));
    dir.put("task.md", script::task("context: { budget_tokens: 1000000 }\n"));
    // In units of 512 bytes: 800 KiB. Ignored, the signal leaves the failed write to the program.
    let line = format!("trap '' XFSZ; ulimit -f 1600; exec '{PROGRAM}' \"$@\"");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &line, "sh"]).args(RUN).args(["--json", "--quiet"]).current_dir(dir.folder.path());
    let held = ran(&command.env_clear().env("DATABASE_URL", &dir.url).output().unwrap());
    assert_eq!((held.code, held.stderr.as_str()), (4, ""), "{held:?}");
    let result: Value = serde_json::from_str(&held.stdout).unwrap();
    assert_eq!((&result["status"], &result["hold_reason"]), (&json!("held"), &json!("disk")));
    assert_eq!(dir.run(&["audit", "verify", "last"]).code, 0);
    let (code, result) = dir.json(&["resume", "last", "--quiet"]);
    assert_eq!((code, &result["deliverables"][0]["bytes"]), (0, &json!(report.len())), "{result}");
    assert_eq!(dir.run(&["audit", "verify", "last"]).code, 0);
}

/// A worker waits for room as it waits for a server that is away: it says so once, and goes on.
#[test]
fn a_worker_waits_for_room_for_its_database() {
    let Some(mut room) = Room::new(true) else { return };
    let jobs = 40;
    std::fs::remove_dir_all(room.dir.path("docs")).unwrap();
    for number in 0..jobs {
        room.dir.put(format!("docs/{number}.md"), format!("The pump {number} must stop.\n"));
    }
    room.must("mkdir -p disk/database disk/workspaces");
    let what = ["--documents", "docs", "--each", "--model", "offline", "--batch", "pumps"];
    let submitted = room.run(&[&["submit", "extract-requirements"], &what[..]].concat());
    assert_eq!(submitted.code, 0, "{submitted:?}");
    room.leave_kib(400);
    room.start(&["work"]);
    let read = |room: &Room, file: &str| std::fs::read_to_string(room.dir.path(file)).unwrap_or_default();
    let said = |room: &Room, what: &str| read(room, "talk").lines().filter(|line| line.contains(what)).count();
    let full = "make room: it is waited for";
    bounded(|| said(&room, full) > 0 || room.dir.path("code").exists(), || read(&room, "talk"));
    room.make_room();
    // For ten seconds nothing failed.
    bounded(|| said(&room, "there is room for the database again") > 0, || read(&room, "talk"));
    assert_eq!((said(&room, full), room.dir.path("code").exists()), (1, false), "{}", read(&room, "talk"));
    // What was held for want of room, if anything was, goes on by itself in some minutes.
    room.run(&["resume", "pumps"]);
    let ended = |room: &mut Room| {
        let listed = room.run(&["jobs", "--batch", "pumps", "--json"]).stdout;
        let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
        listed.iter().filter(|job| job["status"] == "completed").count()
    };
    let mut tries = 0..300;
    while ended(&mut room) < jobs && tries.next().is_some() {
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert_eq!(ended(&mut room), jobs, "{}", read(&room, "talk"));
    room.must("kill -TERM $(cat number)");
    bounded(|| room.dir.path("code").exists(), || read(&room, "talk"));
    assert_eq!(read(&room, "code"), "0\n", "{}", read(&room, "talk"));
}

/// Waits until it is so, for two minutes at most.
fn bounded(is_so: impl Fn() -> bool, told: impl Fn() -> String) {
    for _ in 0..1_200 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    unreachable!("{}", told());
}
