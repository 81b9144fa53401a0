-- What the database knows of jobs, and the queue in which they wait for workers. Bulk (messages, tool results, documents)
-- stays in the workspaces.

create table batches (
    id                  uuid not null primary key,
    created             timestamptz not null,
    name                text,
    -- Name of the instructions, their whole text, and its hash.
    instructions        text not null,
    instructions_text   text not null default '',
    instructions_sha256 text not null default '',
    model               text not null default '',
    -- JSON: what else was set at submission, for whoever makes the workspaces.
    settings            text not null default '{}',
    -- USD that the batch's jobs may spend together; null: without bound. Its cost is the sum over its jobs.
    budget_usd          double precision,
    -- Only inside this window is a job started, such as 22:00-06:00 Europe/Berlin; null: at any time.
    time_window         text,
    -- When somebody saw to the end of the batch, after its last job.
    ended_at            timestamptz,
    -- What people were told: the end that stands above; when they were told of needs last, and of all that had come up by then.
    end_told            timestamptz,
    needs_told          timestamptz,
    needs_upto          timestamptz,
    -- A worker is at it, until then at most.
    telling_until       timestamptz
);

create index batches_by_created on batches (created desc, id desc);
create index batches_by_name on batches (name, created desc) where name is not null;
create index batches_open on batches (created, id) where ended_at is null;
create index batches_by_end on batches (ended_at) where ended_at is not null;

create table workers (
    -- Fresh for each process, so that a restarted worker is never taken for the one that died.
    id             uuid not null primary key,
    host           text not null,
    pid            bigint not null,
    started        timestamptz not null,
    -- The last heartbeat, by this database's clock.
    seen           timestamptz not null,
    stopping       boolean not null default false,
    -- Whether it can open a workspace that is in the workspace store: only such a worker is given such jobs.
    has_workspace_store boolean not null default false
);

create table schedules (
    id             uuid not null primary key,
    name           text not null unique,
    created        timestamptz not null,
    cron           text not null,
    timezone       text not null,
    -- What is submitted: instructions, documents and settings, as JSON.
    submission     jsonb not null,
    enabled        boolean not null default true,
    next_run       timestamptz,
    last_run       timestamptz,
    last_batch     uuid references batches (id) on delete set null,
    -- Of the runs that were missed while nothing ran, the last is made up for while it is no older; 0: none is.
    make_up_ms     bigint not null default 43200000,
    -- Whether a run begins while the last batch still has jobs to do.
    may_overlap    boolean not null default false,
    -- The moment for which the run was planned that somebody is submitting, and until when they are taken to be at it.
    run            timestamptz,
    run_until      timestamptz,
    -- What became of the last run, where it wasn't submitted.
    note           text
);

create table jobs (
    id                  uuid not null primary key,
    created             timestamptz not null,
    instructions        text not null,
    instructions_sha256 text not null,
    -- One hash over all documents: with the instructions' hash it tells a job that was already done.
    documents_sha256    text,
    documents           bigint not null,
    model               text not null,
    workspace           text not null,
    -- The machine that has the workspace on its own disk; null: any machine can open it.
    host                text,
    batch               uuid references batches (id) on delete set null,
    -- What a person calls the job: a document's path as a rule.
    label               text,
    -- JSON: the paths of the documents, as they are to be read.
    sources             text,
    -- Done before, with the same instructions and documents, by that job: its deliverables are this one's.
    same_as             uuid references jobs (id) on delete set null,
    -- In an object store: the manifest of the workspace's files as of the last checkpoint, by its name in that store.
    manifest            text,

    status              text not null default 'queued' check (status in
        ('queued', 'running', 'waiting', 'held', 'completed', 'partial', 'blocked', 'failed', 'cancelled')),
    hold_reason         text check (hold_reason in
        ('budget', 'limit', 'window', 'outage', 'review', 'paused', 'disk')),
    reason              text,
    phase_number        bigint not null default 0,
    phase_title         text not null default '',
    phases_planned      bigint not null default 0,
    phases_complete     bigint not null default 0,
    turns               bigint not null default 0,
    tokens_in           bigint not null default 0,
    tokens_out          bigint not null default 0,
    tokens_cached       bigint not null default 0,
    cost_usd            double precision,
    worked_ms           bigint not null default 0,
    coverage            double precision not null default 0,
    summary             text,
    confidence          double precision,
    notes               text,
    -- JSON: [{"path": …, "sha256": …, "bytes": …}]
    deliverables        jsonb not null default '[]',
    -- What people said of the result as it stands: who accepted it last, and how many corrections they made.
    approved_by         text,
    corrections         bigint not null default 0,
    completed_at        timestamptz,
    -- The anchor: the journal must contain the line with this sequence number and hash.
    journal_seq         bigint not null default 0,
    journal_head        text not null default '0000000000000000000000000000000000000000000000000000000000000000',

    -- The fencing number: grows with every claim, and is never set back.
    lease               bigint not null default 0,
    -- Null when nobody has the lease. A running job with a deadline in the past, or with no worker, is a dead worker's.
    lease_until         timestamptz,
    worker              uuid,
    -- What a person asked of whoever works on the job.
    wants               text check (wants in ('cancel', 'pause')),
    -- Higher goes first.
    priority            bigint not null default 0,
    -- Smaller goes first: milliseconds since 1970 at which the job was submitted, an hour earlier for each step of priority.
    -- As waiting makes all jobs older alike, the order of two jobs never changes, and no job waits for ever behind later ones.
    place_in_line       bigint not null default 0,
    run_after           timestamptz,
    -- JSON: the calls whose answers a waiting job waits for, [{"model": …, "handle": …}]; it means nothing of any other job.
    awaits              text,
    attempts            bigint not null default 0,
    max_attempts        bigint not null default 3,
    -- Turns when the job was claimed last: an attempt that gets further makes the failed ones before it forgotten.
    turns_at_claim      bigint not null default 0,
    -- The most that the job may cost in all while it runs, by what it has reserved. What counts of a batch's other jobs is
    -- their cost.
    may_cost_usd        double precision not null default 0,
    -- Jobs of one group share a limit on how many run at once.
    group_key           text,
    updated             timestamptz not null,
    -- The transaction that changed the row last. (A heartbeat is no change.)
    change              bigint not null default 0
)
-- Room beside each row for its next version, so that a heartbeat writes no index.
with (fillfactor = 80);

