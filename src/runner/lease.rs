//! How a drive keeps the lease of its job, and hears what is asked of it: by itself, or by way of a worker that speaks with
//! the database for all its jobs at once.
//!
//! *Invariant*: nothing is decided under a lease that may have run out. It counts from when its renewal was sent, by a clock
//! that goes on while the process is stopped.

use super::{
    RunError,
    drive::{Drive, RETRY_AFTER, stopped},
    session::Session,
};
use crate::store::{StoreError, Wish};
use overnight_core::job::{
    record::HoldReason,
    step::{Answer, Command},
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
/// How often the database is asked for wishes.
const WISH_EVERY: Duration = Duration::from_secs(1);
/// How often the lease is renewed.
const RENEW_EVERY: Duration = Duration::from_secs(15);
/// A lease this old, counted from when its renewal was sent, may run out while a decision is written: nothing is decided
/// before it is renewed.
const RENEW_FIRST: Duration = Duration::from_millis(LEASE_MS - 15_000);

/// What a worker tells one of its jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pulse {
    /// When the renewal of the lease was sent that the database took last.
    pub renewed: Instant,
    pub order: Option<Order>,
    /// Another has the job: write nothing more.
    pub is_lost: bool,
}

/// What a running job is to do at its next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// What a person asked for.
    Wish(Wish),
    /// Its time window closes: it is held, and goes on by itself then.
    Window { opens: Timestamp },
}

/// The line between a worker and a drive.
#[derive(Clone, Debug)]
pub struct Kept {
    pub worker: Uuid,
    /// How long a lease lasts without renewal.
    pub lease: Duration,
    /// No decision under a lease that has less left than this.
    pub margin: Duration,
    /// How long after a hold for an outage the job is queued by itself, unless the worker says that it still waits.
    pub wakes_after: Duration,
    pub pulse: watch::Receiver<Pulse>,
    /// When the claim was sent.
    pub claimed: Instant,
    /// The lease that the drive has now; 0 where it has none, because the job rests.
    pub held: Arc<AtomicU64>,
}

/// When the database was last asked and the lease renewed.
pub(super) struct Beat {
    pub(super) asked: Option<Instant>,
    pub(super) renewed: Instant,
}

