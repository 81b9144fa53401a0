//! How a job runner keeps the lease of its job and receives control signals: by itself, or by way of a worker that speaks
//! with the database for all its jobs at once.
//!
//! *Invariant*: nothing is decided under a lease that may have run out. It counts from when its renewal was sent, by a clock
//! that goes on while the process is stopped.

use super::{
    RunError,
    job_runner::{JobRunner, RETRY_AFTER, until_stopped},
    open_job::OpenJob,
};
use crate::store::{ControlSignal, StoreError};
use overnight_core::job::{
    decide::{Command, EffectResult},
    record::HoldReason,
    time::Timestamp,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::watch;
use uuid::Uuid;

/// How long the lease of a job that a person runs lasts without renewal, in milliseconds.
pub(super) const LEASE_MS: u64 = 60_000;
/// How often the database is asked for control signals.
const SIGNALS_EVERY: Duration = Duration::from_secs(1);
/// How often the lease is renewed.
const RENEW_EVERY: Duration = Duration::from_secs(15);
/// A lease this old, counted from when its renewal was sent, may run out while a decision is written: nothing is decided
/// before it is renewed.
const RENEW_FIRST: Duration = Duration::from_millis(LEASE_MS - 15_000);

/// What a worker tells the runner of one of its jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeaseStatus {
    /// When the renewal of the lease was sent that the database took last.
    pub renewed: Instant,
    pub request: Option<StopRequest>,
    /// Another has the job: write nothing more.
    pub is_lost: bool,
}

/// Why a running job is to stop at its next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopRequest {
    /// A person asked for it.
    Signal(ControlSignal),
    /// Its time window closes: it is held, and goes on by itself then.
    WindowClosed { opens: Timestamp },
}

/// What a worker hands to the runner of a job whose lease it keeps.
#[derive(Clone, Debug)]
pub struct LeaseHandle {
    pub worker: Uuid,
    /// How long a lease lasts without renewal.
    pub lease: Duration,
    /// No decision under a lease that has less left than this.
    pub margin: Duration,
    /// How long after a hold for an outage the job is queued by itself, unless the worker says that it still waits.
    pub wakes_after: Duration,
    pub status: watch::Receiver<LeaseStatus>,
    /// When the claim was sent.
    pub claimed: Instant,
    /// The lease that the runner has now; 0 where it has none, because the job rests.
    pub held: Arc<AtomicU64>,
}

/// When control signals were last asked for, and when the lease was last renewed.
pub(super) struct Timers {
    pub(super) asked: Option<Instant>,
    pub(super) renewed: Instant,
}

