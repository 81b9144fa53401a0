//! (b) From the submission of a job to its start by a worker that waits for it.

use crate::{
    load::{Ground, LEASE_MS, RUNS, stores, submit},
    measure::{median, ms},
    table,
};
use std::time::{Duration, Instant};
use uuid::Uuid;

const JOBS: usize = 200;

pub(crate) fn measure(ground: &Ground) {
    let (mut half, mut most) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut times = one_run(ground);
        times.sort();
        half.push(times[JOBS / 2]);
        most.push(times[JOBS * 95 / 100]);
    }
    table::limited("submission to start, half of them under", ms(median(half)), 10.0, "ms");
    table::limited("submission to start, 95 of 100 under", ms(median(most)), 20.0, "ms");
}

fn one_run(ground: &Ground) -> Vec<Duration> {
    let url = ground.database();
    ground.runtime.block_on(async {
        let mut both = stores(&url, 2).await;
        let (person, worker) = (both.remove(0), both.remove(0));
        let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
        assert!(worker.changed(Duration::from_secs(10)).await);
        let works = tokio::spawn(async move {
            let id = Uuid::now_v7();
            let mut left = JOBS;
            while left > 0 {
                let claimed = worker.claim_next(id, "here", 8, LEASE_MS).await.unwrap();
                for _ in &claimed {
                    started.send(Instant::now()).unwrap();
                }
                left -= claimed.len();
                if claimed.is_empty() {
                    worker.changed(Duration::from_secs(10)).await;
                }
            }
        });
        let mut times = Vec::with_capacity(JOBS);
        for _ in 0..JOBS {
            // What the submission itself takes counts: nobody can start what isn't on the disk.
            let begun = Instant::now();
            submit(&*person, 1, None).await;
            times.push(starts.recv().await.unwrap().duration_since(begun));
        }
        works.await.unwrap();
        times
    })
}
