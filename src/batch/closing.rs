//! The closing job: when all jobs of a batch have ended, one more job works on their deliverables, if the submission
//! asked for it. Its ids derive from the first batch, so two workers that see the batch end submit it only once.

mod fetched;

pub use fetched::{fetched_folders, result_manifest};

use super::{BatchError, BatchSettings, Inspected, Submission, closing_names::UniqueNames, inspect, workspace_of};
use crate::{
    blocking::run_blocking,
    extraction::Extractor,
    store::{BatchRow, JobStore, QueueEntry, Store},
    workspace::{ModelPath, Workspace},
    workspace_store::WorkspaceStore,
};
use overnight_core::job::{
    digest::sha256,
    id::JobId,
    left_out::LeftOut,
    record::{Delivered, JobStatus},
    time::Timestamp,
};
use overnight_documents::FoundDocument;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use uuid::{Builder, Uuid};

/// The suffix that is added to the batch's name.
const SUFFIX: &str = ", then";

/// The outcome of an attempt to submit the closing job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClosingOutcome {
    /// The submission asked for none.
    NotAsked,
    /// Some jobs have not ended yet.
    TooEarly,
    /// No job delivered anything that can be read; the notes say which files couldn't be read.
    Nothing { notes: Vec<String> },
    /// It is in the queue, or was before.
    Submitted {
        batch: Uuid,
        job: JobId,
        documents: u64,
        /// Sentences on deliverables that were left out, or that differ from what was delivered.
        notes: Vec<String>,
    },
}

/// The places where deliverables are searched.
#[derive(Clone, Copy, Debug)]
pub struct DeliverableSources<'s> {
    /// Folder of the workspaces that aren't where their rows say.
    pub workspaces: &'s Path,
    /// The store of workspaces that aren't on this machine at all.
    pub workspace_store: Option<&'s WorkspaceStore>,
    /// The reader for the delivered files.
    pub extractor: &'s Arc<Extractor>,
}

/// One file that a job delivered.
struct FoundDeliverable {
    /// The job of the batch.
    job: JobId,
    /// Relative to the job's workspace.
    path: String,
    place: PathBuf,
    bytes: u64,
}

/// Submits the closing job of `batch`, if it has one and all its jobs have ended. Repeating this changes nothing. If
/// the workspace store can't be reached, that is an error, so that its files are not left out for good.
pub async fn close(
    store: &dyn Store,
    batch: &BatchRow,
    sources: DeliverableSources<'_>,
    now: Timestamp,
) -> Result<ClosingOutcome, BatchError> {
    let first = &batch.batch;
    let settings = BatchSettings::of(first)?;
    let Some(closing) = settings.closing else { return Ok(ClosingOutcome::NotAsked) };
    let entries = store.batch_entries(first.id).await?;
    if entries.iter().any(|entry| !entry.status.is_end()) {
        return Ok(ClosingOutcome::TooEarly);
    }
    let mut notes = Vec::new();
    let delivered = delivered(store, first.id, &entries, sources, now, &mut notes).await?;
    let found: Vec<FoundDocument> = delivered
        .all()
        .map(|(name, one)| {
            let (path, name, bytes) = (one.place.clone(), name.clone(), one.bytes);
            FoundDocument { path, inside: Vec::new(), name, bytes, is_named: true, dated: None, fault: None }
        })
        .collect();
    let inspected = inspected(found, sources.extractor.clone()).await?;
    for (found, why) in &inspected.left_out {
        if let Some(one) = delivered.get(&found.name) {
            notes.push(format!("job {}: {} is left out: {why}", one.job, one.path));
        }
    }
    if inspected.documents.is_empty() {
        return Ok(ClosingOutcome::Nothing { notes });
    }
    let (id, job) = closing_ids(first.id);
    let submission = Submission {
        id,
        created: now,
        name: Some(format!("{}{SUFFIX}", first.shown_name())),
        settings: BatchSettings {
            eval: None,
            instructions: closing.instructions,
            base_url: closing.base_url,
            api_key_env: closing.api_key_env,
            models: settings.models,
            closing: None,
            left_out: LeftOut::default(),
            only: None,
            cascade: None,
        },
        instructions_text: closing.text,
        model: closing.model,
        // The part of the budget that the jobs left.
        budget_usd: first.budget_usd.map(|budget| (budget - batch.spent_usd).max(0.0)),
        time_window: first.time_window.clone(),
        priority: entries.iter().map(|entry| entry.job.priority).max().unwrap_or_default(),
        run_after: None,
        group: None,
        max_attempts: entries.iter().map(|entry| entry.job.max_attempts).max().unwrap_or(1),
        trial: None,
    };
    store.submit(&submission.batch()?, &[submission.job(job, 0, &inspected.documents)], false).await?;
    Ok(ClosingOutcome::Submitted { batch: id, job, documents: inspected.documents.len() as u64, notes })
}

