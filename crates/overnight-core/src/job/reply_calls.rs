//! The calls of one reply, and what those that are done mean for those behind them.

use super::{
    call::PendingCall,
    contract::{Check, DeliverableState},
    event::{CallEnd, PreparedWrite, ToolResult},
    sub_agent_role::SubAgentEnd,
    tool::Tool,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Something that a call of the present reply came back with, and that the model has not seen yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentBack {
    /// The name of the call.
    pub name: String,
    /// What it is.
    pub what: SentBackKind,
}

/// What may come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentBackKind {
    /// The tool tried and could not.
    Failed,
    /// The machine said no.
    Refused,
    /// So many records were not written.
    Records(u64),
    /// Checks of this deliverable fail, which did not when the reply came.
    Checks {
        /// Its path.
        path: String,
        /// Their names.
        names: Vec<String>,
        /// All of them fail for what is still to be written.
        unfinished: bool,
    },
}

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

/// How a delegate's work ended, for the call that waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegateReport {
    /// The agent that it was.
    pub agent: String,
    /// How it ended.
    pub end: SubAgentEnd,
    /// What it said, bounded.
    pub report: String,
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
    /// What came back so far: what is claimed behind it was written in the belief that it would not.
    pub sent_back: Vec<SentBack>,
    /// Checks that the model knew to fail when it replied, for more than what was still to be written.
    known_failures: BTreeSet<String>,
    /// A working call was done: it is the evidence for all that this reply completes.
    pub has_worked: bool,
    /// A `todo_complete` was not taken: those behind it would give their outcomes to other todos.
    pub is_completion_refused: bool,
    /// What `todo_complete` does.
    pub completions: CompletionRule,
    /// Something of a document was shown that had not been shown before.
    pub has_shown_more: bool,
    /// What became of what was delegated, by call: a call is answered when those before it are.
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

    /// Takes in what a call came back with; `news`: records that it brought and that were refused, but for those that the model
    /// knows to be refused.
    pub(crate) fn on_returned(&mut self, call: &PendingCall, result: &ToolResult, news: u64) {
        let is_of = |sent: &SentBack, state: &DeliverableState| match &sent.what {
            SentBackKind::Checks { path, .. } => *path == state.path,
            SentBackKind::Failed | SentBackKind::Refused | SentBackKind::Records(_) => false,
        };
        self.sent_back.retain(|sent| !result.checked.iter().any(|state| is_of(sent, state)));
        // What a completion comes to is no news for the one behind it, and what was to be noted is no part of the work.
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

    /// What of it concerns work on the deliverables: it holds back a `todo_complete`, too. What is not finished so far does not.
    pub(crate) fn unseen_work(&self) -> Option<&SentBack> {
        self.sent_back.iter().find(|sent| match &sent.what {
            SentBackKind::Records(_) => true,
            SentBackKind::Checks { unfinished, .. } => !unfinished,
            SentBackKind::Failed | SentBackKind::Refused => false,
        })
    }
}
