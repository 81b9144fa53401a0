//! The calls of one reply, and what those that are done mean for those behind them.

use super::{call::PendingCall, event::PreparedWrite};
use std::collections::VecDeque;

/// Whether `todo_complete` completes anything, behind a phase that began in the same reply: an outcome is for the todo that
/// the model saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompletionRule {
    /// It does.
    #[default]
    Run,
    /// Once something was worked for the new phase.
    AfterWork,
    /// Not in this reply.
    Skip,
}

/// The calls of one reply.
#[derive(Clone, Debug, Default)]
pub struct ReplyCalls {
    /// Those that have no result yet; the first is being done.
    pub pending: VecDeque<PendingCall>,
    /// What the first one will do to its file.
    pub prepared: Option<PreparedWrite>,
    /// The name of one that could not be read: no such tool, or arguments that are no JSON object.
    pub unreadable: Option<String>,
    /// The name of a working call that was not run.
    pub skipped: Option<String>,
    /// The name of one that failed: what was claimed behind it was written in the belief that it would not.
    pub failed: Option<String>,
    /// A working call was done: it is the evidence for all that this reply completes.
    pub has_worked: bool,
    /// A `todo_complete` was refused: those behind it would give their outcomes to other todos.
    pub is_completion_refused: bool,
    /// What `todo_complete` does.
    pub completions: CompletionRule,
    /// Something of a document was shown that had not been shown before.
    pub has_shown_more: bool,
}

impl ReplyCalls {
    pub(crate) fn of(calls: &[PendingCall]) -> Self {
        Self { pending: calls.iter().cloned().collect(), ..Self::default() }
    }
}
