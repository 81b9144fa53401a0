//! The facts. An event says what happened, past tense; the journal stores them, and the state is what they say.

use super::{
    contract::Check,
    failure::FailureKind,
    models::ModelChoice,
    pages::PageLines,
    record::{Delivered, HoldReason, JobStatus, QuotePositions},
    spec::JobSpec,
    time::Timestamp,
    todo::Todo,
};
use crate::prompt::message::{Stop, ToolCall, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{fmt, sync::Arc};

/// One line of the journal, as the machine reads it: when, under which lease, and the facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub at: Timestamp,
    pub events: Vec<Event>,
}

/// Phases differ by data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    Bootstrap,
    Planned,
    Review,
}

impl PhaseKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Bootstrap => "bootstrap",
            Self::Planned => "planned",
            Self::Review => "review",
        }
    }
}

/// Why a phase ended, or why there is planning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Why {
    PhaseDone,
    Rewound {
        issue: String,
    },
    Stuck {
        detail: String,
    },
    LimitReached {
        detail: String,
    },
    Reset {
        reason: String,
    },
    /// The job ends with this phase unfinished.
    Abandoned {
        reason: String,
    },
    /// A person sent the job back.
    Feedback {
        number: u32,
        text: String,
    },
}

impl Why {
    /// The word in `phases.outcome` and in manifests.
    pub fn outcome(&self) -> &'static str {
        match self {
            Self::PhaseDone => "done",
            Self::Rewound { .. } => "rewound",
            Self::Stuck { .. } => "stuck",
            Self::LimitReached { .. } => "limit",
            Self::Reset { .. } => "reset",
            Self::Abandoned { .. } => "abandoned",
            Self::Feedback { .. } => "feedback",
        }
    }

    /// What went wrong, where something did.
    pub fn issue(&self) -> Option<&str> {
        match self {
            Self::PhaseDone => None,
            Self::Rewound { issue: text }
            | Self::Stuck { detail: text }
            | Self::LimitReached { detail: text }
            | Self::Reset { reason: text }
            | Self::Abandoned { reason: text }
            | Self::Feedback { text, .. } => Some(text),
        }
    }

    /// Rewind, stuck, limit and reset count against the bounds on re-planning.
    pub fn is_early_end(&self) -> bool {
        match self {
            Self::Rewound { .. } | Self::Stuck { .. } | Self::LimitReached { .. } | Self::Reset { .. } => true,
            Self::PhaseDone | Self::Abandoned { .. } | Self::Feedback { .. } => false,
        }
    }

    /// What an archive folder's name gets after the slug.
    pub fn folder_suffix(&self, attempt: u32) -> String {
        match self {
            Self::PhaseDone | Self::Feedback { .. } => String::new(),
            Self::Rewound { .. } => format!(".rewound-{attempt}"),
            Self::Stuck { .. } | Self::LimitReached { .. } | Self::Reset { .. } => format!(".replanned-{attempt}"),
            Self::Abandoned { .. } => format!(".abandoned-{attempt}"),
        }
    }
}

/// The three steps in which the model plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStep {
    UpdateMemory,
    UpdatePlan,
    CreateTodos,
}

impl PlanStep {
    pub fn name(self) -> &'static str {
        match self {
            Self::UpdateMemory => "update_memory",
            Self::UpdatePlan => "update_plan",
            Self::CreateTodos => "create_todos",
        }
    }

    pub fn place(self) -> u32 {
        match self {
            Self::UpdateMemory => 1,
            Self::UpdatePlan => 2,
            Self::CreateTodos => 3,
        }
    }
}

impl fmt::Display for PlanStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a planning step came to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum StepEnd {
    Saved,
    NoChange {
        reason: String,
    },
    /// The model did not finish the step within its tries; the system did.
    FellBack,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    Done,
    /// The tool tried and could not.
    Failed,
    /// The machine said no: wrong step, bad arguments, a rule.
    Refused,
    /// Left over when its phase had ended.
    Skipped,
    /// Cut off by a crash, and not safe to repeat.
    Interrupted,
}

/// A part of a document that a result showed, in pages or lines, both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownPart {
    pub document: String,
    pub from: u64,
    pub to: u64,
    /// Of page `from` these lines only: the whole of it is longer than a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<PageLines>,
}

/// A file as it is after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangedFile {
    pub path: String,
    pub sha256: String,
    pub bytes: u64,
}

/// A result too large for the conversation, kept whole in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpilledResult {
    pub path: String,
    pub sha256: String,
}

