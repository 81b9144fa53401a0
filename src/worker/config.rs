//! A worker's settings and reports.

use super::claim_outcome::ClaimOutcome;
use crate::{
    batch::window::Window, extraction::Extractor, notify::NoticeTarget, runner::WorkerTimes, telemetry::SpanSender,
    workspace_store::WorkspaceStore,
};
use overnight_core::job::id::JobId;
use std::{path::PathBuf, sync::Arc, time::Duration};
use uuid::Uuid;

/// The settings of a worker.
#[derive(Clone, Debug)]
pub struct WorkerConfig {
    /// Jobs at once, at least 1.
    pub concurrency: usize,
    /// Outside of it no job is started, and running jobs are held at their next turn.
    pub window: Option<Window>,
    /// Only the jobs of these batches, without tasks for others; empty: all.
    pub batches: Vec<Uuid>,
    /// Stop when nothing is left to do.
    pub until_empty: bool,
    /// Claim nothing more after this time; stop when what runs is done.
    pub drain_after: Option<Duration>,
    /// The folder of new workspaces; absolute.
    pub workspaces: PathBuf,
    /// The store that keeps workspaces for other machines; none: a job stays with the machine that has its workspace.
    pub workspace_store: Option<WorkspaceStore>,
    /// Reads documents.
    pub extractor: Arc<Extractor>,
    /// The name of this machine.
    pub host: String,
    /// The people and programs to notify when a batch has ended, or a person is needed.
    pub notices: Vec<NoticeTarget>,
    /// The target of its jobs' spans.
    pub traces: Option<SpanSender>,
    pub times: WorkerTimes,
}

/// A report of a worker about its work.
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
    /// A note for a person; one sentence.
    Note(String),
    /// One sentence on a request that was not fulfilled.
    Fault(String),
}
