//! A checkpoint's rows: they are sent as JSON, so that each kind takes one statement, however many rows there are.

use crate::store::value::{Value, count, finite, text, values};
use overnight_core::job::{
    id::JobId,
    record::{Checkpoint, HoldReason, PhaseRow, TodoRow},
};
use serde_json::json;

/// The columns that every checkpoint sets.
macro_rules! progress {
    () => {
        "phase_number = given.phase_number, phase_title = given.phase_title, phases_planned = given.phases_planned,
         phases_complete = given.phases_complete, turns = given.turns, tokens_in = given.tokens_in,
         tokens_out = given.tokens_out, tokens_cached = given.tokens_cached, cost_usd = given.cost_usd,
         worked_ms = given.worked_ms, coverage = given.coverage, summary = given.summary, confidence = given.confidence,
         notes = given.notes, deliverables = given.deliverables, completed_at = given.completed_at,
         approved_by = given.approved_by, corrections = given.corrections, journal_seq = given.journal_seq, journal_head = given.journal_head, updated = {now}"
    };
}
pub(in crate::store) use progress;

/// The columns set by a change of status, and the jobs of `$1`. Without a given lease any lease matches.
macro_rules! status {
    () => {
        "status = given.status, hold_reason = given.hold_reason, reason = given.reason,
         worker = case when given.status = 'running' then jobs.worker end,
         lease_until = case when given.status = 'running' then jobs.lease_until end,
         wants = case when given.is_end or (jobs.wants = 'pause' and given.hold_reason = 'paused') then null else jobs.wants end"
    };
}
pub(in crate::store) use status;

/// The jobs of `$1` whose lease matches, or any lease if none is given.
macro_rules! given_jobs {
    () => {
        "{given_one $1: id uuid, lease bigint, status text, hold_reason text, reason text, phase_number bigint, phase_title text, \
         phases_planned bigint, phases_complete bigint, turns bigint, tokens_in bigint, tokens_out bigint, tokens_cached bigint, \
         cost_usd double precision, worked_ms bigint, coverage double precision, summary text, confidence double precision, \
         notes text, deliverables jsonb, completed_at timestamptz, approved_by text, corrections bigint, journal_seq bigint, \
         journal_head text, is_end boolean}
         where jobs.id = given.id and jobs.lease = coalesce(given.lease, jobs.lease)"
    };
}
pub(in crate::store) use given_jobs;

/// The phases of `$2` and the todos of `$3`, of jobs that were just written, and of no others.
macro_rules! phases {
    () => {
        "insert into phases (job, number, attempt, kind, title, outcome, issue, turns, tokens_in, tokens_out, cost_usd,
            started, ended, archive)
         select given.job, given.number, given.attempt, given.kind, given.title, given.outcome, given.issue, given.turns,
            given.tokens_in, given.tokens_out, given.cost_usd, given.started, given.ended, given.archive
         from {given $2: job uuid, number bigint, attempt bigint, kind text, title text, outcome text, issue text, \
            turns bigint, tokens_in bigint, tokens_out bigint, cost_usd double precision, started timestamptz, \
            ended timestamptz, archive text}
         where given.job in ({written})
         on conflict (job, number, attempt) do update set
            kind = excluded.kind, title = excluded.title, outcome = excluded.outcome, issue = excluded.issue,
            turns = excluded.turns, tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out,
            cost_usd = excluded.cost_usd, started = excluded.started, ended = excluded.ended, archive = excluded.archive"
    };
}
pub(in crate::store) use phases;

macro_rules! todos {
    () => {
        "insert into todos (job, phase, attempt, id, content, active_form, status, context, completion_criteria, agent_type,
            position, outcome, unevidenced, created, started, completed)
         select given.job, given.phase, given.attempt, given.id, given.content, given.active_form, given.status,
            given.context, given.completion_criteria, given.agent_type, given.position, given.outcome, given.unevidenced,
            given.created, given.started, given.completed
         from {given $3: job uuid, phase bigint, attempt bigint, id bigint, content text, active_form text, status text, \
            context text, completion_criteria text, agent_type text, position bigint, outcome text, unevidenced boolean, \
            created timestamptz, started timestamptz, completed timestamptz}
         where given.job in ({written})
         on conflict (job, phase, attempt, id) do update set
            content = excluded.content, active_form = excluded.active_form, status = excluded.status,
            context = excluded.context, completion_criteria = excluded.completion_criteria,
            agent_type = excluded.agent_type, position = excluded.position, outcome = excluded.outcome,
            unevidenced = excluded.unevidenced, created = excluded.created, started = excluded.started,
            completed = excluded.completed"
    };
}
pub(in crate::store) use todos;

