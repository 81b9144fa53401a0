-- What the database knows of jobs, and the queue in which they wait for workers. Bulk (messages, tool results, documents)
-- stays in the workspaces.
-- Times are ISO text in UTC with milliseconds (2026-11-21T03:14:07.123Z), so that text order is time order.

create table batches (
    id                  text    not null primary key,
    created             text    not null,
    name                text,
    -- Name of the instructions, their whole text, and its hash.
    instructions        text    not null,
    instructions_text   text    not null default '',
    instructions_sha256 text    not null default '',
    model               text    not null default '',
    -- JSON: what else was set at submission, for whoever makes the workspaces.
    settings            text    not null default '{}',
    -- USD that the batch's jobs may spend together; null: without bound. Its cost is the sum over its jobs.
    budget_usd          real,
    -- Only inside this window is a job started, such as 22:00-06:00 Europe/Berlin; null: at any time.
    time_window         text,
    -- When somebody saw to the end of the batch, after its last job.
    ended_at            text,
    -- What people were told: the end that stands above; when they were told of needs last, and of all that had come up by then.
    end_told            text,
    needs_told          text,
    needs_upto          text,
    -- A worker is at it, until then at most.
    telling_until       text
) strict;

create index batches_by_created on batches (created desc, id desc);
create index batches_by_name on batches (name, created desc) where name is not null;
create index batches_open on batches (created, id) where ended_at is null;
create index batches_by_end on batches (ended_at) where ended_at is not null;

create table workers (
    -- Fresh for each process, so that a restarted worker is never taken for the one that died.
    id             text    not null primary key,
    host           text    not null,
    pid            integer not null,
    started        text    not null,
    -- The last heartbeat, by this database's clock.
    seen           text    not null,
    stopping       integer not null default 0 check (stopping in (0, 1)),
    -- Whether it can open a workspace that is in the workspace store: only such a worker is given such jobs.
    has_workspace_store integer not null default 0 check (has_workspace_store in (0, 1))
) strict;

create table schedules (
    id             text    not null primary key,
    name           text    not null unique,
    created        text    not null,
    cron           text    not null,
    timezone       text    not null,
    -- What is submitted: instructions, documents and settings, as JSON.
    submission     text    not null,
    enabled        integer not null default 1 check (enabled in (0, 1)),
    next_run       text,
    last_run       text,
    last_batch     text    references batches (id) on delete set null,
    -- Of the runs that were missed while nothing ran, the last is made up for while it is no older; 0: none is.
    make_up_ms     integer not null default 43200000,
    -- Whether a run begins while the last batch still has jobs to do.
    may_overlap    integer not null default 0 check (may_overlap in (0, 1)),
    -- The moment for which the run was planned that somebody is submitting, and until when they are taken to be at it.
    run            text,
    run_until      text,
    -- What became of the last run, where it wasn't submitted.
    note           text
) strict;

