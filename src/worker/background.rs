//! What a worker does in the background, beside its jobs and the heartbeat: control signals and time windows of running jobs,
//! the sweep of jobs that other workers have lost, and the schedules.

use super::{claimed_job::WorkerContext, config::WorkerEvent, ended_batches};
use crate::{
    batch::schedule::{FiredRun, RunOutcome, fire_due},
    runner::now,
    store::StoreError,
};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::time::MissedTickBehavior;

/// How often schedules are looked at.
const SUBMIT_EVERY: Duration = Duration::from_secs(5);

/// Receives what the worker reports.
pub(super) type EventSink = Arc<dyn Fn(WorkerEvent<'_>) + Send + Sync>;

/// How long no write has failed for want of room before there is room again: a write may find a little of it in between.
const ROOM_AFTER: Duration = Duration::from_secs(10);

/// Whether the database has answered lately, and whether its disk has room: told once when it stops, and once when it comes
/// back.
#[derive(Debug, Default)]
pub(super) struct DatabaseHealth {
    is_out: AtomicBool,
    /// When a write last found no room; none: there is room.
    full: Mutex<Option<Instant>>,
}

impl DatabaseHealth {
    pub(super) fn lost(&self, notify: &EventSink, error: &StoreError) {
        if matches!(error, StoreError::Full { .. }) {
            let before = self.full.lock().unwrap_or_else(PoisonError::into_inner).replace(Instant::now());
            if before.is_none() {
                notify(WorkerEvent::Note(format!(
                    "{error}; make room: it is waited for, and nothing is claimed meanwhile"
                )));
            }
        } else if !self.is_out.swap(true, Ordering::SeqCst) {
            notify(WorkerEvent::Note(format!(
                "{error}; running jobs wait before their leases end, and nothing is claimed meanwhile"
            )));
        }
    }

    pub(super) fn back(&self, notify: &EventSink) {
        if self.is_out.swap(false, Ordering::SeqCst) {
            notify(WorkerEvent::Note("the database answers again".to_owned()));
        }
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        if full.is_some_and(|last| last.elapsed() >= ROOM_AFTER) {
            *full = None;
            drop(full);
            notify(WorkerEvent::Note("there is room for the database again".to_owned()));
        }
    }
}

/// Receives the control signals of running jobs, and holds jobs whose time window has closed.
pub(super) async fn poll_signals(context: Arc<WorkerContext>) {
    let times = context.config.times;
    let mut ticks = tokio::time::interval(times.signals);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        context.active_jobs.check_windows(context.config.window.as_ref(), now());
        if context.active_jobs.len() == 0 {
            continue;
        }
        // An outage is the heartbeat's to tell.
        if let Ok(found) = context.store.control_signals(context.worker).await {
            context.active_jobs.on_signals(&found);
        }
    }
}

/// Takes jobs from workers that are lost, wakes what was held until now, and says which jobs still wait here for their
/// server. A database that was away is left time for the others' heartbeats first.
pub(super) async fn sweep(context: Arc<WorkerContext>, notify: EventSink) {
    let times = context.config.times;
    let mut ticks = tokio::time::interval(times.sweep);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut trouble: Option<Instant> = None;
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
                    notify(WorkerEvent::Note(format!("{taken} jobs were taken from workers that don't answer{dead}")));
                }
            }
            Err(_) => trouble = Some(Instant::now()),
        }
        ended_batches::settle(&context, &notify).await;
    }
}

/// Submits what schedules say. Reading the documents of a batch takes its time, which nothing else waits for.
pub(super) async fn run_schedules(context: Arc<WorkerContext>, notify: EventSink) {
    let Some(submit) = context.supply.submit() else { return };
    loop {
        // An outage is the heartbeat's to tell; what is due stays so.
        if let Ok(at) = context.store.clock().await
            && let Ok(fired) = fire_due(context.store.as_ref(), at, submit).await
        {
            for fired in fired {
                if let Some(sentence) = run_note(&fired) {
                    notify(WorkerEvent::Note(sentence));
                }
            }
        }
        tokio::time::sleep(SUBMIT_EVERY).await;
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
