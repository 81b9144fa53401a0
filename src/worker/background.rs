//! What a worker does beside its jobs: the sweep of what other workers have lost, and the schedules.

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

/// How often schedules are looked at.
const SUBMIT_EVERY: Duration = Duration::from_secs(5);

/// What a worker does with the answers to its heartbeats.
pub(super) fn heartbeat_observer(
    context: Arc<WorkerContext>,
) -> impl Fn(Instant, Result<(), &StoreError>) + Send + 'static {
    let others = Handle::current();
    move |_, answer| {
        let (context, failed) = (context.clone(), answer.err().cloned());
        if failed.is_none() {
            context.metrics.on_heartbeat();
        }
        // Whoever is told of it may be slow.
        others.spawn_blocking(move || {
            failed.map_or_else(|| context.database_back(), |error| context.database_lost(&error));
        });
    }
}

/// Takes jobs from workers that are lost, wakes what was held until now, and says which jobs still wait here for their
/// server. A database that was away is left time for the others' heartbeats first.
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
            // One that answers nothing is asked again all the same: that tells whether it is back.
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

/// Submits what schedules say. Reading the documents of a batch takes its time, which nothing else waits for.
pub(super) async fn run_schedules(context: Arc<WorkerContext>) {
    if context.supply.submit().is_none() {
        return;
    }
    loop {
        submit_due(&context).await;
        tokio::time::sleep(SUBMIT_EVERY).await;
    }
}

/// Submits what is due now. What somebody here is submitting already is waited for.
pub(super) async fn submit_due(context: &WorkerContext) {
    let Some(submit) = context.supply.submit() else { return };
    let _one_at_a_time = context.submitting.lock().await;
    // An outage is the heartbeat's to tell; what is due stays so.
    if let Ok(at) = context.store.clock().await
        && let Ok(fired) = fire_due(context.store.as_ref(), at, submit).await
    {
        for sentence in fired.iter().filter_map(run_note) {
            context.note(sentence);
        }
    }
}

/// What became of a run, in a sentence; none where another worker reports it.
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