create table jobs (
    id                  text    not null primary key,
    created             text    not null,
    instructions        text    not null,
    instructions_sha256 text    not null,
    -- One hash over all documents: with the instructions' hash it tells a job that was already done.
    documents_sha256    text,
    documents           integer not null,
    model               text    not null,
    workspace           text    not null,
    -- The machine that has the workspace on its own disk; null: any machine can open it.
    host                text,
    batch               text    references batches (id) on delete set null,
    -- What a person calls the job: a document's path as a rule.
    label               text,
    -- JSON: the paths of the documents, as they are to be read.
    sources             text,
    -- Done before, with the same instructions and documents, by that job: its deliverables are this one's.
    same_as             text    references jobs (id) on delete set null,
    -- In an object store: the manifest of the workspace's files as of the last checkpoint, by its name in that store.
    manifest            text,

    status              text    not null default 'queued' check (status in
        ('queued', 'running', 'waiting', 'held', 'completed', 'partial', 'blocked', 'failed', 'cancelled')),
    hold_reason         text    check (hold_reason in
        ('budget', 'limit', 'window', 'outage', 'review', 'paused', 'disk')),
    reason              text,
    phase_number        integer not null default 0,
    phase_title         text    not null default '',
    phases_planned      integer not null default 0,
    phases_complete     integer not null default 0,
    turns               integer not null default 0,
    tokens_in           integer not null default 0,
    tokens_out          integer not null default 0,
    tokens_cached       integer not null default 0,
    cost_usd            real,
    worked_ms           integer not null default 0,
    coverage            real    not null default 0,
    summary             text,
    confidence          real,
    notes               text,
    -- JSON: [{"path": …, "sha256": …, "bytes": …}]
    deliverables        text    not null default '[]' check (json_valid(deliverables)),
    -- What people said of the result as it stands: who accepted it last, and how many corrections they made.
    approved_by         text,
    corrections         integer not null default 0,
    completed_at        text,
    -- The anchor: the journal must contain the line with this sequence number and hash.
    journal_seq         integer not null default 0,
    journal_head        text    not null default '0000000000000000000000000000000000000000000000000000000000000000',

    -- The fencing number: grows with every claim, and is never set back.
    lease               integer not null default 0,
    -- Null when nobody has the lease. A running job with a deadline in the past, or with no worker, is a dead worker's.
    lease_until         text,
    worker              text,
    -- What a person asked of whoever works on the job.
    wants               text    check (wants in ('cancel', 'pause')),
    -- Higher goes first.
    priority            integer not null default 0,
    -- Smaller goes first: milliseconds since 1970 at which the job was submitted, an hour earlier for each step of priority.
    -- As waiting makes all jobs older alike, the order of two jobs never changes, and no job waits for ever behind later ones.
    place_in_line       integer not null default 0,
    run_after           text,
    -- JSON: the calls whose answers a waiting job waits for, [{"model": …, "handle": …}]; it means nothing of any other job.
    awaits              text,
    attempts            integer not null default 0,
    max_attempts        integer not null default 3,
    -- Turns when the job was claimed last: an attempt that gets further makes the failed ones before it forgotten.
    turns_at_claim      integer not null default 0,
    -- The most that the job may cost in all while it runs, by what it has reserved. What counts of a batch's other jobs is
    -- their cost.
    may_cost_usd        real    not null default 0,
    -- Jobs of one group share a limit on how many run at once.
    group_key           text,
    updated             text    not null,
    -- Grows with each change of any job, in the order of the commits: one transaction at a time writes. (A heartbeat is none.)
    change              integer not null default 0
) strict;

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

create trigger job_added after insert on jobs begin
    update jobs set change = (select max(change) + 1 from jobs) where rowid = new.rowid;
end;
create trigger job_changed after update of updated on jobs begin
    update jobs set change = (select max(change) + 1 from jobs) where rowid = new.rowid;
end;

-- How many jobs of a group may run at once; the last submission's word.
create table job_groups (
    key     text not null primary key,
    at_once integer not null
) strict;

create table phases (
    job            text    not null references jobs (id) on delete cascade,
    number         integer not null,
    attempt        integer not null,
    kind           text    not null,
    title          text    not null,
    outcome        text    not null,
    issue          text,
    turns          integer not null,
    tokens_in      integer not null,
    tokens_out     integer not null,
    cost_usd       real,
    started        text    not null,
    ended          text,
    archive        text,
    primary key (job, number, attempt)
) strict;

create table todos (
    job                 text    not null references jobs (id) on delete cascade,
    phase               integer not null,
    attempt             integer not null,
    id                  integer not null,
    content             text    not null,
    active_form         text    not null,
    status              text    not null check (status in ('pending', 'in_progress', 'completed', 'cancelled')),
    context             text,
    completion_criteria text,
    agent_type          text,
    position            integer not null,
    outcome             text,
    unevidenced         integer not null check (unevidenced in (0, 1)),
    created             text    not null,
    started             text,
    completed           text,
    primary key (job, phase, attempt, id)
) strict;

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
    coalesce(sum(jobs.turns), 0) as turns,
    coalesce(sum(jobs.tokens_in), 0) as tokens_in,
    coalesce(sum(jobs.tokens_out), 0) as tokens_out,
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
    round((julianday(phases.ended) - julianday(phases.started)) * 86400, 3) as seconds,
    phases.archive
from phases
join jobs on jobs.id = phases.job;

-- One row, whose number grows with each change that may give a worker something to do: what a worker looks at, many times a
-- second. Neither a claim nor a heartbeat nor the checkpoint of a job that goes on is one.
create table queue_changes (
    number integer not null
) strict;
insert into queue_changes (number) values (0);

-- Of schedules, whoever changes them.
create trigger schedule_added after insert on schedules begin
    update queue_changes set number = number + 1;
end;
create trigger schedule_changed after update on schedules begin
    update queue_changes set number = number + 1;
end;
create trigger schedule_removed after delete on schedules begin
    update queue_changes set number = number + 1;
end;
