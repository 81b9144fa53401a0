//! The queue's statements in PostgreSQL. Those that write several jobs lock them in the order of their ids, so that no two
//! wait for each other.

pub(super) const SUBMIT_BATCH: &str =
    "insert into batches (id, created, name, instructions, instructions_text, instructions_sha256,
        model, settings, budget_usd, time_window)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (id) do nothing";

pub(super) const SUBMIT_GROUPS: &str = "insert into job_groups (key, at_once)
     select group_key, min(at_once)
     from json_to_recordset($1::json) as given (group_key text, at_once bigint)
     where group_key is not null
     group by group_key
     order by group_key
     on conflict (key) do update set at_once = excluded.at_once";

pub(super) const SUBMIT_JOBS: &str = "insert into jobs (id, created, instructions, instructions_sha256, documents_sha256, documents,
        model, workspace, host, batch, status, hold_reason, reason, coverage, summary, confidence, notes, deliverables,
        completed_at, priority, run_after, max_attempts, group_key, label, sources, same_as, place_in_line, updated)
     select given.id, $2, $3, $4, given.documents_sha256, given.documents, $5, coalesce(done.workspace, ''), done.host, $1,
        case when done.id is not null then 'completed' when given.is_held then 'held' else 'queued' end,
        case when done.id is null and given.is_held then 'paused' end,
        'done before by job ' || done.id,
        coalesce(done.coverage, 0), done.summary, done.confidence, done.notes, coalesce(done.deliverables, '[]'),
        case when done.id is not null then $2 end,
        given.priority, case when done.id is null then given.run_after end, given.max_attempts, given.group_key,
        given.label, given.sources, done.id, given.place_in_line, clock_timestamp()
     from json_to_recordset($6::json) as given (id uuid, label text, sources text, documents bigint,
        documents_sha256 text, priority bigint, place_in_line bigint, run_after timestamptz, group_key text,
        max_attempts bigint, is_held boolean)
     left join lateral (
        select * from jobs
        where $7 and instructions_sha256 = $4 and documents_sha256 = given.documents_sha256 and model = $5
            and status = 'completed' and same_as is null
        order by created desc, id desc
        limit 1) as done on true
     on conflict (id) do nothing";

pub(super) const CLAIM: &str =
    "select id, lease, batch, created, label, sources, documents, documents_sha256, workspace, host, attempts,
        max_attempts, wants, manifest, place_in_line
     from overnight_claim($1, $2, $3, $4)";

/// (A person's own process has a lease and is not enlisted.)
pub(super) const WORKERS_AT_WORK: &str = "select count(*) from (
        select id from workers where seen > now() - interval '1 minute'
        union select worker from jobs where status = 'running' and worker is not null and lease_until > now()
    ) at_work";

pub(super) const HEARTBEAT: &str = "with seen as (
        update workers set seen = clock_timestamp() where id = $1
     ), mine as (
        select id from jobs where worker = $1 and status = 'running' order by id for update
     )
     update jobs set lease_until = clock_timestamp() + $2 * interval '1 millisecond'
     from mine
     where jobs.id = mine.id
     returning jobs.id, lease, wants";

pub(super) const GIVE_BACK: &str = "with given as (
        update jobs set
            status = case
                when $4::text is not null and attempts_in_a_row + 1 >= max_attempts then 'failed'
                when wants = 'pause' then 'held'
                else 'queued' end,
            hold_reason = case
                when $4 is not null and attempts_in_a_row + 1 >= max_attempts then null
                when wants = 'pause' then 'paused' end,
            reason = case
                when $4 is not null and attempts_in_a_row + 1 >= max_attempts
                then 'given up after attempt ' || (attempts_in_a_row + 1) || ': ' || $4
                else $4 end,
            completed_at = case
                when $4 is not null and attempts_in_a_row + 1 >= max_attempts then date_trunc('milliseconds', clock_timestamp()) end,
            run_after = case
                when $4 is not null and attempts_in_a_row + 1 >= max_attempts or wants = 'pause' or $3 = 0 then null
                else clock_timestamp() + $3 * interval '1 millisecond' end,
            wants = case
                when $4 is not null and attempts_in_a_row + 1 >= max_attempts or wants = 'pause' then null
                else wants end,
            attempts = case when $4 is null then attempts else attempts_in_a_row + 1 end,
            worker = null, lease_until = null, updated = clock_timestamp()
        where id = $1 and lease = $2 and worker is not null and status = 'running'
        returning status
     )
     select status from given where overnight_tell(1) = 1";

