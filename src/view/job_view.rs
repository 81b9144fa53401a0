//! One job: its status, or its result.

use crate::audit::{people::PersonAct, timeline::Spending};
use overnight_core::job::{
    answered::{ModelTurns, PaidRole},
    contract::Check,
    finding::Finding,
    id::JobId,
    left_out::LeftOutFile,
    pages::{PageRange, UnreadPart},
    proof::ProofResult,
    record::{Delivered, JobSummary, QuotePositions},
    refused_records::{RefusedCounts, RefusedRecord},
    time::Timestamp,
};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// `--json` of a job. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobView<'t> {
    pub id: JobId,
    /// The facts about the result that the job delivered, or would deliver if it were approved.
    #[serde(flatten)]
    pub summary: JobSummary,
    /// Its status is running, but no process works on it.
    pub interrupted: bool,
    /// The damage at the journal's end, in a sentence.
    pub damage: Option<String>,
    pub instructions: &'t str,
    /// The hash of the instructions' file and the files beside it.
    pub instructions_sha256: &'t str,
    pub description: &'t str,
    /// The model that the job began with.
    pub model: &'t str,
    /// The models that answered, with their numbers of turns; empty if the workspace isn't here.
    pub models: &'t [ModelTurns],
    pub created: Timestamp,
    /// The moment of the last decision; where the journal isn't here, when the row was last written.
    pub last: Timestamp,
    /// Empty where the workspace isn't here.
    pub documents: Vec<DocumentView<'t>>,
    /// Files that were found while searching for documents, but left out.
    pub left_out_files: u64,
    pub left_out: &'t [LeftOutFile],
    /// The step of planning, during planning.
    pub planning: Option<&'static str>,
    pub phases: Vec<PhaseLine<'t>>,
    /// The cost by role and tier; empty if the workspace isn't here.
    pub paid: &'t [PaidRole],
    pub checks: &'t [Check],
    pub deliverables: &'t [Delivered],
    /// The places of the quotes; null if there were none to check.
    pub quotes: Option<&'t QuotePositions>,
    /// The results of second reader and verifier; null if neither has worked.
    pub proof: Option<ProofResult>,
    /// Records that were refused when they were added, and their outcome; null if there was none.
    pub refused_records: Option<RefusedCounts>,
    /// Values that a person should look at: those flagged by rules, and those that are not in their quotes.
    pub doubts: u64,
    /// The refused records that are in no deliverable, as they were sent, and why they were refused.
    pub unmended_records: &'t [RefusedRecord],
    /// The findings of second reader and verifier, settled or open.
    pub findings: &'t [Finding],
    /// The actions of people, the oldest first.
    pub people: &'t [PersonAct],
    pub open_todos: &'t [String],
    /// An absolute path; empty if no worker has made one yet. For a linked job, that of the job that did the work.
    pub workspace: String,
    pub next: Vec<String>,
    /// Null: the job is in no batch.
    pub queue: Option<InQueue<'t>>,
}

/// A document of a job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DocumentView<'t> {
    pub name: &'t str,
    pub format: &'t str,
    pub bytes: u64,
    /// `page` or `line`.
    pub unit: &'static str,
    pub units: u64,
    /// 0 to 1.
    pub coverage: f64,
    /// Parts from which no text was extracted.
    pub gaps: &'t [UnreadPart],
    /// Name and version of the program that read it.
    pub reader: &'t str,
    /// Pages whose characters were recognised in an image of them.
    pub recognised: &'t [PageRange],
    pub notes: &'t [String],
}

/// A phase of a job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PhaseLine<'t> {
    pub number: u32,
    pub attempt: u32,
    pub kind: &'t str,
    pub title: &'t str,
    pub outcome: &'t str,
    pub todos_completed: u64,
    pub todos: usize,
    pub spent: Spending,
}

/// A job's place in the queue. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InQueue<'k> {
    pub batch: Uuid,
    pub batch_name: Option<&'k str>,
    pub label: &'k str,
    pub group: Option<&'k str>,
    /// Failed attempts, and the maximum.
    pub attempts: u32,
    pub max_attempts: u32,
    /// Queued: not before this time. Held: queued by itself at this time.
    pub run_after: Option<Timestamp>,
    /// The machine that has the workspace on its own disk.
    pub host: Option<&'k str>,
    /// The job that did the work before.
    pub same_as: Option<JobId>,
    /// The reason why no process works on it now, in one sentence.
    pub waits: Option<String>,
}
