//! From documents to a batch and its jobs, as the queue takes them. Nothing is written here.

use super::{
    BatchError, BatchSettings, Document,
    derived_id::{derived_id, millis_of},
    hash_of,
};
use crate::store::{Group, NewBatch, QueuedJob};
use overnight_core::job::{id::JobId, time::Timestamp};
use overnight_documents::source;
use uuid::Uuid;

/// The request, without the documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    pub id: Uuid,
    pub created: Timestamp,
    pub name: Option<String>,
    pub settings: BatchSettings,
    /// The unchanged text of the instructions file.
    pub instructions_text: String,
    pub model: String,
    pub budget_usd: Option<f64>,
    pub time_window: Option<String>,
    pub priority: i32,
    pub run_after: Option<Timestamp>,
    pub group: Option<Group>,
    pub max_attempts: u32,
    /// The number of jobs that are queued; the others are held until somebody resumes the batch.
    pub trial: Option<usize>,
}

impl Submission {
    /// The batch's row.
    pub fn batch(&self) -> Result<NewBatch, BatchError> {
        let settings = serde_json::to_value(&self.settings)
            .map_err(|error| BatchError::Unwritable { batch: self.id, why: error.to_string() })?;
        Ok(NewBatch {
            id: self.id,
            created: self.created,
            name: self.name.clone(),
            instructions: self.settings.instructions.name.clone(),
            instructions_text: self.instructions_text.clone(),
            instructions_sha256: self.instructions_hash(),
            model: self.model.clone(),
            settings,
            budget_usd: self.budget_usd,
            time_window: self.time_window.clone(),
        })
    }

    /// Hash of the instructions; for an evaluation, also of the other inputs that differ between its runs.
    fn instructions_hash(&self) -> String {
        let hash = self.settings.instructions.hash(&self.instructions_text);
        match &self.settings.eval {
            Some(eval) => eval.instructions_hash(hash),
            None => hash,
        }
    }

    /// The jobs over `documents`, those of each job together. Their ids are derived from the batch's, so that repeating a submission changes nothing.
    pub fn jobs<D: AsRef<[Document]>>(&self, documents: impl IntoIterator<Item = D>) -> Vec<QueuedJob> {
        let jobs = documents.into_iter().enumerate();
        jobs.map(|(place, documents)| self.job(job_id(self.id, place), place, documents.as_ref())).collect()
    }

    /// The job in its `place` among the jobs of the batch, from 0.
    pub(super) fn job(&self, id: JobId, place: usize, documents: &[Document]) -> QueuedJob {
        let is_held = self.trial.is_some_and(|trial| place >= trial);
        QueuedJob {
            id,
            label: job_label(documents),
            sources: documents
                .iter()
                .map(|document| source(&document.name, &document.path, &document.inside, document.dated))
                .collect(),
            documents: documents.len() as u64,
            documents_sha256: hash_of(
                documents.iter().map(|document| (document.name.as_str(), document.sha256.as_str())),
            ),
            priority: self.priority,
            // If a held job had a time, it would resume by itself at that time.
            run_after: self.run_after.filter(|_| !is_held),
            group: self.group.clone(),
            max_attempts: self.max_attempts,
            is_held,
        }
    }
}

/// Each place adds a millisecond, so that ids sort as the documents do.
fn job_id(batch: Uuid, place: usize) -> JobId {
    JobId(derived_id(millis_of(batch).saturating_add(place as u64), &format!("{batch} {place}")))
}

/// The job's label, named after its documents: `a.md`, `a.md and 4 more`.
pub fn job_label(documents: &[Document]) -> String {
    match documents {
        [] => String::new(),
        [one] => one.name.clone(),
        [first, others @ ..] => format!("{} and {} more", first.name, others.len()),
    }
}
