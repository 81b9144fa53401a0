//! (e) How much of the database a job with 64 todos takes, with all that its checkpoints leave behind.

use crate::{
    load::{Ground, LEASE_MS, end, number, state, stores, submit},
    table,
};
use overnight::store::ClaimedJob;
use overnight_core::job::{
    record::{Checkpoint, JobStatus, PhaseRow, TodoRow},
    time::Timestamp,
    todo::{Todo, TodoStatus},
};
use std::sync::Arc;
use tokio::task::JoinSet;
use uuid::Uuid;

const JOBS: u32 = 120;
const PHASES: u32 = 8;
const TODOS: u32 = 8;

pub(crate) fn measure(ground: &Ground) {
    let url = ground.database();
    let bytes = ground.runtime.block_on(async {
        let store = Arc::new(stores(&url, 1).await.remove(0));
        submit(&**store, JOBS as usize, None).await;
        let size = "select pg_database_size(current_database())";
        let before = number(&url, size).await;
        let claimed = store.claim_next(Uuid::now_v7(), "here", JOBS, LEASE_MS).await.unwrap();
        let mut tasks = JoinSet::new();
        for job in claimed {
            let store = store.clone();
            tasks.spawn(async move {
                for told in checkpoints() {
                    store.checkpoint(job.id, job.lease, &told).await.unwrap();
                }
                finish(&**store, &job).await;
            });
        }
        tasks.join_all().await;
        number(&url, size).await - before
    });
    table::limited("database for a job with 64 todos", bytes as f64 / f64::from(JOBS) / 1024.0, 50.0, "KiB");
}

async fn finish(store: &dyn overnight::store::Store, job: &ClaimedJob) {
    store.checkpoint(job.id, job.lease, &end()).await.unwrap();
}

/// Of each phase: its todos as they are made, each as it is completed, and the end.
fn checkpoints() -> Vec<Checkpoint> {
    let mut all = Vec::new();
    let told = |phases, todos| Checkpoint { state: state(JobStatus::Running), phases, todos };
    for number in 1..=PHASES {
        all.push(told(vec![phase(number, false)], (1..=TODOS).map(|id| todo(number, id, false)).collect()));
        for id in 1..=TODOS {
            all.push(told(Vec::new(), vec![todo(number, id, true)]));
        }
        all.push(told(vec![phase(number, true)], Vec::new()));
    }
    all
}

fn time() -> Timestamp {
    serde_json::from_value("2026-11-21T22:00:00.000Z".into()).unwrap()
}

fn phase(number: u32, is_done: bool) -> PhaseRow {
    PhaseRow {
        number,
        attempt: 1,
        kind: "planned".to_owned(),
        title: "Extract the duties of the supplier".to_owned(),
        outcome: if is_done { "done" } else { "running" }.to_owned(),
        issue: None,
        turns: 24,
        tokens_in: 96_000,
        tokens_out: 4_800,
        cost_usd: Some(0.03),
        started: time(),
        ended: is_done.then(time),
        archive: is_done.then(|| format!("phase-{number:02}-extract-the-duties")),
    }
}

fn todo(phase: u32, id: u32, is_done: bool) -> TodoRow {
    TodoRow {
        phase,
        attempt: 1,
        todo: Todo {
            id,
            content: format!("Read section {id} of the contract and list each duty with its page"),
            active_form: format!("Reading section {id} of the contract"),
            status: if is_done { TodoStatus::Completed } else { TodoStatus::Pending },
            context: Some("pages 3 to 5, and the annex on payment".to_owned()),
            completion_criteria: Some("each sentence with shall or must is listed".to_owned()),
            agent_type: None,
            order: id,
            outcome: is_done.then(|| "12 duties found, two of them without a date".to_owned()),
            unevidenced: false,
            created: time(),
            started: is_done.then(time),
            completed: is_done.then(time),
        },
    }
}
