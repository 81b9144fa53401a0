-- Whose results are to be read by whom.
create table assignments (
    job      uuid not null,
    batch    uuid not null,
    -- Who is to read it.
    reviewer text not null,
    -- Of those that two people read, each by themselves.
    twice    boolean not null,
    created  timestamptz not null,
    primary key (job, reviewer)
);

create index assignments_by_batch on assignments (batch);
