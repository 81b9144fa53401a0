-- Whose results are to be read by whom.
create table assignments (
    job      text not null,
    batch    text not null,
    -- Who is to read it.
    reviewer text not null,
    -- Of those that two people read, each by themselves.
    twice    integer not null,
    created  text not null,
    primary key (job, reviewer)
) strict;

create index assignments_by_batch on assignments (batch);
