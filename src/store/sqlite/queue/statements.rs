//! The queue's statements in SQLite, side by side with PostgreSQL's.
//!
//! (Statuses are compared with words, never with parameters: an index of part of the rows is then chosen once and for all.)

use crate::store::sqlite::writer::{Sql, sql};

macro_rules! now {
    () => {
        "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
    };
}

/// So many milliseconds from now, for an expression without side effects.
macro_rules! from_now {
    ($ms:literal) => {
        concat!("strftime('%Y-%m-%dT%H:%M:%fZ', 'now', format('+%d.%03d seconds', ", $ms, " / 1000, ", $ms, " % 1000))")
    };
}

/// What may run now: the rows of the index `jobs_to_claim`.
macro_rules! waiting {
    () => {
        "status = 'queued' and run_after is null and batch is not null"
    };
}

/// Tells others that there may be something to do, where the statement before has changed anything.
macro_rules! tell {
    () => {
        "; update queue_changes set number = number + 1 where changes() > 0; "
    };
}

pub(super) const SUBMIT: Sql = sql!(
    "insert into batches (id, created, name, instructions, instructions_text, instructions_sha256, model, settings,
        budget_usd, time_window)
     values ($1, $2, $8, $3, $9, $4, $5, $10, $11, $12)
     on conflict (id) do nothing;
     insert into job_groups (key, at_once)
     select value ->> 'group_key', min(value ->> 'at_once') from json_each($6)
     where value ->> 'group_key' is not null
     group by 1
     on conflict (key) do update set at_once = excluded.at_once;
     insert into jobs (id, created, instructions, instructions_sha256, documents_sha256, documents, model, workspace, host,
        batch, status, hold_reason, reason, coverage, summary, confidence, notes, deliverables, completed_at, priority,
        run_after, max_attempts, group_key, label, sources, same_as, place_in_line, updated)
     select value ->> 'id', $2, $3, $4, value ->> 'documents_sha256', value ->> 'documents', $5,
        coalesce(done.workspace, ''), done.host, $1,
        case when done.id is not null then 'completed' when value ->> 'is_held' then 'held' else 'queued' end,
        case when done.id is null and value ->> 'is_held' then 'paused' end,
        'done before by job ' || done.id,
        coalesce(done.coverage, 0), done.summary, done.confidence, done.notes, coalesce(done.deliverables, '[]'),
        case when done.id is not null then $2 end,
        value ->> 'priority', case when done.id is null then value ->> 'run_after' end, value ->> 'max_attempts',
        value ->> 'group_key', value ->> 'label', value ->> 'sources', done.id, value ->> 'place_in_line', ",
    now!(),
    " from json_each($6) as given
     left join jobs as done on done.id = (
        select id from jobs
        where $7 and instructions_sha256 = $4 and documents_sha256 = given.value ->> 'documents_sha256'
            and model = $5 and +status = 'completed' and same_as is null
        order by created desc, id desc
        limit 1)
     where true
     on conflict (id) do nothing",
    tell!(),
    "select count(*), count(same_as) from jobs where batch = $1"
);

/// From one group with waiting jobs to the next, without a look at the jobs between; then as many of each as it has room
/// for, on each machine in line.
pub(super) const CLAIM: Sql = sql!(
    "update jobs set run_after = null where status = 'queued' and run_after <= ",
    now!(),
    " and batch is not null;
     update jobs set
        status = 'running', hold_reason = null, reason = null, lease = lease + 1, worker = $1, may_cost_usd = 0,
        turns_at_claim = turns,
        lease_until = ",
    from_now!("$4"),
    ", wants = case when wants = 'pause' then null else wants end, updated = ",
    now!(),
    " where id in (
        with recursive keys (key) as (
            select ''
            union all
            select (select coalesce(group_key, '') from jobs indexed by jobs_to_claim where ",
    waiting!(),
    " and coalesce(group_key, '') > keys.key order by coalesce(group_key, '') limit 1)
            from keys where keys.key is not null
        ), rooms (key, room) as materialized (
            select keys.key, min($3, max(0, coalesce(job_groups.at_once
                - (select count(*) from jobs where group_key = keys.key and status = 'running'), $3)))
            from keys left join job_groups on job_groups.key = keys.key
            where keys.key is not null
        ), machines (host) as materialized (
            select '' union select $2
        ), candidates as (
            select jobs.id, jobs.place_in_line, rooms.room,
                row_number() over (partition by rooms.key order by jobs.place_in_line, jobs.id) as place
            from rooms cross join machines cross join jobs on jobs.id in (
                select waits.id from jobs as waits indexed by jobs_to_claim where ",
    waiting!(),
    " and coalesce(waits.group_key, '') = rooms.key and coalesce(waits.host, '') = machines.host
                    and (waits.manifest is null or exists (select 1 from workers where id = $1 and has_depot))
                order by waits.place_in_line, waits.id
                limit $3)
            where rooms.room > 0
        )
        select id from candidates where place <= room order by place_in_line, id limit $3)
     returning id, lease, batch, created, label, sources, documents, documents_sha256, workspace, host, attempts,
        max_attempts, wants, manifest, place_in_line"
);

