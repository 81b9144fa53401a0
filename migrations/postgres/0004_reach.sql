-- With what people and programs come to `overnight serve`. The token itself is kept nowhere.
create table access_tokens (
    id      uuid primary key,
    -- Of who has it: what is recorded of their acts.
    name    text not null,
    -- reader, reviewer, operator
    role    text not null,
    -- Of the token, SHA-256 in hexadecimal digits.
    sha256  text not null unique,
    created timestamptz not null,
    expires timestamptz,
    revoked timestamptz
);

-- Requests that carry a key of their own (Idempotency-Key): a second one with the same key means the same batch.
create table request_keys (
    -- Who asks, and the key.
    key     text primary key,
    batch   uuid not null,
    -- Of what was asked for, SHA-256 in hexadecimal digits.
    sha256  text not null,
    created timestamptz not null
);
