//! The facts. An event says what happened, past tense; the journal stores them, and the state is what they say.

pub use super::epoch::EpochCause;
pub use super::tool_result::{CallEnd, ChangedFile, PreparedWrite, SavedFile, ShownPart, SpilledResult, ToolResult};
use super::{
    call::PendingCall,
    comparison::Comparison,
    contract::Check,
    conversation::OWN,
    ending::Ending,
    failure::FailureKind,
    finding::{Finding, Settlement},
    helper_role::{HelperEnd, HelperRole},
    lessons::Lesson,
    models::{ModelChoice, Tier},
    part::Part,
    part_reading::DoubledRecord,
    plan::PlannedPhase,
    proof::Verdict,
    read_unit::ReadUnit,
    record::HoldReason,
    scans::PageOutcome,
    seen_result::SeenResult,
    spec::{DocumentEntry, JobSpec},
    submitted_call::SubmittedCall,
    time::Timestamp,
    todo::Todo,
    tool::ToolSet,
};
use crate::message::{Image, Stop, Usage};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// One line of the journal, as the machine reads it: when, under which lease, and the facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// When it was decided.
    pub at: Timestamp,
    /// At least one; they hold together or not at all.
    pub events: Vec<Event>,
}

/// Phases differ by data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Phase 0: the model looks around and writes the plan.
    Bootstrap,
    /// A phase of the plan.
    Planned,
    /// The last phase: the result is looked over and claimed complete.
    Review,
}

impl PhaseKind {
    /// As it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bootstrap => "bootstrap",
            Self::Planned => "planned",
            Self::Review => "review",
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_own(conversation: &u32) -> bool {
    *conversation == OWN
}

/// Reads a variant without fields: serde would pass over any that are there.
fn no_fields<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoFields {}
    NoFields::deserialize(deserializer).map(|NoFields {}| ())
}

/// Why a phase ended, or why there is planning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Why {
    /// All todos are completed or cancelled.
    #[serde(deserialize_with = "no_fields")]
    PhaseDone,
    /// The model called `todo_rewind`.
    Rewound {
        /// What makes the phase impossible as planned.
        issue: String,
    },
    /// Nothing moved any more.
    Stuck {
        /// Which sign of it was seen.
        detail: String,
    },
    /// A bound on turns was reached.
    LimitReached {
        /// Which one.
        detail: String,
    },
    /// The model called `archive_and_reset`.
    Reset {
        /// In the model's words.
        reason: String,
    },
    /// The job ends with this phase unfinished.
    Abandoned {
        /// Why it ends so.
        reason: String,
    },
    /// A person sent the job back.
    Feedback {
        /// From 1, of all feedback.
        number: u32,
        /// What the person wrote.
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
    pub(crate) fn folder_suffix(&self, attempt: u32) -> String {
        match self {
            Self::PhaseDone | Self::Feedback { .. } => String::new(),
            Self::Rewound { .. } => format!(".rewound-{attempt}"),
            Self::Stuck { .. } | Self::LimitReached { .. } | Self::Reset { .. } => format!(".replanned-{attempt}"),
            Self::Abandoned { .. } => format!(".abandoned-{attempt}"),
        }
    }
}

/// How planning came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanningEnd {
    /// Nothing was owed any more.
    Done,
    /// What was owed did not come within its tries: the memory stays as it is, and so do the plan and its next todos.
    FellBack,
}

/// What a board is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardKind {
    /// The todos are worked.
    Todos,
    /// The model plans.
    Planning,
    /// The model writes the digest of the past.
    Digest,
    /// A helper works.
    Helper,
}

/// The files that planning reads, as they stood on the disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExaminedFiles {
    /// `main_plan.md`; none: there is no such file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Part>,
    /// `workspace.md`; none: there is no such file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Part>,
    /// `instructions.md`.
    pub instructions: Part,
    /// `workspace_summary.md`.
    pub summary: Part,
}

