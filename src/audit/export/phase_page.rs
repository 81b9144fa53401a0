//! A page for each phase: what was read, decided and written in it, by whom, and every event, line by line.

use super::format;
use crate::audit::timeline::PhaseRecord;
use askama::Template;
use overnight_core::{
    job::{answered::list_models, spec::JobSpec, time::duration},
    tokens::head,
};

/// Tokens of a model's text that are shown before the reader unfolds the rest.
const SAID_TOKENS: u64 = 60;

#[derive(Debug, Template)]
#[template(path = "audit/export/phase.html")]
pub(super) struct PhasePage {
    pub title: String,
    /// `None`: the page shows the events after the last phase.
    pub facts: Option<PhaseFacts>,
    pub rows: Vec<TimelineRow>,
    pub before: Option<(String, String)>,
    pub after: Option<(String, String)>,
}

/// A summary of a phase in a few lines.
#[derive(Debug)]
pub(super) struct PhaseFacts {
    pub outcome: String,
    pub time: String,
    pub models: String,
    pub turns: String,
    pub tokens: String,
    pub cost: String,
    pub archive: Option<String>,
    pub read: Vec<String>,
    pub read_by_sub_agents: Vec<String>,
    pub todos: Vec<TodoLine>,
    pub plan_diff: String,
    /// Path, bytes, SHA-256.
    pub written: Vec<(String, u64, String)>,
    pub notes: Vec<String>,
    pub warnings: Vec<String>,
}

/// A todo and its outcome.
#[derive(Debug)]
pub(super) struct TodoLine {
    content: String,
    status: String,
    outcome: String,
    ended: String,
}

/// One event.
#[derive(Debug)]
pub(super) struct TimelineRow {
    pub at: String,
    /// `model`, `result`, `written`, `person` or `runner`: who caused the event.
    pub class: &'static str,
    pub text: String,
    pub turn: Option<TurnView>,
    /// Hash of the file that was written.
    pub sha256: Option<String>,
}

/// A turn of the model.
#[derive(Debug)]
pub(super) struct TurnView {
    pub number: u64,
    /// The page and anchor that show the whole prompt.
    pub prompt: String,
    /// Number of messages that were new in it.
    pub new_messages: usize,
    /// `openai:gpt-5.4, answered as …, at the standard tier`.
    pub model: String,
    pub tokens: String,
    pub cost: String,
    /// `sub-agent 2, second reader`.
    pub role: Option<String>,
    pub said: String,
    /// Names and arguments of the calls.
    pub calls: Vec<(String, String)>,
}

impl TurnView {
    /// The beginning of the text, if it is long.
    pub(super) fn excerpt(&self) -> Option<&str> {
        let excerpt = head(&self.said, SAID_TOKENS);
        (excerpt.len() < self.said.len()).then_some(excerpt)
    }
}

/// `phase-02-1.html`.
pub(super) fn name(phase: &PhaseRecord) -> String {
    format!("phase-{:02}-{}.html", phase.number, phase.attempt)
}

/// `Phase 2, attempt 1: Extraction`.
pub(super) fn title(phase: &PhaseRecord) -> String {
    let attempt = if phase.attempt > 1 { format!(", attempt {}", phase.attempt) } else { String::new() };
    format!("Phase {}{attempt}: {}", phase.number, phase.title)
}

impl PhaseFacts {
    pub(super) fn of(phase: &PhaseRecord, spec: &JobSpec, plan_diff: String) -> Self {
        let issue = phase.issue.as_ref().map(|issue| format!(": {issue}")).unwrap_or_default();
        let ended = phase.ended.map_or_else(|| "not ended".to_owned(), |at| format!("to {}", format::moment(at)));
        let turns = match (phase.spent.first_turn, phase.spent.last_turn) {
            (Some(first), Some(last)) => format!("{}: {first} to {last}", phase.spent.turns),
            (Some(_) | None, Some(_) | None) => phase.spent.turns.to_string(),
        };
        let todos = phase.todos.iter().map(|todo| TodoLine {
            content: todo.content.clone(),
            status: format!("{}{}", todo.status, if todo.unevidenced { ", without a call of its own" } else { "" }),
            outcome: todo.outcome.clone().unwrap_or_default(),
            ended: todo.completed.map(format::moment).unwrap_or_default(),
        });
        Self {
            outcome: format!("{}{issue}", phase.outcome),
            time: format!("{} {ended}, {} of work", format::moment(phase.started), duration(phase.spent.worked_ms)),
            models: list_models(&phase.models, "none"),
            turns,
            tokens: format::spent(&phase.spent),
            cost: format::cost(phase.spent.cost_usd),
            archive: phase.archive.clone(),
            read: phase.shown.iter().map(|part| format::part(spec, part)).collect(),
            read_by_sub_agents: phase.shown_to_sub_agents.iter().map(|part| format::part(spec, part)).collect(),
            todos: todos.collect(),
            plan_diff,
            written: phase.files.iter().map(|file| (file.path.clone(), file.bytes, file.sha256.clone())).collect(),
            notes: phase.notes.clone(),
            warnings: phase.warnings.clone(),
        }
    }
}
