//! A worker that is killed at each place between a call and its answer: whoever goes on finds what was handed in and what was
//! sent, and nothing is answered twice. The worker is a process of its own: the program of these tests, started again.

use super::{Batching, Desk, Format, Night, Tier, completed, with_each_vendor};
use crate::support::wait;
use overnight::store;
use serde_json::{Value, json};
use std::{os::unix::process::ExitStatusExt, process::Output};
use tokio::process::Command;

/// Says for whom to work, where it is set.
const FOR_WHOM: &str = "OVERNIGHT_TEST_BATCH_WORKER";
const NAME: &str = "remote::batch_tier::crashes::a_worker_in_a_process_of_its_own";
/// SIGABRT.
const ABORTED: i32 = 6;
/// In the order in which a call comes by them.
const PLACES: [&str; 4] = ["model.submitted", "batch.intended", "batch.created", "batch.answered"];

/// The worker. In any other process of tests it has nothing to do.
#[test]
fn a_worker_in_a_process_of_its_own() {
    let Ok(told) = std::env::var(FOR_WHOM) else { return };
    let _armed = overnight::failpoint::arm();
    let told: Value = serde_json::from_str(&told).unwrap();
    let text = |name: &str| told[name].as_str().unwrap().to_owned();
    let format = Format::ALL.into_iter().find(|format| format.name() == text("format")).unwrap();
    wait(async {
        let store = store::connect(&text("database")).await.unwrap();
        let desk = Desk { store, workspaces: text("workspaces").into(), url: text("url"), format };
        assert_eq!(desk.work(Tier::Batch).await, completed(3));
    });
}

impl Night {
    /// Works in another process, which is killed at `place`, if that is none of its ends.
    async fn work_elsewhere(&self, place: &str) -> Output {
        let told = json!({
            "database": self.place.url, "workspaces": self.desk.workspaces, "url": self.desk.url,
            "format": self.desk.format.name(),
        });
        let points = if place.is_empty() { String::new() } else { format!("{place}=return") };
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(FOR_WHOM, told.to_string())
            .env("FAILPOINTS", points)
            .output()
            .await
            .unwrap()
    }

    /// What a dead worker held is held no longer, and what it was about to send, it would have sent by now.
    async fn time_passes(&self) {
        let long_ago = "2000-01-01T00:00:00.000Z";
        let sql = format!(
            "update call_lanes set held_until = '{long_ago}';
             update jobs set lease_until = '{long_ago}' where lease_until is not null;
             update jobs set attempts = 0;
             update provider_batches set intended = strftime('%Y-%m-%dT%H:%M:%fZ', intended, '-2 minutes')
             where handle is null;"
        );
        self.place.sql(sql).await;
    }
}

/// One night, on which the worker dies at each of the places in turn.
#[tokio::test]
async fn a_killed_worker_leaves_nothing_to_be_paid_twice() {
    with_each_vendor(async |format| {
        let night = Night::of(format, Batching::default()).await;
        night.submit().await;
        for place in PLACES {
            let output = night.work_elsewhere(place).await;
            assert_eq!(output.status.signal(), Some(ABORTED), "{place}: it lives: {output:?}");
            let counts = night.server.batches();
            // Up to the last of them nothing is answered: what is answered twice would be by the fault of a crash.
            assert_eq!(counts.live.len(), 0, "{place}: {counts:#?}");
            night.time_passes().await;
        }
        let output = night.work_elsewhere("").await;
        assert!(output.status.success(), "{output:?}");
        night.ended_well().await;
    })
    .await;
}
