//! (c) What a worker costs that only waits for its models: a thousand jobs at work, heartbeats and wishes. And what it costs
//! to ask whether a batch can bear another call.

use crate::{
    load::{Ground, LEASE_MS, RUNS, sql, stores, submit},
    measure::{cpu, median, ms},
    table,
};
use overnight::store::Grant;
use std::time::{Duration, Instant};
use uuid::Uuid;

const JOBS: u32 = 1_000;
/// As a worker does it: a heartbeat for all each so often, and a look for wishes.
const BEAT: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_secs(1);
const TIMES: u32 = 100;

pub(crate) fn measure(ground: &Ground) {
    let (mut beats, mut looks) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (beat, look) = one_run(ground);
        beats.push(beat);
        looks.push(look);
    }
    let (beat, look) = (median(beats), median(looks));
    table::plain("CPU of a heartbeat for 1,000 jobs, worker and server", ms(beat), "ms");
    table::plain("CPU of a look for wishes among 1,000 jobs, worker and server", ms(look), "ms");
    let share = beat.as_secs_f64() / BEAT.as_secs_f64() + look.as_secs_f64() / LOOK.as_secs_f64();
    table::limited("a core for 1,000 jobs: heartbeat each 5 s, wishes each second", share * 100.0, 2.0, "%");
    let (wall, cpu) = a_reservation(ground);
    table::plain("a reservation, batch of 10,000 jobs: 9,000 ended, 1,000 at work", ms(wall), "ms");
    table::plain("CPU of a reservation there, worker and server", ms(cpu), "ms");
}

/// Processor time of one of each.
fn one_run(ground: &Ground) -> (Duration, Duration) {
    let url = ground.database();
    ground.runtime.block_on(async {
        let store = stores(&url, 1).await.remove(0);
        submit(&*store, JOBS as usize, None).await;
        let worker = Uuid::now_v7();
        assert_eq!(store.claim_next(worker, "here", JOBS, LEASE_MS).await.unwrap().len(), JOBS as usize);
        sql(&url, "vacuum analyze").await;
        store.heartbeat(worker, LEASE_MS).await.unwrap();
        let used = || cpu() + ground.server.cpu();
        let before = used();
        for _ in 0..TIMES {
            assert_eq!(store.heartbeat(worker, LEASE_MS).await.unwrap().len(), JOBS as usize);
        }
        let between = used();
        for _ in 0..TIMES {
            assert_eq!(store.control_signals(worker).await.unwrap().len(), 0);
        }
        (between.saturating_sub(before) / TIMES, used().saturating_sub(between) / TIMES)
    })
}

/// The middle one's wall time, and the processor time of one.
fn a_reservation(ground: &Ground) -> (Duration, Duration) {
    let url = ground.database();
    ground.runtime.block_on(async {
        let store = stores(&url, 1).await.remove(0);
        submit(&*store, 10_000, Some(1e6)).await;
        let worker = Uuid::now_v7();
        let claimed = store.claim_next(worker, "here", JOBS, LEASE_MS).await.unwrap();
        sql(&url, "update jobs set cost_usd = 0.25").await;
        sql(&url, "update jobs set status = 'completed' where status = 'queued'").await;
        sql(&url, "analyze").await;
        let mut times = Vec::new();
        let before = cpu() + ground.server.cpu();
        for job in claimed.iter().take(300) {
            let begun = Instant::now();
            assert_eq!(store.reserve(job.id, job.lease, 1.0).await, Ok(Grant::Granted));
            times.push(begun.elapsed());
        }
        let used = (cpu() + ground.server.cpu()).saturating_sub(before);
        (median(times), used / 300)
    })
}
