//! What is done to workers and database, in an order that follows from a seed.

use super::{lease_log, workers::Workers};
use crate::postgres::Server;
use fastrand::Rng;
use std::{
    cell::RefCell,
    collections::BTreeMap,
    ops::Range,
    time::{Duration, Instant},
};

/// One kind of disturbance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Blow {
    /// SIGKILL to a worker.
    Kill,
    /// SIGSTOP to a worker, past its leases, then SIGCONT.
    Stop,
    /// SIGTERM to a worker.
    Term,
    /// `pg_terminate_backend` on all connections.
    Terminate,
    /// An immediate restart of PostgreSQL.
    Restart,
}

impl Blow {
    /// Each as often as it is dealt before all are dealt again.
    pub(super) const ALL: [(Self, usize); 5] =
        [(Self::Kill, 5), (Self::Stop, 4), (Self::Term, 3), (Self::Terminate, 2), (Self::Restart, 1)];
}

/// How long a worker is stopped: past its lease of 20 s.
const STOPPED_MS: Range<u64> = 22_000..40_000;

/// How a storm is to be.
pub(super) struct Storm {
    pub(super) seed: u64,
    pub(super) lasts: Duration,
    /// Between two blows.
    pub(super) pause_ms: Range<u64>,
    pub(super) blows: Vec<(Blow, usize)>,
}

impl Storm {
    /// Until its time is over and each kind was dealt, or no job is left. How many blows of each kind there were.
    pub(super) fn rage(&self, crew: &mut Workers<'_>, server: &Server, url: &str) -> BTreeMap<Blow, usize> {
        let rng = RefCell::new(Rng::with_seed(self.seed));
        let pick = |count: usize| rng.borrow_mut().usize(0..count);
        let mut counts = BTreeMap::new();
        let mut deck: Vec<Blow> = Vec::new();
        let since = Instant::now();
        let is_over = |counts: &BTreeMap<_, _>| since.elapsed() >= self.lasts && counts.len() == self.blows.len();
        while !is_over(&counts) && lease_log::open_jobs(url) > 0 {
            let pause = rng.borrow_mut().u64(self.pause_ms.clone());
            crew.tend_for(Duration::from_millis(pause));
            if deck.is_empty() {
                deck = self.blows.iter().flat_map(|(blow, count)| vec![*blow; *count]).collect();
                rng.borrow_mut().shuffle(&mut deck);
            }
            let Some(blow) = deck.pop() else { return counts };
            let struck = match blow {
                Blow::Kill => crew.end("-KILL", pick),
                Blow::Term => crew.end("-TERM", pick),
                Blow::Stop => {
                    let time = rng.borrow_mut().u64(STOPPED_MS);
                    crew.stop(Duration::from_millis(time), pick)
                }
                Blow::Terminate => lease_log::terminate(url) > 0,
                Blow::Restart => {
                    server.restart();
                    true
                }
            };
            if struck {
                *counts.entry(blow).or_default() += 1;
            }
        }
        counts
    }
}
