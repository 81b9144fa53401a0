//! Counters of the current todo: the evidence for `todo_complete`, and the signs of being stuck. Token volume is no
//! sign of being stuck.

use crate::answer;
use std::collections::VecDeque;

/// The number of turns in which repeated calls are counted.
const WINDOW_TURNS: u64 = 10;
/// The same call with the same result this many times in a row leads to a reminder.
const REPEATS_REMINDED: usize = 3;
/// The same call with the same result this many times within these turns is a sign of being stuck.
const REPEATS_STUCK: usize = 5;
/// Turns on one todo without any change in the workspace and without new coverage: stuck.
const IDLE_TURNS_STUCK: u64 = 25;
/// Malformed arguments this many times in a row: stuck.
const MALFORMED_STUCK: u32 = 3;
/// Turns without a change of the todos before the first reminder, and between reminders.
const TURNS_REMINDED: u64 = 10;

/// Counters of the current todo.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effort {
    /// Turns since the todo began.
    pub turns: u64,
    /// Turns since the list of todos last changed.
    unchanged_turns: u64,
    /// Turns since the workspace last changed or something new was shown.
    idle_turns: u64,
    /// Whether the last reply called no tool.
    pub silent: bool,
    /// A working tool's call that failed since the last success, and whether `todo_complete` was refused for it.
    failure: Option<ToolFailure>,
    /// A working tool was called since the todo began.
    pub worked: bool,
    /// Records that were added to deliverables since the todo began.
    pub records: u64,
    /// Turn and signature (call and result) of the latest calls.
    recent: VecDeque<(u64, u64)>,
    malformed: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct ToolFailure {
    tool: String,
    told: bool,
}

impl Effort {
    pub(crate) fn on_turn(&mut self, calls: usize) {
        self.turns += 1;
        self.unchanged_turns += 1;
        self.idle_turns += 1;
        self.silent = calls == 0;
    }

    /// A new todo begins, and with it all counting: a file may well be read again for the next task.
    pub(crate) fn on_todo_change(&mut self) {
        *self = Self::default();
    }

    /// The list was rewritten but the current todo stayed: its work and its turns still count.
    pub(crate) fn on_list_change(&mut self) {
        self.unchanged_turns = 0;
        self.silent = false;
    }

    pub(crate) fn on_change(&mut self) {
        self.idle_turns = 0;
    }

    pub(crate) fn on_call(&mut self, turn: u64, signature: u64) {
        self.recent.push_back((turn, signature));
        while self.recent.front().is_some_and(|&(then, _)| then + WINDOW_TURNS <= turn) {
            self.recent.pop_front();
        }
    }

    pub(crate) fn on_malformed(&mut self) {
        self.malformed += 1;
    }

    /// A call could be read, which ends a series of malformed calls.
    pub(crate) fn on_readable(&mut self) {
        self.malformed = 0;
    }

    pub(crate) fn on_worked(&mut self) {
        self.worked = true;
        self.failure = None;
    }

    pub(crate) fn on_failed(&mut self, tool: &str) {
        self.malformed = 0;
        self.worked = true;
        self.failure = Some(ToolFailure { tool: tool.to_owned(), told: false });
    }

    /// The tool whose failure the model has not been pointed at yet.
    pub(crate) fn untold_failure(&self) -> Option<&str> {
        self.failure.as_ref().filter(|failure| !failure.told).map(|failure| failure.tool.as_str())
    }

    /// `todo_complete` was refused for the failure: once is enough.
    pub(crate) fn on_completion_refused(&mut self) {
        if let Some(failure) = &mut self.failure {
            failure.told = true;
        }
    }

    /// Why the phase is to be re-planned, if it is stuck.
    pub(crate) fn stuck(&self) -> Option<String> {
        if let Some((_, last)) = self.recent.back() {
            let repeats = self.recent.iter().filter(|(_, signature)| signature == last).count();
            if repeats >= REPEATS_STUCK {
                return Some(format!("the same call gave the same result {repeats} times in {WINDOW_TURNS} turns"));
            }
        }
        if self.malformed >= MALFORMED_STUCK {
            return Some(format!("{} calls running had malformed arguments", self.malformed));
        }
        (self.idle_turns >= IDLE_TURNS_STUCK).then(|| {
            format!(
                "{} turns on one todo without any change in the workspace and without new coverage",
                self.idle_turns
            )
        })
    }

    /// The reminder for the model on the board, if one is due.
    pub(crate) fn reminder(&self) -> Option<String> {
        if let Some((_, last)) = self.recent.back() {
            let repeats = self.recent.iter().rev().take_while(|(_, signature)| signature == last).count();
            if repeats >= REPEATS_REMINDED {
                return Some(answer!("reminder.repeated_call", times = repeats));
            }
        }
        let turns = self.unchanged_turns;
        (turns > TURNS_REMINDED && (turns - 1).is_multiple_of(TURNS_REMINDED))
            .then(|| answer!("reminder.unchanged_list", turns))
    }
}