pub(super) const SWEEP: &str = "with late as (
        select id from jobs
        where status = 'running' and batch is not null and (lease_until is null or lease_until < now())
        order by id
        for update skip locked
     ), due as (
        select id from jobs
        where status = 'held' and run_after <= now() and batch is not null
        order by id
        for update skip locked
     ), taken as (
        update jobs set
            status = case
                when attempts_in_a_row + 1 >= max_attempts then 'failed' when wants = 'pause' then 'held' else 'queued' end,
            hold_reason = case when attempts_in_a_row + 1 < max_attempts and wants = 'pause' then 'paused' end,
            reason = case when attempts_in_a_row + 1 >= max_attempts then $1 end,
            completed_at = case when attempts_in_a_row + 1 >= max_attempts then date_trunc('milliseconds', now()) end,
            run_after = case
                when attempts_in_a_row = 0 or attempts_in_a_row + 1 >= max_attempts or wants = 'pause' then null
                else now() + least($2 * (1 << least(attempts_in_a_row - 1, 20)::int), $3) * interval '1 millisecond' end,
            wants = case when attempts_in_a_row + 1 >= max_attempts or wants = 'pause' then null else wants end,
            attempts = attempts_in_a_row + 1, lease = lease + 1, worker = null, lease_until = null, updated = clock_timestamp()
        from late
        where jobs.id = late.id
        returning jobs.id, status
     ), woken as (
        update jobs set
            status = 'queued', hold_reason = null, reason = null, run_after = null,
            wants = case when wants = 'pause' then null else wants end, updated = clock_timestamp()
        from due
        where jobs.id = due.id
        returning jobs.id, status
     ), forgotten as (
        delete from workers where seen < now() - interval '1 day'
     ), told as (
        select overnight_tell((select count(*) from taken) + (select count(*) from woken)) as jobs
     )
     select id, status, was_held
     from (select id, status, false as was_held from taken union all select id, status, true from woken) as moved, told";

/// (The batches' mark is taken away whether it is seen or not: it may just have been made.)
pub(super) const RETRY: &str = "with again as (
        update jobs set
            status = 'queued', attempts = 0, hold_reason = null, reason = null, completed_at = null, run_after = null,
            wants = null, updated = clock_timestamp()
        where id in (
            select id from jobs
            where (id = $1 or batch = $2) and batch is not null and status = 'failed'
            order by id
            for update)
        returning batch
     ), opened as (
        update batches set ended_at = null where id in (select batch from again)
     )
     select overnight_tell(count(*)) from again";

pub(super) const HOLD: &str = "with held as (
        update jobs set
            status = case when status = 'queued' then 'held' else status end,
            hold_reason = case when status = 'queued' then $3 else hold_reason end,
            reason = case when status = 'queued' then null else reason end,
            run_after = case when status = 'queued' and $4 < run_after then run_after when status = 'queued' then $4 else run_after end,
            wants = case when status = 'running' then 'pause' else wants end,
            updated = clock_timestamp()
        where id in (
            select id from jobs
            where (id = $1 or batch = $2) and batch is not null
                and (status = 'queued' or (status = 'running' and wants is null and $3 = 'paused'))
            order by id
            for update)
        returning 1
     )
     select overnight_tell(count(*)) from held";

pub(super) const RESUME: &str = "with resumed as (
        update jobs set
            status = case when status = 'held' then 'queued' else status end,
            hold_reason = null, reason = case when status = 'held' then null else reason end,
            run_after = case when status = 'held' then null else run_after end,
            wants = case when wants = 'pause' then null else wants end,
            updated = clock_timestamp()
        where id in (
            select id from jobs
            where (id = $1 or batch = $2) and batch is not null
                and ((status = 'held' and hold_reason is distinct from 'review')
                    or (status = 'running' and wants = 'pause'))
            order by id
            for update)
        returning 1
     )
     select overnight_tell(count(*)) from resumed";

/// Without a workspace and a checkpoint, nobody has begun a job.
pub(super) const CANCEL: &str = "with meant as (
        select id, status in ('queued', 'held') and journal_seq = 0 and workspace = '' as is_new from jobs
        where (id = $1 or batch = $2) and batch is not null and status in ('queued', 'running', 'held')
        order by id
        for update
     ), cancelled as (
        update jobs set
            status = case when is_new then 'cancelled' when status = 'held' then 'queued' else status end,
            hold_reason = null,
            reason = case when is_new then $3 when status = 'held' then null else reason end,
            completed_at = case when is_new then date_trunc('milliseconds', clock_timestamp()) else completed_at end,
            run_after = case when status = 'running' then run_after end,
            wants = case when is_new then null else 'cancel' end,
            updated = clock_timestamp()
        from meant
        where jobs.id = meant.id and (is_new or status = 'held' or wants is distinct from 'cancel')
        returning 1
     )
     select overnight_tell(count(*)) from cancelled";

pub(super) const SIGNALS: &str = "select id, lease, wants from jobs
     where worker = $1 and wants is not null and status = 'running'";

pub(super) const KEEP_HELD: &str = "update jobs set run_after = clock_timestamp() + $2 * interval '1 millisecond'
     where id in (
        select id from jobs
        where id = any($1) and status = 'held' and hold_reason = 'outage' and batch is not null
        order by id
        for update)
     returning id";

/// (The inner query is asked for each open batch, by the index: a join would look at all jobs.)
pub(super) const BATCHES_TO_END: &str = "select * from batches
     where ended_at is null and (
        select true from jobs where batch = batches.id and status in ('queued', 'running', 'held') limit 1) is null
     order by created, id";

/// How the jobs of a batch stand.
pub(super) const FIGURES: &str =
    "select status, count(*), count(same_as), sum(cost_usd) from jobs where batch = $1 group by status";

pub(super) const BATCH_ENTRIES: &str = "select jobs.*, job_groups.at_once
     from jobs left join job_groups on job_groups.key = jobs.group_key
     where batch = $1
     order by id";

pub(super) const HAS_WORK: &str = "select exists (
        select 1 from jobs
        where batch is not null and (host is null or host = $1) and (manifest is null or $2)
            and (status in ('queued', 'running') or (status = 'held' and run_after is not null)))";

pub(super) const DEPTH: &str =
    "select status, count(*) from jobs where batch is not null group by status order by status";
