//! The state that the database and the workspace store have of a job, and when it is updated: the workspace store
//! first, so that the database never knows more of the journal than another machine can find there.

use super::{
    later_answers::{await_answers, waits_for},
    recorder::JobRecorder,
};
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

/// The pause before an unreachable database is tried again while the lease lasts.
const DATABASE_PAUSE: Duration = Duration::from_secs(20);
/// The pause between two tries while the job waits for it.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Seconds before each try at the last checkpoint when the database can't be reached.
const LAST_TRIES: [u64; 5] = [0, 1, 2, 4, 8];
/// The most work that another machine would have to do again.
const UPLOAD_EVERY: Duration = Duration::from_mins(1);

/// The progress that the database and the workspace store have.
#[derive(Debug)]
pub(super) struct Checkpoints {
    /// The last checkpoint that the database took from this process.
    saved: Option<Checkpoint>,
    /// The time at which the database accepted it.
    pub(super) saved_at: Instant,
    /// The job rests until the answers to its submitted calls have come.
    pub(super) waits: bool,
    /// The database may lack rows of phases before the last two.
    pub(super) lags: bool,
    /// Since when the database can't be reached; the person has been notified.
    outage: Option<Instant>,
    /// None: the workspace stays on this machine.
    upload: Option<WorkspaceUpload>,
}

/// The copy of the workspace from which other machines can continue.
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

    /// Has the workspace in the store at each checkpoint. `anchor` is the journal's end as the database knows it.
    pub(super) fn set_upload(&mut self, uploader: Option<Uploader>, anchor: Option<Anchor>) {
        self.upload = uploader.map(|uploader| WorkspaceUpload { uploader, anchor, at: Instant::now() });
    }

    fn extent(&self) -> CheckpointExtent {
        if self.lags { CheckpointExtent::All } else { CheckpointExtent::Recent }
    }
}

impl JobRecorder<'_> {
    /// Whether the database is not tried for now: each try may take as long as a connection's timeout, and the work
    /// would wait for it.
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
            self.note(opened, format!("{error}; {then}"));
        }
        Ok(())
    }

    /// Writes a checkpoint now, or later if the database can't be reached.
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

    /// Writes everything that the database lacks. Once it accepts that, it has all rows, so that its anchor vouches for
    /// them all.
    async fn checkpoint(&mut self, opened: &OpenJob) -> Result<(), RunError> {
        self.upload(opened).await?;
        let extent = self.checkpoints.extent();
        let waits_for = self.checkpoints.waits.then(|| waits_for(opened));
        if waits_for.is_some() {
            await_answers(self.store, opened).await?;
        }
        if !opened.job.is_running() || waits_for.is_some() {
            opened.lease.release();
        }
        // The outcome of a failed checkpoint isn't known: the next one is written completely.
        self.checkpoints.lags = true;
        let before = self.checkpoints.saved.take();
        let saved = opened.checkpoint_since(self.store, extent, before.as_ref(), waits_for).await?;
        self.checkpoints.saved = Some(saved);
        self.checkpoints.saved_at = Instant::now();
        self.checkpoints.lags = false;
        Ok(())
    }

    /// A job has ended only when its final checkpoint is in the database.
    pub(super) async fn finish(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        if opened.job.ended().is_none() {
            opened.write_derived()?;
        }
        // A person who stops the work doesn't want to wait for a database; the next opening of the job writes its row.
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

    /// Marks the row as held for a reason that the journal can't record: the workspace may accept no further line.
    pub(super) async fn hold_row(
        &mut self,
        opened: &OpenJob,
        reason: HoldReason,
        detail: &str,
    ) -> Result<(), StoreError> {
        // Whether or not the store has the workspace. If not, the row states the journal's end that the store has, so
        // that a machine that continues from there doesn't seem to have lost something.
        let disclaimed = self.upload(opened).await.err().map(|error| {
            self.note(opened, error.to_string());
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

    /// Whether enough was done since the last upload for another one between two turns.
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