create index jobs_by_created on jobs (created desc, id desc);
create index jobs_by_status on jobs (status, created desc);
-- In the order of the claim: by group, then by machine, each in its line. Only what may run now is in it, so that neither
-- what has ended nor what waits for its time is ever passed by.
create index jobs_to_claim on jobs (coalesce(group_key, ''), coalesce(host, ''), place_in_line, id)
    where status = 'queued' and run_after is null and batch is not null;
-- What waits for its time: the queued, and what wakes by itself of the held and the waiting.
create index jobs_to_wake on jobs (status, run_after) where run_after is not null;
create index jobs_waiting on jobs (id) where status = 'waiting';
create index jobs_by_batch on jobs (batch, status) where batch is not null;
create index jobs_by_group on jobs (group_key, status) where group_key is not null;
create index jobs_by_input on jobs (instructions_sha256, documents_sha256);
-- (None by deadline: a heartbeat moves the deadline of every running job, and the few rows of a sweep are found by status.)
create index jobs_by_worker on jobs (worker) where worker is not null;
create index jobs_by_wish on jobs (worker) where wants is not null;
create index jobs_by_link on jobs (same_as) where same_as is not null;
create index jobs_by_change on jobs (change);

create function overnight_mark_change() returns trigger
language plpgsql as $$
begin
    new.change := pg_current_xact_id()::text::bigint;
    return new;
end
$$;
create trigger job_changed before insert or update of updated on jobs
    for each row execute function overnight_mark_change();

-- How many jobs of a group may run at once; the last submission's word.
create table job_groups (
    key     text not null primary key,
    at_once bigint not null
);

create table phases (
    job            uuid not null references jobs (id) on delete cascade,
    number         bigint not null,
    attempt        bigint not null,
    kind           text not null,
    title          text not null,
    outcome        text not null,
    issue          text,
    turns          bigint not null,
    tokens_in      bigint not null,
    tokens_out     bigint not null,
    cost_usd       double precision,
    started        timestamptz not null,
    ended          timestamptz,
    archive        text,
    primary key (job, number, attempt)
);

create table todos (
    job                 uuid not null references jobs (id) on delete cascade,
    phase               bigint not null,
    attempt             bigint not null,
    id                  bigint not null,
    content             text not null,
    active_form         text not null,
    status              text not null check (status in ('pending', 'in_progress', 'completed', 'cancelled')),
    context             text,
    completion_criteria text,
    agent_type          text,
    position            bigint not null,
    outcome             text,
    unevidenced         boolean not null,
    created             timestamptz not null,
    started             timestamptz,
    completed           timestamptz,
    primary key (job, phase, attempt, id)
);

create index todos_by_status on todos (job, status);

