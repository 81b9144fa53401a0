//! A checkpoint's rows in SQLite: the job, where its lease is still held, or where this same checkpoint freed it, and with it
//! the phases and todos that changed, which go over as JSON, so that they are one statement however many they are.

use super::writer::{Sql, sql};
use crate::store::{
    checkpoint_json::{PhaseJson, TodoJson},
    value::{DbId, DbTime, count, delivered, finite, text, text_or_null},
};
use overnight_core::job::{
    id::JobId,
    record::{Checkpoint, HoldReason, JobStatus},
};
use sqlx::{Arguments, error::BoxDynError, sqlite::SqliteArguments, types::Json};

/// What every checkpoint sets. (Parameters are written `$1`, not `?1`: of those the client library leaves out what stands
/// behind a gap, and not every statement uses every parameter.)
macro_rules! progress {
    () => {
        "phase_number = $6, phase_title = $7, phases_planned = $8, phases_complete = $9, turns = $10, tokens_in = $11,
         tokens_out = $12, tokens_cached = $13, cost_usd = $14, worked_ms = $15, coverage = $16, summary = $17,
         confidence = $18, notes = $19, deliverables = $20, completed_at = $21, journal_seq = $22, journal_head = $23,
         updated = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
    };
}

/// What a change of status sets. SQLite writes the indexes of every column that is set, changed or not.
macro_rules! status {
    () => {
        "status = $3, hold_reason = $4, reason = $5,
         worker = case when $3 = 'running' then worker end,
         lease_until = case when $3 = 'running' then lease_until end,
         wants = case when $24 or (wants = 'pause' and $4 = 'paused') then null else wants end"
    };
}

/// (`+status`: compared with a parameter as it stands, it may allow an index of part of the rows, and SQLite would then work
/// out its plan anew whenever the parameter is bound.)
///
/// The phases and todos of a checkpoint whose job row stands as it was just set, and no others.
macro_rules! rows {
    () => {
        "insert into phases (job, number, attempt, kind, title, outcome, issue, turns, tokens_in, tokens_out, cost_usd,
            started, ended, archive)
         select $1, value ->> 'number', value ->> 'attempt', value ->> 'kind', value ->> 'title', value ->> 'outcome',
            value ->> 'issue', value ->> 'turns', value ->> 'tokens_in', value ->> 'tokens_out', value ->> 'cost_usd',
            value ->> 'started', value ->> 'ended', value ->> 'archive'
         from json_each($25)
         where exists (select 1 from jobs
            where id = $1 and lease = coalesce($2, lease) and +status = $3 and journal_head = $23)
         on conflict (job, number, attempt) do update set
            kind = excluded.kind, title = excluded.title, outcome = excluded.outcome, issue = excluded.issue,
            turns = excluded.turns, tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out,
            cost_usd = excluded.cost_usd, started = excluded.started, ended = excluded.ended,
            archive = excluded.archive;
         insert into todos (job, phase, attempt, id, content, active_form, status, context, completion_criteria,
            agent_type, position, outcome, unevidenced, created, started, completed)
         select $1, value ->> 'phase', value ->> 'attempt', value ->> 'id', value ->> 'content',
            value ->> 'active_form', value ->> 'status', value ->> 'context', value ->> 'completion_criteria',
            value ->> 'agent_type', value ->> 'position', value ->> 'outcome', value ->> 'unevidenced',
            value ->> 'created', value ->> 'started', value ->> 'completed'
         from json_each($26)
         where exists (select 1 from jobs
            where id = $1 and lease = coalesce($2, lease) and +status = $3 and journal_head = $23)
         on conflict (job, phase, attempt, id) do update set
            content = excluded.content, active_form = excluded.active_form, status = excluded.status,
            context = excluded.context, completion_criteria = excluded.completion_criteria,
            agent_type = excluded.agent_type, position = excluded.position, outcome = excluded.outcome,
            unevidenced = excluded.unevidenced, created = excluded.created, started = excluded.started,
            completed = excluded.completed"
    };
}

