-- Model calls that were handed in for the batch endpoint of a provider, until their jobs have taken the answers. A lane is a model
-- at a server, with the key that it is asked with.
create table handed_calls (
    -- As its job names it.
    key            text    primary key,
    job            text    not null references jobs (id) on delete cascade,
    lane           text    not null,
    -- What calls have in common that begin alike.
    prefix         text    not null,
    prefix_tokens  integer not null,
    tokens         integer not null,
    bytes          integer not null,
    handed         text    not null,
    -- It is not waited for longer.
    until          text,
    -- The request; null once there is an answer.
    body           text,
    -- What took it to the provider; null: it is still gathered.
    provider_batch text,
    -- The provider's reply as it came, or why there is none.
    reply          text,
    failure        text,
    -- What a primer has cost that was sent for it and others, in USD.
    primer_usd     real
) strict;
create index handed_calls_by_lane on handed_calls (lane) where reply is null and failure is null;
create index handed_calls_by_batch on handed_calls (provider_batch);
create index handed_calls_by_job on handed_calls (job);

-- What was sent to a provider's batch endpoint, or was about to be.
create table provider_batches (
    -- The name under which the provider knows it too, where it takes one.
    id       text    primary key,
    lane     text    not null,
    -- The provider's name; null: nobody knows yet whether it was created.
    handle   text,
    calls    integer not null,
    tokens   integer not null,
    intended text    not null,
    until    text,
    -- That it is to be given up was said to the provider.
    cancelled integer not null default 0,
    ended    text,
    outcome  text
) strict;
create index provider_batches_open on provider_batches (lane) where ended is null;

-- Who speaks with a provider about a lane now.
create table call_lanes (
    lane       text primary key,
    held_by    text,
    held_until text,
    -- Until when the provider's cache has the beginnings of calls, by prefix (JSON).
    primed     text not null default '{}'
) strict;