impl Drive<'_> {
    /// How long a claim lasts, and in whose name it is made.
    pub(super) fn terms(&self) -> (Uuid, u64) {
        match &self.kept {
            None => (Uuid::now_v7(), LEASE_MS),
            Some(kept) => (kept.worker, u64::try_from(kept.lease.as_millis()).unwrap_or(u64::MAX)),
        }
    }

    /// Says to the worker which lease the drive has; 0 before one is freed, so that the worker doesn't miss it.
    pub(super) fn tell_lease(&self, lease: u64) {
        if let Some(kept) = &self.kept {
            kept.held.store(lease, Ordering::SeqCst);
        }
    }

    /// The lease was claimed anew, at `sent`.
    pub(super) fn claimed(&mut self, lease: u64, sent: Instant) {
        if let Some(kept) = &mut self.kept {
            kept.claimed = sent;
        }
        self.tell_lease(lease);
    }

    /// Stops before the lease can run out, until it is renewed.
    pub(super) async fn keep_lease(&mut self, session: &Session, beat: &mut Beat) -> Result<(), RunError> {
        if self.kept.is_some() {
            return self.await_pulse(session).await;
        }
        while beat.renewed.elapsed() >= RENEW_FIRST {
            let sent = Instant::now();
            match self.store.renew(session.job.spec.id, session.lease, LEASE_MS).await {
                Ok(()) => beat.renewed = sent,
                Err(error) if error.retryable() && !*self.stop.borrow() => {
                    self.unless_lost(session, error)?;
                    tokio::select! {
                        () = tokio::time::sleep(RETRY_AFTER) => {}
                        () = stopped(&mut self.stop) => {}
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits until the worker has renewed a lease that may have run out. A worker that is to stop can't be waited for: the
    /// lease is as good as lost. Where there is no lease, because the job rests, nobody can lose it.
    pub(super) async fn await_pulse(&mut self, session: &Session) -> Result<(), RunError> {
        let lost = || StoreError::LeaseLost { id: session.job.spec.id }.into();
        let Some(kept) = &mut self.kept else { return Ok(()) };
        let stale = kept.lease.saturating_sub(kept.margin);
        loop {
            let pulse = *kept.pulse.borrow_and_update();
            if pulse.is_lost {
                return Err(lost());
            }
            if pulse.renewed.max(kept.claimed).elapsed() < stale || kept.held.load(Ordering::SeqCst) == 0 {
                return Ok(());
            }
            tokio::select! {
                changed = kept.pulse.changed() => changed.map_err(|_| lost())?,
                () = stopped(&mut self.stop) => return Err(lost()),
            }
        }
    }

    /// Renews the lease and hears what was asked of the job.
    pub(super) async fn listen(&mut self, session: &mut Session, beat: &mut Beat) -> Result<(), RunError> {
        if let Some(kept) = &self.kept {
            let pulse = *kept.pulse.borrow();
            if pulse.is_lost {
                return Err(StoreError::LeaseLost { id: session.job.spec.id }.into());
            }
            return match pulse.order {
                Some(Order::Wish(wish)) => self.heed(session, wish).await,
                // Between turns only.
                Some(Order::Window { .. }) | None => Ok(()),
            };
        }
        if beat.asked.is_some_and(|asked| asked.elapsed() < WISH_EVERY) || self.is_left_alone() {
            return Ok(());
        }
        beat.asked = Some(Instant::now());
        let id = session.job.spec.id;
        if beat.renewed.elapsed() >= RENEW_EVERY {
            let sent = Instant::now();
            match self.store.renew(id, session.lease, LEASE_MS).await {
                Ok(()) => beat.renewed = sent,
                Err(error) => self.unless_lost(session, error)?,
            }
        }
        match self.store.wanted(id, session.lease).await {
            Ok(None) => Ok(()),
            Ok(Some(wish)) => self.heed(session, wish).await,
            Err(error) => self.unless_lost(session, error),
        }
    }

    /// A cancel or a pause that is wished while the job waits for its server. A worker hears of it, as of all else.
    pub(super) async fn wished_while_held(&mut self, session: &Session) -> Result<Option<Wish>, StoreError> {
        match &self.kept {
            None => self.store.wanted(session.job.spec.id, session.lease).await,
            Some(kept) => Ok(match kept.pulse.borrow().order {
                Some(Order::Wish(wish)) => Some(wish),
                Some(Order::Window { .. }) | None => None,
            }),
        }
    }

    /// Holds the job, between two turns, when its time window has closed.
    pub(super) async fn mind_window(&mut self, session: &mut Session) -> Result<(), RunError> {
        let order = self.kept.as_ref().and_then(|kept| kept.pulse.borrow().order);
        let Some(Order::Window { opens }) = order.filter(|_| session.job.is_running()) else { return Ok(()) };
        self.await_pulse(session).await?;
        // Where this is not heard, the job would rest until a person comes: it goes on rather.
        match self.store.wake_at(session.job.spec.id, session.lease, opens).await {
            Ok(()) => {}
            Err(error) => return self.unless_lost(session, error),
        }
        let detail = format!("its time window is closed; it goes on by itself at {opens}");
        let command = Command::Hold { reason: HoldReason::Window, detail };
        self.decide(session, Answer::Command(command)).await.map(drop)
    }

    /// Does what a person asked of the job.
    pub(super) async fn heed(&mut self, session: &mut Session, wish: Wish) -> Result<(), RunError> {
        match wish {
            Wish::Cancel => self.decide(session, Answer::Command(Command::Cancel)).await.map(drop),
            Wish::Pause => self.pause(session, "paused by a person").await,
        }
    }
}
