-- What workers need beside the claim: to hear of changes, to share a budget, to end a batch.

-- The most that a running job may cost in all, by what it has reserved. What counts of a batch's other jobs is their cost.
alter table jobs add column may_cost_usd real not null default 0;
-- Turns when the job was claimed last. An attempt that gets further makes the failed ones before it forgotten: what counts
-- is how many in a row failed at the same place.
alter table jobs add column turns_at_claim integer not null default 0;
alter table jobs add column attempts_in_a_row integer generated always as
    (case when turns > turns_at_claim then 0 else attempts end) virtual;
-- A batch's cost is the sum over its jobs; kept twice it could be two.
alter table batches drop column reserved_usd;
alter table batches drop column spent_usd;

-- When somebody saw to the end of the batch, after its last job.
alter table batches add column ended_at text;
-- Nobody waits for the end of what ended before this column was there.
update batches set ended_at = coalesce((select max(updated) from jobs where batch = batches.id), created)
    where not exists (select 1 from jobs where batch = batches.id and status in ('queued', 'running', 'held'));
create index batches_open on batches (created, id) where ended_at is null;

create index jobs_by_wish on jobs (worker) where wants is not null;

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
