//! The state that all pages share: how the server is run, who may access it, and where jobs are found.

use super::{
    WebError,
    access::Access,
    backend::{FoundJob, WebBackend},
    job_record::RecordCache,
    kept_reviews::KeptReviews,
    live_jobs::LiveJobs,
    viewings::Viewings,
};
use crate::{
    report::read::Whereabouts,
    review::JobReview,
    store::{BatchRow, JobRow, Store, StoreError},
};
use axum::{
    extract::{FromRequestParts, Path},
    http::{HeaderName, request::Parts},
};
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use serde::de::DeserializeOwned;
use std::{path::PathBuf, sync::Arc};
use tokio::sync::{Mutex, Semaphore};
use uuid::Uuid;

/// The path for agents.
pub(super) const AGENTS_ADDRESS: &str = "/mcp";

/// The settings with which the server is run.
#[derive(Debug)]
pub struct WebConfig {
    /// Further host names under which the server answers.
    pub hosts: Vec<String>,
    pub read_only: bool,
    /// The person who acts, if no header names one; `None` if no one can act.
    pub reviewer: Option<String>,
    /// The header in which a proxy names the person.
    pub user_header: Option<HeaderName>,
    /// The folder of uploaded documents.
    pub uploads: PathBuf,
    /// The most megabytes of one upload.
    pub most_upload_mb: u64,
    /// The folder below which documents may be named.
    pub documents_root: Option<PathBuf>,
    /// Whether agents are served, at `/mcp`.
    pub agents: bool,
    /// Notifies the person who runs the server.
    pub note: fn(&str),
    /// Writes a time for people.
    pub minute: fn(Timestamp) -> String,
}

/// The state that all pages share.
#[derive(Debug)]
pub(super) struct WebState {
    pub(super) config: WebConfig,
    pub(super) access: Access,
    pub(super) store: Arc<dyn Store>,
    pub(super) backend: Arc<dyn WebBackend>,
    pub(super) jobs: Arc<LiveJobs>,
    pub(super) records: RecordCache,
    /// For the queues of batches.
    pub(super) reviews: KeptReviews,
    /// The parts of results that people have had in view.
    pub(super) viewings: Viewings,
    /// Held while a submission with a key runs; the key selects one of them.
    pub(super) submissions: [Mutex<()>; 16],
    /// The slots of live pages.
    pub(super) streams: Arc<Semaphore>,
    /// The slots of pages that are being rendered.
    pub(super) pictures: Semaphore,
}

/// Parts of the path; an invalid part leads to "not found".
#[derive(Debug)]
pub(super) struct PathOf<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for PathOf<T> {
    type Rejection = WebError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, WebError> {
        let Path(value) = Path::<T>::from_request_parts(parts, state).await?;
        Ok(Self(value))
    }
}

impl WebState {
    /// The job with the whole id in a path.
    pub(super) async fn find(&self, id: &str) -> Result<FoundJob, WebError> {
        let id: JobId = id.parse().map_err(|_| WebError::not_found("job"))?;
        self.backend.job(id).await?.ok_or_else(|| WebError::not_found("job"))
    }

    /// The batch with the whole id in a path.
    pub(super) async fn batch(&self, id: &str) -> Result<BatchRow, WebError> {
        let id: Uuid = id.parse().map_err(|_| WebError::not_found("batch"))?;
        self.store.batch(&id.to_string()).await.map_err(|error| match error {
            StoreError::NoBatch { .. } => WebError::not_found("batch"),
            error => error.into(),
        })
    }

    /// A page of a job's review, from 1, for this person: if another one judges the result too, the reviews of others
    /// are hidden until this person has given their own.
    pub(super) async fn review_for(
        &self,
        found: FoundJob,
        page: usize,
        person: Option<&str>,
    ) -> Result<Arc<JobReview>, WebError> {
        let assigned = match person {
            Some(_) => self.store.assignments_of(found.row.job.id).await?,
            None => Vec::new(),
        };
        match person.filter(|name| assigned.iter().any(|one| one.twice && one.reviewer == *name)) {
            None => self.records.review(found, page).await,
            Some(name) => {
                let (path, name) = (Self::own_workspace(&found)?, name.to_owned());
                let read = tokio::task::spawn_blocking(move || JobReview::read_alone(&path, page, &name)).await?;
                Ok(Arc::new(read.map_err(|error| WebError::conflict(error.to_string()))?))
            }
        }
    }

    /// The next step of a job that continues: who or what it waits for.
    pub(super) async fn next_step(&self, row: &JobRow) -> Result<Option<String>, WebError> {
        let state = &row.state;
        Ok(match state.status {
            JobStatus::Queued => Some(match self.store.workers_at_work().await? {
                0 => "The job is queued: it waits for a worker, and none is running. Start one with `overnight work`."
                    .to_owned(),
                1 => "The job is queued: it waits for a worker, and one is running.".to_owned(),
                workers => format!("The job is queued: it waits for a worker, and {workers} are running."),
            }),
            JobStatus::Held if row.queue.is_none() && state.hold_reason == Some(HoldReason::Paused) => {
                Some(format!("The job is held: `overnight resume {}` goes on with it.", row.job.id))
            }
            JobStatus::Held
            | JobStatus::Running
            | JobStatus::Waiting
            | JobStatus::Completed
            | JobStatus::Partial
            | JobStatus::Blocked
            | JobStatus::Failed
            | JobStatus::Cancelled => None,
        })
    }

    /// The place of the job's workspace; for a linked job, that of the job that did the work.
    pub(super) fn workspace(found: &FoundJob) -> Result<PathBuf, WebError> {
        match &found.location {
            Whereabouts::Here(path) => Ok(path.clone()),
            Whereabouts::Gone(sentence) | Whereabouts::Stored(sentence) => Err(WebError::conflict(sentence)),
            Whereabouts::Elsewhere => Err(WebError::conflict("The workspace of this job is on another machine.")),
            Whereabouts::NotBegun => Err(WebError::conflict("No worker has made this job a workspace yet.")),
        }
    }

    /// [`Self::workspace`], for the job's own record. A linked job has none.
    pub(super) fn own_workspace(found: &FoundJob) -> Result<PathBuf, WebError> {
        match found.queue.as_ref().and_then(|queue| queue.same_as) {
            Some(done) => {
                Err(WebError::conflict(format!("This was done before by job {done}: the record is that one's.")))
            }
            None => Self::workspace(found),
        }
    }
}
