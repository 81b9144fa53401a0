//! Where there is a workspace store, the workspace is uploaded to it before the database hears of a checkpoint.

use super::{
    RunError,
    job_runner::{JobRunner, RunReport},
    open_job::{Anchor, OpenJob},
};
use crate::workspace_store::{JournalEnd, Uploader};
use overnight_core::job::record::JobState;
use std::time::{Duration, Instant};

/// The most work that another machine would have to do again.
const UPLOAD_EVERY: Duration = Duration::from_mins(1);

/// How the workspace of a job is uploaded, and what was uploaded last.
#[derive(Debug)]
pub(super) struct WorkspaceUpload {
    uploader: Uploader,
    /// The journal's end that the store and the database have; none: neither has any.
    anchor: Option<Anchor>,
    at: Instant,
}

impl JobRunner<'_> {
    /// Uploads the workspace at each checkpoint. `anchor` is the journal's end as the database knows it.
    #[must_use]
    pub fn with_uploader(mut self, uploader: Option<Uploader>, anchor: Option<Anchor>) -> Self {
        self.upload = uploader.map(|uploader| WorkspaceUpload { uploader, anchor, at: Instant::now() });
        self
    }

    /// Uploads the workspace as it is now, where there is a workspace store.
    pub(super) async fn upload(&mut self, opened: &OpenJob) -> Result<(), RunError> {
        let Some(upload) = &mut self.upload else { return Ok(()) };
        opened.upload(&mut upload.uploader).await?;
        upload.anchor = Some(Anchor { seq: opened.journal.seq(), head: opened.journal.head().to_owned() });
        upload.at = Instant::now();
        Ok(())
    }

    /// Whether so much was done since the last upload that it is time, between two turns, for the next.
    pub(super) fn is_upload_due(&self) -> bool {
        self.upload.as_ref().is_some_and(|upload| upload.at.elapsed() >= UPLOAD_EVERY)
    }

    /// For a row that has to be written whether or not the store has the workspace: where it doesn't, the row says of the
    /// journal what the store has, so that a machine that goes on from there is not taken for one that lost something.
    pub(super) async fn upload_or_disclaim(&mut self, opened: &OpenJob) -> impl FnOnce(&mut JobState) + use<> {
        let anchor = match self.upload(opened).await {
            Ok(()) => None,
            Err(error) => {
                (self.observer)(&opened.job, RunReport::Note(error.to_string()));
                self.upload.as_ref().map(|upload| upload.anchor.clone())
            }
        };
        move |state| {
            if let Some(anchor) = anchor {
                let anchor = anchor.unwrap_or_else(Anchor::start);
                (state.journal_seq, state.journal_head) = (anchor.seq, anchor.head);
            }
        }
    }
}

impl OpenJob {
    /// Uploads the workspace as it is now.
    pub async fn upload(&self, uploader: &mut Uploader) -> Result<(), RunError> {
        let end = JournalEnd { lease: self.lease, seq: self.journal.seq(), head: self.journal.head() };
        Ok(uploader.upload(&self.workspace, end).await?)
    }
}
