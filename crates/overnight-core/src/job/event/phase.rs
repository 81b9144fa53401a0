//! Facts on phases and their todos.

use crate::job::{lessons::Lesson, todo::Todo};
use serde::{Deserialize, Deserializer, Serialize};
use strum::VariantNames;

/// The kind of a phase; phases differ only by data.
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
    /// The name, as it is stored.
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
        /// The issue that makes the phase impossible as planned.
        issue: String,
    },
    /// No progress was made any more.
    Stuck {
        /// The sign of it that was seen.
        detail: String,
    },
    /// A bound on turns was reached.
    LimitReached {
        /// The bound that was reached.
        detail: String,
    },
    /// The model called `archive_and_reset`.
    Reset {
        /// The reason, in the model's words.
        reason: String,
    },
    /// The job ends with this phase unfinished.
    Abandoned {
        /// The reason for that end.
        reason: String,
    },
    /// A person sent the job back.
    Feedback {
        /// The number of the feedback, from 1.
        number: u32,
        /// The text of the feedback.
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

    /// The issue, if something went wrong.
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

    /// Whether it is a rewind, stuck, limit or reset, which count against the bounds on re-planning.
    pub fn is_early_end(&self) -> bool {
        match self {
            Self::Rewound { .. } | Self::Stuck { .. } | Self::LimitReached { .. } | Self::Reset { .. } => true,
            Self::PhaseDone | Self::Abandoned { .. } | Self::Feedback { .. } => false,
        }
    }

    /// The suffix of an archive folder's name, after the slug.
    pub(crate) fn folder_suffix(&self, attempt: u32) -> String {
        match self {
            Self::PhaseDone | Self::Feedback { .. } => String::new(),
            Self::Rewound { .. } => format!(".rewound-{attempt}"),
            Self::Stuck { .. } | Self::LimitReached { .. } | Self::Reset { .. } => format!(".replanned-{attempt}"),
            Self::Abandoned { .. } => format!(".abandoned-{attempt}"),
        }
    }
}

/// A phase, its todos, and the model's notes during the work on them.
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
    /// The phase has ended: no todo of it will be worked on any more.
    PhaseEnded { why: Why, folder: String },
    /// The phase that ended is kept under `archive/`.
    ArchiveStored { folder: String, manifest_sha256: String },
    /// `workspace_summary.md` is on the disk.
    SummaryWritten { sha256: String },
    /// The running phase has a new list of todos.
    TodosWritten { todos: Vec<Todo> },
    /// The current todo is done, and the next one begins.
    TodoCompleted { id: u32, outcome: Option<String>, unevidenced: bool },
    /// `todo_complete` was refused because it came after a failure.
    TodoCompletionRefused { id: u32, reason: String },
    /// The model recorded what it achieved.
    AccomplishmentAdded { text: String },
    /// The model recorded what it wants to remember.
    NoteAdded { text: String },
    /// The model proposed something that later jobs should know.
    LessonProposed { lesson: Lesson },
}