-- For people: a job on a line.
create view job_overview as
select
    jobs.id, jobs.label, batches.name as batch, jobs.instructions, jobs.model, jobs.status, jobs.hold_reason, jobs.reason,
    jobs.phase_number, jobs.phase_title, jobs.phases_complete, jobs.phases_planned, jobs.turns,
    jobs.tokens_in, jobs.tokens_out, jobs.tokens_cached, jobs.cost_usd, jobs.worked_ms / 1000 as worked_seconds,
    jobs.coverage, jobs.confidence, jobs.priority, jobs.run_after, jobs.attempts, jobs.max_attempts, jobs.group_key,
    jobs.same_as, jobs.wants, workers.host as worked_on, jobs.lease_until, jobs.workspace, jobs.created, jobs.updated,
    jobs.completed_at
from jobs
left join batches on batches.id = jobs.batch
left join workers on workers.id = jobs.worker;

-- A batch on a line.
create view batch_overview as
select
    batches.id, batches.name, batches.instructions, batches.model, batches.created,
    count(jobs.id) as jobs,
    count(case when jobs.status = 'queued' then 1 end) as queued,
    count(case when jobs.status = 'running' then 1 end) as running,
    count(case when jobs.status = 'waiting' then 1 end) as waiting,
    count(case when jobs.status = 'held' then 1 end) as held,
    count(case when jobs.status = 'completed' then 1 end) as completed,
    count(case when jobs.status = 'partial' then 1 end) as partial,
    count(case when jobs.status = 'blocked' then 1 end) as blocked,
    count(case when jobs.status = 'failed' then 1 end) as failed,
    count(case when jobs.status = 'cancelled' then 1 end) as cancelled,
    count(jobs.same_as) as linked,
    cast(coalesce(sum(jobs.turns), 0) as bigint) as turns,
    cast(coalesce(sum(jobs.tokens_in), 0) as bigint) as tokens_in,
    cast(coalesce(sum(jobs.tokens_out), 0) as bigint) as tokens_out,
    sum(jobs.cost_usd) as cost_usd,
    avg(jobs.coverage) as coverage,
    avg(jobs.confidence) as confidence,
    max(jobs.completed_at) as last_end
from batches
left join jobs on jobs.batch = batches.id
group by batches.id, batches.name, batches.instructions, batches.model, batches.created;

-- Each attempt at each phase of each job, on a line.
create view phase_history as
select
    jobs.batch, phases.job, jobs.label, phases.number, phases.attempt, phases.kind, phases.title, phases.outcome,
    phases.issue, phases.turns, phases.tokens_in, phases.tokens_out, phases.cost_usd, phases.started, phases.ended,
    cast(extract(epoch from phases.ended - phases.started) as double precision) as seconds,
    phases.archive
from phases
join jobs on jobs.id = phases.job;

-- Tells all that listen that there may be something to do, where `jobs` is more than none, and returns `jobs`. A transaction
-- that tells keeps all others that tell waiting until it is on the disk: so neither a claim nor a heartbeat nor the
-- checkpoint of a job that goes on does, and each statement does once.
create function overnight_notify(jobs bigint) returns bigint
language plpgsql as $$
begin
    if jobs > 0 then
        perform pg_notify('overnight', '');
    end if;
    return jobs;
end
$$;

-- Of schedules, whoever changes them.
create function overnight_notify_of_schedules() returns trigger
language plpgsql as $$
begin
    perform pg_notify('overnight', '');
    return null;
end
$$;
create trigger schedules_changed after insert or update or delete on schedules
    for each statement execute function overnight_notify_of_schedules();

-- Takes up to `most` jobs that may run now for a worker on `machine`, of `of_batches` alone where there are some; what is in the workspace store is left to workers that
-- have one. One call is one transaction that waits for nothing
-- outside the server: a worker that is stopped half way keeps no lock.
create function overnight_claim(claimer uuid, machine text, most bigint, for_ms bigint, of_batches uuid[]) returns setof jobs
language plpgsql
-- To plan it takes three times as long as to do it, and the plan is always the same: by the indexes that were made for it.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
    moment     timestamptz := clock_timestamp();
    has_groups boolean;
    has_store  boolean := exists (select 1 from workers where id = claimer and has_workspace_store);
