//! What a person says of a result, on a disk that has no room for it: nothing of it is recorded, the job waits for its review as
//! before, and the same is taken once there is room. Real tmpfs with real ENOSPC.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    room::Room,
    script,
    test_dir::{RUN, Ran},
};
use crate::store::postgres_url;
use serde_json::{Value, json};

/// Status, reason of the hold, and the journal's end of all jobs that wait for a review.
fn waiting(room: &mut Room) -> Vec<Value> {
    let listed: Vec<Value> = serde_json::from_str(&room.run(&["jobs", "--needs-review", "--json"]).stdout).unwrap();
    listed.iter().map(|job| json!([job["id"], job["status"], job["hold_reason"], job["turns"]])).collect()
}

fn a_word_that_does_not_fit(room: &mut Room) {
    room.dir.put("task.md", script::task("review: required\n"));
    room.dir.script(&script::whole(0.9));
    room.dir.put("more/c.md", "The valve must close.\n".repeat(2_000));
    room.must("mkdir -p disk/database disk/workspaces");
    let held = room.run(&[&RUN[..], &["--quiet"]].concat());
    assert_eq!(held.code, 4, "{held:?}");
    let workspace = room.must("echo disk/workspaces/*-*-*-*-*").trim().to_owned();
    let files = format!("cd {workspace}; find . -type f ! -name .lock | sort | xargs sha256sum");
    let (before, record) = (waiting(room), room.must(&files));
    assert_eq!(before.len(), 1);
    let long = "Read it all. ".repeat(1_000);
    for words in
        [&["approve", "last", "--comment", &long][..], &["feedback", "last", &long], &["add-documents", "last", "more"]]
    {
        room.leave_kib(4);
        let refused: Ran = room.run(words);
        let why = refused.stderr.contains("disk is full") || refused.stderr.contains("no room left");
        assert!(refused.code != 0 && why, "{words:?}: {refused:?}");
        // A database without room for its index in memory can't be read.
        room.make_room();
        assert_eq!(waiting(room), before, "{words:?}");
        assert_eq!(room.must(&files), record, "{words:?}: {refused:?}");
    }
    assert_eq!(room.run(&["audit", "verify", "last"]).code, 0);
    let approved = room.run(&["approve", "last", "--comment", &long]);
    assert_eq!((approved.code, waiting(room)), (0, Vec::new()), "{approved:?}");
    let verified = room.run(&["audit", "verify", "--all"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn what_a_full_disk_does_not_take_is_taken_back_whole() {
    for database_too in [false, true] {
        let Some(mut room) = Room::new(database_too) else { return };
        a_word_that_does_not_fit(&mut room);
    }
}

#[tokio::test]
async fn what_a_full_disk_does_not_take_leaves_the_row_of_postgres() {
    let url = postgres_url().await;
    let Some(room) = Room::new(false) else { return };
    let mut room = room.with_database(url);
    tokio::task::spawn_blocking(move || a_word_that_does_not_fit(&mut room)).await.unwrap();
}
