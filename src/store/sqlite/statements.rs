//! The parts of SQL that are specific to SQLite.
//!
//! (Statuses are compared with literals, never with parameters: a partial index is then chosen once and for all.
//! Parameters are written `$1`, not `?1`: with the latter the client library drops those after a gap, and not every
//! statement uses every parameter.)

use crate::store::sql::{Dialect, given_jobs, phases, progress, status, todos};

pub(super) const DIALECT: Dialect = Dialect {
    fragments: &[
        ("now", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"),
        ("now_ms", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"),
        ("start", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"),
        ("ago", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-?')"),
        ("from_now", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', format('+%d.%03d seconds', ? / 1000, ? % 1000))"),
        // Only one transaction at a time writes, so nothing has to be locked.
        ("lock", ""),
        ("lock_what_is_free", ""),
        ("first", ""),
        ("then", ";"),
        // Other processes poll a number for possible work; it increases if the statement has changed any row.
        ("notifying", ""),
        ("and_count", "; select changes(); update queue_changes set number = number + 1 where changes() > 0"),
        ("and_rows", "; update queue_changes set number = number + 1 where changes() > 0"),
        ("horizon", "(select coalesce(max(change), 0) + 1 from jobs)"),
        ("before_ceiling", "is not null"),
        ("like", "like"),
        ("in_list", "in (select value from json_each(?))"),
        ("no_list", "? = '[]'"),
        ("json", "?"),
        // A column that is compared with a parameter may permit a partial index, and SQLite would then make its plan
        // anew whenever the parameter is bound.
        ("unindexed", "+?"),
        ("one_of", "jobs as done on done.id = (select id from jobs"),
        ("as", ")"),
        (
            "written",
            "select id from jobs
             where id = $1 ->> '$[0].id' and lease = coalesce($1 ->> '$[0].lease', lease)
                and +status = $1 ->> '$[0].status' and journal_head = $1 ->> '$[0].journal_head'",
        ),
    ],
    given,
};

/// Each column is looked up in the JSON by its name; it has the type that it has in the JSON.
fn given(parameter: &str, columns: &str, is_one: bool) -> String {
    let names = columns.split(',').filter_map(|column| column.split_whitespace().next());
    let columns: Vec<String> = if is_one {
        names.map(|name| format!("{parameter} ->> '$[0].{name}' as {name}")).collect()
    } else {
        names.map(|name| format!("value ->> '{name}' as {name}")).collect()
    };
    let source = if is_one { String::new() } else { format!(" from json_each({parameter})") };
    format!("(select {}{source}) as given", columns.join(", "))
}

/// The jobs that may run now: the rows of the index `jobs_to_claim`.
macro_rules! waiting {
    () => {
        "status = 'queued' and run_after is null and batch is not null"
    };
}

/// From one group with waiting jobs to the next, without a look at the jobs between; then as many of each as it has room
/// for, on each machine in line.
pub(super) const CLAIM_NEXT: &str = concat!(
    "update jobs set run_after = null where status = 'queued' and run_after <= {now} and batch is not null;
     update jobs set
        status = 'running', hold_reason = null, reason = null, lease = lease + 1, worker = $1, may_cost_usd = 0,
        turns_at_claim = turns, lease_until = {from_now $4},
        wants = case when wants = 'pause' then null else wants end, updated = {now}
     where id in (
        with recursive keys (key) as (
            select ''
            union all
            select (select coalesce(group_key, '') from jobs indexed by jobs_to_claim where ",
    waiting!(),
    " and coalesce(group_key, '') > keys.key order by coalesce(group_key, '') limit 1)
            from keys where keys.key is not null
        ), rooms (key, room) as materialized (
            select keys.key, min($3, max(0, coalesce(job_groups.at_once
                - (select count(*) from jobs where group_key = keys.key and status = 'running'), $3)))
            from keys left join job_groups on job_groups.key = keys.key
            where keys.key is not null
        ), machines (host) as materialized (
            select '' union select $2
        ), candidates as (
            select jobs.id, jobs.place_in_line, rooms.room,
                row_number() over (partition by rooms.key order by jobs.place_in_line, jobs.id) as place
            from rooms cross join machines cross join jobs on jobs.id in (
                select waits.id from jobs as waits indexed by jobs_to_claim where ",
    waiting!(),
    " and coalesce(waits.group_key, '') = rooms.key and coalesce(waits.host, '') = machines.host
                    and (waits.manifest is null or exists (select 1 from workers where id = $1 and has_workspace_store))
                    and ($5 = '[]' or waits.batch in (select value from json_each($5)))
                order by waits.place_in_line, waits.id
                limit $3)
            where rooms.room > 0
        )
        select id from candidates where place <= room order by place_in_line, id limit $3)
     returning id, lease, batch, created, label, sources, documents, documents_sha256, workspace, host, attempts,
        max_attempts, wants, manifest, place_in_line"
);

/// (Sums of tenths are not exact.)
pub(super) const RESERVE: &str = "update jobs set may_cost_usd = $3
     where id = $1 and lease = $2 and worker is not null and status = 'running' and ($3 <= may_cost_usd or (
        select coalesce(sum(case when others.status in ('running', 'waiting')
            then max(coalesce(others.cost_usd, 0), others.may_cost_usd) else others.cost_usd end), 0)
        from jobs as others where others.batch = jobs.batch and others.id <> $1)
        + max(coalesce(cost_usd, 0), $3) <= (
            select coalesce(budget_usd, 9e999) from batches where id = jobs.batch) + 1e-9);
     select case when changes() > 0 then 2 else (
        select coalesce(sum(cost_usd), 0) from jobs as others where others.batch = jobs.batch and others.id <> $1)
        + max(coalesce(cost_usd, 0), $3) <= (
            select coalesce(budget_usd, 9e999) from batches where id = jobs.batch) + 1e-9 end
     from jobs where id = $1 and lease = $2 and worker is not null and status = 'running'";

pub(super) const MARK_ENDED: &str = "update batches set ended_at = {now}
     where id = $1 and ended_at is null and not exists (
        select 1 from jobs where batch = batches.id and status in ('queued', 'running', 'waiting', 'held'))
     returning id";

/// For a job that is and was running. (SQLite writes the indexes of every column that is set, changed or not: so the
/// status is not set.)
macro_rules! running {
    () => {
        concat!(
            "update jobs set ",
            progress!(),
            " from ",
            given_jobs!(),
            " and jobs.worker is not null and +jobs.status = given.status returning jobs.lease"
        )
    };
}

pub(super) const CHECKPOINT_RUNNING: &str = concat!(running!(), "; ", phases!(), "; ", todos!());

/// The same, of a checkpoint without phases and todos.
pub(super) const CHECKPOINT_RUNNING_JOB: &str = running!();

/// A checkpoint of a job that has any other status: written where its lease is still held, or where this same checkpoint freed
/// the lease before. A job that rests makes room in its group.
pub(super) const CHECKPOINT: &str = concat!(
    "update jobs set ",
    progress!(),
    ", ",
    status!(),
    " from ",
    given_jobs!(),
    " and (jobs.worker is not null or (+jobs.status = given.status and jobs.journal_head = given.journal_head))
     returning jobs.lease;
     update queue_changes set number = number + 1
     where changes() > 0 and exists (select 1 from jobs where id = $1 ->> '$[0].id' and group_key is not null); ",
    phases!(),
    "; ",
    todos!()
);
