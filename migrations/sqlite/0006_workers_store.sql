-- Which workers can open a workspace that is in the workspace store: only they are given such jobs.
alter table workers add column has_depot integer not null default 0 check (has_depot in (0, 1));
