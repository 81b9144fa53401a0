//! Reads the database without the program; a trigger logs every lease that is given or taken, in the same transaction.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::support::wait;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use std::{collections::BTreeMap, fmt::Write};
use uuid::Uuid;

const TRAIL: &str = "
create table public.trail (
    number bigserial primary key, at timestamptz not null, job uuid not null, lease bigint not null, worker uuid,
    status text not null);
create function public.note() returns trigger language plpgsql as $$ begin
    insert into public.trail (at, job, lease, worker, status)
    values (clock_timestamp(), new.id, new.lease, new.worker, new.status);
    return null;
end $$;
create trigger trail after update on public.jobs for each row
    when ((old.lease, old.worker, old.status) is distinct from (new.lease, new.worker, new.status))
    execute function public.note();";

/// A lease that a worker had, in microseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    worker: Uuid,
    pub(super) from: i64,
    /// Given back, taken by a sweep, or claimed by another.
    pub(super) until: i64,
}

/// What the database tells of one job.
#[derive(Debug, Default)]
pub(super) struct LeaseLog {
    pub(super) leases: BTreeMap<u64, Span>,
    pub(super) ends: usize,
    /// What should not be.
    pub(super) faults: Vec<String>,
}

pub(super) fn lay(url: &str) {
    execute(url, TRAIL);
}

pub(super) fn create_database(server: &str, name: &str) -> String {
    execute(server, &format!("create database {name}"));
    format!("{server}/{name}")
}

fn execute(url: &str, sql: &str) {
    wait(async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    });
}

/// A connection for each question, as none outlives a restart.
fn number(url: &str, sql: &'static str) -> i64 {
    wait(async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
    })
}

/// Jobs that have not ended.
pub(super) fn open_jobs(url: &str) -> i64 {
    number(url, "select count(*) from jobs where status in ('queued', 'running', 'held')")
}

/// Ends all connections but one's own. How many there were.
pub(super) fn terminate(url: &str) -> i64 {
    number(
        url,
        "select count(pg_terminate_backend(pid)) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()",
    )
}

/// What the trail tells of each job, and the trail itself as lines.
pub(super) fn read(url: &str) -> (BTreeMap<Uuid, LeaseLog>, String) {
    type Row = (i64, Uuid, i64, Option<Uuid>, String);
    let rows: Vec<Row> = wait(async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let sql = "select cast(floor(extract(epoch from at) * 1000000) as bigint), job, lease, worker, status
            from trail order by number";
        sqlx::query_as(sql).fetch_all(&mut connection).await.unwrap()
    });
    let mut leases: BTreeMap<Uuid, LeaseLog> = BTreeMap::new();
    let mut lines = String::new();
    for (at, job, lease, worker, status) in rows {
        let _ = writeln!(lines, "{at} {job} lease {lease} {worker:?} {status}");
        leases.entry(job).or_default().add(at, u64::try_from(lease).unwrap(), worker, &status);
    }
    (leases, lines)
}

impl LeaseLog {
    pub(super) fn add(&mut self, at: i64, lease: u64, worker: Option<Uuid>, status: &str) {
        self.ends += usize::from(!["queued", "running", "held"].contains(&status));
        let last = self.leases.last_entry().map(|last| (*last.key(), *last.get()));
        let is_open = last.is_some_and(|(_, span)| span.until == i64::MAX);
        if is_open && last.is_some_and(|(before, span)| (before, Some(span.worker)) == (lease, worker)) {
            return;
        }
        if let Some(mut before) = self.leases.last_entry().filter(|_| is_open) {
            before.get_mut().until = at;
        }
        if let Some(worker) = worker {
            if last.is_some_and(|(before, _)| before >= lease) {
                self.faults.push(format!("lease {lease} was given again, to {worker}"));
            }
            self.leases.insert(lease, Span { worker, from: at, until: i64::MAX });
        }
    }
}
