//! The state that all jobs of a process share about one model server: the circuit breaker and the rate limits.
//!
//! - `breaker`: whether the server answers; `rate_limits`: whether its limits allow one more call. Both are pure.
//! - This file does the waiting. There are two queues, each a fair lock of tokio: one for the limits, and one for a
//!   server that doesn't answer. Only the first waiter of a queue has a timer and is notified of changes; when it
//!   leaves, served or dropped, the next waiter takes its place and checks again. So thousands may wait at no cost,
//!   none is woken in vain, and a cancelled job leaves nothing behind.

mod breaker;
mod rate_limits;
#[cfg(test)]
mod tests;

pub use rate_limits::RateLimits;

use crate::model::{Failure, FailureKind, Remedy, retry};
use breaker::{Breaker, BreakerCall, Probing};
use rate_limits::{Admission, GateClosed, RateGate};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Mutex as FairMutex, Notify},
    time::Instant,
};

/// The reason why a job that waited for a server continues.
#[derive(Debug)]
pub enum WakeReason {
    /// The server answers again.
    Answers,
    /// It is unknown whether the server answers: this job's next call is the only one allowed to find out.
    Probe(Probe),
}

/// The server doesn't answer: wait for [`Endpoint::wake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerDown;

/// An endpoint at one moment, for display and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointState {
    pub name: String,
    pub is_down: bool,
    /// Time until the next probe; `None` while the server answers, or a probe is under way.
    pub next_probe: Option<Duration>,
    pub calls_under_way: u64,
    /// Jobs that wait for the limits.
    pub waiting: usize,
    /// Jobs that wait for the server to answer.
    pub held: usize,
}

/// One model server with one key, as all jobs of the process see it.
#[derive(Debug)]
pub struct Endpoint {
    name: String,
    start: Instant,
    shared: Mutex<EndpointLimits>,
    /// Jobs that wait for the limits.
    admitting: WaitingQueue,
    /// Jobs that wait for the server to answer.
    waking: WaitingQueue,
}

#[derive(Debug)]
struct EndpointLimits {
    breaker: Breaker,
    gate: RateGate,
}

/// The waiting callers, in the order in which they came.
#[derive(Debug, Default)]
struct WaitingQueue {
    turn: FairMutex<()>,
    /// Notifies the first waiter, or the one that becomes the first, to check again.
    changed: Notify,
    length: AtomicUsize,
}

/// Counts one waiting caller while it lives.
struct WaitingSlot<'a>(&'a AtomicUsize);

/// The right to test whether the server answers, to be passed to [`Endpoint::admit`]. If it is dropped, the right
/// passes to another job after a while.
#[derive(Debug)]
pub struct Probe {
    endpoint: Arc<Endpoint>,
    call: BreakerCall,
    /// The permit of its call reports the outcome from here on.
    is_used: bool,
}

/// The right to have one call in progress; dropping it gives the right back. If it is dropped without a reported
/// result, the call says nothing about the server.
#[derive(Debug)]
pub struct Permit {
    endpoint: Arc<Endpoint>,
    entry: Admission,
    call: BreakerCall,
    /// The result of the call has been reported to the breaker.
    is_told: bool,
}

