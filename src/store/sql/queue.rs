//! The queue in SQL. Statements that write several jobs lock them in the order of their ids, so that none deadlock.

use super::{Durability, Engine, SqlStatement, jobs::REOPEN_BATCHES};
use crate::store::{
    AwaitedCall, AwaitingJob, ClaimedJob, Enqueued, JobTarget, NewBatch, QueueStore, QueuedJob, StoreError, Swept,
    queue::{
        AwaitingColumns, ClaimedColumns, LateColumns, MOST_PER_STATEMENT, NEVER_BEGUN, depth, groups_json, jobs_json,
    },
    row::RowReader,
    value::{DbId, NO_HEAD, lease_ms, values},
};
use async_trait::async_trait;
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use serde_json::json;
use std::time::Duration;
use uuid::Uuid;

const SUBMIT_BATCH: &str =
    "insert into batches (id, created, name, instructions, instructions_text, instructions_sha256, model,
        settings, budget_usd, time_window)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (id) do nothing";

const SUBMIT_GROUPS: &str = "insert into job_groups (key, at_once)
     select given.group_key, given.at_once from {given $1: group_key text, at_once bigint}
     where true
     order by given.group_key
     on conflict (key) do update set at_once = excluded.at_once";

const SUBMIT_JOBS: &str = "{notifying}insert into jobs (id, created, instructions, instructions_sha256, documents_sha256, documents,
        model, workspace, host, batch, status, hold_reason, reason, coverage, summary, confidence, notes, deliverables,
        completed_at, approved_by, corrections, priority, run_after, max_attempts, group_key, label, sources, same_as, place_in_line, updated)
     select given.id, $2, $3, $4, given.documents_sha256, given.documents, $5, coalesce(done.workspace, ''), done.host, $1,
        case when done.id is not null then done.status when given.is_held then 'held' else 'queued' end,
        case when done.id is null and given.is_held then 'paused' end,
        'done before by job ' || done.id,
        coalesce(done.coverage, 0), done.summary, done.confidence, done.notes, coalesce(done.deliverables, '[]'),
        case when done.id is not null then $2 end, done.approved_by, coalesce(done.corrections, 0),
        given.priority, case when done.id is null then given.run_after end, given.max_attempts, given.group_key,
        given.label, given.sources, done.id, given.place_in_line, {now}
     from {given $6: id uuid, label text, sources text, documents bigint, documents_sha256 text, priority bigint, \
        place_in_line bigint, run_after timestamptz, group_key text, max_attempts bigint, is_held boolean}
     left join {one_of}
        where $7 and instructions_sha256 = $4 and documents_sha256 = given.documents_sha256 and model = $5
            and ({unindexed status} = 'completed'
                or ({unindexed status} = 'partial' and (approved_by is not null or corrections > 0)))
            and same_as is null
        order by created desc, id desc
        limit 1{as done}
     where true
     on conflict (id) do nothing{and_count}";

const WAKE_AT: &str = "update jobs set run_after = $3, updated = {now}
     where id = $1 and lease = $2 and worker is not null
     returning lease";

const AWAIT_ANSWERS: &str = "update jobs set run_after = $3, awaits = $4, updated = {now}
     where id = $1 and lease = $2 and worker is not null
     returning lease";

const AWAITED: &str = "select id, batch, awaits from jobs
     where status = 'waiting' and batch is not null and awaits is not null and (host is null or host = $1)
        and (manifest is null or $2)
     order by id";

const BRING: &str = "{notifying}update jobs set status = 'queued', reason = null, run_after = null, updated = {now}
     where id in (select id from jobs where id {in_list $1} and status = 'waiting' and batch is not null{lock})
     {and_count}";

const WITH_WORKER: &str = "select id, lease, turns, turns_at_claim, attempts, max_attempts from jobs
     where id = $1 and lease = $2 and worker is not null and status = 'running'";

/// Jobs whose workers didn't renew the lease.
const LATE: &str = "select id, lease, turns, turns_at_claim, attempts, max_attempts from jobs
     where status = 'running' and batch is not null and (lease_until is null or lease_until < {start})";

/// No lease lasts so long: a clock that was set back since has computed it. A worker that is alive renews it within the
/// time that it gets here.
const LONGEST_LEASE_MS: u64 = 300_000;
const LEASE_AFTER_JUMP_MS: u64 = 20_000;
const SHORTEN: &str = "update jobs set lease_until = {from_now $1}
     where status = 'running' and batch is not null and lease_until > {from_now $2}";

