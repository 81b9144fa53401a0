//! The jobs whose records are requested, and their records that are missing in the table.

use overnight_core::{
    amount::counted,
    job::{
        left_out::LeftOut,
        record::{HoldReason, JobStatus},
        refused_records::RefusedRecord,
        state::Job,
    },
};
use std::{collections::BTreeSet, path::PathBuf};

/// Documents of one job that are named, and faults of refused records, at most.
const MOST_DOCUMENTS: usize = 20;
const MOST_FAULTS: usize = 3;

/// A job whose records are requested.
#[derive(Clone, Debug)]
pub struct TableJob {
    pub id: String,
    /// The queue's label of its documents.
    pub label: String,
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    /// The reason why it is held, blocked, partial or failed: a sentence.
    pub reason: Option<String>,
    /// The path of its workspace, or why it can't be read.
    pub workspace: Result<PathBuf, String>,
}

/// A job or a file that is not, or not completely, in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobNotInTable {
    /// Names of the documents.
    pub documents: String,
    /// Status of the job; empty for a file without a job.
    pub status: &'static str,
    /// Fragments that follow the documents, with semicolons between.
    pub why: String,
    /// The job's id; empty for a file without a job.
    pub job: String,
}

/// All jobs and files that are not, or not completely, in the table.
#[derive(Debug, Default)]
pub(super) struct NotInTable {
    rows: Vec<JobNotInTable>,
    /// Files that no job has taken.
    files: BTreeSet<String>,
}

impl NotInTable {
    pub(super) fn rows(&self) -> &[JobNotInTable] {
        &self.rows
    }

    /// Adds a job: `loaded` is its state from its workspace, `missing` its parts that are not in the table.
    pub(super) fn add(&mut self, job: &TableJob, loaded: Option<&Job>, missing: Vec<String>) {
        let names: Vec<&str> =
            loaded.into_iter().flat_map(|job| &job.spec.documents).map(|it| it.name.as_str()).collect();
        let documents = match names.len().checked_sub(MOST_DOCUMENTS) {
            _ if names.is_empty() => job.label.clone(),
            None | Some(0) => names.join(", "),
            Some(more) => format!("{} and {more} more", names[..MOST_DOCUMENTS].join(", ")),
        };
        if let Some(why) = why(job, missing) {
            self.rows.push(row(Some(job), documents, why));
        }
        if let Some(loaded) = loaded {
            self.add_files(&loaded.spec.left_out, Some(job));
        }
    }

    /// Adds files that were left out when a job or its whole batch was created.
    pub(super) fn add_files(&mut self, files: &LeftOut, job: Option<&TableJob>) {
        for file in &files.first {
            if self.files.insert(file.path.clone()) {
                self.rows.push(row(job, file.path.clone(), format!("no job has read it: {}", file.why)));
            }
        }
        let unnamed = files.files.saturating_sub(files.first.len() as u64);
        if unnamed > 0 {
            self.rows.push(row(job, counted(unnamed, "more file"), "no job has read them".to_owned()));
        }
    }
}

fn row(job: Option<&TableJob>, documents: String, why: String) -> JobNotInTable {
    let (status, id) = job.map(|job| (job.status.name(), job.id.clone())).unwrap_or_default();
    JobNotInTable { documents, status, why, job: id }
}

/// The reason why a job is not, or not completely, in the table; `None` if it is.
fn why(job: &TableJob, missing: Vec<String>) -> Option<String> {
    let with_reason = |told: String| match job.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{told}: {}", reason.trim_end_matches('.')),
        None => told,
    };
    let state = match job.status {
        JobStatus::Queued | JobStatus::Running | JobStatus::Waiting => format!("it is not finished ({})", job.status),
        JobStatus::Held => {
            let held = job.hold_reason.map(|reason| format!(", {reason}")).unwrap_or_default();
            with_reason(format!("it is not finished (held{held})"))
        }
        JobStatus::Failed => with_reason("it failed".to_owned()),
        JobStatus::Cancelled => with_reason("it was cancelled".to_owned()),
        JobStatus::Completed | JobStatus::Partial | JobStatus::Blocked => {
            // Its records are in the table; if some are not, the job's end may be the reason.
            let ended = (job.status != JobStatus::Completed).then(|| with_reason(format!("it is {}", job.status)));
            let told: Vec<String> = ended.filter(|_| !missing.is_empty()).into_iter().chain(missing).collect();
            return (!told.is_empty()).then(|| told.join("; "));
        }
    };
    // A missing workspace adds no information to the status.
    let missing = if job.workspace.is_ok() { missing } else { Vec::new() };
    Some([vec![state], missing].concat().join("; "))
}

/// States that records were refused, and why the first of them; `None` if all were written.
pub(super) fn refused(open: &[&RefusedRecord]) -> Option<String> {
    let mut faults: Vec<&str> = Vec::new();
    for record in open {
        let fault = record.why.trim_end_matches('.');
        if faults.len() < MOST_FAULTS && !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    let verb = if open.len() == 1 { "was" } else { "were" };
    let told = |count| format!("{} {verb} refused, and not mended: {}", counted(count, "record"), faults.join("; "));
    (!open.is_empty()).then(|| told(open.len() as u64))
}
