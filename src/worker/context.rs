//! The state that all jobs of a worker share, and the health of its database.

use super::{
    batches::{Batches, Supply},
    config::{WorkerConfig, WorkerEvent},
    metrics::Metrics,
    notices::NoticeTasks,
};
use crate::{
    runner::ActiveJobs,
    store::{Store, StoreError},
};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::watch;
use uuid::Uuid;

/// The state that all jobs of a worker share.
pub(super) struct WorkerContext {
    pub(super) worker: Uuid,
    pub(super) store: Arc<dyn Store>,
    pub(super) supply: Arc<dyn Supply>,
    pub(super) batches: Batches,
    pub(super) active_jobs: Arc<ActiveJobs>,
    pub(super) config: WorkerConfig,
    pub(super) metrics: Arc<Metrics>,
    pub(super) notices: NoticeTasks,
    /// Held while batches that have ended are being handled.
    pub(super) settling: tokio::sync::Mutex<()>,
    /// Held while runs of schedules are being submitted.
    pub(super) submitting: tokio::sync::Mutex<()>,
    /// Receives the worker's reports.
    pub(super) notify: EventSink,
    pub(super) health: DatabaseHealth,
    pub(super) stop: watch::Receiver<bool>,
}

impl std::fmt::Debug for WorkerContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerContext").field("worker", &self.worker).finish_non_exhaustive()
    }
}

/// Receives the worker's reports.
pub(super) type EventSink = Arc<dyn Fn(WorkerEvent<'_>) + Send + Sync>;

/// The time without a failed write after which the disk counts as having room: in between a small write may succeed.
const ROOM_AFTER: Duration = Duration::from_secs(10);

/// Whether the database has answered lately, and whether its disk has room: reported once when that ends, and once when
/// it returns.
#[derive(Debug, Default)]
pub(super) struct DatabaseHealth {
    is_out: AtomicBool,
    /// When a write last found no room; none: there is room.
    full: Mutex<Option<Instant>>,
}

impl WorkerContext {
    pub(super) fn note(&self, sentence: String) {
        (self.notify)(WorkerEvent::Note(sentence));
    }

    pub(super) fn database_lost(&self, error: &StoreError) {
        if matches!(error, StoreError::Full { .. }) {
            if self.health.full().replace(Instant::now()).is_none() {
                self.note(format!("{error}; make room: it is waited for, and nothing is claimed meanwhile"));
            }
        } else if !self.health.is_out.swap(true, Ordering::SeqCst) {
            self.note(format!("{error}; running jobs wait before their leases end, and nothing is claimed meanwhile"));
        }
    }

    pub(super) fn database_back(&self) {
        if self.health.is_out.swap(false, Ordering::SeqCst) {
            self.note("the database answers again".to_owned());
        }
        if self.health.full().take_if(|last| last.elapsed() >= ROOM_AFTER).is_some() {
            self.note("there is room for the database again".to_owned());
        }
    }
}

impl DatabaseHealth {
    fn full(&self) -> MutexGuard<'_, Option<Instant>> {
        self.full.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
