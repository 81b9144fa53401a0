//! Jobs whose calls are handed in and answered later: nothing is held for them meanwhile, and any worker goes on.

use super::{A, B, C, JobStatus, JobTarget, Night, Offline, QueueEntry, WorkerSummary, delivered, ended};
use crate::{scenarios::later::Later, store::Place, support::shipped};
use overnight::{runner::OpenJob, worker::WorkerConfig};
use overnight_core::job::record::HoldReason;
use std::{
    path::Path,
    sync::{Arc, atomic::Ordering},
};
use tokio::sync::watch;

const LABELS: [&str; 3] = [A.0, B.0, C.0];

fn unanswered() -> Arc<Later> {
    let later = Later::new(Arc::new(Offline(None)));
    later.answers.store(false, Ordering::Relaxed);
    Arc::new(later)
}

impl Night {
    /// Works until these jobs wait.
    async fn work_until_waiting(&self, later: &Arc<Later>, labels: &[&str]) -> Vec<QueueEntry> {
        let (stopper, stop) = watch::channel(false);
        let worker = self.worker(later.clone(), self.config(false), stop);
        let wait = async {
            let mut waiting = Vec::new();
            for label in labels {
                waiting.push(self.until(1, label, JobStatus::Waiting).await);
            }
            stopper.send_replace(true);
            waiting
        };
        let (summary, waiting) = tokio::join!(worker.run(), wait);
        assert_eq!(summary.unwrap(), WorkerSummary { waiting: labels.len() as u64, ..WorkerSummary::default() });
        waiting
    }

    async fn work_to_the_end(&self, later: &Arc<Later>) -> WorkerSummary {
        let (_keep, stop) = watch::channel(false);
        let config: WorkerConfig = self.config(true);
        self.worker(later.clone(), config, stop).run().await.unwrap()
    }
}

pub(super) async fn a_waiting_job_holds_nothing_and_another_worker_goes_on(place: Place) {
    let night = Night::new(place).await;
    night.submit(1, &[A, B, C], |_, _| {}).await;
    let later = unanswered();
    for entry in night.work_until_waiting(&later, &LABELS).await {
        assert_eq!((entry.worker, entry.attempts, entry.wants), (None, 0, None));
        let until = entry.job.run_after.unwrap();
        let reason = format!("the answer of offline to what was handed in, until {until} at most");
        assert_eq!(entry.reason, Some(reason));
        // Its lock is free.
        let opened = OpenJob::open(Path::new(&entry.workspace), None).unwrap();
        assert!(opened.job.is_waiting());
    }
    assert_eq!(later.taken.load(Ordering::Relaxed), 3);
    later.answers.store(true, Ordering::Relaxed);
    assert_eq!(night.work_to_the_end(&later).await, ended(&[("completed", 3)]));
    let alone = crate::support::Place::new().await;
    let mut turns = 0;
    for (label, entry) in night.entries(1).await {
        let (instructions, text) = shipped("extract-requirements");
        let document = night.folder.path().join(&label);
        let expected = alone.run(instructions, &text, &[document], Arc::new(Offline(None))).await;
        assert_eq!(delivered(Path::new(&entry.workspace)), delivered(&expected.path), "{label}");
        turns += expected.job.totals.spent.turns;
    }
    assert_eq!(later.taken.load(Ordering::Relaxed) as u64, turns);
}

pub(super) async fn a_waiting_job_is_paused_resumed_and_cancelled(place: Place) {
    let night = Night::new(place).await;
    night.submit(1, &[A, B], |_, _| {}).await;
    let later = unanswered();
    let waiting = night.work_until_waiting(&later, &LABELS[..2]).await;
    let [paused, cancelled] = [&waiting[0], &waiting[1]].map(|entry| JobTarget::Job(entry.job.id));
    assert_eq!(night.store.hold(paused, HoldReason::Paused, None).await, Ok(1));
    assert_eq!(night.store.cancel(cancelled).await, Ok(1));
    later.answers.store(true, Ordering::Relaxed);
    let summary = night.work_to_the_end(&later).await;
    assert_eq!(summary, ended(&[("cancelled", 1)]));
    let standing = [("a.md", JobStatus::Held), ("b.md", JobStatus::Cancelled)];
    assert_eq!(night.statuses(1).await, standing.map(|(label, status)| (label.to_owned(), status)));
    assert_eq!(night.store.resume(paused).await, Ok(1));
    assert_eq!(night.work_to_the_end(&later).await, ended(&[("completed", 1)]));
}
