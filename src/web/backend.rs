//! The interface of the pages to the program above: it knows the settings, the workspaces, and how to submit a batch.

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
    /// For a linked job, the workspace of the job that did the work.
    pub location: Whereabouts,
    /// Its status is running, but no process works on it.
    pub interrupted: bool,
}

/// The request of the page that submits.
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
    /// The text that was typed.
    pub budget_usd: Option<String>,
    /// Link documents that were done before to the job that did them.
    pub dedupe: bool,
}

/// The actions for many jobs at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkAction {
    Retry,
    Cancel,
    Pause,
    Resume,
}

impl BulkAction {
    pub const ALL: [Self; 4] = [Self::Retry, Self::Resume, Self::Pause, Self::Cancel];

    /// Whether it applies to a job in this state; `of_batch`: whether the job is in a batch.
    pub fn fits(self, status: JobStatus, hold: Option<HoldReason>, of_batch: bool) -> bool {
        match self {
            Self::Retry => of_batch && status == JobStatus::Failed,
            Self::Cancel => !status.is_end(),
            Self::Pause => matches!(status, JobStatus::Queued | JobStatus::Running),
            Self::Resume => of_batch && status == JobStatus::Held && hold == Some(HoldReason::Paused),
        }
    }
}

/// The target of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestTarget {
    Job(JobId),
    Batch(Box<BatchRow>),
}

/// The outcome for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkOutcome {
    Done,
    /// The process that works on the job will do it.
    Asked,
    /// The job's state has changed meanwhile.
    Unchanged,
}

/// A golden set with an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluatedSet {
    /// The id used in URLs.
    pub id: String,
    /// Its folder.
    pub gold: String,
    /// Whether the evaluation is on the held-out cases.
    pub hold_out: bool,
    pub candidates: u64,
}

/// The functions that the command line provides for the pages.
#[async_trait]
pub trait WebBackend: Debug + Send + Sync {
    /// `None`: there is no such job.
    async fn job(&self, id: JobId) -> Result<Option<FoundJob>, WebError>;

    /// Those of these jobs with status running on which no process works.
    async fn interrupted(&self, rows: Vec<JobRow>) -> Result<Vec<JobId>, WebError>;

    /// The names of all instructions.
    fn instructions(&self) -> Vec<String>;

    /// A preview of the batch and its cost, in lines. Nothing is written.
    async fn dry_run(&self, wanted: &WantedBatch) -> Result<String, WebError>;

    /// Puts the batch into the queue.
    async fn submit(&self, wanted: &WantedBatch) -> Result<(), WebError>;

    /// Performs the command of that name on the job.
    async fn act(&self, action: BulkAction, job: JobId) -> Result<BulkOutcome, WebError>;

    /// Records a review by `by` of the job with its own workspace at `path`. 423: another process is working on it.
    async fn review(&self, found: &FoundJob, path: &Path, by: &str, action: ReviewAction) -> Result<(), WebError>;

    /// The table of all records of a job or a batch, by its id; none: there is no list of records.
    async fn table(&self, named: &str, format: TableFormat) -> Result<Option<Vec<u8>>, WebError>;

    /// The output of `overnight show --json` for a job.
    async fn job_view(&self, id: JobId) -> Result<String, WebError>;

    /// The output of `overnight show --json` for a batch.
    async fn batch_view(&self, batch: &BatchRow) -> Result<String, WebError>;

    /// The assignments of its results to readers, after assigning those in `wanted`.
    async fn assign(&self, batch: &BatchRow, wanted: &AssignmentWanted) -> Result<AssignmentsView, WebError>;

    /// Performs the command of that name on a job, or on all of a batch. 409: nothing of it can be done.
    async fn request(&self, action: BulkAction, named: RequestTarget) -> Result<RequestOutcome, WebError>;

    /// The report of a batch, as a page.
    async fn report(&self, batch: Uuid) -> Result<Vec<u8>, WebError>;

    /// The golden sets that were evaluated.
    async fn evaluated_sets(&self) -> Result<Vec<EvaluatedSet>, WebError>;

    /// The result of one evaluation. `None`: there is no such evaluation.
    async fn evaluation(&self, id: &str) -> Result<Option<Evaluation>, WebError>;

    /// Records a correction by `by` of a golden set: case, place, and the value as JSON.
    async fn correct_gold(
        &self,
        id: &str,
        file: (&str, Option<&str>),
        right: (&str, &str),
        by: &str,
    ) -> Result<(), WebError>;

    /// The renderer of document pages.
    fn extractor(&self) -> Result<Extractor, WebError>;
}
