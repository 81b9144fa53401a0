//! The lease of a job, as the runner of the job sees it. A heartbeat keeps it: the worker's, which keeps all leases of the worker,
//! or one for this job alone, where a person runs it.
//!
//! *Invariant*: nothing is decided under a lease that may have run out. It counts from when its renewal was sent, by a clock
//! that goes on while the process is stopped.

use super::{
    active_jobs::ActiveJobs,
    heartbeat::{Heartbeat, Leases},
};
use crate::store::{ControlSignal, JobStore, Store, StoreError};
use overnight_core::job::{id::JobId, time::Timestamp};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::watch;
use uuid::Uuid;

/// The times of a worker. A dead worker's job is taken over after a lease and a sweep at most.
#[derive(Clone, Copy, Debug)]
pub struct WorkerTimes {
    /// How long a lease lasts without a heartbeat.
    pub lease: Duration,
    /// Nothing is decided under a lease that has less left.
    pub margin: Duration,
    pub heartbeat: Duration,
    /// The interval at which the database is queried for signals to running jobs, and time windows are checked.
    pub signals: Duration,
    pub sweep: Duration,
    /// The interval at which the queue is checked without any notification.
    pub poll: Duration,
    /// The time for which a job that waits for its server stays held when its worker dies.
    pub wakes_after: Duration,
    /// The most time for a reader of the metrics to send its request, and to receive the answer.
    pub metrics_timeout: Duration,
}

impl Default for WorkerTimes {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(20),
            margin: Duration::from_secs(5),
            heartbeat: Duration::from_secs(4),
            signals: Duration::from_secs(1),
            sweep: Duration::from_secs(4),
            poll: Duration::from_secs(1),
            wakes_after: Duration::from_mins(1),
            metrics_timeout: Duration::from_secs(10),
        }
    }
}

impl WorkerTimes {
    /// For a job that a person runs: no other process takes it over, so its lease may be long.
    pub(super) fn of_one_job() -> Self {
        let quarter = Duration::from_secs(15);
        Self { lease: 4 * quarter, margin: quarter, heartbeat: quarter, ..Self::default() }
    }

    pub(crate) fn lease_ms(&self) -> u64 {
        u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The heartbeat's knowledge of one lease.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaseStatus {
    /// The time at which the last successful renewal was sent.
    pub renewed: Instant,
    pub request: Option<StopRequest>,
    /// When its time window closes next; none where it has none, or has one that never closes.
    pub closes: Option<Timestamp>,
    /// Another process has the job: write nothing more.
    pub is_lost: bool,
    /// The time and error of the last heartbeat, if it failed and no other code reports that.
    pub failed: Option<(Instant, StoreError)>,
}

impl LeaseStatus {
    pub(super) fn signal(&self) -> Option<ControlSignal> {
        match self.request {
            Some(StopRequest::Signal(signal)) => Some(signal),
            Some(StopRequest::WindowClosed { .. }) | None => None,
        }
    }
}

/// Why a running job is to stop at its next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopRequest {
    /// A person requested it.
    Signal(ControlSignal),
    /// Its time window has closed: it is held, and continues by itself at this time.
    WindowClosed { opens: Timestamp },
}

/// The lease under which this process works on a job, with the heartbeat's knowledge of it.
#[derive(Clone, Debug)]
pub struct LeaseHandle {
    pub(super) id: JobId,
    /// The worker in whose name it is claimed.
    pub(super) worker: Uuid,
    pub(super) times: WorkerTimes,
    /// Its number, which stands in what this process writes; 0 until the job is claimed.
    pub(super) number: u64,
    /// The time at which the claim was sent.
    pub(super) claimed: Instant,
    pub(super) status: watch::Receiver<LeaseStatus>,
    /// The number while the lease is held; 0 while the job rests without one.
    pub(super) held: Arc<AtomicU64>,
    /// The job alone, for its own heartbeat. None: a worker of the queue keeps the lease, and jobs that it stops
    /// working on go back to the queue.
    pub(super) alone: Option<Arc<ActiveJobs>>,
}

impl LeaseHandle {
    /// For a job that a person runs, not claimed yet.
    pub(super) fn of_one_job(id: JobId) -> Self {
        let alone = Arc::new(ActiveJobs::default());
        let handle = alone.add(id, 0, Uuid::now_v7(), Instant::now(), WorkerTimes::of_one_job());
        Self { alone: Some(alone), ..handle }
    }

    /// Whether the job goes back to the queue when this process stops working on it.
    pub(super) fn is_queued(&self) -> bool {
        self.alone.is_none()
    }

    /// Whether the time window of the job has closed.
    pub(super) fn is_window_closed(&self) -> bool {
        matches!(self.status.borrow().request, Some(StopRequest::WindowClosed { .. }))
    }

    /// The number of the lease while it is held, else 0.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::SeqCst)
    }

    /// The lease is about to be freed: the heartbeat must not miss it.
    pub fn release(&self) {
        self.held.store(0, Ordering::SeqCst);
    }

    /// Takes the lease, whichever worker had it.
    pub(super) async fn claim(&mut self, store: &dyn JobStore) -> Result<(), StoreError> {
        let sent = Instant::now();
        let number = store.claim(self.id, self.worker, self.times.lease_ms()).await?;
        self.on_claimed(number, sent);
        Ok(())
    }

    /// The same for a job that has a result, and keeps its status.
    pub(super) async fn claim_for_review(&mut self, store: &dyn JobStore) -> Result<(), StoreError> {
        let sent = Instant::now();
        let number = store.claim_for_review(self.id, self.worker, self.times.lease_ms()).await?;
        self.on_claimed(number, sent);
        Ok(())
    }

    fn on_claimed(&mut self, number: u64, sent: Instant) {
        self.number = number;
        self.claimed = sent;
        self.held.store(number, Ordering::SeqCst);
    }

    /// Starts a heartbeat that keeps the lease, unless a worker keeps it.
    pub(super) fn start_heartbeat(&self, store: &dyn Store) -> Result<Option<Heartbeat>, StoreError> {
        let Some(jobs) = self.alone.clone() else { return Ok(None) };
        let leases = Leases { worker: self.worker, jobs: jobs.clone(), times: self.times, window: None };
        Heartbeat::start(store, leases, move |sent, answer| jobs.on_answer(sent, answer)).map(Some)
    }

    pub(super) fn lost(&self) -> StoreError {
        StoreError::LeaseLost { id: self.id }
    }

    /// Waits until a lease that may have run out is renewed. A worker that is to stop can't be waited for: the lease is as good
    /// as lost. A person's job has its workspace to itself, whatever its lease, and can still be held.
    pub(super) async fn until_renewed(&mut self, stop: &mut watch::Receiver<bool>) -> Result<(), StoreError> {
        let stale = self.times.lease.saturating_sub(self.times.margin);
        loop {
            let LeaseStatus { renewed, is_lost, failed, .. } = self.status.borrow_and_update().clone();
            if is_lost {
                return Err(self.lost());
            }
            if renewed.max(self.claimed).elapsed() < stale || self.held() == 0 {
                return Ok(());
            }
            if let Some((_, error)) = failed.filter(|(_, error)| !error.retryable()) {
                return Err(error);
            }
            tokio::select! {
                changed = self.status.changed() => changed.map_err(|_| self.lost())?,
                () = until_stopped(stop) => return if self.is_queued() { Err(self.lost()) } else { Ok(()) },
            }
        }
    }
}

/// Waits until the work is to stop; forever if no sender is left that could request it.
pub(super) async fn until_stopped(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stops| *stops).await.is_err() {
        std::future::pending::<()>().await;
    }
}
