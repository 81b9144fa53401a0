-- What the database knows of jobs. Bulk (messages, tool results, documents) stays in the workspaces.

create table batches (
    id             uuid not null primary key,
    created        timestamptz not null,
    name           text,
    instructions   text not null,
    -- USD that the batch's jobs may spend together; null: without bound. Each model call reserves its worst case first.
    budget_usd     double precision,
    reserved_usd   double precision not null default 0,
    spent_usd      double precision not null default 0,
    -- Only inside this window is a job started, such as 22:00-06:00 Europe/Berlin; null: at any time.
    time_window    text
);

create table workers (
    -- Fresh for each process, so that a restarted worker is never taken for the one that died.
    id             uuid not null primary key,
    host           text not null,
    pid            bigint not null,
    started        timestamptz not null,
    -- The last heartbeat, by this database's clock.
    seen           timestamptz not null,
    stopping       boolean not null default false
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
    last_batch     uuid references batches (id) on delete set null
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

    status              text not null default 'queued' check (status in
        ('queued', 'running', 'held', 'completed', 'partial', 'blocked', 'failed', 'cancelled')),
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
    run_after           timestamptz,
    attempts            bigint not null default 0,
    max_attempts        bigint not null default 3,
    -- Jobs of one group share a limit on how many run at once.
    group_key           text,
    updated             timestamptz not null
);

create index jobs_by_created on jobs (created desc, id desc);
create index jobs_by_status on jobs (status, created desc);
create index jobs_to_claim on jobs (priority desc, created) where status = 'queued';
create index jobs_by_deadline on jobs (lease_until) where status = 'running';
create index jobs_by_batch on jobs (batch) where batch is not null;
create index jobs_by_group on jobs (group_key, status) where group_key is not null;
create index jobs_by_input on jobs (instructions_sha256, documents_sha256);

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
