-- Schedules: what becomes of runs that were missed or that would overlap, and the run that is being submitted right now.

-- Of the runs that were missed while nothing ran, the last is made up for while it is no older; 0: none is.
alter table schedules add column make_up_ms  integer not null default 43200000;
-- Whether a run begins while the last batch still has jobs to do.
alter table schedules add column may_overlap integer not null default 0 check (may_overlap in (0, 1));
-- The moment for which the run was planned that somebody is submitting, and until when they are taken to be at it.
alter table schedules add column run         text;
alter table schedules add column run_until   text;
-- What became of the last run, where it wasn't submitted.
alter table schedules add column note        text;