/// The parameters of a statement for one or more checkpoints: jobs, phases and todos. `None` for the lease: any lease.
pub(in crate::store) fn checkpoint_values(checkpoints: &[(JobId, Option<u64>, &Checkpoint)]) -> Vec<Value> {
    let jobs: Vec<_> = checkpoints.iter().map(|&(id, lease, checkpoint)| job(id, lease, checkpoint)).collect();
    let phases = checkpoints.iter().flat_map(|(id, _, checkpoint)| checkpoint.phases.iter().map(|row| phase(*id, row)));
    let todos = checkpoints.iter().flat_map(|(id, _, checkpoint)| checkpoint.todos.iter().map(|row| todo(*id, row)));
    values![
        json!(jobs).to_string(),
        json!(phases.collect::<Vec<_>>()).to_string(),
        json!(todos.collect::<Vec<_>>()).to_string()
    ]
}

/// An optional text without NUL.
fn plain(written: Option<&String>) -> Option<std::borrow::Cow<'_, str>> {
    written.map(|written| text(written))
}

fn job(id: JobId, lease: Option<u64>, checkpoint: &Checkpoint) -> serde_json::Value {
    let state = &checkpoint.state;
    let deliverables = state.deliverables.iter();
    let deliverables =
        deliverables.map(|file| json!({"path": text(&file.path), "sha256": file.sha256, "bytes": file.bytes}));
    json!({
        "id": id, "lease": lease.map(count), "status": state.status.name(), "is_end": state.status.is_end(),
        "hold_reason": state.hold_reason.map(HoldReason::name), "reason": plain(state.reason.as_ref()),
        "phase_number": state.phase_number, "phase_title": text(&state.phase_title),
        "phases_planned": state.phases_planned, "phases_complete": state.phases_complete, "turns": count(state.turns),
        "tokens_in": count(state.tokens_in), "tokens_out": count(state.tokens_out),
        "tokens_cached": count(state.tokens_cached), "cost_usd": finite(state.cost_usd), "worked_ms": count(state.worked_ms),
        "coverage": finite(Some(state.coverage)).unwrap_or_default(), "summary": plain(state.summary.as_ref()),
        "confidence": finite(state.confidence), "notes": plain(state.notes.as_ref()),
        "deliverables": deliverables.collect::<Vec<_>>(), "completed_at": state.completed_at,
        "approved_by": plain(state.approved_by.as_ref()), "corrections": count(state.corrections),
        "journal_seq": count(state.journal_seq), "journal_head": state.journal_head,
    })
}

fn phase(job: JobId, row: &PhaseRow) -> serde_json::Value {
    json!({
        "job": job, "number": row.number, "attempt": row.attempt, "kind": text(&row.kind), "title": text(&row.title),
        "outcome": text(&row.outcome), "issue": plain(row.issue.as_ref()), "turns": count(row.turns),
        "tokens_in": count(row.tokens_in), "tokens_out": count(row.tokens_out), "cost_usd": finite(row.cost_usd),
        "started": row.started, "ended": row.ended, "archive": plain(row.archive.as_ref()),
    })
}

fn todo(job: JobId, row: &TodoRow) -> serde_json::Value {
    let todo = &row.todo;
    json!({
        "job": job, "phase": row.phase, "attempt": row.attempt, "id": todo.id, "content": text(&todo.content),
        "active_form": text(&todo.active_form), "status": todo.status.name(), "context": plain(todo.context.as_ref()),
        "completion_criteria": plain(todo.completion_criteria.as_ref()), "agent_type": plain(todo.agent_type.as_ref()),
        "position": todo.order, "outcome": plain(todo.outcome.as_ref()), "unevidenced": todo.unevidenced,
        "created": todo.created, "started": todo.started, "completed": todo.completed,
    })
}
