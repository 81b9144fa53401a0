//! A worker's tasks besides its jobs: the sweep of jobs that other workers have lost, and the schedules.

use super::{clock_jumps::ClockWatch, context::WorkerContext, ended_batches};
use crate::{
    batch::schedule::{FiredRun, RunOutcome, fire_due},
    store::StoreError,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{runtime::Handle, time::MissedTickBehavior};

/// The interval at which schedules are checked.
const SUBMIT_EVERY: Duration = Duration::from_secs(5);

/// Handles the answers to a worker's heartbeats.
pub(super) fn heartbeat_observer(
    context: Arc<WorkerContext>,
) -> impl Fn(Instant, Result<(), &StoreError>) + Send + 'static {
    let others = Handle::current();
    move |_, answer| {
        let (context, failed) = (context.clone(), answer.err().cloned());
        if failed.is_none() {
            context.metrics.on_heartbeat();
        }
        // The receiver of the notification may be slow.
        others.spawn_blocking(move || {
            failed.map_or_else(|| context.database_back(), |error| context.database_lost(&error));
        });
    }
}

/// Takes jobs from lost workers, wakes jobs that were held until now, and reports which jobs still wait here for their
/// server. After an outage of the database, the others get time for their heartbeats first.
pub(super) async fn sweep(context: Arc<WorkerContext>) {
    let times = context.config.times;
    let mut ticks = tokio::time::interval(times.sweep);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut trouble: Option<Instant> = None;
    let mut clock = ClockWatch::default();
    loop {
        ticks.tick().await;
        let waiting = context.active_jobs.waiting();
        if !waiting.is_empty() {
            let for_ms = u64::try_from(times.wakes_after.as_millis()).unwrap_or(u64::MAX);
            match context.store.keep_held(&waiting, for_ms).await {
                Ok(still) => {
                    let gone: Vec<_> = waiting.into_iter().filter(|id| !still.contains(id)).collect();
                    context.active_jobs.give_up(&gone);
                }
                Err(_) => trouble = Some(Instant::now()),
            }
        }
        if clock.look(&context).await {
            trouble = Some(Instant::now());
        }
        if trouble.is_some_and(|since| since.elapsed() < times.lease) {
            // A database that doesn't answer is polled all the same: this shows when it is back.
            if context.store.control_signals(context.worker).await.is_err() {
                trouble = Some(Instant::now());
            }
            continue;
        }
        match context.store.sweep().await {
            Ok(swept) => {
                trouble = None;
                let taken = swept.requeued.len() + swept.paused.len() + swept.dead.len();
                if taken > 0 {
                    let dead = if swept.dead.is_empty() {
                        String::new()
                    } else {
                        format!(", {} of them given up", swept.dead.len())
                    };
                    context.note(format!("{taken} jobs were taken from workers that don't answer{dead}"));
                }
            }
            Err(_) => trouble = Some(Instant::now()),
        }
        ended_batches::settle(&context).await;
    }
}

/// Submits due runs of schedules. Reading a batch's documents takes time, for which nothing else waits.
pub(super) async fn run_schedules(context: Arc<WorkerContext>) {
    if context.supply.submit().is_none() {
        return;
    }
    loop {
        submit_due(&context).await;
        tokio::time::sleep(SUBMIT_EVERY).await;
    }
}

/// Submits runs that are due now. Waits for a submission by this process that is already in progress.
pub(super) async fn submit_due(context: &WorkerContext) {
    let Some(submit) = context.supply.submit() else { return };
    let _one_at_a_time = context.submitting.lock().await;
    // The heartbeat reports an outage; due runs stay due.
    if let Ok(at) = context.store.clock().await
        && let Ok(fired) = fire_due(context.store.as_ref(), at, submit).await
    {
        for sentence in fired.iter().filter_map(run_note) {
            context.note(sentence);
        }
    }
}

/// The outcome of a run, in a sentence; none if another worker reports it.
fn run_note(fired: &FiredRun) -> Option<String> {
    let name = &fired.schedule;
    match &fired.outcome {
        RunOutcome::Submitted(batch) => Some(format!("schedule {name}: batch {batch} is submitted")),
        RunOutcome::Overlaps(why) | RunOutcome::Missed(why) | RunOutcome::Refused(why) => {
            Some(format!("schedule {name}, run of {}: nothing is submitted: {why}", fired.run))
        }
        RunOutcome::Busy => None,
    }
}
