//! The parts of SQL that are specific to PostgreSQL. The claim and the reservation are functions in the database
//! (`migrations/postgres/0001_schema.sql`), because they count only after they have locked others out.

use crate::store::sql::{Dialect, given_jobs, phases, progress, status, todos};

pub(super) const DIALECT: Dialect = Dialect {
    fragments: &[
        ("now", "clock_timestamp()"),
        ("now_ms", "date_trunc('milliseconds', clock_timestamp())"),
        // The time of the transaction: the same for all rows, so that an index helps.
        ("start", "now()"),
        ("ago", "now() - interval '?'"),
        ("from_now", "clock_timestamp() + ? * interval '1 millisecond'"),
        ("lock", " order by id for update"),
        ("lock_what_is_free", " order by id for update skip locked"),
        ("first", "with first as ("),
        ("then", ")"),
        // Other processes listen for possible work; they are notified if the statement has changed any row.
        ("notifying", "with changed as ("),
        ("and_count", " returning 1) select overnight_notify(count(*)) from changed"),
        (
            "and_rows",
            "), notified as (select overnight_notify(count(*)) from changed) select changed.* from changed, notified",
        ),
        // All transactions before it have ended, and are seen by this statement; none from the other one on is.
        ("horizon", "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"),
        ("before_ceiling", "< pg_snapshot_xmax(pg_current_snapshot())::text::bigint"),
        ("like", "ilike"),
        ("in_list", "= any(?)"),
        ("no_list", "cardinality(?) = 0"),
        ("json", "?::jsonb"),
        ("unindexed", "?"),
        ("one_of", "lateral (select * from jobs"),
        ("as", ") as ? on true"),
        ("written", "select id from written"),
    ],
    given: |parameter, columns, _| format!("json_to_recordset({parameter}::json) as given ({columns})"),
};

pub(super) const CLAIM_NEXT: &str =
    "select id, lease, batch, created, label, sources, documents, documents_sha256, workspace, host, attempts,
        max_attempts, wants, manifest, place_in_line
     from overnight_claim($1, $2, $3, $4, $5)";

pub(super) const RESERVE: &str = "select granted
     from (select cast(overnight_reserve($1, $2, $3) as bigint) as granted) as reserved
     where granted is not null";

pub(super) const MARK_ENDED: &str = "select 1 where overnight_mark_ended($1)";

/// (Jobs are read in the given order: by their ids.)
macro_rules! jobs {
    () => {
        concat!(
            "with written as (update jobs set ",
            progress!(),
            ", ",
            status!(),
            " from ",
            given_jobs!(),
            " and (jobs.worker is not null or (jobs.status = given.status and jobs.journal_head = given.journal_head))
             returning jobs.id, jobs.status <> 'running' and jobs.group_key is not null as makes_room)"
        )
    };
}

/// For one or more jobs, if their leases are still held, or if this same checkpoint freed them.
pub(super) const CHECKPOINT: &str = concat!(
    jobs!(),
    ", written_phases as (",
    phases!(),
    "), written_todos as (",
    todos!(),
    ") select id, makes_room from written"
);

/// The same, of checkpoints without phases and todos.
pub(super) const CHECKPOINT_OF_JOBS: &str = concat!(jobs!(), " select id, makes_room from written");

/// Jobs of groups make room, for those that wait.
pub(super) const NOTIFY_OF_ROOM: &str = "select overnight_notify(count(*)) from jobs
     where id = any($1) and exists (
        select 1 from jobs as waits
        where status = 'queued' and run_after is null and batch is not null
            and coalesce(waits.group_key, '') = jobs.group_key)";
