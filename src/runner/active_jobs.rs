//! The jobs that this process works on now, and the heartbeat's knowledge of the lease of each.

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

/// A job that has a runner in this process.
#[derive(Debug)]
struct ActiveJob {
    /// The number of the lease that its runner holds; 0 if it holds none.
    held: Arc<AtomicU64>,
    status: watch::Sender<LeaseStatus>,
    window: Option<Window>,
    /// It waits for its model's server, without a lease.
    is_waiting: bool,
}

/// All jobs that have a runner in this process.
#[derive(Debug, Default)]
pub struct ActiveJobs {
    jobs: Mutex<BTreeMap<JobId, ActiveJob>>,
    /// Leases found by the last heartbeat for which no runner exists: `(job, lease)`.
    orphans: Mutex<Vec<(JobId, u64)>>,
}

impl ActiveJobs {
    fn jobs(&self) -> MutexGuard<'_, BTreeMap<JobId, ActiveJob>> {
        // No code that can panic runs while the lock is held.
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

    /// Notes whether a job waits for its model's server.
    pub fn set_waiting(&self, id: JobId, is_waiting: bool) {
        if let Some(job) = self.jobs().get_mut(&id) {
            job.is_waiting = is_waiting;
        }
    }

    pub fn waiting(&self) -> Vec<JobId> {
        self.jobs().iter().filter(|(_, job)| job.is_waiting).map(|(id, _)| *id).collect()
    }

    /// The leases before a heartbeat is sent: it can declare a lease lost only if that is still the same afterwards.
    pub(super) fn leases(&self) -> Vec<(JobId, u64)> {
        self.jobs().iter().map(|(id, job)| (*id, job.held.load(Ordering::SeqCst))).collect()
    }

    /// Takes in the result of a heartbeat sent at `sent`. Returns the leases without a runner in two heartbeats
    /// running: the answer to the claim was lost, or the task ended without giving the job back.
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

    /// Passes on the result of a heartbeat, for jobs with no other code to report it.
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

    /// Requests a hold of each job whose window has closed, until the window opens again.
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

    /// Marks jobs as lost that waited without a lease and that another process has changed meanwhile.
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