/// Frees jobs that are still in the state for which `retry_policy` decided.
macro_rules! release {
    ($lease:literal, $condition:literal) => {
        concat!(
            "{notifying}update jobs set
                status = case when given.is_given_up then 'failed' when jobs.wants = 'pause' then 'held' else 'queued' end,
                hold_reason = case when not given.is_given_up and jobs.wants = 'pause' then 'paused' end,
                reason = given.reason,
                completed_at = case when given.is_given_up then {now_ms} end,
                run_after = case
                    when given.is_given_up or jobs.wants = 'pause' or given.wait_ms = 0 then null
                    else {from_now given.wait_ms} end,
                wants = case when given.is_given_up or jobs.wants = 'pause' then null else jobs.wants end,
                attempts = given.attempts, lease = ",
            $lease,
            ", worker = null, lease_until = null, updated = {now}
             from {given $1: id uuid, lease bigint, turns bigint, attempts bigint, is_given_up boolean, reason text, wait_ms bigint}
             where jobs.id = given.id and jobs.lease = given.lease and jobs.status = 'running' and ",
            $condition,
            " returning jobs.id, jobs.status{and_rows}"
        )
    };
}

const GIVE_BACK: &str = release!("jobs.lease", "jobs.worker is not null");

/// (A worker that comes back to life meanwhile may have renewed its lease, or got further.)
const TAKE: &str = release!(
    "jobs.lease + 1",
    "jobs.turns = given.turns and (jobs.lease_until is null or jobs.lease_until < {start})
        and jobs.id in (select id from jobs where id {in_list $2}{lock_what_is_free})"
);

const WAKE: &str = "{notifying}update jobs set
        status = 'queued', hold_reason = null, reason = null, run_after = null,
        wants = case when wants = 'pause' then null else wants end, updated = {now}
     where id in (
        select id from jobs
        where status in ('held', 'waiting') and run_after <= {start} and batch is not null{lock_what_is_free})
     returning id{and_rows}";

const HAS_WORK: &str = "select exists (
        select 1 from jobs
        where batch is not null and (host is null or host = $1) and (manifest is null or $2)
            and (status in ('queued', 'running', 'waiting') or (status = 'held' and run_after is not null))
            and ({no_list $3} or batch {in_list $3}))";

/// The jobs that a person means.
macro_rules! meant {
    ($condition:expr) => {
        concat!(
            " where id in (
                select id from jobs where (id = $1 or batch = $2) and batch is not null and ",
            $condition,
            "{lock})"
        )
    };
}

const RETRY: &str = concat!(
    "{notifying}update jobs set
        status = 'queued', attempts = 0, hold_reason = null, reason = null, completed_at = null, run_after = null,
        wants = null, updated = {now}",
    meant!("status = 'failed'"),
    "{and_count}"
);

const HOLD: &str = concat!(
    "{notifying}update jobs set
        status = case when status in ('queued', 'waiting') then 'held' else status end,
        hold_reason = case when status in ('queued', 'waiting') then $3 else hold_reason end,
        reason = case when status in ('queued', 'waiting') then null else reason end,
        run_after = case
            when status = 'waiting' then $4
            when status <> 'queued' or $4 < run_after then run_after
            else $4 end,
        wants = case when status = 'running' then 'pause' else wants end,
        updated = {now}",
    meant!("(status in ('queued', 'waiting') or (status = 'running' and wants is null and $3 = 'paused'))"),
    "{and_count}"
);

const RESUME: &str = concat!(
    "{notifying}update jobs set
        status = case when status = 'held' then 'queued' else status end,
        hold_reason = null, reason = case when status = 'held' then null else reason end,
        run_after = case when status = 'held' then null else run_after end,
        wants = case when wants = 'pause' then null else wants end,
        updated = {now}",
    meant!("((status = 'held' and hold_reason is distinct from 'review') or (status = 'running' and wants = 'pause'))"),
    "{and_count}"
);

/// A job without a workspace and a checkpoint has not been begun.
macro_rules! is_new {
    () => {
        "status in ('queued', 'held') and journal_seq = 0 and workspace = ''"
    };
}