/// A fact. `conversation` names the history that it belongs to; 0 is the job's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "a field is a key of the journal, named for what it holds")]
pub enum Event {
    /// The first fact of every job. `tools_sha256` is of the list of tools that the model is told of.
    JobCreated { spec_sha256: String, spec: Box<JobSpec>, tools_sha256: String },
    /// A process took the job up; what lies between this line and the one before was not work.
    Opened {
        version: String,
        model: String,
        tools_sha256: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        torn_bytes: Option<u64>,
    },
    /// A person named another model or server: it is called from here on.
    ModelChosen { choice: ModelChoice },
    /// The model is asked at another tier from here on.
    TierChanged { tier: Tier, reason: String },
    /// Work begins on a new list of todos.
    PhaseStarted {
        number: u32,
        attempt: u32,
        kind: PhaseKind,
        title: String,
        plan_phase: Option<u32>,
        todos: Vec<Todo>,
    },
    /// No todo of it will be worked any more.
    PhaseEnded { why: Why, folder: String },
    /// The phase that ended is kept under `archive/`.
    ArchiveStored { folder: String, manifest_sha256: String },
    /// `workspace_summary.md` is on the disk.
    SummaryWritten { sha256: String },
    /// Planning begins from what stands on the disk.
    FilesExamined { files: ExaminedFiles },
    /// The plan as it stands in `main_plan.md`, where a person has changed it.
    PlanRead { text: Part, phases: Vec<PlannedPhase> },
    /// The plan as the model saved it, in the one form and with the marks that are the system's.
    PlanSaved { text: Part, phases: Vec<PlannedPhase> },
    /// The system changed the plan: ticks and marks, a cut phase, the plan that the model didn't write.
    PlanSet { text: Part, phases: Vec<PlannedPhase>, because: String },
    /// `workspace.md` was saved by the model.
    MemorySaved { text: Part },
    /// A person has changed these files while the job was held; `memory` is what `workspace.md` holds now.
    FilesEdited { files: Vec<String>, memory: Option<Part> },
    /// A file that the machine asked to be written is on the disk.
    FileWritten { path: String },
    /// A plan, or the todos of the next phase, could not be taken.
    PlanningRefused { reason: String },
    /// Planning is over.
    PlanningEnded { end: PlanningEnd, memory_waived: bool },
    /// A plan or a list was taken though it is outside its bounds; the board says so.
    TodosWarned { warning: String },
    /// The running phase has another list.
    TodosWritten { todos: Vec<Todo> },
    /// The current todo is done, and the next one begins.
    TodoCompleted { id: u32, outcome: Option<String>, unevidenced: bool },
    /// `todo_complete` came behind a failure.
    TodoCompletionRefused { id: u32, reason: String },
    /// A new history begins, with this as its first message; its last part is the board.
    EpochOpened {
        conversation: u32,
        number: u32,
        cause: EpochCause,
        opening: Vec<Part>,
        /// Of results that the model has not answered to yet.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
        tokens: u64,
    },
    /// The runner's own word behind the newest result: the board in full where it changed, and the line of the turn.
    BoardShown {
        conversation: u32,
        kind: BoardKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        board: Option<String>,
        line: String,
        tokens: u64,
    },
    /// A phase has ended, and the history goes on: the job fits in one piece.
    CompactionNotDue { prompt_tokens: u64, document_tokens: u64 },
    /// The checks of the contract as they were at the review's beginning.
    ChecksMade { checks: Vec<Check> },
    /// A turn: the model has answered.
    ModelReplied {
        conversation: u32,
        turn: u64,
        text: String,
        /// As they were said and as they are understood.
        calls: Vec<PendingCall>,
        usage: Usage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        /// What it would have cost at the standard tier, where it was answered at another.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        standard_usd: Option<f64>,
        /// The provider's name for the batch in which it was answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batch: Option<String>,
        stop: Stop,
        model: String,
        /// Tokens of the prompt as counted here, and of the reply.
        prompt_tokens: u64,
        reply_tokens: u64,
        /// SHA-256 of the prompt as JSON: a prompt that is rebuilt later can be told from another.
        prompt_sha256: String,
        /// What goes back to the vendor with the reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carried: Option<Arc<Value>>,
        /// The tier at which it was answered, where that is another than was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tier: Option<Tier>,
        /// What had to be repaired to read the reply.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mended: Vec<String>,
    },
    /// An attempt to have a reply brought none; the next comes after `wait_ms`. Where no conversation is named, it is that of the
    /// one helper at work, else the job's own.
    AttemptFailed {
        #[serde(default, skip_serializing_if = "is_own")]
        conversation: u32,
        turn: u64,
        /// From 1 at each turn.
        attempt: u32,
        kind: FailureKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        wait_ms: u64,
        reason: String,
        /// Of a reply that could not be read, what came: its beginning and its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        received: Option<String>,
    },
    /// A call was handed in, and is answered later.
    CallSubmitted {
        #[serde(default, skip_serializing_if = "is_own")]
        conversation: u32,
        turn: u64,
        call: SubmittedCall,
    },
    /// A change is about to be made.
    ToolStarted { conversation: u32, call: String, prepared: PreparedWrite },
    /// A call has its one result.
    ToolReturned { conversation: u32, call: String, name: String, result: ToolResult, tokens: u64 },
    /// The model recorded what it achieved.
    AccomplishmentAdded { text: String },
    /// The model recorded what it wants to remember.
    NoteAdded { text: String },
    /// The model proposed something that later jobs should know.
    LessonProposed { lesson: Lesson },
    /// A conversation beside the job's own begins: who, with which model (none: the job's own), with which tools.
    HelperStarted {
        conversation: u32,
        role: HelperRole,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        tools: ToolSet,
        tools_sha256: String,
        system_prompt: Part,
    },
    /// A helper's conversation is over.
    HelperEnded { conversation: u32, end: HelperEnd, report: String },
    /// The system reads documents by these calls, and their text stands in the first opening of a conversation.
    DocumentsGiven { conversation: u32, calls: Vec<PendingCall> },
    /// The documents are read side by side, in these parts: one for each todo of the phase.
    PartReadingBegun { parts: Vec<Vec<ReadUnit>> },
    /// All parts are read, and records of several that quote the same place are told.
    PartsRead { doubled: Vec<DoubledRecord> },
    /// Scanned pages are read and compared: their documents as they are now, and what came of each page.
    PagesRead { documents: Vec<DocumentEntry>, pages: Vec<PageOutcome> },
    /// The documents are read a second time: these parts of them, drawn by `seed`.
    SecondReadingBegun { seed: u64, units: Vec<ReadUnit> },
    /// Both lists were compared.
    ListsCompared { comparison: Comparison, findings: Vec<Finding> },
    /// The verifier has judged, or ended without a verdict.
    VerdictGiven { conversation: u32, round: u32, verdict: Verdict, findings: Vec<Finding> },
    /// A finding is not open any more.
    FindingSettled { id: String, settlement: Settlement, by: String },
    /// The claim of `job_complete` did not hold.
    CompletionRefused { checks: Vec<Check> },
    /// All that will be delivered is decided; the phase's archive and the end follow.
    EndingDecided { ending: Box<Ending> },
    /// The job waits, with everything kept.
    Held { reason: HoldReason, detail: String },
    /// A person lets a held job go on.
    Resumed { limits: super::limits::Limits },
    /// A person sent a result back: it is archived, and planned anew.
    FeedbackGiven {
        number: u32,
        text: String,
        instructions: Part,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A person accepted a result.
    Approved {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// None in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<Box<SeenResult>>,
    },
    /// A person accepted one record of a deliverable.
    RecordApproved {
        file: String,
        record: String,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
    },
    /// A person corrected a field. The model's file stays; `path` is the file with all corrections, and its hash.
    FieldCorrected { finding: Box<Finding>, path: String, sha256: String },
    /// A person added documents to a job that has a result; feedback that says so follows.
    DocumentsAdded {
        documents: Vec<DocumentEntry>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// Only what people say of the result comes after it.
    JobEnded { ending: Box<Ending> },
}

impl Event {
    /// The conversation that it belongs to.
    pub fn conversation(&self) -> u32 {
        match self {
            Self::EpochOpened { conversation, .. }
            | Self::BoardShown { conversation, .. }
            | Self::ModelReplied { conversation, .. }
            | Self::AttemptFailed { conversation, .. }
            | Self::CallSubmitted { conversation, .. }
            | Self::ToolStarted { conversation, .. }
            | Self::ToolReturned { conversation, .. }
            | Self::HelperEnded { conversation, .. }
            | Self::DocumentsGiven { conversation, .. } => *conversation,
            _ => OWN,
        }
    }
}
