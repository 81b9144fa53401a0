//! What the database and the workspace store know of a job, and when they hear more: the workspace store first, so that the
//! database never knows more of the journal than a machine that goes on from there can find.

use super::{JobRunner, RunReport, later_answers::waits_for};
use crate::{
    runner::{
        RunError,
        open_job::{Anchor, OpenJob},
    },
    store::StoreError,
    workspace_store::{JournalEnd, Uploader},
};
use overnight_core::job::{
    record::{Checkpoint, HoldReason, JobStatus},
    rows::CheckpointExtent,
};
use std::time::{Duration, Instant};

/// How long a database that couldn't be reached is not asked again while the lease lasts.
const DATABASE_PAUSE: Duration = Duration::from_secs(20);
/// How soon it is tried again while the job waits for it.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Seconds before each try at the last checkpoint when the database can't be reached.
const LAST_TRIES: [u64; 5] = [0, 1, 2, 4, 8];
/// The most work that another machine would have to do again.
const UPLOAD_EVERY: Duration = Duration::from_mins(1);

/// How far the database and the workspace store are.
#[derive(Debug)]
pub(super) struct Checkpoints {
    /// The last checkpoint that the database took from this process.
    saved: Option<Checkpoint>,
    /// When the database took it.
    pub(super) saved_at: Instant,
    /// The job rests until answers to what it has handed in have come.
    pub(super) waits: bool,
    /// The database may lack rows of phases before the last two.
    pub(super) lags: bool,
    /// Since when the database can't be reached; the person was told.
    outage: Option<Instant>,
    /// None: the workspace stays on this machine.
    upload: Option<WorkspaceUpload>,
}

/// The copy of the workspace that other machines can go on from.
#[derive(Debug)]
struct WorkspaceUpload {
    uploader: Uploader,
    /// The journal's end that the store and the database have; none: neither has any.
    anchor: Option<Anchor>,
    at: Instant,
}

impl Checkpoints {
    pub(super) fn new() -> Self {
        Self { saved: None, saved_at: Instant::now(), waits: false, lags: true, outage: None, upload: None }
    }

    fn extent(&self) -> CheckpointExtent {
        if self.lags { CheckpointExtent::All } else { CheckpointExtent::Recent }
    }
}