pub(super) const REGISTER_WORKER: Sql = sql!(
    "insert into workers (id, host, pid, has_depot, started, seen) values ($1, $2, $3, $4, ",
    now!(),
    ", ",
    now!(),
    ") on conflict (id) do update set seen = excluded.seen"
);

pub(super) const FORGET_WORKER: Sql = sql!("delete from workers where id = $1");

/// (A person's own process has a lease and is not enlisted.)
pub(super) const WORKERS_AT_WORK: &str = concat!(
    "select count(*) from (
        select id from workers where seen > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 minute')
        union select worker from jobs where status = 'running' and worker is not null and lease_until > ",
    now!(),
    ")"
);

pub(super) const HEARTBEAT: Sql = sql!(
    "update workers set seen = ",
    now!(),
    " where id = $1; update jobs set lease_until = ",
    from_now!("$2"),
    " where worker = $1 and status = 'running' returning id, lease, wants"
);

pub(super) const SET_WORKSPACE: Sql = sql!(
    "update jobs set workspace = $3, host = $4, updated = ",
    now!(),
    " where id = $1 and lease = $2 and worker is not null returning lease"
);

pub(super) const SET_MANIFEST: Sql = sql!(
    "update jobs set manifest = $3, host = null, updated = ",
    now!(),
    " where id = $1 and lease = $2 and worker is not null returning lease"
);

pub(super) const WAKE_AT: Sql = sql!(
    "update jobs set run_after = $3, updated = ",
    now!(),
    " where id = $1 and lease = $2 and worker is not null returning lease"
);

pub(super) const GIVE_BACK: Sql = sql!(
    "update jobs set
        status = case
            when $4 is not null and attempts_in_a_row + 1 >= max_attempts then 'failed'
            when wants = 'pause' then 'held'
            else 'queued' end,
        hold_reason = case
            when $4 is not null and attempts_in_a_row + 1 >= max_attempts then null
            when wants = 'pause' then 'paused' end,
        reason = case
            when $4 is not null and attempts_in_a_row + 1 >= max_attempts
            then 'given up after attempt ' || (attempts_in_a_row + 1) || ': ' || $4
            else $4 end,
        completed_at = case when $4 is not null and attempts_in_a_row + 1 >= max_attempts then ",
    now!(),
    " end,
        run_after = case
            when $4 is not null and attempts_in_a_row + 1 >= max_attempts or wants = 'pause' or $3 = 0 then null
            else ",
    from_now!("$3"),
    " end,
        wants = case
            when $4 is not null and attempts_in_a_row + 1 >= max_attempts or wants = 'pause' then null
            else wants end,
        attempts = case when $4 is null then attempts else attempts_in_a_row + 1 end,
        worker = null, lease_until = null, updated = ",
    now!(),
    " where id = $1 and lease = $2 and worker is not null and status = 'running' returning status",
    tell!(),
);

pub(super) const SWEEP: Sql = sql!(
    "update jobs set
        status = case when attempts_in_a_row + 1 >= max_attempts then 'failed' when wants = 'pause' then 'held' else 'queued' end,
        hold_reason = case when attempts_in_a_row + 1 < max_attempts and wants = 'pause' then 'paused' end,
        reason = case when attempts_in_a_row + 1 >= max_attempts then $1 end,
        completed_at = case when attempts_in_a_row + 1 >= max_attempts then ",
    now!(),
    " end,
        run_after = case
            when attempts_in_a_row = 0 or attempts_in_a_row + 1 >= max_attempts or wants = 'pause' then null
            else ",
    from_now!("min($2 * (1 << min(attempts_in_a_row - 1, 20)), $3)"),
    " end,
        wants = case when attempts_in_a_row + 1 >= max_attempts or wants = 'pause' then null else wants end,
        attempts = attempts_in_a_row + 1, lease = lease + 1, worker = null, lease_until = null, updated = ",
    now!(),
    " where status = 'running' and batch is not null and (lease_until is null or lease_until < ",
    now!(),
    ") returning id, status, 0 as was_held",
    tell!(),
    "update jobs set
        status = 'queued', hold_reason = null, reason = null, run_after = null,
        wants = case when wants = 'pause' then null else wants end, updated = ",
    now!(),
    " where status = 'held' and run_after <= ",
    now!(),
    " and batch is not null returning id, status, 1 as was_held",
    tell!(),
    "delete from workers where seen < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 day')"
);

pub(super) const RETRY: Sql = sql!(
    "update jobs set
        status = 'queued', attempts = 0, hold_reason = null, reason = null, completed_at = null, run_after = null,
        wants = null, updated = ",
    now!(),
    " where (id = $1 or batch = $2) and batch is not null and status = 'failed' returning lease",
    tell!(),
    "update batches set ended_at = null
     where changes() > 0 and id in (select batch from jobs where id = $1 union select $2)"
);