const CANCEL: &str = concat!(
    "{notifying}update jobs set
        status = case when ",
    is_new!(),
    " then 'cancelled' when status in ('held', 'waiting') then 'queued' else status end,
        hold_reason = null,
        reason = case when ",
    is_new!(),
    " then $3 when status in ('held', 'waiting') then null else reason end,
        completed_at = case when ",
    is_new!(),
    " then {now_ms} else completed_at end,
        run_after = case when status = 'running' then run_after end,
        wants = case when not (",
    is_new!(),
    ") then 'cancel' end,
        updated = {now}",
    meant!(concat!(
        "status in ('queued', 'running', 'waiting', 'held') and (",
        is_new!(),
        " or status in ('held', 'waiting') or wants is distinct from 'cancel')"
    )),
    "{and_count}"
);

const KEEP_HELD: &str = "update jobs set run_after = {from_now $2}
     where id in (
        select id from jobs
        where id {in_list $1} and status = 'held' and hold_reason = 'outage' and batch is not null{lock})
     returning id";

const DEPTH: &str = "select status, count(*) from jobs where batch is not null group by status order by status";

/// Jobs that could be worked on without a person, but only on other machines, by machine.
const ELSEWHERE: &str = "select host, count(*) from jobs
     where batch is not null and host <> $1 and (status in ('queued', 'waiting') or (status = 'held' and run_after is not null))
     group by host
     order by host";

/// Nothing but a job that may be begun anew.
macro_rules! without_workspace {
    () => {
        "id = $1 and status = 'held' and batch is not null and manifest is null and workspace <> ''"
    };
}

const RESTART: [&str; 3] = [
    concat!("delete from todos where job in (select id from jobs where ", without_workspace!(), "{lock})"),
    concat!("delete from phases where job in (select id from jobs where ", without_workspace!(), ")"),
    concat!(
        "{notifying}update jobs set
            status = 'queued', hold_reason = null, reason = null, phase_number = 0, phase_title = '', phases_planned = 0,
            phases_complete = 0, turns = 0, turns_at_claim = 0, tokens_in = 0, tokens_out = 0, tokens_cached = 0,
            worked_ms = 0, coverage = 0, summary = null, confidence = null, notes = null, deliverables = '[]',
            completed_at = null, journal_seq = 0, journal_head = $2, attempts = 0, workspace = '', host = null,
            run_after = null, wants = null, updated = {now}
         where ",
        without_workspace!(),
        "{and_count}"
    ),
];

/// Runs a statement on the jobs that a person means.
async fn on<E: Engine>(engine: &E, which: JobTarget, template: &'static str) -> Result<u64, StoreError> {
    let (job, batch) = which.parts();
    engine.count(vec![SqlStatement::new(template, values![job, batch])]).await
}

#[async_trait]
impl<E: Engine> QueueStore for E {
    async fn submit(&self, batch: &NewBatch, jobs: &[QueuedJob], link_done: bool) -> Result<Enqueued, StoreError> {
        let unwritable = |error: serde_json::Error| StoreError::Sql {
            database: self.database().to_owned(),
            detail: format!("the jobs can't be written as JSON ({error})"),
        };
        let row = values![
            batch.id,
            batch.created,
            batch.name.as_ref(),
            &batch.instructions,
            &batch.instructions_text,
            &batch.instructions_sha256,
            &batch.model,
            batch.settings.to_string(),
            batch.budget_usd,
            batch.time_window.as_ref()
        ];
        let mut statements = vec![SqlStatement::new(SUBMIT_BATCH, row)];
        let groups = groups_json(jobs).map_err(unwritable)?;
        statements.extend(groups.map(|groups| SqlStatement::new(SUBMIT_GROUPS, values![groups])));
        for part in jobs.chunks(MOST_PER_STATEMENT) {
            let given = values![
                batch.id,
                batch.created,
                &batch.instructions,
                &batch.instructions_sha256,
                &batch.model,
                jobs_json(batch, part).map_err(unwritable)?,
                link_done
            ];
            statements.push(SqlStatement::new(SUBMIT_JOBS, given));
        }
        self.count(statements).await?;
        let submitted = "select count(*), count(same_as) from jobs where batch = $1";
        let (jobs, linked): (i64, i64) = self.one(submitted, values![batch.id]).await?;
        Ok(Enqueued { jobs: jobs.unsigned_abs(), linked: linked.unsigned_abs() })
    }

    async fn claim_of(
        &self,
        batches: &[Uuid],
        worker: Uuid,
        host: &str,
        most: u32,
        for_ms: u64,
    ) -> Result<Vec<ClaimedJob>, StoreError> {
        let claim = SqlStatement::new(E::CLAIM_NEXT, values![worker, host, most, lease_ms(for_ms), batches.to_vec()]);
        ClaimedColumns::in_line(self.write_claim(claim).await?, self.database())
    }

    async fn wake_at(&self, id: JobId, lease: u64, at: Timestamp) -> Result<(), StoreError> {
        self.under_lease(id, WAKE_AT, values![id, lease, at], Durability::Now).await
    }

    async fn await_answers(
        &self,
        id: JobId,
        lease: u64,
        calls: &[AwaitedCall],
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let given = values![id, lease, until, json!(calls).to_string()];
        self.under_lease(id, AWAIT_ANSWERS, given, Durability::Now).await
    }

    async fn awaited(&self, host: &str, has_store: bool) -> Result<Vec<AwaitingJob>, StoreError> {
        let rows: Vec<AwaitingColumns> = self.query(AWAITED, values![host, has_store]).await?;
        rows.into_iter().map(|row| row.row(self.database())).collect()
    }

    async fn bring(&self, ids: &[JobId]) -> Result<u64, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        self.count(vec![SqlStatement::new(BRING, values![ids])]).await
    }

    async fn give_back(
        &self,
        id: JobId,
        lease: u64,
        after_ms: u64,
        failed: Option<&str>,
    ) -> Result<JobStatus, StoreError> {
        let lost = StoreError::LeaseLost { id };
        let held: Vec<LateColumns> = self.query(WITH_WORKER, values![id, lease]).await?;
        let held = held.first().ok_or_else(|| lost.clone())?;
        let after = held.attempts(self.database())?.given_back(after_ms, failed);
        let give_back = SqlStatement::new(GIVE_BACK, values![json!([held.released(&after)]).to_string()]);
        let freed: Vec<(DbId, String)> = self.write(vec![give_back], Durability::Now).await?;
        let (_, status) = freed.first().ok_or(lost)?;
        RowReader { database: self.database(), row: format!("job {id}") }.word("status", status)
    }

    async fn sweep(&self) -> Result<Swept, StoreError> {
        let late: Vec<LateColumns> = self.query(LATE, values![]).await?;
        let mut released = Vec::with_capacity(late.len());
        for job in &late {
            released.push(job.released(&job.attempts(self.database())?.worker_lost()));
        }
        let mut swept = Swept::default();
        if !late.is_empty() {
            let ids: Vec<Uuid> = late.iter().map(|job| job.id.0).collect();
            let take = SqlStatement::new(TAKE, values![json!(released).to_string(), ids]);
            let taken: Vec<(DbId, String)> = self.write(vec![take], Durability::Now).await?;
            for (id, status) in taken {
                let list = match status.as_str() {
                    "failed" => &mut swept.dead,
                    "held" => &mut swept.paused,
                    _ => &mut swept.requeued,
                };
                list.push(JobId(id.0));
            }
        }
        let forget = SqlStatement::new("delete from workers where seen < {ago 1 day}", values![]);
        let shorten = SqlStatement::new(SHORTEN, values![LEASE_AFTER_JUMP_MS, LONGEST_LEASE_MS]);
        let wake = SqlStatement::new(WAKE, values![]);
        let woken: Vec<(DbId,)> = self.write(vec![forget, shorten, wake], Durability::Now).await?;
        swept.woken = woken.into_iter().map(|(id,)| JobId(id.0)).collect();
        for list in [&mut swept.requeued, &mut swept.paused, &mut swept.dead, &mut swept.woken] {
            list.sort_unstable();
        }
        Ok(swept)
    }

    async fn has_work(&self, batches: &[Uuid], host: &str, has_store: bool) -> Result<bool, StoreError> {
        self.one(HAS_WORK, values![host, has_store, batches.to_vec()]).await.map(|(has_work,): (bool,)| has_work)
    }

    async fn retry(&self, which: JobTarget) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        let statements = [RETRY, REOPEN_BATCHES].map(|template| SqlStatement::new(template, values![job, batch]));
        self.count(statements.into()).await
    }

    async fn hold(&self, which: JobTarget, reason: HoldReason, until: Option<Timestamp>) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        self.count(vec![SqlStatement::new(HOLD, values![job, batch, reason.name(), until])]).await
    }

    async fn resume(&self, which: JobTarget) -> Result<u64, StoreError> {
        on(self, which, RESUME).await
    }

    async fn cancel(&self, which: JobTarget) -> Result<u64, StoreError> {
        let (job, batch) = which.parts();
        self.count(vec![SqlStatement::new(CANCEL, values![job, batch, NEVER_BEGUN])]).await
    }

    async fn changed(&self, within: Duration) -> bool {
        self.wait_for_change(within).await
    }

    async fn keep_held(&self, ids: &[JobId], for_ms: u64) -> Result<Vec<JobId>, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let keep_held = SqlStatement::new(KEEP_HELD, values![ids, lease_ms(for_ms)]);
        let kept: Vec<(DbId,)> = self.write(vec![keep_held], Durability::Now).await?;
        let mut kept: Vec<JobId> = kept.into_iter().map(|(id,)| JobId(id.0)).collect();
        kept.sort_unstable();
        Ok(kept)
    }

    async fn depth(&self) -> Result<Vec<(JobStatus, u64)>, StoreError> {
        depth(self.query(DEPTH, values![]).await?, self.database())
    }

    async fn elsewhere(&self, host: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let counted: Vec<(String, i64)> = self.query(ELSEWHERE, values![host]).await?;
        Ok(counted.into_iter().map(|(host, jobs)| (host, jobs.unsigned_abs())).collect())
    }

    async fn restart_from_nothing(&self, id: JobId) -> Result<bool, StoreError> {
        let [todos, phases, job] = RESTART;
        let statements = vec![
            SqlStatement::new(todos, values![id]),
            SqlStatement::new(phases, values![id]),
            SqlStatement::new(job, values![id, NO_HEAD]),
        ];
        Ok(self.count(statements).await? > 0)
    }
}
