//! What is done beside the drives and the heartbeat: what people wish of running jobs, their time windows, the sweep of what
//! other workers have lost, and the schedules.

use super::{ends, terms::Told, work::Desk};
use crate::{
    batch::schedule::{Fired, Outcome, fire_due},
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

/// Speaks to whoever shows what the worker does.
pub(super) type Tell = Arc<dyn Fn(Told<'_>) + Send + Sync>;

/// How long no write has failed for want of room before there is room again: a write may find a little of it in between.
const CALM: Duration = Duration::from_secs(10);

/// Whether the database has answered lately, and whether its disk has room: told once when it stops, and once when it comes
/// back.
#[derive(Debug, Default)]
pub(super) struct Reach {
    is_out: AtomicBool,
    /// When a write last found no room; none: there is room.
    full: Mutex<Option<Instant>>,
}

impl Reach {
    pub(super) fn lost(&self, tell: &Tell, error: &StoreError) {
        if matches!(error, StoreError::Full { .. }) {
            let before = self.full.lock().unwrap_or_else(PoisonError::into_inner).replace(Instant::now());
            if before.is_none() {
                tell(Told::Note(format!("{error}; make room: it is waited for, and nothing is claimed meanwhile")));
            }
        } else if !self.is_out.swap(true, Ordering::SeqCst) {
            tell(Told::Note(format!(
                "{error}; running jobs wait before their leases end, and nothing is claimed meanwhile"
            )));
        }
    }

    pub(super) fn back(&self, tell: &Tell) {
        if self.is_out.swap(false, Ordering::SeqCst) {
            tell(Told::Note("the database answers again".to_owned()));
        }
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        if full.is_some_and(|last| last.elapsed() >= CALM) {
            *full = None;
            drop(full);
            tell(Told::Note("there is room for the database again".to_owned()));
        }
    }
}

/// Hears what people wish of running jobs, and minds the windows.
pub(super) async fn look(desk: Arc<Desk>) {
    let times = desk.terms.times;
    let mut ticks = tokio::time::interval(times.look);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        desk.roster.mind_windows(desk.terms.window.as_ref(), now());
        if desk.roster.len() == 0 {
            continue;
        }
        // An outage is the heartbeat's to tell.
        if let Ok(found) = desk.store.wishes(desk.worker).await {
            desk.roster.wished(&found);
        }
    }
}

/// Takes jobs from workers that are lost, wakes what was held until now, and says which jobs still wait here for their
/// server. A database that was away is left time for the others' heartbeats first.
pub(super) async fn sweep(desk: Arc<Desk>, tell: Tell) {
    let times = desk.terms.times;
    let mut ticks = tokio::time::interval(times.sweep);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut trouble: Option<Instant> = None;
    loop {
        ticks.tick().await;
        let waiting = desk.roster.waiting();
        if !waiting.is_empty() {
            let for_ms = u64::try_from(times.wakes_after.as_millis()).unwrap_or(u64::MAX);
            match desk.store.keep_held(&waiting, for_ms).await {
                Ok(still) => {
                    let gone: Vec<_> = waiting.into_iter().filter(|id| !still.contains(id)).collect();
                    desk.roster.let_go(&gone);
                }
                Err(_) => trouble = Some(Instant::now()),
            }
        }
        if trouble.is_some_and(|since| since.elapsed() < times.lease) {
            // One that answers nothing is asked again all the same: that tells whether it is back.
            if desk.store.wishes(desk.worker).await.is_err() {
                trouble = Some(Instant::now());
            }
            continue;
        }
        match desk.store.sweep().await {
            Ok(swept) => {
                trouble = None;
                let taken = swept.requeued.len() + swept.paused.len() + swept.dead.len();
                if taken > 0 {
                    let dead = if swept.dead.is_empty() {
                        String::new()
                    } else {
                        format!(", {} of them given up", swept.dead.len())
                    };
                    tell(Told::Note(format!("{taken} jobs were taken from workers that don't answer{dead}")));
                }
            }
            Err(_) => trouble = Some(Instant::now()),
        }
        ends::settle(&desk, &tell).await;
    }
}

/// Submits what schedules say. Reading the documents of a batch takes its time, which nothing else waits for.
pub(super) async fn submit(desk: Arc<Desk>, tell: Tell) {
    let Some(submit) = desk.supply.submit() else { return };
    loop {
        // An outage is the heartbeat's to tell; what is due stays so.
        if let Ok(at) = desk.store.clock().await
            && let Ok(fired) = fire_due(desk.store.as_ref(), at, submit).await
        {
            for fired in fired {
                if let Some(sentence) = of_run(&fired) {
                    tell(Told::Note(sentence));
                }
            }
        }
        tokio::time::sleep(SUBMIT_EVERY).await;
    }
}

/// What became of a run; none where another tells it.
fn of_run(fired: &Fired) -> Option<String> {
    let name = &fired.schedule;
    match &fired.outcome {
        Outcome::Submitted(batch) => Some(format!("schedule {name}: batch {batch} is submitted")),
        Outcome::Overlaps(why) | Outcome::Missed(why) | Outcome::Refused(why) => {
            Some(format!("schedule {name}, run of {}: nothing is submitted: {why}", fired.run))
        }
        Outcome::Busy => None,
    }
}
