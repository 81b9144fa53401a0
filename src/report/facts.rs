//! A report's facts about one job: from its row, and from its journal if the workspace can be read, else why not.

use overnight_core::job::{
    answered::{ModelTurns, PaidRole},
    contract::Check,
    failure::FailureKind,
    id::JobId,
    pages::PageRange,
    proof::ProofResult,
    record::{HoldReason, JobStatus, JobSummary},
    refused_records::RefusedCounts,
    spec::DocumentEntry,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use uuid::Uuid;

/// The status of a job for people: a running job that no process works on is `Interrupted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobStanding {
    Completed,
    Partial,
    Blocked,
    Failed,
    Held,
    Interrupted,
    Running,
    Waiting,
    Queued,
    Cancelled,
}

impl JobStanding {
    /// All statuses, in display order.
    pub const ALL: [Self; 10] = [
        Self::Completed,
        Self::Partial,
        Self::Blocked,
        Self::Failed,
        Self::Held,
        Self::Interrupted,
        Self::Running,
        Self::Waiting,
        Self::Queued,
        Self::Cancelled,
    ];

    pub fn of(status: JobStatus, interrupted: bool) -> Self {
        match status {
            JobStatus::Queued => Self::Queued,
            JobStatus::Running if interrupted => Self::Interrupted,
            JobStatus::Running => Self::Running,
            JobStatus::Waiting => Self::Waiting,
            JobStatus::Held => Self::Held,
            JobStatus::Completed => Self::Completed,
            JobStatus::Partial => Self::Partial,
            JobStatus::Blocked => Self::Blocked,
            JobStatus::Failed => Self::Failed,
            JobStatus::Cancelled => Self::Cancelled,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => JobStatus::Completed.name(),
            Self::Partial => JobStatus::Partial.name(),
            Self::Blocked => JobStatus::Blocked.name(),
            Self::Failed => JobStatus::Failed.name(),
            Self::Held => JobStatus::Held.name(),
            Self::Interrupted => "interrupted",
            Self::Running => JobStatus::Running.name(),
            Self::Waiting => JobStatus::Waiting.name(),
            Self::Queued => JobStatus::Queued.name(),
            Self::Cancelled => JobStatus::Cancelled.name(),
        }
    }
}

impl fmt::Display for JobStanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether the workspace could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordState {
    /// The journal's chain is whole, and contains the line that the database saw last.
    Whole,
    /// There is no workspace folder.
    Gone,
    /// The journal can't be read, or is not the one that the database saw.
    Broken,
    /// For a batch's job: no worker has made its workspace yet.
    NotBegun,
    /// For a batch's job: the workspace is on another machine.
    Elsewhere,
    /// For a batch's job: another job did the work before, and has the record.
    Linked,
}

/// The present state of a deliverable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// With the hash that it was delivered with.
    AsDelivered,
    /// With another hash.
    Changed,
    Missing,
    /// It exists, but can't be read.
    Unreadable,
    /// Its workspace is on another machine.
    Elsewhere,
    /// Its workspace is in a workspace store, and not here.
    Stored,
}

impl FileState {
    pub fn name(self) -> &'static str {
        match self {
            Self::AsDelivered => "as delivered",
            Self::Changed => "changed since it was delivered",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::Elsewhere => "on another machine",
            Self::Stored => "in the workspace store",
        }
    }
}

/// A part of a document from which no text was extracted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRead {
    pub document: String,
    /// The first and last page, both included. Null: the place in the document isn't known.
    pub from: Option<u64>,
    pub to: Option<u64>,
    /// A fragment of a sentence.
    pub why: String,
    /// Nothing of the document was read.
    pub whole: bool,
}

/// Pages of a document whose characters were recognised in images of them (OCR).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recognised {
    pub document: String,
    /// The first and last page, both included.
    pub from: u64,
    pub to: u64,
}

impl Recognised {
    /// The recognised pages of one document.
    pub fn of(document: &DocumentEntry) -> impl Iterator<Item = Self> {
        let pages = document.recognised.iter();
        pages.map(|pages| Self { document: document.name.clone(), from: pages.from, to: pages.to })
    }

    /// `page 3`, `pages 3-7`.
    pub fn part(&self) -> String {
        PageRange { from: self.from, to: self.to }.to_string()
    }
}

impl NotRead {
    /// The unread parts of one document.
    pub fn of(document: &DocumentEntry) -> impl Iterator<Item = Self> {
        document.gaps.iter().map(|gap| Self {
            document: document.name.clone(),
            from: gap.pages.map(|pages| pages.from),
            to: gap.pages.map(|pages| pages.to),
            why: gap.why.clone(),
            whole: document.units == 0,
        })
    }

    /// `page 3`, `pages 3-7`, `all of it`.
    pub fn part(&self) -> String {
        match (self.from, self.to) {
            (Some(from), Some(to)) => PageRange { from, to }.to_string(),
            (Some(_) | None, _) if self.whole => "all of it".to_owned(),
            (Some(_) | None, _) => "not known where".to_owned(),
        }
    }
}