/// Inspects the deliverables on a blocking thread.
async fn inspected(found: Vec<FoundDocument>, extractor: Arc<Extractor>) -> Result<Inspected, BatchError> {
    let looking = tokio::task::spawn_blocking(move || inspect(&found, (&extractor, &[]), &|| ()));
    looking.await.map_err(|error| BatchError::Unread { why: error.to_string() })
}

/// The current deliverables of the jobs that completed, wholly or in part.
async fn delivered(
    store: &dyn JobStore,
    batch: Uuid,
    entries: &[QueueEntry],
    sources: DeliverableSources<'_>,
    now: Timestamp,
    notes: &mut Vec<String>,
) -> Result<UniqueNames<FoundDeliverable>, BatchError> {
    let mut names = UniqueNames::new();
    for entry in entries.iter().filter(|entry| has_result(entry.status)) {
        let job = entry.job.id;
        let Some(row) = store.job(job).await? else { continue };
        let here = Workspace::open(&workspace_of(entry, sources.workspaces)).ok();
        let opened = match fetched::fetch_deliverables(store, &row, batch, sources, here.as_ref(), now).await? {
            Some(Ok(brought)) => Some(brought),
            Some(Err(why)) => {
                notes.push(format!("job {job}: what it delivered can't be had from the workspace store: {why}"));
                here
            }
            None => here,
        };
        for Delivered { path, sha256, .. } in &row.state.deliverables {
            let mut note = |what: &str| notes.push(format!("job {job}: {path} {what}"));
            // The path is checked like a model's path: a row that was tampered with must not lead elsewhere.
            let hash = opened
                .as_ref()
                .filter(|_| ModelPath::parse(path).is_ok())
                .map(|folder| run_blocking(|| folder.hash(path)));
            let (Some(folder), Some(Ok(hash))) = (&opened, hash) else {
                note("is left out: it is not in the job's workspace");
                continue;
            };
            let Some(name) = names.find(&entry.job.label, job, path) else {
                note("is left out: it was delivered twice");
                continue;
            };
            if hash.sha256 != *sha256 {
                note("was changed since it was delivered, and is taken as it is now");
            }
            let place = folder.path().join(path);
            names.add(name, FoundDeliverable { job, path: path.clone(), place, bytes: hash.bytes });
        }
    }
    Ok(names)
}

fn has_result(status: JobStatus) -> bool {
    match status {
        JobStatus::Completed | JobStatus::Partial => true,
        JobStatus::Queued
        | JobStatus::Running
        | JobStatus::Waiting
        | JobStatus::Held
        | JobStatus::Blocked
        | JobStatus::Failed
        | JobStatus::Cancelled => false,
    }
}

/// The ids of the closing batch and of its job. The batch's id shares no prefix with that of the first batch, which
/// people may be naming by its prefix; the job's id, like all job ids, contains roughly the time of its creation.
pub fn closing_ids(first: Uuid) -> (Uuid, JobId) {
    let part = |what: &str| -> u128 {
        let digest = sha256(format!("{first} {what}").as_bytes());
        u128::from_str_radix(&digest[..32], 16).unwrap_or_default()
    };
    let batch = Builder::from_custom_bytes(part("then, the batch").to_be_bytes()).into_uuid();
    let mut random = [0; 10];
    random.copy_from_slice(&part("then, the job").to_be_bytes()[..10]);
    let moment = u64::try_from(first.as_u128() >> 80).unwrap_or_default();
    (batch, JobId(Builder::from_unix_timestamp_millis(moment, &random).into_uuid()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_the_first_batch() {
        let first: Uuid = "019ab3c0-1234-7000-8000-000000000001".parse().unwrap();
        let (batch, job) = closing_ids(first);
        assert_eq!((batch, job), closing_ids(first));
        assert_eq!((batch.get_version_num(), job.0.get_version_num()), (8, 7));
        assert!(job.to_string().starts_with("019ab3c0-1234-7"), "{job}");
        let (other, _) = closing_ids("019ab3c0-1234-7000-8000-000000000002".parse().unwrap());
        assert_ne!(batch, other);
    }
}
