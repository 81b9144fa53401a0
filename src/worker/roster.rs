//! The jobs that a worker drives now, and the line to each of them.

use crate::{
    batch::window::Window,
    runner::{Order, Pulse},
    store::Beaten,
};
use overnight_core::job::id::JobId;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};
use tokio::sync::watch;

/// A driven job.
#[derive(Debug)]
struct Line {
    /// The lease that its drive has; 0 where it has none.
    held: Arc<AtomicU64>,
    pulse: watch::Sender<Pulse>,
    window: Option<Window>,
    /// The drive waits for its server, without a lease.
    waits: bool,
}

/// All driven jobs.
#[derive(Debug, Default)]
pub(super) struct Roster {
    lines: Mutex<BTreeMap<JobId, Line>>,
    /// Leases that the last heartbeat found and nobody drives: `(job, lease)`.
    strays: Mutex<Vec<(JobId, u64)>>,
}

impl Roster {
    fn lines(&self) -> MutexGuard<'_, BTreeMap<JobId, Line>> {
        // Nothing that panics is done while it is held.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a claimed job. What its drive needs: its lease, and what it is told.
    pub(super) fn add(&self, id: JobId, lease: u64, claimed: Instant) -> (Arc<AtomicU64>, watch::Receiver<Pulse>) {
        let held = Arc::new(AtomicU64::new(lease));
        let (pulse, receiver) = watch::channel(Pulse { renewed: claimed, order: None, is_lost: false });
        let line = Line { held: held.clone(), pulse, window: None, waits: false };
        self.lines().insert(id, line);
        (held, receiver)
    }

    pub(super) fn remove(&self, id: JobId) {
        self.lines().remove(&id);
    }

    pub(super) fn len(&self) -> usize {
        self.lines().len()
    }

    /// The time window of a job's batch.
    pub(super) fn set_window(&self, id: JobId, window: Option<Window>) {
        if let Some(line) = self.lines().get_mut(&id) {
            line.window = window;
        }
    }

    /// A drive waits for its server, or has done so.
    pub(super) fn set_waiting(&self, id: JobId, waits: bool) {
        if let Some(line) = self.lines().get_mut(&id) {
            line.waits = waits;
        }
    }

    pub(super) fn waiting(&self) -> Vec<JobId> {
        self.lines().iter().filter(|(_, line)| line.waits).map(|(id, _)| *id).collect()
    }

    /// The leases before a heartbeat is sent: only what is still so afterwards can be told lost by it.
    pub(super) fn leases(&self) -> Vec<(JobId, u64)> {
        self.lines().iter().map(|(id, line)| (*id, line.held.load(Ordering::SeqCst))).collect()
    }

    /// What a heartbeat that was sent at `sent` found. Gives what is leased and driven by nobody, for the second time: the
    /// answer to its claim was lost, or its drive ended without a word.
    pub(super) fn beaten(&self, sent: Instant, before: &[(JobId, u64)], found: &[Beaten]) -> Vec<(JobId, u64)> {
        let lines = self.lines();
        for (id, lease) in before {
            let Some(line) = lines.get(id).filter(|line| line.held.load(Ordering::SeqCst) == *lease) else { continue };
            let beaten = found.iter().find(|beaten| beaten.id == *id);
            match beaten {
                _ if *lease == 0 => {}
                Some(beaten) if beaten.lease == *lease => {
                    line.pulse.send_modify(|pulse| {
                        pulse.renewed = sent;
                        pulse.order = beaten.wants.map(Order::Wish).or(pulse.order);
                    });
                }
                Some(_) | None => line.pulse.send_modify(|pulse| pulse.is_lost = true),
            }
        }
        let strays: Vec<(JobId, u64)> = found
            .iter()
            .filter(|beaten| !lines.contains_key(&beaten.id))
            .map(|beaten| (beaten.id, beaten.lease))
            .collect();
        drop(lines);
        let mut seen = self.strays.lock().unwrap_or_else(PoisonError::into_inner);
        let twice = strays.iter().filter(|stray| seen.contains(stray)).copied().collect();
        *seen = strays;
        twice
    }

    /// What people wish of running jobs.
    pub(super) fn wished(&self, found: &[Beaten]) {
        let lines = self.lines();
        for beaten in found {
            let Some(line) = lines.get(&beaten.id) else { continue };
            let Some(wish) = beaten.wants else { continue };
            if line.held.load(Ordering::SeqCst) == beaten.lease {
                order(line, Some(Order::Wish(wish)));
            }
        }
    }

    /// Has jobs held whose window has closed, each until its opens again.
    pub(super) fn mind_windows(&self, own: Option<&Window>, now: overnight_core::job::time::Timestamp) {
        for line in self.lines().values() {
            let closed = [own, line.window.as_ref()].into_iter().flatten().filter(|window| !window.is_open(now));
            let opens = closed.map(|window| window.opens_after(now)).max();
            let is_wished = matches!(line.pulse.borrow().order, Some(Order::Wish(_)));
            if !is_wished {
                order(line, opens.map(|opens| Order::Window { opens }));
            }
        }
    }

    /// Jobs of which somebody else has decided while they waited without a lease.
    pub(super) fn let_go(&self, ids: &[JobId]) {
        let lines = self.lines();
        for line in ids.iter().filter_map(|id| lines.get(id)) {
            if line.held.load(Ordering::SeqCst) == 0 {
                line.pulse.send_modify(|pulse| pulse.is_lost = true);
            }
        }
    }
}

fn order(line: &Line, order: Option<Order>) {
    line.pulse.send_if_modified(|pulse| {
        let is_new = pulse.order != order;
        pulse.order = order;
        is_new
    });
}