/// A file that a job delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Relative to the workspace.
    pub path: String,
    /// Hash as delivered.
    pub sha256: String,
    pub bytes: u64,
    pub state: FileState,
}

/// Failed attempts of one kind at a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedAttempts {
    pub kind: FailureKind,
    pub times: u64,
    /// Milliseconds that were waited after them.
    pub waited_ms: u64,
}

/// Holds for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobHolds {
    pub reason: HoldReason,
    pub times: u64,
}

/// The queue's facts about a batch's job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobQueueFacts {
    pub batch: Uuid,
    pub batch_name: Option<String>,
    /// A person's name for it: usually a document's path.
    pub label: String,
    pub group: Option<String>,
    /// The machine that has the workspace on its own disk.
    pub host: Option<String>,
    /// Failed attempts, and the maximum.
    pub attempts: u32,
    pub max_attempts: u32,
    /// Queued: not before this time. Held: queued by itself at this time.
    pub run_after: Option<Timestamp>,
    /// The job that did the work before.
    pub same_as: Option<JobId>,
}

/// One job. Its fields are a promise; a value that isn't known is null.
#[expect(clippy::struct_excessive_bools, reason = "facts that are each true or not, as they are told in JSON")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobFacts {
    pub id: JobId,
    #[serde(flatten)]
    pub summary: JobSummary,
    /// Its status is running, but no process works on it.
    pub interrupted: bool,
    /// A process has locked its workspace.
    pub worked_on: bool,
    pub instructions: String,
    /// The hash of the instructions' file and the files beside it.
    pub instructions_sha256: String,
    /// The model that the job began with.
    pub model: String,
    /// The models that answered, with their numbers of turns; empty if the journal can't be read.
    pub models: Vec<ModelTurns>,
    pub documents: u64,
    /// Empty where the journal can't be read.
    pub document_names: Vec<String>,
    /// Parts of the documents from which no text was extracted; empty if the journal can't be read.
    pub not_read: Vec<NotRead>,
    /// Pages whose characters were recognised in images of them (OCR); empty where the journal can't be read.
    pub recognised: Vec<Recognised>,
    pub created: Timestamp,
    /// The moment of the last decision; where the journal can't be read, when the row was last written.
    pub last: Timestamp,
    /// Cost by role and tier; empty if the journal can't be read.
    pub paid: Vec<PaidRole>,
    /// Cost of the turns whose price is known.
    pub priced_usd: f64,
    /// Turns whose price isn't known; null where that can't be read.
    pub unpriced_turns: Option<u64>,
    /// Checks of the contract that were not met when the job ended.
    pub checks_failed: Vec<Check>,
    /// Todos that were open when the job ended.
    pub open_todos: Vec<String>,
    /// Its lists of records, which have quotes, are empty.
    pub without_records: bool,
    /// The results of second reader and verifier; null if neither has worked.
    pub proof: Option<ProofResult>,
    /// Records that were refused when they were added, and their outcome; null if there was none.
    pub refused_records: Option<RefusedCounts>,
    /// Values that a person should look at.
    pub doubts: u64,
    pub attempts_failed: Vec<FailedAttempts>,
    pub holds: Vec<JobHolds>,
    pub deliverables: Vec<FileFacts>,
    /// An absolute path; empty if there is none yet. For a linked job, the workspace of the job that did the work.
    pub workspace: String,
    /// The folder is packed into its record, the file of this name with `.zip` behind it.
    pub packed: bool,
    pub record: RecordState,
    /// The fault of the record, in one sentence.
    pub record_fault: Option<String>,
    /// Null from here on: the job is in no batch.
    pub batch: Option<Uuid>,
    pub batch_name: Option<String>,
    pub label: Option<String>,
    /// Failed attempts, and the maximum.
    pub attempts: Option<u32>,
    pub max_attempts: Option<u32>,
    /// Queued: not before this time. Held: queued by itself at this time.
    pub run_after: Option<Timestamp>,
    /// The machine that has the workspace on its own disk.
    pub host: Option<String>,
    /// The job that did the work before.
    pub same_as: Option<JobId>,
}

impl JobFacts {
    pub fn standing(&self) -> JobStanding {
        JobStanding::of(self.summary.status, self.interrupted)
    }

    /// It has no records, and this is reported for this job: for a linked job, it is reported for the other one.
    pub fn is_told_without_records(&self) -> bool {
        self.without_records && self.same_as.is_none()
    }

    /// A person's name for the job: its label, its only document, or else its instructions.
    pub fn called(&self) -> &str {
        self.label().or_else(|| self.document()).unwrap_or(&self.instructions)
    }

    pub fn label(&self) -> Option<&str> {
        self.label.as_deref().filter(|label| !label.trim().is_empty())
    }

    /// The name of the document, if there is only one; in a batch, that is the label.
    pub fn document(&self) -> Option<&str> {
        let only = if let [name] = &self.document_names[..] { Some(name.as_str()) } else { None };
        self.label().or(only).filter(|_| self.documents == 1)
    }
}
