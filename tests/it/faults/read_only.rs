//! A folder that can only be read: one clear sentence, nothing lost, and the job goes on once it can be written again. Real
//! read-only mounts, because permissions don't bind root; and permissions, where an ordinary account works on the job.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    room::Room,
    script,
    test_dir::{RUN, Ran},
};
use serde_json::{Value, json};

/// A job held after four turns.
fn held(room: &mut Room) -> String {
    let ran = room.run(&[&RUN[..], &["--turns", "4", "--json", "--quiet"]].concat());
    assert_eq!(ran.code, 4, "{ran:?}");
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    result["id"].as_str().unwrap().to_owned()
}

const ON: [&str; 6] = ["resume", "last", "--turns", "100", "--json", "--quiet"];

/// How the job stands in the database.
fn standing(room: &mut Room) -> (Value, Value) {
    let jobs: Value = serde_json::from_str(&room.run(&["jobs", "--json"]).stdout).unwrap();
    (jobs[0]["status"].clone(), jobs[0]["hold_reason"].clone())
}

fn goes_on(room: &mut Room, id: &str) {
    let ran = room.run(&ON);
    assert_eq!(ran.code, 0, "{ran:?}");
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&result["status"], &result["turns"]), (&json!("completed"), &json!(10)));
    assert_eq!(room.must(&format!("cat disk/workspaces/{id}/output/report.md")), script::REPORT);
    let verified = room.run(&["audit", "verify", "--all"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn what_can_only_be_read_is_shown() {
    let Some(mut room) = Room::new(false) else { return };
    let id = held(&mut room);
    let before = standing(&mut room);
    room.must("mount --bind database database && mount -o remount,ro,bind database");
    assert_eq!(standing(&mut room), before);
    let shown = room.run(&["show", &id]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{shown:?}");
}

#[test]
fn a_folder_that_can_only_be_read_stops_the_job_and_loses_nothing() {
    let Some(mut room) = Room::new(false) else { return };
    for (place, said) in [
        (".", "failed to lock '.lock'"),
        ("archive", "failed to archive"),
        ("output", "failed to write 'output/report.md'"),
    ] {
        room.must("rm -rf disk/workspaces database/*");
        let id = held(&mut room);
        let path = format!("disk/workspaces/{id}/{place}");
        room.must(&format!("mkdir -p {path} && mount --bind {path} {path} && mount -o remount,ro,bind {path}"));
        for _ in 0..2 {
            let ran = room.run(&ON);
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{place}: {ran:?}");
            assert!(
                ran.stderr.contains(said)
                    && ran.stderr.contains("Read-only file system")
                    && ran.stderr.contains(&id)
                    && ran.stderr.lines().count() == 1,
                "{place}: {ran:?}"
            );
            assert_eq!(standing(&mut room).0, json!("held"), "{place}");
            let verified = room.run(&["audit", "verify", "last"]);
            assert_eq!(verified.code, 0, "{place}: {verified:?}");
        }
        room.must(&format!("umount {path}"));
        goes_on(&mut room, &id);
    }
}

#[test]
fn a_workspaces_folder_that_can_only_be_read_makes_no_job() {
    let Some(mut room) = Room::new(false) else { return };
    let id = held(&mut room);
    room.must("mount -o remount,ro disk");
    let ran = room.run(&[&RUN[..], &["--quiet"]].concat());
    let said = "Read-only file system (os error 30)";
    assert!(
        ran.code != 0
            && ran.stderr.contains(said)
            && ran.stderr.contains("disk/workspaces")
            && ran.stderr.lines().count() == 1,
        "{ran:?}"
    );
    // What only reads goes on working, also where the rows have to be made from it.
    for words in [&["audit", "last"][..], &["logs", "last"], &["show", "last"], &["audit", "verify", "--all"]] {
        assert_eq!(room.run(words).code, 0, "{words:?}");
    }
    assert_eq!(room.run(&["reindex"]).stdout, "1 job: 1 unchanged (1 held (limit))\n");
    room.must("rm -r database/*");
    let ran = room.run(&["reindex"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "1 job: 1 restored (1 held (limit))\n"), "{ran:?}");
    room.must("mount -o remount,rw disk");
    goes_on(&mut room, &id);
}

/// Nothing is wrong with the jobs: none of them fails over it, and all go on once somebody has seen to the folder.
#[test]
fn a_workers_folder_that_can_only_be_read_holds_its_jobs() {
    let Some(mut room) = Room::new(false) else { return };
    room.must("mkdir -p disk/workspaces");
    let what = ["--documents", "docs", "--each", "--model", "offline", "--batch", "pumps"];
    assert_eq!(room.run(&[&["submit", "extract-requirements"], &what[..]].concat()).code, 0);
    let stands = |room: &mut Room| {
        let jobs: Value = serde_json::from_str(&room.run(&["jobs", "--batch", "pumps", "--json"]).stdout).unwrap();
        let of = |job: &Value| ["status", "hold_reason", "attempts"].map(|key| job[key].clone());
        jobs.as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    room.must("mount -o remount,ro disk");
    let ran = room.run(&["work", "--until-empty"]);
    let said = "Read-only file system (os error 30); see that its folder can be written, and resume the job";
    let told = ran.stderr.lines().filter(|line| line.contains(": held (paused): ") && line.ends_with(said)).count();
    assert_eq!((ran.code, ran.stdout.as_str(), told), (4, "2 held (paused)\n", 2), "{ran:?}");
    assert_eq!(stands(&mut room), vec![[json!("held"), json!("paused"), json!(0)]; 2]);
    room.must("mount -o remount,rw disk");
    assert_eq!(room.run(&["resume", "pumps"]).code, 0);
    assert_eq!(room.run(&["work", "--until-empty"]).code, 0);
    assert_eq!(stands(&mut room), vec![[json!("completed"), json!(null), json!(0)]; 2]);
}

#[test]
fn a_database_that_can_only_be_read_is_named() {
    let Some(mut room) = Room::new(true) else { return };
    let id = held(&mut room);
    room.must("mount --bind disk/database disk/database && mount -o remount,ro,bind disk/database");
    let ran = room.run(&ON);
    assert!(
        ran.code == 2 && ran.stderr.contains("disk/database/overnight.db") && ran.stderr.lines().count() == 1,
        "{ran:?}"
    );
    room.must("umount disk/database");
    goes_on(&mut room, &id);
}

/// Root is bound by no permission, so this one gives the work to an account that is.
#[test]
fn permissions_stop_an_ordinary_account_the_same_way() {
    let Some(mut room) = Room::new(false) else { return };
    if room.sh("setpriv --reuid=65534 --regid=65534 --clear-groups true").code != 0 {
        return;
    }
    room.must("chmod 777 . disk database");
    room.account(65534);
    if room.run(&["--version"]).code != 0 {
        // The build's folder is closed to others: nothing to test with.
        return;
    }
    let id = held(&mut room);
    for place in [".", "archive"] {
        room.must(&format!("chmod 555 disk/workspaces/{id}/{place}"));
        let Ran { code, stdout, stderr } = room.run(&ON);
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (1, "", 1), "{place}: {stderr}");
        assert!(stderr.contains("Permission denied (os error 13)") && stderr.contains(&id), "{stderr}");
        assert_eq!(standing(&mut room).0, json!("held"));
        room.must(&format!("chmod 755 disk/workspaces/{id}/{place}"));
    }
    goes_on(&mut room, &id);
}
