//! (a) Claim and complete empty jobs, and (d) with much in the table that has ended or waits.

use crate::{
    load::{Ground, LEASE_MS, RUNS, end, sql, stores, submit},
    measure::{median, ms},
    table,
};
use overnight::store::Store;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::JoinSet;
use uuid::Uuid;

const JOBS: usize = 12_000;

pub(crate) fn measure(ground: &Ground) {
    let (mut single, mut batched) = (Vec::new(), Vec::new());
    let mut used = [Duration::ZERO; 2];
    let runs = u32::try_from(RUNS * JOBS).unwrap();
    for _ in 0..RUNS {
        let before = ground.server.cpu();
        single.push(one_at_a_time(ground, 24));
        let between = ground.server.cpu();
        batched.push(many_at_a_time(ground, 8, 100));
        used[0] += between.saturating_sub(before) / runs;
        used[1] += ground.server.cpu().saturating_sub(between) / runs;
    }
    reached("claim and complete, one at a time, 24 workers", rate(single), 1_400.0, "jobs/s");
    reached("claim 100 and complete them side by side, 8 workers", rate(batched), 5_000.0, "jobs/s");
    // What bounds the rate in the end, however busy the machine is.
    table::plain("CPU of the server a job, one at a time", ms(used[0]), "ms");
    table::plain("CPU of the server a job, claimed by the hundred", ms(used[1]), "ms");

    let (mut empty, mut full) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        empty.push(a_claim(ground, 0));
        full.push(a_claim(ground, 50_000));
    }
    let (empty, full) = (median(empty), median(full));
    table::plain("a claim, nothing else in the table", ms(empty), "ms");
    table::limited("a claim, 50,000 jobs that ended or wait beside it", ms(full), ms(empty) * 1.5, "ms");
}

/// A figure with one that it must reach, and how often it does.
fn reached(what: &str, value: f64, target: f64, unit: &str) {
    let verdict = if value >= target { "reached" } else { "MISSED" };
    println!("| {what} | {value:.0} {unit} | at least {target:.0} {unit} | {verdict}, {:.2} × |", value / target);
}

fn rate(walls: Vec<Duration>) -> f64 {
    JOBS as f64 / median(walls).as_secs_f64()
}

/// Each worker a process of its own, as far as the database sees.
fn one_at_a_time(ground: &Ground, workers: usize) -> Duration {
    let url = ground.database();
    ground.runtime.block_on(async {
        let stores = stores(&url, workers).await;
        submit(&*stores[0], JOBS, None).await;
        let begun = Instant::now();
        let mut tasks = JoinSet::new();
        for store in stores {
            tasks.spawn(async move {
                let worker = Uuid::now_v7();
                let mut done = 0;
                while let Some(job) = store.claim_next(worker, "here", 1, LEASE_MS).await.unwrap().first() {
                    store.checkpoint(job.id, job.lease, &end()).await.unwrap();
                    done += 1;
                }
                done
            });
        }
        let done: usize = tasks.join_all().await.into_iter().sum();
        assert_eq!(done, JOBS);
        begun.elapsed()
    })
}

fn many_at_a_time(ground: &Ground, workers: usize, most: u32) -> Duration {
    let url = ground.database();
    ground.runtime.block_on(async {
        let stores = stores(&url, workers).await;
        submit(&*stores[0], JOBS, None).await;
        let begun = Instant::now();
        let mut tasks = JoinSet::new();
        for store in stores {
            tasks.spawn(all_of(store, most));
        }
        let done: usize = tasks.join_all().await.into_iter().sum();
        assert_eq!(done, JOBS);
        begun.elapsed()
    })
}

async fn all_of(store: Arc<dyn Store>, most: u32) -> usize {
    let worker = Uuid::now_v7();
    let mut done = 0;
    loop {
        let jobs = store.claim_next(worker, "here", most, LEASE_MS).await.unwrap();
        if jobs.is_empty() {
            return done;
        }
        done += jobs.len();
        let mut ends = JoinSet::new();
        for job in jobs {
            let store = store.clone();
            ends.spawn(async move { store.checkpoint(job.id, job.lease, &end()).await.unwrap() });
        }
        ends.join_all().await;
    }
}

/// The middle of 200 claims, one after the other.
fn a_claim(ground: &Ground, others: usize) -> Duration {
    let url = ground.database();
    ground.runtime.block_on(async {
        let store = stores(&url, 1).await.remove(0);
        for _ in 0..others / 10_000 {
            submit(&*store, 10_000, None).await;
        }
        // Half have ended, half wait for their time.
        let shares =
            "update jobs set status = case when left(label, 10) < 'contract 5' then 'completed' else 'queued' end,
            run_after = case when left(label, 10) < 'contract 5' then null else now() + interval '1 day' end";
        sql(&url, shares).await;
        sql(&url, "analyze").await;
        submit(&*store, 300, None).await;
        let worker = Uuid::now_v7();
        let mut times = Vec::new();
        for _ in 0..200 {
            let begun = Instant::now();
            let claimed = store.claim_next(worker, "here", 1, LEASE_MS).await.unwrap();
            times.push(begun.elapsed());
            assert_eq!(claimed.len(), 1);
        }
        median(times)
    })
}
