//! A todo and its fields.

use super::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The status of a todo. At most one todo of a list is `InProgress`.
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
    /// The name, as it is stored and shown.
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

/// One task of a phase. `id` counts from 1 within the phase's list and never changes; `order` is the place, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Todo {
    /// The id, which no other todo of the phase gets.
    pub id: u32,
    /// The work to be done, on one line.
    pub content: String,
    /// The text that is shown while it is done, on one line.
    pub active_form: String,
    /// The status.
    pub status: TodoStatus,
    /// Context that the model wants to remember for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The criteria for its completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_criteria: Option<String>,
    /// The agent that the model named for it; if the instructions have it, the board asks to delegate the todo to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// The place on the board.
    pub order: u32,
    /// The work done or the findings, or the reason why it was cancelled.
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
