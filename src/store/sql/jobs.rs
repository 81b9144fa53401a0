//! Jobs in SQL.

use super::{Durability, Engine, SqlStatement, checkpoint_values};
use crate::store::{
    ControlSignal, JOBS_AT_ONCE, JobFilter, JobRow, JobStore, StoreError,
    newest::LAST,
    row::{JobColumns, PhaseColumns, RowReader, TodoColumns, control_signal},
    value::{DbId, NO_HEAD, Value, ids_beginning, lease_ms, values},
};
use async_trait::async_trait;
use overnight_core::job::{
    id::JobId,
    record::{Checkpoint, NewJob, PhaseRow, TodoRow},
};
use std::{collections::HashMap, fmt::Write};
use uuid::Uuid;

/// Matches shown for an ambiguous name.
const MOST_SHOWN: usize = 5;

const CREATE: &str =
    "insert into jobs (id, created, instructions, instructions_sha256, model, documents, workspace, journal_head,
        updated)
     values ($1, $2, $3, $4, $5, $6, $7, $8, {now})
     on conflict (id) do nothing";

const CLAIM: &str = "update jobs set
        status = 'running', hold_reason = null, reason = null, lease = lease + 1, worker = $2, turns_at_claim = turns,
        lease_until = {from_now $3}, run_after = null, may_cost_usd = 0,
        wants = case when wants = 'pause' then null else wants end, updated = {now}
     where id = $1 and status in ('queued', 'running', 'waiting', 'held')
     returning lease";

const CLAIM_FOR_REVIEW: &str = "update jobs set
        lease = lease + 1, worker = $2, lease_until = {from_now $3}, updated = {now}
     where id = $1 and status not in ('failed', 'cancelled')
     returning lease";

const REOPEN: &str = "update jobs set
        status = 'running', hold_reason = null, reason = null, completed_at = null, run_after = null, may_cost_usd = 0,
        turns_at_claim = turns, attempts = 0, documents = $3, wants = case when wants = 'pause' then null else wants end,
        updated = {now}
     where id = $1 and lease = $2 and worker is not null
     returning lease";

const RENEW: &str = "update jobs set lease_until = {from_now $3}
     where id = $1 and lease = $2 and worker is not null
     returning lease";

/// Status and head are set first, so that the following checkpoint counts as its own repetition: no process has the
/// lease. An existing row keeps the hash of its instructions, which `--dedupe` compares.
const RESTORE: &str =
    "insert into jobs (id, created, instructions, instructions_sha256, model, documents, workspace, status,
        journal_head, lease, updated)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, {now})
     on conflict (id) do update set
        created = excluded.created, instructions = excluded.instructions, model = excluded.model,
        documents = excluded.documents, workspace = excluded.workspace, status = excluded.status,
        journal_head = excluded.journal_head, worker = null, lease_until = null,
        lease = case when jobs.lease < excluded.lease then excluded.lease else jobs.lease + 1 end";

/// Removes the end mark of batches that have work again, even if it isn't visible: it may just have been set.
pub(super) const REOPEN_BATCHES: &str = "update batches set ended_at = null
     where id in (
        select batch from jobs where (id = $1 or batch = $2) and status in ('queued', 'running', 'waiting', 'held'))";

const SEND_SIGNAL: &str = "{notifying}update jobs set
        wants = case when wants = 'cancel' then wants else $2 end, updated = {now}
     where id = $1 and status in ('queued', 'running', 'waiting', 'held'){and_count}";

const SET_WORKSPACE: &str = "update jobs set workspace = $3, host = $4, updated = {now}
     where id = $1 and lease = $2 and worker is not null
     returning lease";

const SET_MANIFEST: &str = "update jobs set manifest = $3, host = null, updated = {now}
     where id = $1 and lease = $2 and worker is not null
     returning lease";

/// Reviews of a result apply to the jobs that are linked to it, too.
const CARRY_REVIEW: &str = "update jobs set approved_by = $2, corrections = $3, updated = {now}
     where id in (
        select id from jobs where same_as = $1 and (approved_by is distinct from $2 or corrections <> $3){lock})";

/// The statement with the reviews of the job at this checkpoint.
fn carry_review(id: JobId, approved_by: Option<&String>, corrections: u64) -> SqlStatement {
    SqlStatement::new(CARRY_REVIEW, values![id, approved_by, corrections])
}

/// Takes a job with `statement`.
async fn claim<E: Engine>(
    engine: &E,
    statement: &'static str,
    id: JobId,
    worker: Uuid,
    for_ms: u64,
) -> Result<u64, StoreError> {
    let claim = SqlStatement::new(statement, values![id, worker, lease_ms(for_ms)]);
    let leases: Vec<(i64,)> = engine.write(vec![claim], Durability::Now).await?;
    match leases.first() {
        Some((lease,)) => RowReader { database: engine.database(), row: format!("job {id}") }.number("lease", *lease),
        None => Err(why_not(engine, id).await),
    }
}

