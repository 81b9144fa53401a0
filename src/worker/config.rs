//! The settings of a worker, and all of its times.

use super::{ClaimOutcome, Hook};
use crate::{batch::window::Window, extraction::Extractor, telemetry::SpanSender, workspace_store::WorkspaceStore};
use overnight_core::job::id::JobId;
use std::{path::PathBuf, sync::Arc, time::Duration};

/// The settings of a worker.
#[derive(Clone, Debug)]
pub struct WorkerConfig {
    /// Jobs at once, at least 1.
    pub concurrency: usize,
    /// Nothing is started outside, and what runs is held at its next turn.
    pub window: Option<Window>,
    /// Stop when nothing is left to do.
    pub until_empty: bool,
    /// Claim nothing more after this time; stop when what runs is done.
    pub drain_after: Option<Duration>,
    /// Where workspaces are made; absolute.
    pub workspaces: PathBuf,
    /// Where workspaces are kept for other machines; none: a job stays with the machine that has its workspace.
    pub workspace_store: Option<WorkspaceStore>,
    /// Reads documents.
    pub extractor: Arc<Extractor>,
    /// The name of this machine.
    pub host: String,
    /// Who is told when a batch has ended.
    pub hook: Option<Hook>,
    /// Where the spans of its jobs go.
    pub traces: Option<SpanSender>,
    pub times: WorkerTimes,
}

/// A worker's times. A dead worker's job is taken over after a lease and a sweep at most.
#[derive(Clone, Copy, Debug)]
pub struct WorkerTimes {
    /// How long a lease lasts without a heartbeat.
    pub lease: Duration,
    /// Nothing is decided under a lease that has less left.
    pub margin: Duration,
    pub heartbeat: Duration,
    /// How often control signals and time windows of running jobs are looked at.
    pub signals: Duration,
    pub sweep: Duration,
    /// How often the queue is looked at when nothing is heard of it.
    pub poll: Duration,
    /// How long a job that waits for its server stays held when its worker dies.
    pub wakes_after: Duration,
    /// After how long a workspace that another process has open is tried again.
    pub lock_retry: Duration,
    /// How long a request for metrics may take, the answer included.
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
            lock_retry: Duration::from_secs(3),
            metrics_timeout: Duration::from_secs(10),
        }
    }
}

impl WorkerTimes {
    pub(super) fn lease_ms(&self) -> u64 {
        u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX)
    }
}

/// What a worker reports of its work.
#[derive(Debug)]
pub enum WorkerEvent<'t> {
    Begun {
        id: JobId,
        label: &'t str,
    },
    Rested {
        id: JobId,
        label: &'t str,
        rest: &'t ClaimOutcome,
    },
    /// One sentence that a person may want to know.
    Note(String),
    /// One sentence on what was asked for and did not happen.
    Fault(String),
}
