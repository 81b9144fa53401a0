//! Jobs with their facts from the queue, and requests to the queue.

use super::{AppContext, CliError, job_or_batch::JobOrBatch};
use crate::{
    report::facts::JobQueueFacts,
    store::{BatchRow, JOBS_AT_ONCE, JobFilter, JobRow, JobTarget},
    workspace::{lock, packed::is_there},
};
use overnight_core::job::{id::JobId, record::JobStatus};
use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// A job's row, with its facts from the queue.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseJob {
    pub row: JobRow,
    /// `None`: the job belongs to no batch.
    pub queue: Option<JobQueueFacts>,
}

impl DatabaseJob {
    pub fn id(&self) -> JobId {
        self.row.job.id
    }

    pub fn status(&self) -> JobStatus {
        self.row.state.status
    }

    /// The job that did the same work before.
    pub fn same_as(&self) -> Option<JobId> {
        self.queue.as_ref()?.same_as
    }

    /// The other machine that has the workspace on its own disk.
    pub fn elsewhere(&self) -> Option<&str> {
        self.queue.as_ref()?.host.as_deref().filter(|host| *host != lock::host())
    }

    /// Its workspace is in a workspace store, and the one on a machine may be behind it.
    pub fn is_stored(&self) -> bool {
        self.row.queue.as_ref().is_some_and(|queue| queue.manifest.is_some())
    }

    /// Held, with a workspace that only this machine can have: where it isn't here, nobody can go on with it.
    pub fn is_held_here(&self) -> bool {
        let is_held = self.status() == JobStatus::Held && self.queue.is_some() && self.same_as().is_none();
        is_held && self.elsewhere().is_none() && !self.is_stored() && !self.is_unbegun()
    }

    /// No worker has made its workspace yet, though one may have recorded its future location.
    pub fn is_unbegun(&self) -> bool {
        let (job, state) = (&self.row.job, &self.row.state);
        let is_made = state.journal_seq > 0 || is_there(Path::new(&job.workspace));
        self.queue.is_some() && (job.workspace.is_empty() || !is_made)
    }
}

/// Jobs that are not shown, and why.
pub(super) type JobsLeftOut = Vec<(String, String)>;

/// All statuses, in display order.
pub(super) const STATUSES: [JobStatus; 9] = [
    JobStatus::Queued,
    JobStatus::Running,
    JobStatus::Waiting,
    JobStatus::Held,
    JobStatus::Completed,
    JobStatus::Partial,
    JobStatus::Blocked,
    JobStatus::Failed,
    JobStatus::Cancelled,
];

impl AppContext {
    /// The rows with their facts from the queue.
    pub async fn database_jobs(&self, rows: Vec<JobRow>) -> Result<Vec<DatabaseJob>, CliError> {
        let batches: BTreeSet<Uuid> = rows.iter().filter_map(|row| Some(row.queue.as_ref()?.batch)).collect();
        let heads = self.store.batch_heads(batches.into_iter().collect()).await?;
        let names = heads.into_iter().map(|(id, head)| (id, head.name)).collect();
        Ok(rows.into_iter().map(|row| with_name(row, &names)).collect())
    }

    /// One row with its facts from the queue.
    pub async fn database_job(&self, row: JobRow) -> Result<DatabaseJob, CliError> {
        let found = self.database_jobs(vec![row.clone()]).await?.pop();
        Ok(found.unwrap_or(DatabaseJob { row, queue: None }))
    }

    /// A page of jobs, by their ids.
    pub async fn jobs_with(&self, ids: &[JobId]) -> Result<Vec<DatabaseJob>, CliError> {
        self.database_jobs(self.store.jobs(ids).await?).await
    }

    /// The jobs of a batch, the newest first.
    pub(super) async fn ids_of(&self, batch: &BatchRow) -> Result<Vec<JobId>, CliError> {
        Ok(self.store.job_ids(&JobFilter { batch: Some(batch.batch.id), ..JobFilter::default() }).await?)
    }

    /// The named jobs, and those of the named batches, each once: in the given order, the oldest first of each batch.
    pub(super) async fn named_ids(&self, names: &[String]) -> Result<Vec<JobId>, CliError> {
        Ok(self.named(names).await?.0)
    }

    /// The same, and the batches that were named.
    pub(super) async fn named(&self, names: &[String]) -> Result<(Vec<JobId>, Vec<BatchRow>), CliError> {
        let (mut ids, mut batches, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
        for name in names {
            let found = match self.job_or_batch(name).await? {
                JobOrBatch::Job(job) => vec![job.id()],
                JobOrBatch::Batch(batch) => {
                    let ids = self.ids_of(&batch).await?;
                    batches.push(*batch);
                    ids
                }
            };
            ids.extend(found.into_iter().rev().filter(|id| seen.insert(*id)));
        }
        Ok((ids, batches))
    }

    /// The paths of these jobs' workspaces; for jobs without a workspace here, the reason.
    pub(super) async fn workspaces_of(&self, ids: &[JobId]) -> Result<(Vec<(JobId, PathBuf)>, JobsLeftOut), CliError> {
        let (mut paths, mut left_out) = (Vec::new(), Vec::new());
        for page in ids.chunks(JOBS_AT_ONCE) {
            for job in self.jobs_with(page).await? {
                match self.workspace(&job) {
                    Ok(path) => paths.push((job.id(), path)),
                    Err(error) => left_out.push((job.id().to_string(), error.message)),
                }
            }
        }
        Ok((paths, left_out))
    }

    /// These batches, the oldest first.
    pub(super) async fn batches_with(&self, ids: &BTreeSet<Uuid>) -> Result<Vec<BatchRow>, CliError> {
        let mut batches = Vec::with_capacity(ids.len());
        for id in ids {
            batches.push(self.store.batch(&id.to_string()).await?);
        }
        batches.sort_by_key(|row| (row.batch.created, row.batch.id));
        Ok(batches)
    }

    /// Cancels jobs that have not ended; those that were begun are signalled, or queued, so that a worker ends them. Returns how many.
    pub(super) async fn cancel(&self, which: JobTarget) -> Result<u64, CliError> {
        Ok(self.store.cancel(which).await?)
    }

    /// Sets what the jobs of a batch may spend together.
    pub(super) async fn set_budget(&self, batch: &BatchRow, usd: f64) -> Result<(), CliError> {
        Ok(self.store.set_budget(batch.batch.id, Some(usd)).await?)
    }
}

pub(super) fn with_name(row: JobRow, names: &HashMap<Uuid, Option<String>>) -> DatabaseJob {
    let queue = row.queue.as_ref().map(|queue| JobQueueFacts {
        batch: queue.batch,
        batch_name: names.get(&queue.batch).cloned().flatten(),
        label: queue.label.clone(),
        group: queue.group.clone(),
        host: queue.host.clone(),
        attempts: queue.attempts,
        max_attempts: queue.max_attempts,
        run_after: queue.run_after,
        same_as: queue.same_as,
    });
    DatabaseJob { row, queue }
}