begin
    update jobs set run_after = null
    where id in (
        select id from jobs
        where status = 'queued' and run_after <= moment and batch is not null
        for update skip locked);

    -- Who counts the running jobs of a group does so alone, or two would both take its last place. Each statement here sees
    -- what was committed before it began, and the lock is kept until the commit.
    -- (In the order of the index, or the planner may look through the whole table for the first.)
    has_groups := (
        select coalesce(group_key, '') from jobs
        where status = 'queued' and run_after is null and batch is not null and coalesce(group_key, '') > ''
        order by coalesce(group_key, '')
        limit 1) is not null;
    if has_groups then
        perform pg_advisory_xact_lock(7306075410172543);
    end if;

    return query
    with recursive keys (key) as (
        -- From one group with waiting jobs to the next, without a look at the jobs between.
        select ''
        union all
        select (
            select coalesce(group_key, '') from jobs
            where status = 'queued' and run_after is null and batch is not null and coalesce(group_key, '') > keys.key
            order by coalesce(group_key, '') limit 1)
        from keys where keys.key is not null and has_groups
    ), rooms (key, room) as materialized (
        select keys.key, least(most, greatest(0, coalesce(job_groups.at_once
            - (select count(*) from jobs where group_key = keys.key and status = 'running'), most)))
        from keys left join job_groups on job_groups.key = keys.key
        where keys.key is not null
    ), candidates as (
        select waiting.id, waiting.place_in_line, rooms.room,
            row_number() over (partition by rooms.key order by waiting.place_in_line, waiting.id) as place
        from rooms
        cross join (select '' union select machine) as machines (host)
        cross join lateral (
            select jobs.id, jobs.place_in_line from jobs
            where status = 'queued' and run_after is null and batch is not null
                and coalesce(group_key, '') = rooms.key and coalesce(jobs.host, '') = machines.host
                and (jobs.manifest is null or has_store)
                and (cardinality(of_batches) = 0 or jobs.batch = any(of_batches))
            order by jobs.place_in_line, jobs.id
            limit rooms.room
            for update skip locked) as waiting
    ), chosen as (
        select candidates.id from candidates
        where candidates.place <= candidates.room
        order by candidates.place_in_line, candidates.id
        limit most
    )
    update jobs set
        status = 'running', hold_reason = null, reason = null, lease = lease + 1, worker = claimer, may_cost_usd = 0, turns_at_claim = turns,
        lease_until = clock_timestamp() + for_ms * interval '1 millisecond',
        wants = case when wants = 'pause' then null else wants end,
        updated = clock_timestamp()
    from chosen
    where jobs.id = chosen.id
    returning jobs.*;
end
$$;

-- Whether a job's batch can bear that the job costs up to `may` in all: 2, it is granted; 1, others have reserved what they may
-- not need; 0, it is spent. Null where the lease is lost.
create function overnight_reserve(wanted uuid, held_under bigint, may double precision) returns integer
language plpgsql as $$
declare
    its_batch uuid;
    bound     double precision;
    others    double precision;
    spent     double precision;
    own       double precision;
begin
    select jobs.batch, batches.budget_usd into its_batch, bound
    from jobs left join batches on batches.id = jobs.batch
    where jobs.id = wanted and lease = held_under and worker is not null and status = 'running';
    if not found then
        return null;
    end if;
    if bound is null then
        return 2;
    end if;

    -- The job first, then its batch, as everybody does: so no two wait for each other. Who has the batch is alone in counting,
    -- or two would both take what is left; each statement here sees what was committed before it began.
    perform 1 from jobs where id = wanted and lease = held_under and worker is not null and status = 'running'
    for no key update;
    if not found then
        return null;
    end if;
    select budget_usd into bound from batches where id = its_batch for no key update;
    select coalesce(sum(case when status in ('running', 'waiting') then greatest(cost_usd, may_cost_usd) else cost_usd end), 0),
        coalesce(sum(cost_usd), 0)
    into others, spent
    from jobs where batch = its_batch and id <> wanted;
    own := (select greatest(cost_usd, may) from jobs where id = wanted);
    -- Who asks for less than it has gives something back. (Sums of tenths are not exact.)
    if others + own > bound + 1e-9 and may > (select may_cost_usd from jobs where id = wanted) then
        return case when spent + own > bound + 1e-9 then 0 else 1 end;
    end if;
    update jobs set may_cost_usd = may where id = wanted;
    return 2;
end
$$;

-- Marks a batch as ended, for one caller. The batch is locked before its jobs are looked at: who queues one of them again
-- takes the mark away afterwards, or is seen here.
create function overnight_mark_ended(which uuid) returns boolean
language plpgsql as $$
begin
    perform 1 from batches where id = which and ended_at is null for no key update;
    if not found then
        return false;
    end if;
    update batches set ended_at = clock_timestamp()
    where id = which
        and not exists (select 1 from jobs where batch = which and status in ('queued', 'running', 'waiting', 'held'));
    return found;
end
$$;
