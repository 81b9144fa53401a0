//! What the pages ask of the program above them: it knows the settings, where workspaces lie, and how a batch is submitted.

use super::WebError;
use crate::{
    eval::Evaluation,
    export::TableFormat,
    extraction::Extractor,
    report::{facts::JobQueueFacts, read::Whereabouts},
    review::AssignmentWanted,
    runner::ReviewAction,
    store::{BatchRow, JobRow},
    view::{AssignmentsView, RequestOutcome},
};
use async_trait::async_trait;
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
};
use std::{
    fmt::Debug,
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// A job that was found, as the commands see it.
#[derive(Clone, Debug)]
pub struct FoundJob {
    pub row: JobRow,
    /// `None`: the job is in no batch.
    pub queue: Option<JobQueueFacts>,
    /// Of a linked job, where the workspace of the job is that did the work.
    pub location: Whereabouts,
    /// It stands as running, and no process works on it.
    pub interrupted: bool,
}

/// What is asked for on the page that submits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedBatch {
    /// The batch's: submitting the same again changes nothing.
    pub id: Uuid,
    /// One of [`WebBackend::instructions`].
    pub instructions: String,
    pub documents: Vec<PathBuf>,
    /// One job for each document.
    pub each: bool,
    pub name: Option<String>,
    /// As it was typed.
    pub budget_usd: Option<String>,
    /// Link documents that were done before to the job that did them.
    pub dedupe: bool,
}

/// What can be done to many jobs at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkAction {
    Retry,
    Cancel,
    Pause,
    Resume,
}

impl BulkAction {
    pub const ALL: [Self; 4] = [Self::Retry, Self::Resume, Self::Pause, Self::Cancel];

    /// Whether it is for a job that stands so; `of_batch`: whether it is in one.
    pub fn fits(self, status: JobStatus, hold: Option<HoldReason>, of_batch: bool) -> bool {
        match self {
            Self::Retry => of_batch && status == JobStatus::Failed,
            Self::Cancel => !status.is_end(),
            Self::Pause => matches!(status, JobStatus::Queued | JobStatus::Running),
            Self::Resume => of_batch && status == JobStatus::Held && hold == Some(HoldReason::Paused),
        }
    }
}

/// What a request is about.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestTarget {
    Job(JobId),
    Batch(Box<BatchRow>),
}

/// What came of it for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkOutcome {
    Done,
    /// Who works on the job does it.
    Asked,
    /// The job stands otherwise by now.
    Unchanged,
}

/// A golden set that was evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluatedSet {
    /// In addresses.
    pub id: String,
    /// Its folder.
    pub gold: String,
    /// On the cases that are kept back.
    pub hold_out: bool,
    pub candidates: u64,
}

/// What the command line answers for the pages.
#[async_trait]
pub trait WebBackend: Debug + Send + Sync {
    /// `None`: there is no such job.
    async fn job(&self, id: JobId) -> Result<Option<FoundJob>, WebError>;

    /// Which of these, that stand as running, no process works on.
    async fn interrupted(&self, rows: Vec<JobRow>) -> Result<Vec<JobId>, WebError>;

    /// The names of all instructions.
    fn instructions(&self) -> Vec<String>;

    /// What the batch would be and may cost, in lines. Nothing is written.
    async fn dry_run(&self, wanted: &WantedBatch) -> Result<String, WebError>;

    /// Puts the batch into the queue.
    async fn submit(&self, wanted: &WantedBatch) -> Result<(), WebError>;

    /// Does to the job what the command of that name does.
    async fn act(&self, action: BulkAction, job: JobId) -> Result<BulkOutcome, WebError>;

    /// Records what `by` says of the job whose own workspace is at `path`. 423: another process works on it just now.
    async fn review(&self, found: &FoundJob, path: &Path, by: &str, action: ReviewAction) -> Result<(), WebError>;

    /// The table of all records of a job or a batch, by its id; none: there is no list of records.
    async fn table(&self, named: &str, format: TableFormat) -> Result<Option<Vec<u8>>, WebError>;

    /// What `overnight show --json` prints of a job.
    async fn job_view(&self, id: JobId) -> Result<String, WebError>;

    /// What `overnight show --json` prints of a batch.
    async fn batch_view(&self, batch: &BatchRow) -> Result<String, WebError>;

    /// Who reads which of its results; what is wanted is assigned before.
    async fn assign(&self, batch: &BatchRow, wanted: &AssignmentWanted) -> Result<AssignmentsView, WebError>;

    /// Does what the command of that name does to a job, or to all of a batch. 409: nothing can be done of it.
    async fn request(&self, action: BulkAction, named: RequestTarget) -> Result<RequestOutcome, WebError>;

    /// The report of a batch, as a page.
    async fn report(&self, batch: Uuid) -> Result<Vec<u8>, WebError>;

    /// The golden sets that were evaluated.
    async fn evaluated_sets(&self) -> Result<Vec<EvaluatedSet>, WebError>;

    /// What one of them has come to. `None`: there is no such one.
    async fn evaluation(&self, id: &str) -> Result<Option<Evaluation>, WebError>;

    /// Records that `by` says of it what is right: case, place, and the value as JSON.
    async fn correct_gold(
        &self,
        id: &str,
        file: (&str, Option<&str>),
        right: (&str, &str),
        by: &str,
    ) -> Result<(), WebError>;

    /// What paints pages of documents.
    fn extractor(&self) -> Result<Extractor, WebError>;
}
