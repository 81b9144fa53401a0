//! One job: where it stands, or what came of it.

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
    /// Of what the job delivered, or would if it were approved.
    #[serde(flatten)]
    pub summary: JobSummary,
    /// It stands as running, and no process works on it.
    pub interrupted: bool,
    /// What is missing at the journal's end, in a sentence.
    pub damage: Option<String>,
    pub instructions: &'t str,
    /// Of their file and those beside it.
    pub instructions_sha256: &'t str,
    pub description: &'t str,
    /// The one that it began with.
    pub model: &'t str,
    /// Who answered, in how many turns; empty where the workspace isn't here.
    pub models: &'t [ModelTurns],
    pub created: Timestamp,
    /// The moment of the last decision; where the journal isn't here, when the row was last written.
    pub last: Timestamp,
    /// Empty where the workspace isn't here.
    pub documents: Vec<DocumentView<'t>>,
    /// What was found where documents were looked for, and is none of them.
    pub left_out_files: u64,
    pub left_out: &'t [LeftOutFile],
    /// The step of planning, while there is planning.
    pub planning: Option<&'static str>,
    pub phases: Vec<PhaseLine<'t>>,
    /// What was spent by role and tier; empty where the workspace isn't here.
    pub paid: &'t [PaidRole],
    pub checks: &'t [Check],
    pub deliverables: &'t [Delivered],
    /// Where the quotes stand; null where there were none to check.
    pub quotes: Option<&'t QuotePositions>,
    /// What second reader and verifier say; null where neither has worked.
    pub proof: Option<ProofResult>,
    /// Records that were not written when they were added, and what became of them; null where there was none.
    pub refused_records: Option<RefusedCounts>,
    /// Values that a person should look at: rules that say so, and what does not stand in its quote.
    pub doubts: u64,
    /// Those that are in no deliverable, as they were sent, and why they were refused.
    pub unmended_records: &'t [RefusedRecord],
    /// What second reader and verifier hold against the result, settled or open.
    pub findings: &'t [Finding],
    /// What people did about it, the oldest first.
    pub people: &'t [PersonAct],
    pub open_todos: &'t [String],
    /// Absolute; empty where a worker hasn't made one yet. Of a linked job, that of the job that did the work.
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
    /// Parts that no text was got from.
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
    /// Attempts that failed, and how many may.
    pub attempts: u32,
    pub max_attempts: u32,
    /// Queued: not before. Held: queued by itself then.
    pub run_after: Option<Timestamp>,
    /// The machine that has the workspace on its own disk.
    pub host: Option<&'k str>,
    /// Done before by that job.
    pub same_as: Option<JobId>,
    /// Why nobody works on it now, in one sentence.
    pub waits: Option<String>,
}
