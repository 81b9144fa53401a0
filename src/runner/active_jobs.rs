//! The jobs that this process works on now, and what the heartbeat knows of the lease of each.

use super::lease::{LeaseHandle, LeaseStatus, StopRequest, WorkerTimes};
use crate::{
    batch::window::Window,
    store::{HeldLease, StoreError},
};
use overnight_core::job::{id::JobId, time::Timestamp};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};
use tokio::sync::watch;
use uuid::Uuid;

/// A job that is driven.
#[derive(Debug)]
struct ActiveJob {
    /// The lease that its runner has; 0 where it has none.
    held: Arc<AtomicU64>,
    status: watch::Sender<LeaseStatus>,
    window: Option<Window>,
    /// It waits for its model's server, without a lease.
    is_waiting: bool,
}

/// All driven jobs.
#[derive(Debug, Default)]
pub struct ActiveJobs {
    jobs: Mutex<BTreeMap<JobId, ActiveJob>>,
    /// Leases that the last heartbeat found and nobody drives: `(job, lease)`.
    orphans: Mutex<Vec<(JobId, u64)>>,
}

impl ActiveJobs {
    fn jobs(&self) -> MutexGuard<'_, BTreeMap<JobId, ActiveJob>> {
        // Nothing that panics is done while it is held.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job that `worker` has claimed, with a call that was sent at `claimed`; gives the handle for its runner.
    pub fn add(&self, id: JobId, lease: u64, worker: Uuid, claimed: Instant, times: WorkerTimes) -> LeaseHandle {
        let held = Arc::new(AtomicU64::new(lease));
        let (sender, status) =
            watch::channel(LeaseStatus { renewed: claimed, request: None, closes: None, is_lost: false, failed: None });
        let job = ActiveJob { held: held.clone(), status: sender, window: None, is_waiting: false };
        self.jobs().insert(id, job);
        LeaseHandle { id, worker, times, number: lease, claimed, status, held, alone: None }
    }

    pub fn remove(&self, id: JobId) {
        self.jobs().remove(&id);
    }

    pub fn count(&self) -> usize {
        self.jobs().len()
    }

    /// The time window of a job's batch.
    pub fn set_window(&self, id: JobId, window: Option<Window>) {
        if let Some(job) = self.jobs().get_mut(&id) {
            job.window = window;
        }
    }

    /// A job waits for its model's server, or no longer does.
    pub fn set_waiting(&self, id: JobId, is_waiting: bool) {
        if let Some(job) = self.jobs().get_mut(&id) {
            job.is_waiting = is_waiting;
        }
    }

    pub fn waiting(&self) -> Vec<JobId> {
        self.jobs().iter().filter(|(_, job)| job.is_waiting).map(|(id, _)| *id).collect()
    }

    /// The leases before a heartbeat is sent: only a lease that is still the same afterwards can be called lost by it.
    pub(super) fn leases(&self) -> Vec<(JobId, u64)> {
        self.jobs().iter().map(|(id, job)| (*id, job.held.load(Ordering::SeqCst))).collect()
    }

    /// Takes in what a heartbeat that was sent at `sent` found. Returns the leases that nobody drives for the second time: the
    /// answer to the claim was lost, or the task ended without giving the job back.
    pub(super) fn on_heartbeat(
        &self,
        sent: Instant,
        sent_leases: &[(JobId, u64)],
        found: &[HeldLease],
    ) -> Vec<(JobId, u64)> {
        let jobs = self.jobs();
        for (id, lease) in sent_leases {
            let Some(job) = jobs.get(id).filter(|job| job.held.load(Ordering::SeqCst) == *lease) else { continue };
            let lease_found = found.iter().find(|lease_found| lease_found.id == *id);
            match lease_found {
                _ if *lease == 0 => {}
                Some(lease_found) if lease_found.lease == *lease => {
                    job.status.send_modify(|status| {
                        status.renewed = sent;
                        status.request = lease_found.wants.map(StopRequest::Signal).or(status.request);
                    });
                }
                Some(_) | None => job.status.send_modify(|status| status.is_lost = true),
            }
        }
        let orphans: Vec<(JobId, u64)> = found
            .iter()
            .filter(|lease_found| !jobs.contains_key(&lease_found.id))
            .map(|lease_found| (lease_found.id, lease_found.lease))
            .collect();
        drop(jobs);
        let mut before = self.orphans.lock().unwrap_or_else(PoisonError::into_inner);
        let twice = orphans.iter().filter(|orphan| before.contains(orphan)).copied().collect();
        *before = orphans;
        twice
    }

    /// What came of a heartbeat, for jobs that have nobody else to report it.
    pub(super) fn on_answer(&self, sent: Instant, answer: Result<(), &StoreError>) {
        for job in self.jobs().values() {
            job.status.send_modify(|status| status.failed = answer.err().map(|error| (sent, error.clone())));
        }
    }

    /// Passes control signals on to running jobs.
    pub(super) fn on_signals(&self, found: &[HeldLease]) {
        let jobs = self.jobs();
        for lease_found in found {
            let Some(job) = jobs.get(&lease_found.id) else { continue };
            let Some(signal) = lease_found.wants else { continue };
            if job.held.load(Ordering::SeqCst) == lease_found.lease {
                set_request(job, Some(StopRequest::Signal(signal)));
            }
        }
    }

    /// Has jobs held whose window has closed, each until its window opens again.
    pub(super) fn check_windows(&self, own: Option<&Window>, now: Timestamp) {
        for job in self.jobs().values() {
            let windows = || [own, job.window.as_ref()].into_iter().flatten();
            job.status.send_if_modified(|status| {
                if status.closes.is_some_and(|closes| closes > now) {
                    return false;
                }
                status.closes = windows().filter_map(|window| window.closes_after(now)).min();
                false
            });
            let closed = windows().filter(|window| !window.is_open(now));
            let opens = closed.map(|window| window.opens_after(now)).max();
            let is_wished = matches!(job.status.borrow().request, Some(StopRequest::Signal(_)));
            if !is_wished {
                set_request(job, opens.map(|opens| StopRequest::WindowClosed { opens }));
            }
        }
    }

    /// Gives up jobs that waited without a lease and on which somebody else has decided meanwhile.
    pub fn give_up(&self, ids: &[JobId]) {
        let jobs = self.jobs();
        for job in ids.iter().filter_map(|id| jobs.get(id)) {
            if job.held.load(Ordering::SeqCst) == 0 {
                job.status.send_modify(|status| status.is_lost = true);
            }
        }
    }
}

fn set_request(job: &ActiveJob, request: Option<StopRequest>) {
    job.status.send_if_modified(|status| {
        let is_new = status.request != request;
        status.request = request;
        is_new
    });
}
