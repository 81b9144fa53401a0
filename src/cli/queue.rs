//! What the queue knows of jobs beyond their rows, and what is asked of it. What the store doesn't say in a job's row yet
//! is gathered here, and nowhere else.

use super::{CliError, Office};
use crate::{
    job::{
        id::JobId,
        record::{Checkpoint, JobState, JobStatus},
    },
    report::facts::QueueFacts,
    runner::now,
    store::{BatchRow, JobFilter, JobRow, QueueEntry, StoreError, Which, Wish},
    workspace::lock,
};
use std::collections::{BTreeSet, HashMap};
use uuid::Uuid;

/// A job as the database has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    pub row: JobRow,
    /// `None`: the job belongs to no batch.
    pub queue: Option<QueueFacts>,
}

fn facts(entry: QueueEntry, name: Option<&str>) -> QueueFacts {
    QueueFacts {
        batch: entry.batch,
        batch_name: name.map(str::to_owned),
        label: entry.job.label,
        group: entry.job.group.map(|group| group.key),
        host: entry.host,
        attempts: entry.attempts,
        max_attempts: entry.job.max_attempts,
        run_after: entry.job.run_after,
        same_as: entry.same_as,
    }
}

impl Known {
    pub fn id(&self) -> JobId {
        self.row.job.id
    }

    pub fn status(&self) -> JobStatus {
        self.row.state.status
    }

    /// The job that did the same before.
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

    /// No worker has made its workspace yet.
    pub fn is_unbegun(&self) -> bool {
        self.queue.is_some() && self.row.job.workspace.is_empty()
    }
}

/// All statuses, in the order in which they are told.
pub(super) const STATUSES: [JobStatus; 8] = [
    JobStatus::Queued,
    JobStatus::Running,
    JobStatus::Held,
    JobStatus::Completed,
    JobStatus::Partial,
    JobStatus::Blocked,
    JobStatus::Failed,
    JobStatus::Cancelled,
];

/// The most batches that are looked through for the name of a job's batch.
const ALL: u32 = u32::MAX;

impl Office {
    /// The rows with what the queue knows of them.
    pub async fn known(&self, rows: Vec<JobRow>) -> Result<Vec<Known>, CliError> {
        let mut facts = HashMap::new();
        for batch in self.store.batches(ALL).await? {
            facts.extend(self.facts_of(&batch).await?);
        }
        Ok(with(rows, facts))
    }

    /// One row with what the queue knows of it.
    pub async fn known_one(&self, row: JobRow) -> Result<Known, CliError> {
        let found = self.known(vec![row.clone()]).await?.pop();
        Ok(found.unwrap_or(Known { row, queue: None }))
    }

    /// The jobs of a batch that fit `filter`, the newest first.
    pub async fn jobs_of(&self, batch: &BatchRow, filter: &JobFilter) -> Result<Vec<Known>, CliError> {
        let facts = self.facts_of(batch).await?;
        let mut rows = self.store.jobs(&JobFilter { limit: None, ..*filter }).await?;
        rows.retain(|row| facts.contains_key(&row.job.id));
        rows.truncate(filter.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX));
        Ok(with(rows, facts))
    }

    async fn facts_of(&self, batch: &BatchRow) -> Result<HashMap<JobId, QueueFacts>, StoreError> {
        let name = batch.batch.name.as_deref();
        let entries = self.store.manifest(batch.batch.id).await?;
        Ok(entries.into_iter().map(|entry| (entry.job.id, facts(entry, name))).collect())
    }

    /// The batches that these jobs belong to, the oldest first.
    pub(super) async fn batches_of(&self, jobs: &[Known]) -> Result<Vec<BatchRow>, CliError> {
        let ids: BTreeSet<Uuid> = jobs.iter().filter_map(|job| Some(job.queue.as_ref()?.batch)).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut batches = self.store.batches(ALL).await?;
        batches.retain(|row| ids.contains(&row.batch.id));
        batches.reverse();
        Ok(batches)
    }

    /// The ids of all batches, for who shortens ids.
    pub(super) async fn batch_ids(&self) -> Result<Vec<Uuid>, CliError> {
        Ok(self.store.batches(ALL).await?.iter().map(|row| row.batch.id).collect())
    }

    /// Cancels jobs that have not ended: what was never begun ends at once; of all others that is wished, and held ones are
    /// queued, so that a worker ends them in their workspace too. Returns how many of both.
    pub(super) async fn cancel(&self, which: Which) -> Result<u64, CliError> {
        let rows = match which {
            Which::Job(id) => self.store.job(id).await?.into_iter().collect(),
            Which::Batch(id) => {
                let mut rows = Vec::new();
                for entry in self.store.manifest(id).await? {
                    rows.extend(self.store.job(entry.job.id).await?);
                }
                rows
            }
        };
        let mut cancelled = 0;
        for row in rows.into_iter().filter(|row| !row.state.status.is_end()) {
            cancelled += u64::from(self.cancel_one(row).await?);
        }
        Ok(cancelled)
    }

    async fn cancel_one(&self, row: JobRow) -> Result<bool, StoreError> {
        let id = row.job.id;
        let is_running = row.state.status == JobStatus::Running;
        let done = if is_running || !row.job.workspace.is_empty() {
            let wished = self.store.want(id, Wish::Cancel).await;
            if row.state.status == JobStatus::Held {
                self.store.resume(Which::Job(id)).await?;
            }
            wished
        } else {
            let state = JobState {
                status: JobStatus::Cancelled,
                hold_reason: None,
                reason: Some("cancelled before it was begun".to_owned()),
                completed_at: Some(now()),
                ..row.state
            };
            match self.store.claim(id, Uuid::now_v7(), 60_000).await {
                Ok(lease) => {
                    let checkpoint = Checkpoint { state, phases: Vec::new(), todos: Vec::new() };
                    self.store.checkpoint(id, lease, &checkpoint).await
                }
                Err(error) => Err(error),
            }
        };
        match done {
            Ok(()) => Ok(true),
            // It has ended by itself meanwhile.
            Err(StoreError::Ended { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Sets what the jobs of a batch may spend together.
    #[expect(clippy::unused_async, reason = "the store's word for it is asynchronous")]
    pub(super) async fn set_budget(&self, batch: &BatchRow, usd: f64) -> Result<(), CliError> {
        Err(CliError::failed(format!(
            "the budget of batch {} can't be set to {usd} USD: this version can't change a batch's budget",
            batch.batch.id
        )))
    }
}

fn with(rows: Vec<JobRow>, mut facts: HashMap<JobId, QueueFacts>) -> Vec<Known> {
    rows.into_iter().map(|row| Known { queue: facts.remove(&row.job.id), row }).collect()
}
