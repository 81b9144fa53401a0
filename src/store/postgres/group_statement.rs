//! Checkpoints of several jobs in one statement. All rows go over as JSON; each job's are written where its lease is still
//! held, or where this same checkpoint freed it.

use super::group_commit::PendingCheckpoint;
use crate::store::{
    checkpoint_json::{PhaseJson, TodoJson},
    value::{DbId, count, delivered, finite, text, text_or_null},
};
use overnight_core::job::{
    record::{Delivered, HoldReason},
    time::Timestamp,
};
use serde::Serialize;
use sqlx::{PgConnection, types::Json};
use std::{borrow::Cow, collections::BTreeSet};
use uuid::Uuid;

/// (Read in the order in which they are given: by their ids.)
macro_rules! jobs {
    () => {
        "with written as (
            update jobs set
                status = given.status, hold_reason = given.hold_reason, reason = given.reason,
                phase_number = given.phase_number, phase_title = given.phase_title,
                phases_planned = given.phases_planned, phases_complete = given.phases_complete, turns = given.turns,
                tokens_in = given.tokens_in, tokens_out = given.tokens_out, tokens_cached = given.tokens_cached,
                cost_usd = given.cost_usd, worked_ms = given.worked_ms, coverage = given.coverage,
                summary = given.summary, confidence = given.confidence, notes = given.notes,
                deliverables = given.deliverables, completed_at = given.completed_at,
                journal_seq = given.journal_seq, journal_head = given.journal_head,
                worker = case when given.status = 'running' then jobs.worker end,
                lease_until = case when given.status = 'running' then jobs.lease_until end,
                wants = case
                    when given.is_end or (jobs.wants = 'pause' and given.hold_reason = 'paused') then null
                    else jobs.wants end,
                updated = clock_timestamp()
            from json_to_recordset($1::json) as given (id uuid, lease bigint, status text, hold_reason text,
                reason text, phase_number bigint, phase_title text, phases_planned bigint, phases_complete bigint,
                turns bigint, tokens_in bigint, tokens_out bigint, tokens_cached bigint, cost_usd double precision,
                worked_ms bigint, coverage double precision, summary text, confidence double precision, notes text,
                deliverables jsonb, completed_at timestamptz, journal_seq bigint, journal_head text, is_end boolean)
            where jobs.id = given.id and jobs.lease = given.lease
                and (jobs.worker is not null
                    or (jobs.status = given.status and jobs.journal_head = given.journal_head))
            returning jobs.id, jobs.status <> 'running' and jobs.group_key is not null as makes_room
         )"
    };
}

const JOBS: &str = concat!(jobs!(), " select id, makes_room from written");

const JOBS_AND_ROWS: &str = concat!(
    jobs!(),
    ", written_phases as (
        insert into phases (job, number, attempt, kind, title, outcome, issue, turns, tokens_in, tokens_out, cost_usd,
            started, ended, archive)
        select given.job, given.number, given.attempt, given.kind, given.title, given.outcome, given.issue, given.turns,
            given.tokens_in, given.tokens_out, given.cost_usd, given.started, given.ended, given.archive
        from json_to_recordset($2::json) as given (job uuid, number bigint, attempt bigint, kind text, title text,
            outcome text, issue text, turns bigint, tokens_in bigint, tokens_out bigint, cost_usd double precision,
            started timestamptz, ended timestamptz, archive text)
        where given.job in (select id from written)
        on conflict (job, number, attempt) do update set
            kind = excluded.kind, title = excluded.title, outcome = excluded.outcome, issue = excluded.issue,
            turns = excluded.turns, tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out,
            cost_usd = excluded.cost_usd, started = excluded.started, ended = excluded.ended, archive = excluded.archive
    ), written_todos as (
        insert into todos (job, phase, attempt, id, content, active_form, status, context, completion_criteria,
            agent_type, position, outcome, unevidenced, created, started, completed)
        select given.job, given.phase, given.attempt, given.id, given.content, given.active_form, given.status,
            given.context, given.completion_criteria, given.agent_type, given.position, given.outcome,
            given.unevidenced, given.created, given.started, given.completed
        from json_to_recordset($3::json) as given (job uuid, phase bigint, attempt bigint, id bigint, content text,
            active_form text, status text, context text, completion_criteria text, agent_type text, position bigint,
            outcome text, unevidenced boolean, created timestamptz, started timestamptz, completed timestamptz)
        where given.job in (select id from written)
        on conflict (job, phase, attempt, id) do update set
            content = excluded.content, active_form = excluded.active_form, status = excluded.status,
            context = excluded.context, completion_criteria = excluded.completion_criteria,
            agent_type = excluded.agent_type, position = excluded.position, outcome = excluded.outcome,
            unevidenced = excluded.unevidenced, created = excluded.created, started = excluded.started,
            completed = excluded.completed
     )
     select id, makes_room from written"
);

