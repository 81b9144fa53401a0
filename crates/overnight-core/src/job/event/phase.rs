//! Facts on phases and their todos.

use crate::job::{lessons::Lesson, todo::Todo};
use serde::{Deserialize, Deserializer, Serialize};
use strum::VariantNames;

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

/// A phase, its todos, and what the model notes while it works them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, VariantNames)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "a field is a key of the journal, named for what it holds")]
pub enum PhaseEvent {
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
    /// The running phase has another list.
    TodosWritten { todos: Vec<Todo> },
    /// The current todo is done, and the next one begins.
    TodoCompleted { id: u32, outcome: Option<String>, unevidenced: bool },
    /// `todo_complete` came behind a failure.
    TodoCompletionRefused { id: u32, reason: String },
    /// The model recorded what it achieved.
    AccomplishmentAdded { text: String },
    /// The model recorded what it wants to remember.
    NoteAdded { text: String },
    /// The model proposed something that later jobs should know.
    LessonProposed { lesson: Lesson },
}
