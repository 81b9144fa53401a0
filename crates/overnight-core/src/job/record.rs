//! A job in the database: rows derived from the state, written at checkpoints. Bulk data stays in the workspace.

use super::{id::JobId, time::Timestamp, todo::Todo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The status of a job. After a crash, the row of a job whose process died says `Running` with a lease that nobody
/// renews; its workspace holds every decision, and the next process continues from the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Waits for a worker.
    Queued,
    /// A process has its lease and works on it.
    Running,
    /// No process works on it: model calls were submitted, and their answers are outstanding.
    Waiting,
    /// Stopped with everything kept; goes on after `resume`, `approve` or `feedback`. The reason is beside it.
    Held,
    /// Contract and coverage met.
    Completed,
    /// Delivered, but something is missing: each unmet check is listed.
    Partial,
    /// The model or the re-plan limit says that it can't be done.
    Blocked,
    /// An error that no further attempt will cure.
    Failed,
    /// A person ended it.
    Cancelled,
}

impl JobStatus {
    /// The name, as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Held => "held",
            Self::Completed => "completed",
            Self::Partial => "partial",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether it is an end, which is left only by `retry` (from the beginning) or by feedback on the result.
    pub fn is_end(self) -> bool {
        match self {
            Self::Queued | Self::Running | Self::Waiting | Self::Held => false,
            Self::Completed | Self::Partial | Self::Blocked | Self::Failed | Self::Cancelled => true,
        }
    }
}

impl fmt::Display for JobStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a job is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// Tokens or money are used up.
    Budget,
    /// Turns or time are used up.
    Limit,
    /// The batch works at certain hours only.
    Window,
    /// No model server could be reached for a while.
    Outage,
    /// The result waits for a person.
    Review,
    /// A person stopped it, or has to change something first.
    Paused,
    /// The disk is full; the journal says so only where a short line still fits.
    Disk,
}

impl HoldReason {
    /// The name, as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Limit => "limit",
            Self::Window => "window",
            Self::Outage => "outage",
            Self::Review => "review",
            Self::Paused => "paused",
            Self::Disk => "disk",
        }
    }
}

impl fmt::Display for HoldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A file that the job delivered, as it was when the job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delivered {
    /// The path, relative to the workspace.
    pub path: String,
    /// SHA-256 of the whole file.
    pub sha256: String,
    /// Size of the whole file.
    pub bytes: u64,
}

/// The file that says where each quote was found, as it was when the quotes were checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuotePositions {
    /// The path, relative to the workspace.
    pub path: String,
    /// SHA-256 of the whole file.
    pub sha256: String,
    /// Size of the whole file.
    pub bytes: u64,
    /// Quotes that were looked for.
    pub quotes: u64,
    /// Quotes that were found where they should stand: on the page given for them.
    pub found: u64,
}

/// The first row of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "a field is a column of the same name")]
pub struct NewJob {
    pub id: JobId,
    pub created: Timestamp,
    /// Name of the instructions.
    pub instructions: String,
    pub instructions_sha256: String,
    pub model: String,
    pub documents: u64,
    /// The path of the workspace, as given to the runner.
    pub workspace: String,
}

/// The state and the results of a job, derived from its events: a checkpoint writes them into the job's row, and every
/// view shows them. As JSON they are part of a view's object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "a field is a column of the same name")]
pub struct JobSummary {
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    /// One sentence: why it is held, blocked, partial or failed.
    pub reason: Option<String>,
    /// Number and title of the current (or last) phase.
    pub phase_number: u32,
    pub phase_title: String,
    /// Phases in the plan, and how many of them are complete.
    pub phases_planned: u32,
    pub phases_complete: u32,
    pub turns: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub tokens_cached: u64,
    /// USD; `None` if the model's price isn't known.
    pub cost_usd: Option<f64>,
    /// Milliseconds of work, holds not counted.
    pub worked_ms: u64,
    /// Share of the documents' readable text that the model was shown, 0 to 1.
    pub coverage: f64,
    pub summary: Option<String>,
    pub confidence: Option<f64>,
    pub notes: Option<String>,
    /// The delivered files; a view lists them with more details.
    #[serde(skip)]
    pub deliverables: Vec<Delivered>,
    pub completed_at: Option<Timestamp>,
    /// The person who accepted the present result last.
    pub approved_by: Option<String>,
    /// The number of people's corrections of the present result.
    pub corrections: u64,
    /// Sequence number and hash of the journal's last line: they show whether a folder is genuine or rewritten.
    #[serde(skip)]
    pub journal_seq: u64,
    #[serde(skip)]
    pub journal_head: String,
}

/// A row of `phases`; (job, number, attempt) is its key.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "a field is a column of the same name")]
pub struct PhaseRow {
    pub number: u32,
    /// From 1; an early end (rewind, stuck, limit, reset) starts the next attempt.
    pub attempt: u32,
    /// `bootstrap`, `planned` or `review`.
    pub kind: String,
    pub title: String,
    /// `running`, `done`, `rewound`, `stuck`, `limit`, `reset`, `abandoned`.
    pub outcome: String,
    /// Why it ended early.
    pub issue: Option<String>,
    pub turns: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub cost_usd: Option<f64>,
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
    /// Folder under `archive/`, once archived.
    pub archive: Option<String>,
}

/// A row of `todos`; (job, phase number, attempt, todo id) is its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoRow {
    /// The number of its phase.
    pub phase: u32,
    /// The attempt at that phase.
    pub attempt: u32,
    /// The todo as it is now.
    pub todo: Todo,
}

/// One checkpoint: the job's row, and the phases and todos that may have changed since the last one. Written in one
/// transaction, fenced by the lease.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The row of the job itself.
    pub state: JobSummary,
    /// The phases to be written.
    pub phases: Vec<PhaseRow>,
    /// The todos to be written.
    pub todos: Vec<TodoRow>,
}

impl Checkpoint {
    /// The part that `before` did not write: the state always, and the phases and todos that have changed.
    #[must_use]
    pub fn since(&self, before: Option<&Self>) -> Self {
        let Some(before) = before else {
            return self.clone();
        };
        Self {
            state: self.state.clone(),
            phases: self.phases.iter().filter(|row| !before.phases.contains(row)).cloned().collect(),
            todos: self.todos.iter().filter(|row| !before.todos.contains(row)).cloned().collect(),
        }
    }
}