/// The reason why a write found no row to change.
async fn why_not<E: Engine>(engine: &E, id: JobId) -> StoreError {
    let status: Result<Vec<(String,)>, _> = engine.query("select status from jobs where id = $1", values![id]).await;
    match status.as_deref() {
        Ok([]) => StoreError::NotFound { name: id.to_string() },
        Ok([(status,), ..]) => {
            let read = RowReader { database: engine.database(), row: format!("job {id}") };
            read.word("status", status).map_or_else(|error| error, |status| StoreError::Ended { id, status })
        }
        Err(error) => error.clone(),
    }
}

/// A row is written whenever a job rests: an older one that isn't running has not been worked on since.
const WORKED_SINCE: &str =
    "(created >= $ or updated >= $ or status in ('queued', 'running', 'waiting', 'held') and hold_reason is null)";

/// The query for a list: only with the conditions that it has, so that each finds its index.
fn job_list(filter: &JobFilter) -> SqlStatement {
    let conditions = [
        ("status = $", filter.status.map(|status| values![status.name()])),
        ("created >= $", filter.since.map(|since| values![since])),
        (WORKED_SINCE, filter.worked_since.map(|since| values![since])),
        ("batch = $", filter.batch.map(|batch| values![batch])),
        ("worker = $", filter.worker.map(|worker| values![worker])),
    ];
    let mut query = "select id from jobs where true".to_owned();
    let mut given = Vec::new();
    for (condition, value) in conditions {
        if let Some(value) = value {
            given.extend(value);
            // Writing to a string can't fail.
            let _ = write!(query, " and {}", condition.replace('$', &format!("${}", given.len())));
        }
    }
    if filter.needs_review {
        query.push_str(" and status = 'held' and hold_reason = 'review'");
    }
    if filter.without_evals {
        query.push_str(concat!(
            " and not exists (select 1 from batches where batches.id = jobs.batch and batches.settings ",
            like_eval!(),
            ")"
        ));
    }
    query.push_str(" order by created desc, id desc");
    if let Some(limit) = filter.limit {
        let _ = write!(query, " limit {limit}");
    }
    SqlStatement::new(query, given)
}

/// The columns of a row that are known from the beginning, in the order of [`CREATE`] and [`RESTORE`].
fn first_columns(job: &NewJob) -> Vec<Value> {
    values![job.id, job.created, &job.instructions, &job.instructions_sha256, &job.model, job.documents, &job.workspace]
}

/// The pattern of ids with this ending. A shorter ending would be a guess.
fn ending(name: &str) -> Option<String> {
    const LEAST: usize = 6;
    let is_end = name.len() >= LEAST && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_end.then(|| format!("%{}", name.to_ascii_lowercase()))
}

#[async_trait]
impl<E: Engine> JobStore for E {
    async fn create(&self, job: &NewJob) -> Result<(), StoreError> {
        let mut row = first_columns(job);
        row.push(NO_HEAD.into());
        self.take_effect(CREATE, row, Durability::Now).await.map(drop)
    }

    async fn claim(&self, id: JobId, worker: Uuid, for_ms: u64) -> Result<u64, StoreError> {
        claim(self, CLAIM, id, worker, for_ms).await
    }

    async fn claim_for_review(&self, id: JobId, worker: Uuid, for_ms: u64) -> Result<u64, StoreError> {
        claim(self, CLAIM_FOR_REVIEW, id, worker, for_ms).await
    }

    async fn reopen(&self, id: JobId, lease: u64, documents: u64) -> Result<(), StoreError> {
        self.under_lease(id, REOPEN, values![id, lease, documents], Durability::Now).await?;
        // The reviews were of the earlier result.
        let statements = vec![SqlStatement::new(REOPEN_BATCHES, values![id, None::<Uuid>]), carry_review(id, None, 0)];
        self.count(statements).await.map(drop)
    }

    async fn renew(&self, id: JobId, lease: u64, for_ms: u64) -> Result<(), StoreError> {
        self.under_lease(id, RENEW, values![id, lease, lease_ms(for_ms)], Durability::Soon).await
    }

    async fn checkpoint(&self, id: JobId, lease: u64, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        self.write_checkpoint(id, lease, checkpoint).await?;
        let state = &checkpoint.state;
        if state.approved_by.is_some() || state.corrections > 0 {
            self.count(vec![carry_review(id, state.approved_by.as_ref(), state.corrections)]).await?;
        }
        Ok(())
    }

    async fn restore(&self, job: &NewJob, checkpoint: &Checkpoint, lease: u64) -> Result<(), StoreError> {
        let mut row = first_columns(job);
        row.extend(values![checkpoint.state.status.name(), &checkpoint.state.journal_head, lease]);
        let statements = vec![
            SqlStatement::new(RESTORE, row),
            SqlStatement::new("delete from todos where job = $1", values![job.id]),
            SqlStatement::new("delete from phases where job = $1", values![job.id]),
            SqlStatement::new(REOPEN_BATCHES, values![job.id, None::<Uuid>]),
            carry_review(job.id, checkpoint.state.approved_by.as_ref(), checkpoint.state.corrections),
            SqlStatement::new(E::CHECKPOINT, checkpoint_values(&[(job.id, None, checkpoint)])),
        ];
        let written: Vec<()> = self.write(statements, Durability::Now).await?;
        if written.is_empty() { Err(StoreError::LeaseLost { id: job.id }) } else { Ok(()) }
    }

