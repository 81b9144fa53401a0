-- Which workers can open a workspace that is in the workspace store: only they are given such jobs.
alter table workers add column has_depot boolean not null default false;

-- As it was, but that what is in the workspace store is left to workers that have one.
--
-- Takes up to `most` jobs that may run now for a worker on `machine`. One call is one transaction that waits for nothing
-- outside the server: a worker that is stopped half way keeps no lock.
create or replace function overnight_claim(claimer uuid, machine text, most bigint, for_ms bigint) returns setof jobs
language plpgsql
-- To plan it takes three times as long as to do it, and the plan is always the same: by the indexes that were made for it.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
    moment     timestamptz := clock_timestamp();
    has_groups boolean;
    has_store  boolean := exists (select 1 from workers where id = claimer and has_depot);
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

-- As it was, but that it tells why there is no room: 2, it is granted; 1, others have reserved what they may not need; 0, it is
-- spent. Null where the lease is lost.
drop function overnight_reserve(uuid, bigint, double precision);

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
    select coalesce(sum(case when status = 'running' then greatest(cost_usd, may_cost_usd) else cost_usd end), 0),
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