/// What a tool gave back. `text` is what the conversation gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolResult {
    pub end: CallEnd,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<ShownPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<ChangedFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spilled: Option<SpilledResult>,
    /// The new text of `main_plan.md` or `workspace.md`, where the call wrote one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<SavedFile>,
}

impl ToolResult {
    pub fn plain(end: CallEnd, text: impl Into<String>) -> Self {
        Self { end, text: text.into(), shown: None, changed: None, spilled: None, saved: None }
    }
}

/// A file of the model's own memory, as it was saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "file", rename_all = "snake_case", deny_unknown_fields)]
pub enum SavedFile {
    Plan { text: String },
    Memory { text: String },
}

/// What a writing call is about to do: hashes of the file before and after, so that a call that a crash cut off can be
/// repeated safely. `before` is `None` where there is no file yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreparedWrite {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    pub after: String,
}

/// The files that planning reads, as they stood on the disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExaminedFiles {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    pub instructions: String,
    pub summary: String,
}

/// What `job_complete` claimed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    pub summary: String,
    pub deliverables: Vec<String>,
    pub confidence: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    pub status: JobStatus,
    /// One sentence; absent when completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
    pub checks: Vec<Check>,
    pub deliverables: Vec<Delivered>,
    /// Absent where no quotes were to be checked, and in journals of before there was such a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<QuotePositions>,
    /// Todos that were open when the job ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_todos: Vec<String>,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    JobCreated {
        spec_sha256: String,
        spec: Box<JobSpec>,
    },
    /// A process took the job up; what lies between this line and the one before was not work.
    Opened {
        version: String,
        model: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        torn_bytes: Option<u64>,
    },
    /// A person named another model or server: it is called from here on.
    ModelChosen {
        choice: ModelChoice,
    },
    PhaseStarted {
        number: u32,
        attempt: u32,
        kind: PhaseKind,
        title: String,
        plan_phase: Option<u32>,
        todos: Vec<Todo>,
    },
    PhaseEnded {
        why: Why,
        folder: String,
    },
    ArchiveStored {
        folder: String,
        manifest_sha256: String,
    },
    SummaryWritten {
        sha256: String,
    },
    FilesExamined {
        files: ExaminedFiles,
    },
    /// The system changed the plan: ticks and marks, a cut phase, the plan that the model didn't write.
    PlanSet {
        text: String,
        because: String,
    },
    /// A file that the machine asked to be written is on the disk.
    FileWritten {
        path: String,
    },
    StepEnded {
        step: PlanStep,
        end: StepEnd,
    },
    TodosRefused {
        reason: String,
    },
    TodosWarned {
        warning: String,
    },
    TodosWritten {
        todos: Vec<Todo>,
    },
    TodoCompleted {
        id: u32,
        outcome: Option<String>,
        unevidenced: bool,
    },
    TodoCompletionRefused {
        id: u32,
        reason: String,
    },
    ContextMasked {
        calls: Vec<String>,
    },
    TurnsFolded {
        entries: usize,
        digest: String,
    },
    ContextCompacted {
        layer4: String,
    },
    ModelReplied {
        turn: u64,
        text: String,
        calls: Vec<ToolCall>,
        usage: Usage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        stop: Stop,
        model: String,
        /// SHA-256 of the prompt as JSON: a prompt that is rebuilt later can be told from another.
        prompt_sha256: String,
        /// What goes back to the vendor with the reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carried: Option<Arc<Value>>,
        /// What had to be repaired to read the reply.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mended: Vec<String>,
    },
    /// An attempt to have a reply brought none; the next comes after `wait_ms`.
    AttemptFailed {
        turn: u64,
        /// From 1 at each turn.
        attempt: u32,
        kind: FailureKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        wait_ms: u64,
        reason: String,
    },
    ToolStarted {
        call: String,
        prepared: PreparedWrite,
    },
    ToolReturned {
        call: String,
        name: String,
        result: ToolResult,
    },
    AccomplishmentAdded {
        text: String,
    },
    NoteAdded {
        text: String,
    },
    CompletionRefused {
        checks: Vec<Check>,
    },
    /// All that will be delivered is decided; the phase's archive and the end follow.
    EndingDecided {
        ending: Box<Ending>,
    },
    Held {
        reason: HoldReason,
        detail: String,
    },
    Resumed {
        limits: super::limits::Limits,
    },
    FeedbackGiven {
        number: u32,
        text: String,
        instructions: String,
    },
    Approved,
    JobEnded {
        ending: Box<Ending>,
    },
}
