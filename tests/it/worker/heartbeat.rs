//! Nothing that a worker does can delay its heartbeat or the sweep.

use super::{A, C, JobStatus, Night, OneModel, ended};
use crate::store::Place;
use async_trait::async_trait;
use overnight::{
    model::{Model, Request, rules::Offline},
    notify::{NoticeChannel, NoticeTarget},
    store,
    worker::{Worker, WorkerEvent},
};
use overnight_core::{
    job::failure::Failure,
    message::{Reply, Usage},
};
use std::sync::{
    Arc, Barrier,
    atomic::{AtomicBool, Ordering},
};
use tokio::{runtime::Builder, sync::watch};
use uuid::Uuid;

/// The offline model, whose first call keeps its thread from everything else until somebody else is there too, twice.
#[derive(Debug)]
struct Blocks {
    door: Barrier,
    is_through: AtomicBool,
}

#[async_trait]
impl Model for Blocks {
    fn name(&self) -> &str {
        Offline(None).name()
    }

    fn window_tokens(&self) -> u64 {
        Offline(None).window_tokens()
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        if !self.is_through.swap(true, Ordering::SeqCst) {
            self.door.wait();
            self.door.wait();
        }
        Offline(None).reply(request).await
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        Offline(None).cost(usage)
    }
}

pub(super) async fn a_blocked_thread_keeps_no_heartbeat_back(place: Place) {
    let night = Night::new(place).await;
    night.submit(1, &[A], |_, _| {}).await;
    let model = Arc::new(Blocks { door: Barrier::new(2), is_through: AtomicBool::new(false) });
    let (config, url, blocks) = (night.config(true), night.place.url.clone(), model.clone());
    let worked = std::thread::spawn(move || {
        // One thread for all that the worker does.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (_keep, stop) = watch::channel(false);
        runtime.block_on(async {
            let store = store::connect(&url).await.unwrap();
            let work = async move {
                let tell = Arc::new(|_: WorkerEvent<'_>| {});
                Worker::new(store, Arc::new(OneModel(blocks)), config, stop, tell).run().await.unwrap()
            };
            tokio::spawn(work).await.unwrap()
        })
    });
    model.door.wait();
    let mut deadlines = Vec::new();
    for _ in 0..100 {
        let until = night.place.value("select cast(lease_until as text) from jobs").await;
        if deadlines.last() != Some(&until) {
            deadlines.push(until);
        }
        if deadlines.len() > 3 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    model.door.wait();
    assert!(deadlines.len() > 3, "the lease was not renewed: {deadlines:?}");
    assert_eq!(worked.join().unwrap(), ended(&[("completed", 1)]));
}

/// While a hook takes its time, jobs of lost workers are taken over and worked; each batch's end is told once.
pub(super) async fn a_hook_keeps_nobody_waiting(place: Place) {
    let night = Night::new(place).await;
    night.submit(2, &[C], |_, jobs| jobs[0].max_attempts = 2).await;
    let lost = night.store.claim_next(Uuid::now_v7(), "here", 1, 60_000).await.unwrap().remove(0);
    night.submit(1, &[A], |_, _| {}).await;
    let (told, done) = (night.folder.path().join("told"), night.folder.path().join("done"));
    let line =
        format!("cat >> '{0}'; echo >> '{0}'; until [ -e '{1}' ]; do sleep 0.05; done", told.display(), done.display());
    let mut config = night.config(true);
    config.notices = vec![NoticeTarget { channel: NoticeChannel::parse(&line).unwrap(), only_ends: true }];
    let (_keep, stop) = watch::channel(false);
    let worker = night.worker(Arc::new(Offline(None)), config, stop);
    let check = async {
        while !told.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        night.store.renew(lost.id, lost.lease, 1).await.unwrap();
        night.until(2, "c.md", JobStatus::Completed).await;
        std::fs::write(&done, "").unwrap();
    };
    let (summary, ()) = tokio::join!(worker.run(), check);
    assert_eq!(summary.unwrap(), ended(&[("completed", 2)]));
    let told = std::fs::read_to_string(&told).unwrap();
    let told: Vec<serde_json::Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.iter().map(|told| &told["name"]).collect::<Vec<_>>(), ["night 1", "night 2"]);
}