    async fn job(&self, id: JobId) -> Result<Option<JobRow>, StoreError> {
        let row: Option<JobColumns> = self.query("select * from jobs where id = $1", values![id]).await?.pop();
        row.map(|row| row.row(self.database())).transpose()
    }

    async fn find(&self, name: &str) -> Result<JobId, StoreError> {
        let name = name.trim();
        let found: Vec<(DbId,)> = match ids_beginning(name) {
            _ if name == LAST => {
                self.query("select id from jobs order by created desc, id desc limit 1", values![]).await?
            }
            None => Vec::new(),
            Some((first, last)) => {
                let begin_so = "select id from jobs where id between $1 and $2 order by id limit $3";
                self.query(begin_so, values![first, last, MOST_SHOWN as u64 + 1]).await?
            }
        };
        let found = match ending(name).filter(|_| found.is_empty()) {
            Some(end) => {
                let end_so = "select id from jobs where cast(id as text) like $1 order by id limit $2";
                self.query(end_so, values![end, MOST_SHOWN as u64 + 1]).await?
            }
            None => found,
        };
        let mut matches: Vec<JobId> = found.into_iter().map(|(id,)| JobId(id.0)).collect();
        match matches[..] {
            [] => Err(StoreError::NotFound { name: name.to_owned() }),
            [id] => Ok(id),
            _ => {
                let more = matches.len() > MOST_SHOWN;
                matches.truncate(MOST_SHOWN);
                Err(StoreError::Ambiguous { name: name.to_owned(), matches, more })
            }
        }
    }

    async fn job_ids(&self, filter: &JobFilter) -> Result<Vec<JobId>, StoreError> {
        let ids: Vec<(DbId,)> = self.read(job_list(filter)).await?;
        Ok(ids.into_iter().map(|(id,)| JobId(id.0)).collect())
    }

    async fn jobs(&self, ids: &[JobId]) -> Result<Vec<JobRow>, StoreError> {
        let places: HashMap<JobId, usize> = (0..).zip(ids).map(|(place, id)| (*id, place)).collect();
        let mut rows = Vec::with_capacity(ids.len());
        for ids in ids.chunks(JOBS_AT_ONCE) {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            let found: Vec<JobColumns> = self.query("select * from jobs where id {in_list $1}", values![ids]).await?;
            for row in found {
                rows.push(row.row(self.database())?);
            }
        }
        rows.sort_by_key(|row| places.get(&row.job.id));
        Ok(rows)
    }

    async fn phases(&self, id: JobId) -> Result<Vec<PhaseRow>, StoreError> {
        let rows: Vec<PhaseColumns> =
            self.query("select * from phases where job = $1 order by number, attempt", values![id]).await?;
        rows.into_iter().map(|row| row.row(self.database())).collect()
    }

    async fn todos(&self, id: JobId) -> Result<Vec<TodoRow>, StoreError> {
        let todos = "select * from todos where job = $1 order by phase, attempt, position, id";
        let rows: Vec<TodoColumns> = self.query(todos, values![id]).await?;
        rows.into_iter().map(|row| row.row(self.database())).collect()
    }

    async fn send_signal(&self, id: JobId, signal: ControlSignal) -> Result<(), StoreError> {
        match self.count(vec![SqlStatement::new(SEND_SIGNAL, values![id, signal.name()])]).await? {
            0 => Err(why_not(self, id).await),
            _ => Ok(()),
        }
    }

    async fn control_signal(&self, id: JobId, lease: u64) -> Result<Option<ControlSignal>, StoreError> {
        let wants: Vec<(Option<String>,)> =
            self.query("select wants from jobs where id = $1 and lease = $2", values![id, lease]).await?;
        let (wants,) = wants.first().ok_or(StoreError::LeaseLost { id })?;
        control_signal(wants.as_deref(), &RowReader { database: self.database(), row: format!("job {id}") })
    }

    async fn set_workspace(
        &self,
        id: JobId,
        lease: u64,
        workspace: &str,
        host: Option<&str>,
    ) -> Result<(), StoreError> {
        self.under_lease(id, SET_WORKSPACE, values![id, lease, workspace, host], Durability::Now).await
    }

    async fn set_manifest(&self, id: JobId, lease: u64, manifest: &str) -> Result<(), StoreError> {
        self.under_lease(id, SET_MANIFEST, values![id, lease, manifest], Durability::Now).await
    }

    async fn manifests(&self) -> Result<Vec<(JobId, Option<String>)>, StoreError> {
        let rows: Vec<(DbId, Option<String>)> = self.query("select id, manifest from jobs", values![]).await?;
        Ok(rows.into_iter().map(|(id, manifest)| (JobId(id.0), manifest)).collect())
    }
}