impl Endpoint {
    /// `name`: host and path, readable for people, without secrets.
    pub fn new(name: String, pace: RateLimits) -> Arc<Self> {
        Arc::new(Self {
            name,
            start: Instant::now(),
            shared: Mutex::new(EndpointLimits { breaker: Breaker::new(), gate: RateGate::new(pace) }),
            admitting: WaitingQueue::default(),
            waking: WaitingQueue::default(),
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits until the limits allow one more call of about `tokens`, in the order of asking. While the server is down,
    /// fails immediately, or as soon as that is known, unless the caller has the `probe` from [`Self::wake`].
    pub async fn admit(self: &Arc<Self>, tokens: u64, mut probe: Option<Probe>) -> Result<Permit, ServerDown> {
        let _place = WaitingSlot::taken(&self.admitting.length);
        let _turn = self.admitting.turn.lock().await;
        loop {
            let shut = {
                let now = self.now();
                let mut shared = self.shared();
                let call = shared.breaker.begin(probe.as_ref().map(|probe| probe.call)).ok_or(ServerDown)?;
                match shared.gate.enter(tokens, now) {
                    Ok(entry) => {
                        drop(shared);
                        if let Some(probe) = &mut probe {
                            probe.is_used = true;
                        }
                        return Ok(Permit { endpoint: self.clone(), entry, call, is_told: false });
                    }
                    Err(shut) => shut,
                }
            };
            self.admitting
                .change(match shut {
                    GateClosed::Until(time) => Some(self.start + time),
                    GateClosed::Full => None,
                })
                .await;
        }
    }

    /// Too many attempts in a row have failed: only probes are let through.
    pub fn is_down(&self) -> bool {
        self.shared().breaker.is_open()
    }

    /// Waits until the server answers again, or this job is to find out. Uses no processor time.
    pub async fn wake(self: &Arc<Self>) -> WakeReason {
        let _place = WaitingSlot::taken(&self.waking.length);
        let _turn = self.waking.turn.lock().await;
        loop {
            let due = {
                let now = self.now();
                let mut shared = self.shared();
                if let Some(call) = shared.breaker.take_probe(now) {
                    return WakeReason::Probe(Probe { endpoint: self.clone(), call, is_used: false });
                }
                match shared.breaker.probing() {
                    None => return WakeReason::Answers,
                    Some(Probing::At(time)) => Some(self.start + time),
                    Some(Probing::UnderWay) => None,
                }
            };
            self.waking.change(due).await;
        }
    }

    /// The endpoint as it is now.
    pub fn state(&self) -> EndpointState {
        let now = self.now();
        let shared = self.shared();
        EndpointState {
            name: self.name.clone(),
            is_down: shared.breaker.is_open(),
            next_probe: match shared.breaker.probing() {
                Some(Probing::At(time)) => Some(time.saturating_sub(now)),
                Some(Probing::UnderWay) | None => None,
            },
            calls_under_way: shared.gate.under_way(),
            waiting: self.admitting.length.load(Ordering::Relaxed),
            held: self.waking.length.load(Ordering::Relaxed),
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// A poisoned lock is used as it is: no code that holds it can fail half way.
    fn shared(&self) -> MutexGuard<'_, EndpointLimits> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the shared state, and makes the first waiter of both queues check again.
    fn change(&self, change: impl FnOnce(&mut EndpointLimits, Duration)) {
        let now = self.now();
        change(&mut self.shared(), now);
        self.admitting.changed.notify_one();
        self.waking.changed.notify_one();
    }
}

impl WaitingQueue {
    /// Waits for a change, no longer than `until`.
    async fn change(&self, until: Option<Instant>) {
        match until {
            None => self.changed.notified().await,
            Some(until) => {
                tokio::select! {
                    () = self.changed.notified() => {}
                    () = tokio::time::sleep_until(until) => {}
                }
            }
        }
    }
}

impl<'a> WaitingSlot<'a> {
    fn taken(length: &'a AtomicUsize) -> Self {
        length.fetch_add(1, Ordering::Relaxed);
        Self(length)
    }
}

impl Drop for WaitingSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        if !self.is_used {
            self.endpoint.change(|shared, now| shared.breaker.undecided(self.call, now));
        }
    }
}

impl Permit {
    /// A reply came, of `tokens` in all; the server answers.
    pub fn answered(mut self, tokens: u64) {
        self.is_told = true;
        self.endpoint.change(|shared, now| {
            shared.breaker.answered();
            shared.gate.settle(self.entry, tokens, now);
        });
    }

    /// The attempt failed. Counts it if the server is at fault, and pauses calls if the server asks for a pause.
    pub fn failed(mut self, failure: &Failure) {
        self.is_told = true;
        self.endpoint.change(|shared, now| {
            match failure.kind.remedy() {
                Remedy::Retry { is_outage: true } => shared.breaker.failed(self.call, now),
                Remedy::Retry { is_outage: false }
                | Remedy::AskAgain
                | Remedy::Compact
                | Remedy::Reopen
                | Remedy::Configure
                | Remedy::GiveUp => {
                    shared.breaker.undecided(self.call, now);
                }
            }
            if let (FailureKind::RateLimited, Some(after)) = (failure.kind, failure.retry_after) {
                shared.gate.close(now.saturating_add(after.min(retry::LONGEST)));
            }
        });
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.endpoint.change(|shared, now| {
            shared.gate.leave();
            if !self.is_told {
                shared.breaker.undecided(self.call, now);
            }
        });
    }
}