impl JobRunner<'_> {
    /// Has the workspace in the store at each checkpoint. `anchor` is the journal's end as the database knows it.
    #[must_use]
    pub fn with_uploader(mut self, uploader: Option<Uploader>, anchor: Option<Anchor>) -> Self {
        self.checkpoints.upload = uploader.map(|uploader| WorkspaceUpload { uploader, anchor, at: Instant::now() });
        self
    }

    /// Whether the database is not asked just now: each try costs the time that a connection may take, and the work would
    /// wait for it.
    pub(super) fn is_database_paused(&self) -> bool {
        self.checkpoints.outage.is_some_and(|since| since.elapsed() < DATABASE_PAUSE)
    }

    /// A database or a workspace store that can't be reached now is tried again at the next checkpoint; other errors, such as a lost
    /// lease, end the work.
    pub(super) fn tolerate_outage(&mut self, opened: &OpenJob, error: impl Into<RunError>) -> Result<(), RunError> {
        let error = error.into();
        if !error.is_retryable() {
            return Err(error);
        }
        if self.checkpoints.outage.replace(Instant::now()).is_none() {
            let then = if let RunError::WorkspaceStore(_) = error {
                "the job goes on, and what it does is kept there later"
            } else {
                "the job goes on while its lease lasts, then waits; its rows are written later"
            };
            (self.observer)(&opened.job, RunReport::Note(format!("{error}; {then}")));
        }
        Ok(())
    }

    /// Writes a checkpoint, now or, where the database can't be reached, later.
    pub(super) async fn save(&mut self, opened: &OpenJob) -> Result<(), RunError> {
        if self.is_database_paused() {
            self.checkpoints.lags = true;
            return Ok(());
        }
        match self.checkpoint(opened).await {
            Ok(()) => {
                self.checkpoints.outage = None;
                Ok(())
            }
            Err(error) => self.tolerate_outage(opened, error),
        }
    }

    /// Writes what the database doesn't have. Whatever it takes, it has all rows afterwards, so that its anchor vouches for
    /// them all.
    async fn checkpoint(&mut self, opened: &OpenJob) -> Result<(), RunError> {
        self.upload(opened).await?;
        let extent = self.checkpoints.extent();
        let waits_for = self.checkpoints.waits.then(|| waits_for(opened));
        if waits_for.is_some() {
            self.await_answers(opened).await?;
        }
        if !opened.job.is_running() || waits_for.is_some() {
            opened.lease.release();
        }
        // What became of a checkpoint that failed isn't known: the next one is written whole.
        self.checkpoints.lags = true;
        let before = self.checkpoints.saved.take();
        let saved = opened.checkpoint_since(self.store, extent, before.as_ref(), waits_for).await?;
        self.checkpoints.saved = Some(saved);
        self.checkpoints.saved_at = Instant::now();
        self.checkpoints.lags = false;
        Ok(())
    }

    /// An end is an end only when its checkpoint is in the database.
    pub(super) async fn finish(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        if opened.job.ended().is_none() {
            opened.write_derived()?;
        }
        // Who stops the work doesn't want to wait for a database; whoever opens the job next writes its row.
        let is_stopped = *self.stop.borrow();
        if is_stopped && self.is_database_paused() {
            return Ok(());
        }
        let mut last = Ok(());
        for &seconds in if is_stopped { &LAST_TRIES[..1] } else { &LAST_TRIES[..] } {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            match self.checkpoint(opened).await {
                Err(error) if error.is_retryable() => last = Err(error),
                done => return done,
            }
        }
        match last {
            Err(error) if *self.stop.borrow() => self.tolerate_outage(opened, error),
            last => last,
        }
    }

    /// Has the row say that the job is held, for a reason that is no fact of the job: its workspace may take no further line.
    pub(super) async fn hold_row(
        &mut self,
        opened: &OpenJob,
        reason: HoldReason,
        detail: &str,
    ) -> Result<(), StoreError> {
        // Whether or not the store has the workspace. Where it doesn't, the row says of the journal what the store has, so that
        // a machine that goes on from there is not taken for one that lost something.
        let disclaimed = self.upload(opened).await.err().map(|error| {
            (self.observer)(&opened.job, RunReport::Note(error.to_string()));
            self.checkpoints.upload.as_ref().and_then(|upload| upload.anchor.clone()).unwrap_or_else(Anchor::start)
        });
        opened.lease.release();
        let known = disclaimed.unwrap_or_else(|| opened.anchor());
        let mut rows = opened.job.checkpoint(self.checkpoints.extent(), known.seq, &known.head);
        (rows.state.status, rows.state.hold_reason) = (JobStatus::Held, Some(reason));
        rows.state.reason = Some(detail.to_owned());
        self.store.checkpoint(opened.lease.id, opened.lease.number, &rows).await
    }

    /// Uploads the workspace as it is now, where there is a workspace store.
    async fn upload(&mut self, opened: &OpenJob) -> Result<(), RunError> {
        let Some(upload) = &mut self.checkpoints.upload else { return Ok(()) };
        opened.upload(&mut upload.uploader).await?;
        upload.anchor = Some(opened.anchor());
        upload.at = Instant::now();
        Ok(())
    }

    /// Whether so much was done since the last upload that it is time, between two turns, for the next.
    pub(super) fn is_upload_due(&self) -> bool {
        self.checkpoints.upload.as_ref().is_some_and(|upload| upload.at.elapsed() >= UPLOAD_EVERY)
    }
}

impl OpenJob {
    /// Uploads the workspace as it is now.
    pub async fn upload(&self, uploader: &mut Uploader) -> Result<(), RunError> {
        let end = JournalEnd { lease: self.lease.number, seq: self.journal.seq(), head: self.journal.head() };
        Ok(uploader.upload(&self.workspace, end).await?)
    }
}
