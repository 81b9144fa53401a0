//! The worker processes, and who keeps three of them running as a supervisor does: what has ended is started again.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::test_dir::TestDir;
use std::{
    collections::BTreeMap,
    fs::File,
    process::{Child, Command},
    time::{Duration, Instant},
};

pub(super) const WORKERS: usize = 3;
pub(super) const AT_ONCE: usize = 4;
/// How long to look away from the workers.
const GLANCE: Duration = Duration::from_millis(100);
/// A worker that is asked to end does so within this time.
const PATIENCE: Duration = Duration::from_mins(1);

/// What was done to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Left,
    /// Goes on then.
    Stopped(Instant),
    Ended(&'static str),
}

struct Worker {
    child: Child,
    fate: Fate,
}

impl Worker {
    fn signal(&self, name: &str) {
        // One that has ended is still there to be signalled, as nobody has waited for it.
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success(), "kill {name}: {sent}");
    }
}

/// Ended with the test, whatever becomes of it.
pub(super) struct Workers<'d> {
    dir: &'d TestDir,
    alive: Vec<Worker>,
    pub(super) started: usize,
    /// How workers ended, and how many did so.
    pub(super) ends: BTreeMap<String, usize>,
}

impl<'d> Workers<'d> {
    pub(super) fn new(dir: &'d TestDir) -> Self {
        let mut crew = Self { dir, alive: Vec::new(), started: 0, ends: BTreeMap::new() };
        crew.tend();
        crew
    }

    /// Lets those go on whose time has come, and starts anew what has ended.
    pub(super) fn tend(&mut self) {
        for worker in &mut self.alive {
            if matches!(worker.fate, Fate::Stopped(until) if Instant::now() >= until) {
                worker.signal("-CONT");
                worker.fate = Fate::Left;
            }
        }
        self.reap();
        while self.alive.len() < WORKERS {
            self.started += 1;
            let log = |kind: &str| File::create(self.dir.path(&format!("worker-{}.{kind}", self.started))).unwrap();
            let mut command = self.dir.command(&["work", "--concurrency", &AT_ONCE.to_string()]);
            let child = command.stdout(log("out")).stderr(log("log")).spawn().unwrap();
            self.alive.push(Worker { child, fate: Fate::Left });
        }
    }

    pub(super) fn tend_for(&mut self, time: Duration) {
        let since = Instant::now();
        while since.elapsed() < time {
            std::thread::sleep(GLANCE);
            self.tend();
        }
    }

    fn reap(&mut self) {
        let ends = &mut self.ends;
        self.alive.retain_mut(|worker| {
            let Some(status) = worker.child.try_wait().unwrap() else { return true };
            let why = match worker.fate {
                Fate::Left | Fate::Stopped(_) => "by itself",
                Fate::Ended(signal) => signal,
            };
            *ends.entry(format!("{why}: {status}")).or_default() += 1;
            false
        });
    }

    /// One that nothing is done to; which one, `pick` chooses by their number.
    fn any(&mut self, pick: impl Fn(usize) -> usize) -> Option<&mut Worker> {
        let mut left: Vec<_> = self.alive.iter_mut().filter(|worker| worker.fate == Fate::Left).collect();
        if left.is_empty() { None } else { Some(left.swap_remove(pick(left.len()))) }
    }

    /// Whether there was one to end with this signal.
    pub(super) fn end(&mut self, signal: &'static str, pick: impl Fn(usize) -> usize) -> bool {
        let Some(worker) = self.any(pick) else { return false };
        worker.signal(signal);
        worker.fate = Fate::Ended(signal);
        true
    }

    /// Whether there was one to stop; one at a time, so that the others go on with what is its.
    pub(super) fn stop(&mut self, time: Duration, pick: impl Fn(usize) -> usize) -> bool {
        if self.alive.iter().any(|worker| matches!(worker.fate, Fate::Stopped(_))) {
            return false;
        }
        let Some(worker) = self.any(pick) else { return false };
        worker.signal("-STOP");
        worker.fate = Fate::Stopped(Instant::now() + time);
        true
    }

    /// Nobody is left stopped.
    pub(super) fn go_on(&mut self) {
        for worker in &mut self.alive {
            if let Fate::Stopped(until) = &mut worker.fate {
                *until = Instant::now();
            }
        }
        self.tend();
    }

    /// Asks all to end; those that don't are faults.
    pub(super) fn dismiss(&mut self) -> Vec<String> {
        let before: usize = self.ends.values().sum();
        let all = self.alive.len();
        let pids: Vec<u32> = self.alive.iter().map(|worker| worker.child.id()).collect();
        while self.end("-TERM", |_| 0) {}
        let since = Instant::now();
        while !self.alive.is_empty() && since.elapsed() < PATIENCE {
            std::thread::sleep(GLANCE);
            self.reap();
        }
        let ended = self.ends.values().sum::<usize>() - before;
        if ended == all { Vec::new() } else { vec![format!("{ended} of the workers {pids:?} ended when asked to")] }
    }
}

impl Drop for Workers<'_> {
    fn drop(&mut self) {
        for worker in &mut self.alive {
            // Ends a stopped one as well.
            let _ = worker.child.kill();
            let _ = worker.child.wait();
        }
    }
}
