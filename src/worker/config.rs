//! How a worker works, and what it tells of that.

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
    /// Nothing is started outside, and what runs is held at its next turn.
    pub window: Option<Window>,
    /// Only the jobs of these batches, and nothing that is to be done for others; empty: all.
    pub batches: Vec<Uuid>,
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
    /// Who is told when a batch has ended, or a person is needed.
    pub notices: Vec<NoticeTarget>,
    /// Where the spans of its jobs go.
    pub traces: Option<SpanSender>,
    pub times: WorkerTimes,
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
