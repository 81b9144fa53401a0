-- The queue: what a worker needs to make and work a job that was submitted, and the order in which jobs are taken.

alter table batches add column instructions_text   text not null default '';
alter table batches add column instructions_sha256 text not null default '';
alter table batches add column model               text not null default '';
-- JSON: what was set at submission, for whoever makes the workspaces.
alter table batches add column settings            text not null default '{}';

create index batches_by_created on batches (created desc, id desc);
create index batches_by_name on batches (name, created desc) where name is not null;

-- What a person calls the job: a document's path as a rule.
alter table jobs add column label         text;
-- JSON: the paths of the documents, as they are to be read.
alter table jobs add column sources       text;
-- Done before, with the same instructions and documents, by that job: its deliverables are this one's.
alter table jobs add column same_as       text references jobs (id) on delete set null;
-- Smaller goes first: milliseconds since 1970 at which the job was submitted, an hour earlier for each step of priority.
-- As waiting makes all jobs older alike, the order of two jobs never changes, and no job waits for ever behind later ones.
alter table jobs add column place_in_line integer not null default 0;

-- How many jobs of a group may run at once; the last submission's word.
create table job_groups (
    key     text not null primary key,
    at_once integer not null
) strict;

drop index jobs_to_claim;
drop index jobs_by_batch;
-- A heartbeat moves the deadline of every running job: an index on it would be written each time, for the few rows that a
-- sweep finds by their status as well.
drop index jobs_by_deadline;
-- In the order of the claim: by group, then by machine, each in its line. Only what may run now is in it, so that neither
-- what has ended nor what waits for its time is ever passed by.
create index jobs_to_claim on jobs (coalesce(group_key, ''), coalesce(host, ''), place_in_line, id)
    where status = 'queued' and run_after is null and batch is not null;
-- What waits for its time: the queued, and the held that wake by themselves.
create index jobs_to_wake on jobs (status, run_after) where run_after is not null;
create index jobs_by_batch on jobs (batch, status) where batch is not null;
create index jobs_by_worker on jobs (worker) where worker is not null;
create index jobs_by_link on jobs (same_as) where same_as is not null;

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
