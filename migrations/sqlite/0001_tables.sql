-- What the database knows of jobs. Bulk (messages, tool results, documents) stays in the workspaces.
-- Times are ISO text in UTC with milliseconds (2026-11-21T03:14:07.123Z), so that text order is time order.

create table batches (
    id             text    not null primary key,
    created        text    not null,
    name           text,
    instructions   text    not null,
    -- USD that the batch's jobs may spend together; null: without bound. Each model call reserves its worst case first.
    budget_usd     real,
    reserved_usd   real    not null default 0,
    spent_usd      real    not null default 0,
    -- Only inside this window is a job started, such as 22:00-06:00 Europe/Berlin; null: at any time.
    time_window    text
) strict;

create table workers (
    -- Fresh for each process, so that a restarted worker is never taken for the one that died.
    id             text    not null primary key,
    host           text    not null,
    pid            integer not null,
    started        text    not null,
    -- The last heartbeat, by this database's clock.
    seen           text    not null,
    stopping       integer not null default 0 check (stopping in (0, 1))
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
    last_batch     text    references batches (id) on delete set null
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

    status              text    not null default 'queued' check (status in
        ('queued', 'running', 'held', 'completed', 'partial', 'blocked', 'failed', 'cancelled')),
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
    run_after           text,
    attempts            integer not null default 0,
    max_attempts        integer not null default 3,
    -- Jobs of one group share a limit on how many run at once.
    group_key           text,
    updated             text    not null
) strict;

create index jobs_by_created on jobs (created desc, id desc);
create index jobs_by_status on jobs (status, created desc);
create index jobs_to_claim on jobs (priority desc, created) where status = 'queued';
create index jobs_by_deadline on jobs (lease_until) where status = 'running';
create index jobs_by_batch on jobs (batch) where batch is not null;
create index jobs_by_group on jobs (group_key, status) where group_key is not null;
create index jobs_by_input on jobs (instructions_sha256, documents_sha256);

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
