//! Finds the job or the batch that a person names on the command line.

use super::{AppContext, CliError, out, queue::DatabaseJob, table::cut_middle};
use crate::{
    batch::closing_ids,
    store::{BatchRow, StoreError},
};
use overnight_core::job::id::JobId;
use uuid::Uuid;

/// The longest batch name or job label in a sentence, in characters.
const MOST_LETTERS: usize = 60;
/// The word for the newest job; no batch can be meant by it.
const LAST: &str = "last";

/// A job or a batch that was found.
#[derive(Debug)]
pub(super) enum JobOrBatch {
    Job(Box<DatabaseJob>),
    Batch(Box<BatchRow>),
}

impl JobOrBatch {
    pub(super) fn ids(&self) -> (Option<JobId>, Option<Uuid>) {
        match self {
            Self::Job(job) => (Some(job.id()), None),
            Self::Batch(batch) => (None, Some(batch.batch.id)),
        }
    }
}

impl AppContext {
    /// The job or the batch that a person named: a job by its id, by any unambiguous beginning or end of it, or as
    /// `last`; a batch by its name, its id or a beginning of the id. A name that fits both is an error that names both.
    pub(super) async fn job_or_batch(&self, name: &str) -> Result<JobOrBatch, CliError> {
        let found = self.find_without_notice(name).await?;
        if let JobOrBatch::Batch(batch) = &found {
            self.warn_of_namesakes(batch, name).await?;
        }
        Ok(found)
    }

    async fn find_without_notice(&self, name: &str) -> Result<JobOrBatch, CliError> {
        self.adopt().await;
        let job = match self.store.find(name).await {
            Ok(id) => Ok(id),
            Err(error @ (StoreError::NotFound { .. } | StoreError::Ambiguous { .. })) => Err(error),
            Err(error) => return Err(error.into()),
        };
        if name.trim() == LAST {
            return Ok(JobOrBatch::Job(Box::new(self.job_with(job?).await?)));
        }
        let batch = match self.store.batch(name).await {
            Ok(batch) => Ok(batch),
            Err(error @ StoreError::NoBatch { .. }) => Err(error),
            Err(error) => return Err(error.into()),
        };
        let shown = short_label(name);
        match (job, batch) {
            (Ok(id), Err(StoreError::NoBatch { many: false, .. })) => {
                Ok(JobOrBatch::Job(Box::new(self.job_with(id).await?)))
            }
            // A complete id is never ambiguous.
            (Ok(id), _) if name.trim().eq_ignore_ascii_case(&id.to_string()) => {
                Ok(JobOrBatch::Job(Box::new(self.job_with(id).await?)))
            }
            (Ok(id), Ok(batch)) => Err(CliError::usage(format!(
                "'{shown}' may be job {id} or batch {}; give more of the id",
                batch.batch.id
            ))),
            (Ok(id), Err(_)) => Err(CliError::usage(format!(
                "'{shown}' may be job {id}, and the ids of more than one batch begin so; give more of the id"
            ))),
            // A batch's name, if no single job fits.
            (Err(_), Ok(batch)) if batch.batch.name.as_deref() == Some(name.trim()) => {
                Ok(JobOrBatch::Batch(Box::new(batch)))
            }
            (Err(StoreError::NotFound { .. }), Ok(batch)) => Ok(JobOrBatch::Batch(Box::new(batch))),
            (Err(_), Ok(batch)) => Err(CliError::usage(format!(
                "'{shown}' may be batch {}, and the ids of more than one job begin so; give more of the id",
                batch.batch.id
            ))),
            (Err(StoreError::NotFound { .. }), Err(StoreError::NoBatch { many: false, .. })) => {
                Err(CliError::usage(format!(
                    "no job has the id '{shown}' or one that begins so, and no batch has that name or id; `overnight jobs` \
                     lists the jobs"
                )))
            }
            (Err(StoreError::NotFound { .. }), Err(error)) | (Err(error), Err(_)) => Err(error.into()),
        }
    }

    /// The closing job of a batch, if it was submitted.
    pub(super) async fn closing(&self, batch: &BatchRow) -> Result<Option<DatabaseJob>, CliError> {
        let (_, id) = closing_ids(batch.batch.id);
        match self.store.job(id).await? {
            Some(row) => self.database_job(row).await.map(Some),
            None => Ok(None),
        }
    }

    /// The batch that a person named.
    pub(super) async fn batch(&self, name: &str) -> Result<BatchRow, CliError> {
        let batch = self.store.batch(name).await.map_err(|error| {
            // The typed text is shown in one line.
            let many = if let StoreError::NoBatch { many, .. } = error { Some(many) } else { None };
            CliError::from(many.map_or(error, |many| StoreError::NoBatch { name: short_label(name), many }))
        })?;
        self.warn_of_namesakes(&batch, name).await?;
        Ok(batch)
    }

    /// Warns if other batches have the name by which this one was found.
    async fn warn_of_namesakes(&self, batch: &BatchRow, typed: &str) -> Result<(), CliError> {
        let Some(name) = batch.batch.name.as_deref().filter(|name| *name == typed.trim()) else { return Ok(()) };
        let all = self.store.count_batches_named(name).await?;
        if all > 1 {
            out::note(&format!(
                "{all} batches are called {}: this is the newest, {}; name another by its id",
                short_label(name),
                batch.batch.id
            ));
        }
        Ok(())
    }
}

/// `batch 'night'`, or `batch 0193…` where it has no name.
pub(super) fn batch_title(batch: &BatchRow) -> String {
    format!("batch {}", batch_name(batch.batch.id, batch.batch.name.as_deref()))
}

/// A batch's name in quotes, or its id.
pub(super) fn batch_name(id: Uuid, name: Option<&str>) -> String {
    match name.map(short_label).filter(|name| !name.is_empty()) {
        Some(name) => format!("'{name}'"),
        None => id.to_string(),
    }
}

/// This batch in a suggested command: the typed text, if a shell leaves it unchanged, else its id.
pub(super) fn batch_argument(batch: &BatchRow, typed: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let is_word =
        !typed.is_empty() && !typed.starts_with('-') && typed.len() <= MOST_LETTERS && typed.chars().all(is_plain);
    if is_word && typed != LAST { typed.to_owned() } else { batch.batch.id.to_string() }
}

/// A name or a label in one line of bounded length, without control characters.
pub(super) fn short_label(text: &str) -> String {
    cut_middle(&crate::report::words::one_line(text), MOST_LETTERS)
}