impl JobRunner<'_> {
    /// In whose name a claim is made, and how many milliseconds it lasts.
    pub(super) fn claim_terms(&self) -> (Uuid, u64) {
        match &self.lease_handle {
            None => (Uuid::now_v7(), LEASE_MS),
            Some(handle) => (handle.worker, u64::try_from(handle.lease.as_millis()).unwrap_or(u64::MAX)),
        }
    }

    /// Tells the worker which lease the runner has; 0 before a lease is freed, so that the worker doesn't take it for lost.
    pub(super) fn publish_lease(&self, lease: u64) {
        if let Some(handle) = &self.lease_handle {
            handle.held.store(lease, Ordering::SeqCst);
        }
    }

    /// The lease was claimed again; the claim was sent at `sent`.
    pub(super) fn claimed(&mut self, lease: u64, sent: Instant) {
        if let Some(handle) = &mut self.lease_handle {
            handle.claimed = sent;
        }
        self.publish_lease(lease);
    }

    /// Stops before the lease can run out, until it is renewed.
    pub(super) async fn keep_lease(&mut self, opened: &OpenJob, timers: &mut Timers) -> Result<(), RunError> {
        if self.lease_handle.is_some() {
            return self.await_lease(opened).await;
        }
        while timers.renewed.elapsed() >= RENEW_FIRST {
            let sent = Instant::now();
            match self.store.renew(opened.job.spec.id, opened.lease, LEASE_MS).await {
                Ok(()) => timers.renewed = sent,
                Err(error) if error.retryable() && !*self.stop.borrow() => {
                    self.tolerate_outage(opened, error)?;
                    tokio::select! {
                        () = tokio::time::sleep(RETRY_AFTER) => {}
                        () = until_stopped(&mut self.stop) => {}
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits until the worker has renewed a lease that may have run out. A worker that is to stop can't be waited for: the
    /// lease is as good as lost. Where there is no lease, because the job rests, nobody can lose it.
    pub(super) async fn await_lease(&mut self, opened: &OpenJob) -> Result<(), RunError> {
        let lost = || StoreError::LeaseLost { id: opened.job.spec.id }.into();
        let Some(handle) = &mut self.lease_handle else { return Ok(()) };
        let stale = handle.lease.saturating_sub(handle.margin);
        loop {
            let status = *handle.status.borrow_and_update();
            if status.is_lost {
                return Err(lost());
            }
            if status.renewed.max(handle.claimed).elapsed() < stale || handle.held.load(Ordering::SeqCst) == 0 {
                return Ok(());
            }
            tokio::select! {
                changed = handle.status.changed() => changed.map_err(|_| lost())?,
                () = until_stopped(&mut self.stop) => return Err(lost()),
            }
        }
    }

    /// Renews the lease and obeys a control signal, where there is one.
    pub(super) async fn check_signals(&mut self, opened: &mut OpenJob, timers: &mut Timers) -> Result<(), RunError> {
        if let Some(handle) = &self.lease_handle {
            let status = *handle.status.borrow();
            if status.is_lost {
                return Err(StoreError::LeaseLost { id: opened.job.spec.id }.into());
            }
            return match status.request {
                Some(StopRequest::Signal(signal)) => self.obey(opened, signal).await,
                // Between turns only.
                Some(StopRequest::WindowClosed { .. }) | None => Ok(()),
            };
        }
        if timers.asked.is_some_and(|asked| asked.elapsed() < SIGNALS_EVERY) || self.is_database_paused() {
            return Ok(());
        }
        timers.asked = Some(Instant::now());
        let id = opened.job.spec.id;
        if timers.renewed.elapsed() >= RENEW_EVERY {
            let sent = Instant::now();
            match self.store.renew(id, opened.lease, LEASE_MS).await {
                Ok(()) => timers.renewed = sent,
                Err(error) => self.tolerate_outage(opened, error)?,
            }
        }
        match self.store.control_signal(id, opened.lease).await {
            Ok(None) => Ok(()),
            Ok(Some(signal)) => self.obey(opened, signal).await,
            Err(error) => self.tolerate_outage(opened, error),
        }
    }

    /// A cancel or a pause that was asked for while the job waits for its server. A worker receives it with all others.
    pub(super) async fn signal_while_held(&mut self, opened: &OpenJob) -> Result<Option<ControlSignal>, StoreError> {
        match &self.lease_handle {
            None => self.store.control_signal(opened.job.spec.id, opened.lease).await,
            Some(handle) => Ok(match handle.status.borrow().request {
                Some(StopRequest::Signal(signal)) => Some(signal),
                Some(StopRequest::WindowClosed { .. }) | None => None,
            }),
        }
    }

    /// Holds the job, between two turns, when its time window has closed.
    pub(super) async fn check_window(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        let request = self.lease_handle.as_ref().and_then(|handle| handle.status.borrow().request);
        let Some(StopRequest::WindowClosed { opens }) = request.filter(|_| opened.job.is_running()) else {
            return Ok(());
        };
        self.await_lease(opened).await?;
        // Where this is not heard, the job would rest until a person comes: it goes on rather.
        match self.store.wake_at(opened.job.spec.id, opened.lease, opens).await {
            Ok(()) => {}
            Err(error) => return self.tolerate_outage(opened, error),
        }
        let detail = format!("its time window is closed; it goes on by itself at {opens}");
        let command = Command::Hold { reason: HoldReason::Window, detail };
        self.decide(opened, EffectResult::Command(command)).await.map(drop)
    }

    /// Obeys a control signal.
    pub(super) async fn obey(&mut self, opened: &mut OpenJob, signal: ControlSignal) -> Result<(), RunError> {
        match signal {
            ControlSignal::Cancel => self.decide(opened, EffectResult::Command(Command::Cancel)).await.map(drop),
            ControlSignal::Pause => self.pause(opened, "paused by a person").await,
        }
    }
}