/// Of a job that is running, and was.
const STILL_RUNNING: Sql = sql!(
    "update jobs set ",
    progress!(),
    " where id = $1 and lease = $2 and worker is not null and +status = $3 returning lease; ",
    rows!()
);

/// Of any other.
const WHATEVER: Sql = sql!(
    "update jobs set ",
    progress!(),
    ", ",
    status!(),
    " where id = $1 and lease = $2 and (worker is not null or (status = $3 and journal_head = $23)) returning lease; ",
    // A job of a group makes room.
    "update queue_changes set number = number + 1
     where changes() > 0 and exists (select 1 from jobs where id = $1 and group_key is not null); ",
    rows!()
);

/// Of a job as its workspace tells it, whoever has it: with the row if need be, in place of all phases and todos. A row that is
/// there keeps the hash of its instructions: that of a queued job is what `--dedupe` goes by, and no workspace has it.
/// Beyond [`arguments`] it takes those of [`super::SqliteStore::restore`], from 27.
pub(super) const RESTORED: Sql = sql!(
    "insert into jobs (id, created, instructions, instructions_sha256, model, documents, workspace, status, journal_head,
        lease, updated)
     values ($1, $27, $28, $29, $30, $31, $32, $3, $23, $33, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
     on conflict (id) do update set
        created = excluded.created, instructions = excluded.instructions, model = excluded.model,
        documents = excluded.documents,
        workspace = excluded.workspace, lease = max(lease + 1, excluded.lease), worker = null, lease_until = null;
     delete from todos where job = $1;
     delete from phases where job = $1;
     update jobs set ",
    progress!(),
    ", ",
    status!(),
    " where id = $1 returning lease; ",
    rows!(),
    "; update batches set ended_at = null
     where $3 in ('queued', 'running', 'held') and id = (select batch from jobs where id = $1)"
);

pub(super) fn sql(checkpoint: &Checkpoint) -> Sql {
    if checkpoint.state.status == JobStatus::Running { STILL_RUNNING } else { WHATEVER }
}

/// `lease`: the number under which the job is held; `None`: any.
pub(super) fn arguments(
    id: JobId,
    lease: Option<u64>,
    checkpoint: &Checkpoint,
) -> Result<SqliteArguments, BoxDynError> {
    let state = &checkpoint.state;
    let mut arguments = SqliteArguments::default();
    arguments.add(DbId(id.0))?;
    arguments.add(lease.map(count))?;
    arguments.add(state.status.name())?;
    arguments.add(state.hold_reason.map(HoldReason::name))?;
    arguments.add(text_or_null(state.reason.as_ref()))?;
    arguments.add(i64::from(state.phase_number))?;
    arguments.add(text(&state.phase_title))?;
    arguments.add(i64::from(state.phases_planned))?;
    arguments.add(i64::from(state.phases_complete))?;
    arguments.add(count(state.turns))?;
    arguments.add(count(state.tokens_in))?;
    arguments.add(count(state.tokens_out))?;
    arguments.add(count(state.tokens_cached))?;
    arguments.add(finite(state.cost_usd))?;
    arguments.add(count(state.worked_ms))?;
    arguments.add(finite(Some(state.coverage)).unwrap_or_default())?;
    arguments.add(text_or_null(state.summary.as_ref()))?;
    arguments.add(finite(state.confidence))?;
    arguments.add(text_or_null(state.notes.as_ref()))?;
    arguments.add(Json(delivered(&state.deliverables)))?;
    arguments.add(state.completed_at.map(DbTime))?;
    arguments.add(count(state.journal_seq))?;
    arguments.add(&state.journal_head)?;
    arguments.add(state.status.is_end())?;
    arguments.add(Json(checkpoint.phases.iter().map(PhaseJson::of).collect::<Vec<_>>()))?;
    arguments.add(Json(checkpoint.todos.iter().map(TodoJson::of).collect::<Vec<_>>()))?;
    Ok(arguments)
}
