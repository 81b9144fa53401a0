//! The calls of one reply, and the effects of finished calls on those after them.

use super::{
    call::PendingCall,
    contract::{Check, DeliverableState},
    event::{CallEnd, PreparedWrite, ToolResult},
    sub_agent_role::SubAgentEnd,
    tool::Tool,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A problem that a call of the current reply returned, and that the model has not seen yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentBack {
    /// The name of the call.
    pub name: String,
    /// The kind of problem.
    pub what: SentBackKind,
}

/// The problems that a call may return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentBackKind {
    /// The tool tried and failed.
    Failed,
    /// The machine refused the call.
    Refused,
    /// This many records were not written.
    Records(u64),
    /// Checks of this deliverable fail, which did not when the reply came.
    Checks {
        /// The deliverable's path.
        path: String,
        /// The names of the checks.
        names: Vec<String>,
        /// Whether all of them fail only for content that is still to be written.
        unfinished: bool,
    },
}

/// Whether `todo_complete` completes anything after a phase that began in the same reply: an outcome is meant for the
/// todo that the model saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompletionRule {
    /// It does complete the todo.
    #[default]
    Run,
    /// Only after some work for the new phase.
    AfterWork,
    /// Not in this reply.
    Skip,
}

/// How a delegate's work ended, for the call that waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegateReport {
    /// The agent's name.
    pub agent: String,
    /// How it ended.
    pub end: SubAgentEnd,
    /// The text of its report, bounded.
    pub report: String,
}

/// The calls of one reply.
#[derive(Clone, Debug, Default)]
pub struct ReplyCalls {
    /// The calls without a result; the first is being executed.
    pub pending: VecDeque<PendingCall>,
    /// The change that the first call will make to its file.
    pub prepared: Option<PreparedWrite>,
    /// The name of a call that could not be read: no such tool, or arguments that are no JSON object.
    pub unreadable: Option<String>,
    /// The name of a working call that was not run.
    pub skipped: Option<String>,
    /// The problems so far: later calls were written in the belief that there would be none.
    pub sent_back: Vec<SentBack>,
    /// Checks that the model knew to fail when it replied, other than for content still to be written.
    known_failures: BTreeSet<String>,
    /// A working call was done: it is the evidence for all that this reply completes.
    pub has_worked: bool,
    /// Whether a `todo_complete` was not accepted: later ones would give their outcomes to other todos.
    pub is_completion_refused: bool,
    /// The rule for `todo_complete`.
    pub completions: CompletionRule,
    /// Something of a document was shown that had not been shown before.
    pub has_shown_more: bool,
    /// The reports on delegated work, by call: a call is answered after those before it.
    pub reports: BTreeMap<String, DelegateReport>,
}

impl ReplyCalls {
    /// `known`: the deliverables as the model knows them.
    pub(crate) fn of(calls: &[PendingCall], known: &BTreeMap<String, DeliverableState>) -> Self {
        let failed = known.values().flat_map(|state| &state.failed).filter(|check| !check.unfinished);
        Self {
            pending: calls.iter().cloned().collect(),
            known_failures: failed.map(|check| check.name.clone()).collect(),
            ..Self::default()
        }
    }

    /// Notes the problems that a call returned. `news` is the number of its refused records, without those that the
    /// model already knows to be refused.
    pub(crate) fn on_returned(&mut self, call: &PendingCall, result: &ToolResult, news: u64) {
        let is_of = |sent: &SentBack, state: &DeliverableState| match &sent.what {
            SentBackKind::Checks { path, .. } => *path == state.path,
            SentBackKind::Failed | SentBackKind::Refused | SentBackKind::Records(_) => false,
        };
        self.sent_back.retain(|sent| !result.checked.iter().any(|state| is_of(sent, state)));
        // The result of a completion doesn't concern the next one, and notes are not part of the work.
        if let Some(
            Tool::TodoComplete
            | Tool::JobComplete
            | Tool::Report
            | Tool::Verdict
            | Tool::TodoList
            | Tool::AddNote
            | Tool::AddAccomplishment
            | Tool::AddLesson,
        ) = call.tool
        {
            return;
        }
        let mut add = |what| self.sent_back.push(SentBack { name: call.said.name.clone(), what });
        match result.end {
            CallEnd::Failed => add(SentBackKind::Failed),
            CallEnd::Refused => add(SentBackKind::Refused),
            CallEnd::Done if news > 0 => add(SentBackKind::Records(news)),
            CallEnd::Done | CallEnd::Skipped | CallEnd::Interrupted => {}
        }
        for state in &result.checked {
            let failed = state.failed.iter();
            let news: Vec<&Check> = failed.filter(|check| !self.known_failures.contains(&check.name)).collect();
            if !news.is_empty() {
                let names = news.iter().map(|check| check.name.clone()).collect();
                let unfinished = news.iter().all(|check| check.unfinished);
                add(SentBackKind::Checks { path: state.path.clone(), names, unfinished });
            }
        }
    }

    /// The first problem with the deliverables; it also holds back a `todo_complete`. Unfinished files don't count.
    pub(crate) fn unseen_work(&self) -> Option<&SentBack> {
        self.sent_back.iter().find(|sent| match &sent.what {
            SentBackKind::Records(_) => true,
            SentBackKind::Checks { unfinished, .. } => !unfinished,
            SentBackKind::Failed | SentBackKind::Refused => false,
        })
    }
}