pub(super) const HOLD: Sql = sql!(
    "update jobs set
        status = case when status = 'queued' then 'held' else status end,
        hold_reason = case when status = 'queued' then $3 else hold_reason end,
        reason = case when status = 'queued' then null else reason end,
        run_after = case when status = 'queued' then iif($4 < run_after, run_after, $4) else run_after end,
        wants = case when status = 'running' then 'pause' else wants end,
        updated = ",
    now!(),
    " where (id = $1 or batch = $2) and batch is not null
        and (status = 'queued' or (status = 'running' and wants is null and $3 = 'paused'))
     returning lease",
    tell!(),
);

pub(super) const RESUME: Sql = sql!(
    "update jobs set
        status = case when status = 'held' then 'queued' else status end,
        hold_reason = null, reason = case when status = 'held' then null else reason end,
        run_after = case when status = 'held' then null else run_after end,
        wants = case when wants = 'pause' then null else wants end,
        updated = ",
    now!(),
    " where (id = $1 or batch = $2) and batch is not null
        and ((status = 'held' and hold_reason is not 'review') or (status = 'running' and wants = 'pause'))
     returning lease",
    tell!(),
);

/// Without a workspace and a checkpoint, nobody has begun a job.
macro_rules! is_new {
    () => {
        "status in ('queued', 'held') and journal_seq = 0 and workspace = ''"
    };
}

pub(super) const CANCEL: Sql = sql!(
    "update jobs set
        status = case when ",
    is_new!(),
    " then 'cancelled' when status = 'held' then 'queued' else status end,
        hold_reason = null,
        reason = case when ",
    is_new!(),
    " then $3 when status = 'held' then null else reason end,
        completed_at = case when ",
    is_new!(),
    " then ",
    now!(),
    " else completed_at end,
        run_after = case when status = 'running' then run_after end,
        wants = case when not (",
    is_new!(),
    ") then 'cancel' end,
        updated = ",
    now!(),
    " where (id = $1 or batch = $2) and batch is not null and status in ('queued', 'running', 'held')
        and (",
    is_new!(),
    " or status = 'held' or wants is not 'cancel')
     returning lease",
    tell!(),
);

pub(super) const SIGNALS: &str = "select id, lease, wants from jobs
     where worker = $1 and wants is not null and status = 'running'";

pub(super) const KEEP_HELD: Sql = sql!(
    "update jobs set run_after = ",
    from_now!("$2"),
    " where id in (select value from json_each($1)) and status = 'held' and hold_reason = 'outage' and batch is not null
     returning id"
);

/// Whether a job's batch has no budget; no row where the lease is lost.
pub(super) const IS_UNBOUND: &str = "select batches.budget_usd is null
     from jobs left join batches on batches.id = jobs.batch
     where jobs.id = $1 and lease = $2 and worker is not null and status = 'running'";

/// (Sums of tenths are not exact.)
pub(super) const RESERVE: Sql = sql!(
    "update jobs set may_cost_usd = $3
     where id = $1 and lease = $2 and worker is not null and status = 'running' and ($3 <= may_cost_usd or (
        select coalesce(sum(case when others.status = 'running'
            then max(coalesce(others.cost_usd, 0), others.may_cost_usd) else others.cost_usd end), 0)
        from jobs as others where others.batch = jobs.batch and others.id <> $1)
        + max(coalesce(cost_usd, 0), $3) <= (
            select coalesce(budget_usd, 9e999) from batches where id = jobs.batch) + 1e-9);
     select case when changes() > 0 then 2 else (
        select coalesce(sum(cost_usd), 0) from jobs as others where others.batch = jobs.batch and others.id <> $1)
        + max(coalesce(cost_usd, 0), $3) <= (
            select coalesce(budget_usd, 9e999) from batches where id = jobs.batch) + 1e-9 end
     from jobs where id = $1 and lease = $2 and worker is not null and status = 'running'"
);

pub(super) const SET_BUDGET: Sql = sql!("update batches set budget_usd = $2 where id = $1 returning 1");

/// (The inner query is asked for each open batch, by the index.)
pub(super) const BATCHES_TO_END: &str = "select * from batches
     where ended_at is null and not exists (
        select 1 from jobs where batch = batches.id and status in ('queued', 'running', 'held'))
     order by created, id";

pub(super) const MARK_ENDED: Sql = sql!(
    "update batches set ended_at = ",
    now!(),
    " where id = $1 and ended_at is null and not exists (
        select 1 from jobs where batch = batches.id and status in ('queued', 'running', 'held'))
     returning 1"
);

/// How the jobs of a batch stand.
pub(super) const FIGURES: &str =
    "select status, count(*), count(same_as), sum(cost_usd) from jobs where batch = $1 group by status";

pub(super) const BATCH_ENTRIES: &str = "select jobs.*, job_groups.at_once
     from jobs left join job_groups on job_groups.key = jobs.group_key
     where batch = $1
     order by id";

pub(super) const MANIFESTS: &str = "select id, manifest from jobs";

pub(super) const HAS_WORK: &str = "select exists (
        select 1 from jobs
        where batch is not null and (host is null or host = $1) and (manifest is null or $2)
            and (status in ('queued', 'running') or (status = 'held' and run_after is not null)))";

pub(super) const DEPTH: &str =
    "select status, count(*) from jobs where batch is not null group by status order by status";
