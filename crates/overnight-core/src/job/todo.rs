//! A todo and its fields.

use super::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a todo stands. At most one of a list is `InProgress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// The current one.
    InProgress,
    /// Done, by `todo_complete` only.
    Completed,
    /// Given up; its outcome says why.
    Cancelled,
}

impl TodoStatus {
    /// As it is stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Pending or in progress: still owed.
    pub fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::InProgress => true,
            Self::Completed | Self::Cancelled => false,
        }
    }
}

impl fmt::Display for TodoStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One task of a phase. `id` counts from 1 within the phase's list and never changes; `order` is the place on the board, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Todo {
    /// Never given to another todo of the phase.
    pub id: u32,
    /// What is to be done, on one line.
    pub content: String,
    /// What is shown while it is done, on one line.
    pub active_form: String,
    /// Where it stands.
    pub status: TodoStatus,
    /// What the model wants to remember for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// When it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_criteria: Option<String>,
    /// A sub-agent that the model named; nothing acts on it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// The place on the board.
    pub order: u32,
    /// What was done or found, or why it was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Completed without any working tool called since it began.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unevidenced: bool,
    /// When it was first written.
    pub created: Timestamp,
    /// When it was first the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// When it was completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<Timestamp>,
}
