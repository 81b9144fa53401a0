//! A checkpoint's rows in PostgreSQL: the job, where its lease is still held, then the phases and todos that changed.

use crate::{
    failpoint,
    store::value::{DbId, DbTime, count, delivered, finite, text, text_or_null},
};
use overnight_core::job::{
    id::JobId,
    record::{Checkpoint, HoldReason, JobStatus, PhaseRow, TodoRow},
};
use sqlx::{PgConnection, types::Json};

/// Writes a checkpoint where the lease is still held, or where this same checkpoint freed it. False: it isn't.
pub(super) async fn write(
    connection: &mut PgConnection,
    id: JobId,
    lease: u64,
    checkpoint: &Checkpoint,
) -> Result<bool, sqlx::Error> {
    let state = &checkpoint.state;
    let is_of_group: Option<bool> = sqlx::query_scalar(
        "update jobs set
            status = $3, hold_reason = $4, reason = $5, phase_number = $6, phase_title = $7, phases_planned = $8,
            phases_complete = $9, turns = $10, tokens_in = $11, tokens_out = $12, tokens_cached = $13, cost_usd = $14,
            worked_ms = $15, coverage = $16, summary = $17, confidence = $18, notes = $19, deliverables = $20,
            completed_at = $21, journal_seq = $22, journal_head = $23,
            worker = case when $3 = 'running' then worker end,
            lease_until = case when $3 = 'running' then lease_until end,
            wants = case when $24 or (wants = 'pause' and $4 = 'paused') then null else wants end,
            updated = clock_timestamp()
         where id = $1 and lease = $2 and (worker is not null or (status = $3 and journal_head = $23))
         returning group_key is not null",
    )
    .bind(DbId(id.0))
    .bind(count(lease))
    .bind(state.status.name())
    .bind(state.hold_reason.map(HoldReason::name))
    .bind(text_or_null(state.reason.as_ref()))
    .bind(i64::from(state.phase_number))
    .bind(text(&state.phase_title))
    .bind(i64::from(state.phases_planned))
    .bind(i64::from(state.phases_complete))
    .bind(count(state.turns))
    .bind(count(state.tokens_in))
    .bind(count(state.tokens_out))
    .bind(count(state.tokens_cached))
    .bind(finite(state.cost_usd))
    .bind(count(state.worked_ms))
    .bind(finite(Some(state.coverage)).unwrap_or_default())
    .bind(text_or_null(state.summary.as_ref()))
    .bind(finite(state.confidence))
    .bind(text_or_null(state.notes.as_ref()))
    .bind(Json(delivered(&state.deliverables)))
    .bind(state.completed_at.map(DbTime))
    .bind(count(state.journal_seq))
    .bind(&state.journal_head)
    .bind(state.status.is_end())
    .fetch_optional(&mut *connection)
    .await?;
    let Some(is_of_group) = is_of_group else {
        return Ok(false);
    };
    if is_of_group && state.status != JobStatus::Running {
        // A job of a group makes room, for one that waits.
        sqlx::query(
            "select overnight_tell(1) from jobs
             where id = $1 and exists (
                select 1 from jobs as waits
                where status = 'queued' and run_after is null and batch is not null
                    and coalesce(waits.group_key, '') = jobs.group_key)",
        )
        .bind(DbId(id.0))
        .execute(&mut *connection)
        .await?;
    }
    failpoint::hit("store.checkpoint.job");
    for phase in &checkpoint.phases {
        write_phase(connection, id, phase).await?;
    }
    failpoint::hit("store.checkpoint.phases");
    for todo in &checkpoint.todos {
        write_todo(connection, id, todo).await?;
    }
    Ok(true)
}

async fn write_phase(connection: &mut PgConnection, id: JobId, phase: &PhaseRow) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into phases (job, number, attempt, kind, title, outcome, issue, turns, tokens_in, tokens_out, cost_usd,
            started, ended, archive)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         on conflict (job, number, attempt) do update set
            kind = excluded.kind, title = excluded.title, outcome = excluded.outcome, issue = excluded.issue,
            turns = excluded.turns, tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out,
            cost_usd = excluded.cost_usd, started = excluded.started, ended = excluded.ended, archive = excluded.archive",
    )
    .bind(DbId(id.0))
    .bind(i64::from(phase.number))
    .bind(i64::from(phase.attempt))
    .bind(text(&phase.kind))
    .bind(text(&phase.title))
    .bind(text(&phase.outcome))
    .bind(text_or_null(phase.issue.as_ref()))
    .bind(count(phase.turns))
    .bind(count(phase.tokens_in))
    .bind(count(phase.tokens_out))
    .bind(finite(phase.cost_usd))
    .bind(DbTime(phase.started))
    .bind(phase.ended.map(DbTime))
    .bind(text_or_null(phase.archive.as_ref()))
    .execute(connection)
    .await?;
    Ok(())
}

async fn write_todo(connection: &mut PgConnection, id: JobId, row: &TodoRow) -> Result<(), sqlx::Error> {
    let todo = &row.todo;
    sqlx::query(
        "insert into todos (job, phase, attempt, id, content, active_form, status, context, completion_criteria, agent_type,
            position, outcome, unevidenced, created, started, completed)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
         on conflict (job, phase, attempt, id) do update set
            content = excluded.content, active_form = excluded.active_form, status = excluded.status,
            context = excluded.context, completion_criteria = excluded.completion_criteria,
            agent_type = excluded.agent_type, position = excluded.position, outcome = excluded.outcome,
            unevidenced = excluded.unevidenced, created = excluded.created, started = excluded.started,
            completed = excluded.completed",
    )
    .bind(DbId(id.0))
    .bind(i64::from(row.phase))
    .bind(i64::from(row.attempt))
    .bind(i64::from(todo.id))
    .bind(text(&todo.content))
    .bind(text(&todo.active_form))
    .bind(todo.status.name())
    .bind(text_or_null(todo.context.as_ref()))
    .bind(text_or_null(todo.completion_criteria.as_ref()))
    .bind(text_or_null(todo.agent_type.as_ref()))
    .bind(i64::from(todo.order))
    .bind(text_or_null(todo.outcome.as_ref()))
    .bind(todo.unevidenced)
    .bind(DbTime(todo.created))
    .bind(todo.started.map(DbTime))
    .bind(todo.completed.map(DbTime))
    .execute(connection)
    .await?;
    Ok(())
}