/// Jobs of groups make room, for those that wait.
const TELL: &str = "select overnight_tell(count(*)) from jobs
     where id = any($1) and exists (
        select 1 from jobs as waits
        where status = 'queued' and run_after is null and batch is not null
            and coalesce(waits.group_key, '') = jobs.group_key)";

/// Writes the checkpoints, of which no two are of one job, and returns the ids of those whose leases are still held.
pub(super) async fn write(
    connection: &mut PgConnection,
    pending: &[PendingCheckpoint],
) -> Result<BTreeSet<Uuid>, sqlx::Error> {
    let jobs = Json(pending.iter().map(JobJson::of).collect::<Vec<_>>());
    let phases: Vec<_> = pending
        .iter()
        .flat_map(|pending| {
            pending.checkpoint.phases.iter().map(|row| RowOfJob { job: pending.id.0, row: PhaseJson::of(row) })
        })
        .collect();
    let todos: Vec<_> = pending
        .iter()
        .flat_map(|pending| {
            pending.checkpoint.todos.iter().map(|row| RowOfJob { job: pending.id.0, row: TodoJson::of(row) })
        })
        .collect();
    let written: Vec<(DbId, bool)> = if phases.is_empty() && todos.is_empty() {
        sqlx::query_as(JOBS).bind(jobs).fetch_all(&mut *connection).await?
    } else {
        let statement = sqlx::query_as(JOBS_AND_ROWS).bind(jobs).bind(Json(phases)).bind(Json(todos));
        statement.fetch_all(&mut *connection).await?
    };
    let make_room: Vec<Uuid> = written.iter().filter(|(_, makes_room)| *makes_room).map(|(id, _)| id.0).collect();
    if !make_room.is_empty() {
        sqlx::query(TELL).bind(make_room).execute(connection).await?;
    }
    Ok(written.into_iter().map(|(id, _)| id.0).collect())
}

/// A phase or todo of a job.
#[derive(Serialize)]
struct RowOfJob<T> {
    job: Uuid,
    #[serde(flatten)]
    row: T,
}

#[derive(Serialize)]
struct JobJson<'a> {
    id: Uuid,
    lease: i64,
    status: &'static str,
    hold_reason: Option<&'static str>,
    reason: Option<Cow<'a, str>>,
    phase_number: u32,
    phase_title: Cow<'a, str>,
    phases_planned: u32,
    phases_complete: u32,
    turns: i64,
    tokens_in: i64,
    tokens_out: i64,
    tokens_cached: i64,
    cost_usd: Option<f64>,
    worked_ms: i64,
    coverage: f64,
    summary: Option<Cow<'a, str>>,
    confidence: Option<f64>,
    notes: Option<Cow<'a, str>>,
    deliverables: Vec<Delivered>,
    completed_at: Option<Timestamp>,
    journal_seq: i64,
    journal_head: &'a str,
    is_end: bool,
}

impl<'a> JobJson<'a> {
    fn of(pending: &'a PendingCheckpoint) -> Self {
        let state = &pending.checkpoint.state;
        Self {
            id: pending.id.0,
            lease: count(pending.lease),
            status: state.status.name(),
            hold_reason: state.hold_reason.map(HoldReason::name),
            reason: text_or_null(state.reason.as_ref()),
            phase_number: state.phase_number,
            phase_title: text(&state.phase_title),
            phases_planned: state.phases_planned,
            phases_complete: state.phases_complete,
            turns: count(state.turns),
            tokens_in: count(state.tokens_in),
            tokens_out: count(state.tokens_out),
            tokens_cached: count(state.tokens_cached),
            cost_usd: finite(state.cost_usd),
            worked_ms: count(state.worked_ms),
            coverage: finite(Some(state.coverage)).unwrap_or_default(),
            summary: text_or_null(state.summary.as_ref()),
            confidence: finite(state.confidence),
            notes: text_or_null(state.notes.as_ref()),
            deliverables: delivered(&state.deliverables),
            completed_at: state.completed_at,
            journal_seq: count(state.journal_seq),
            journal_head: &state.journal_head,
            is_end: state.status.is_end(),
        }
    }
}
