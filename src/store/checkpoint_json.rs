//! The phases and todos of a checkpoint as JSON, which the database takes apart itself: one statement for all of them.

use super::value::{count, finite, text, text_or_null};
use overnight_core::job::{
    record::{PhaseRow, TodoRow},
    time::Timestamp,
};
use serde::Serialize;
use std::borrow::Cow;

/// A phase in an attempt.
#[derive(Serialize)]
pub(super) struct PhaseJson<'a> {
    number: u32,
    attempt: u32,
    kind: Cow<'a, str>,
    title: Cow<'a, str>,
    outcome: Cow<'a, str>,
    issue: Option<Cow<'a, str>>,
    turns: i64,
    tokens_in: i64,
    tokens_out: i64,
    cost_usd: Option<f64>,
    started: Timestamp,
    ended: Option<Timestamp>,
    archive: Option<Cow<'a, str>>,
}

impl<'a> PhaseJson<'a> {
    pub(super) fn of(row: &'a PhaseRow) -> Self {
        Self {
            number: row.number,
            attempt: row.attempt,
            kind: text(&row.kind),
            title: text(&row.title),
            outcome: text(&row.outcome),
            issue: text_or_null(row.issue.as_ref()),
            turns: count(row.turns),
            tokens_in: count(row.tokens_in),
            tokens_out: count(row.tokens_out),
            cost_usd: finite(row.cost_usd),
            started: row.started,
            ended: row.ended,
            archive: text_or_null(row.archive.as_ref()),
        }
    }
}

/// A todo on the board of a phase.
#[derive(Serialize)]
pub(super) struct TodoJson<'a> {
    phase: u32,
    attempt: u32,
    id: u32,
    content: Cow<'a, str>,
    active_form: Cow<'a, str>,
    status: &'a str,
    context: Option<Cow<'a, str>>,
    completion_criteria: Option<Cow<'a, str>>,
    agent_type: Option<Cow<'a, str>>,
    position: u32,
    outcome: Option<Cow<'a, str>>,
    unevidenced: bool,
    created: Timestamp,
    started: Option<Timestamp>,
    completed: Option<Timestamp>,
}

impl<'a> TodoJson<'a> {
    pub(super) fn of(row: &'a TodoRow) -> Self {
        let todo = &row.todo;
        Self {
            phase: row.phase,
            attempt: row.attempt,
            id: todo.id,
            content: text(&todo.content),
            active_form: text(&todo.active_form),
            status: todo.status.name(),
            context: text_or_null(todo.context.as_ref()),
            completion_criteria: text_or_null(todo.completion_criteria.as_ref()),
            agent_type: text_or_null(todo.agent_type.as_ref()),
            position: todo.order,
            outcome: text_or_null(todo.outcome.as_ref()),
            unevidenced: todo.unevidenced,
            created: todo.created,
            started: todo.started,
            completed: todo.completed,
        }
    }
}
