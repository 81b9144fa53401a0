//! SQL that both databases share. A statement exists once, as a template: where the databases differ, it has a fragment
//! such as `{now}`, and the [`Dialect`] of each database defines its text.
//!
//! Such statements are in the files below, for any [`Engine`]. Statements that have nothing in common are in each
//! engine's own folder.

/// A pattern that matches only the settings of an evaluation's batch: in texts within them quotes are escaped.
macro_rules! like_eval {
    () => {
        "like '%\"eval\":_\"gold\":%'"
    };
}

mod assignments;
mod batches;
mod calls;
mod checkpoint;
mod jobs;
mod listing;
mod notices;
mod queue;
mod schedules;
mod tokens;
mod workers;

pub(super) use checkpoint::{checkpoint_values, given_jobs, phases, progress, status, todos};

use super::{StoreError, queue::ClaimedColumns, value::Value};
use async_trait::async_trait;
use overnight_core::job::{id::JobId, record::Checkpoint};
use sqlx::{FromRow, postgres::PgRow, sqlite::SqliteRow};
use std::{borrow::Cow, fmt, time::Duration};

/// The parts of SQL in which a database differs from the other one.
pub(super) struct Dialect {
    /// The replacements for `{name}`, and for `{name argument}` with the argument for each `?`.
    pub(super) fragments: &'static [(&'static str, &'static str)],
    /// The replacement for `{given $1: id uuid, label text}`: the objects of a JSON array as a table `given` of these
    /// columns, whose types are PostgreSQL's. `{given_one …}` is the same for an array with only one object.
    pub(super) given: fn(parameter: &str, columns: &str, is_one: bool) -> String,
}

impl Dialect {
    /// The statement in this database's SQL.
    pub(super) fn render(&self, template: &str) -> String {
        let mut sql = String::with_capacity(template.len() * 2);
        let mut rest = template;
        while let Some((before, (inside, after))) =
            rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
        {
            sql.push_str(before);
            let (name, argument) = inside.split_once(' ').unwrap_or((inside, ""));
            match (name, argument.split_once(':'), self.fragments.iter().find(|(named, _)| *named == name)) {
                ("given" | "given_one", Some((parameter, columns)), _) => {
                    sql.push_str(&(self.given)(parameter, columns, name == "given_one"));
                }
                (_, _, Some((_, fragment))) => sql.push_str(&fragment.replace('?', argument)),
                // An unknown fragment: the database will reject it.
                (_, _, None) => sql.push_str(inside),
            }
            rest = after;
        }
        sql.push_str(rest);
        sql
    }
}

/// A template and its parameters.
#[derive(Debug)]
pub(super) struct SqlStatement {
    pub(super) template: Cow<'static, str>,
    pub(super) values: Vec<Value>,
}

impl SqlStatement {
    pub(super) fn new(template: impl Into<Cow<'static, str>>, values: Vec<Value>) -> Self {
        Self { template: template.into(), values }
    }
}

/// When a write must be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// Before it is acknowledged.
    Now,
    /// A power cut may undo it completely: the workspace has it, and the next process to resume the job writes it
    /// again. The end of a process undoes nothing.
    Soon,
}

/// Types that can be read from a row of either database.
pub(super) trait Columns:
    for<'row> FromRow<'row, SqliteRow> + for<'row> FromRow<'row, PgRow> + Send + Unpin
{
}

impl<T> Columns for T where T: for<'row> FromRow<'row, SqliteRow> + for<'row> FromRow<'row, PgRow> + Send + Unpin {}

/// A database, for the shared statements.
#[async_trait]
pub(super) trait Engine: Send + Sync + fmt::Debug + 'static {
    /// Takes jobs in line, with worker, machine, how many at most and milliseconds: the columns of [`ClaimedColumns`].
    const CLAIM_NEXT: &'static str;
    /// Reserves the cost that a job under a lease may cause: a number of [`super::Grant`]; no row if the lease is lost.
    const RESERVE: &'static str;
    /// Marks a batch as ended where it is: a row where it was marked.
    const MARK_ENDED: &'static str;
    /// Writes the checkpoint of a job that may have ended, with [`checkpoint_values`]: a row where its lease is held.
    const CHECKPOINT: &'static str;

    /// The database's name in errors.
    fn database(&self) -> &str;

    /// All rows of a query, which changes nothing.
    async fn read<T: Columns>(&self, statement: SqlStatement) -> Result<Vec<T>, StoreError>;

    /// Runs statements in one transaction, and returns the rows of all.
    async fn write<T: Columns>(
        &self,
        statements: Vec<SqlStatement>,
        durability: Durability,
    ) -> Result<Vec<T>, StoreError>;

    /// Runs [`Engine::CLAIM_NEXT`].
    async fn write_claim(&self, statement: SqlStatement) -> Result<Vec<ClaimedColumns>, StoreError>;

    /// Writes a checkpoint, together with those of other jobs that are asked for at the same time.
    async fn write_checkpoint(&self, id: JobId, lease: u64, checkpoint: &Checkpoint) -> Result<(), StoreError>;

    /// [`super::QueueStore::changed`].
    async fn wait_for_change(&self, within: Duration) -> bool;

    /// The rows of a query.
    async fn query<T: Columns>(&self, template: &'static str, values: Vec<Value>) -> Result<Vec<T>, StoreError> {
        self.read(SqlStatement::new(template, values)).await
    }

    /// The first row of a query that always has one.
    async fn one<T: Columns + Default>(&self, template: &'static str, values: Vec<Value>) -> Result<T, StoreError> {
        Ok(self.query(template, values).await?.pop().unwrap_or_default())
    }

    /// Runs one statement; true where it gave a row, as it does where it took effect.
    async fn take_effect(
        &self,
        template: &'static str,
        values: Vec<Value>,
        durability: Durability,
    ) -> Result<bool, StoreError> {
        let rows: Vec<()> = self.write(vec![SqlStatement::new(template, values)], durability).await?;
        Ok(!rows.is_empty())
    }

    /// Runs one statement under a lease.
    async fn under_lease(
        &self,
        id: JobId,
        template: &'static str,
        values: Vec<Value>,
        durability: Durability,
    ) -> Result<(), StoreError> {
        let took_effect = self.take_effect(template, values, durability).await?;
        if took_effect { Ok(()) } else { Err(StoreError::LeaseLost { id }) }
    }

    /// Runs statements of which one counts the rows that it changed, and notifies others of them (`{notifying} … {and_count}`).
    async fn count(&self, statements: Vec<SqlStatement>) -> Result<u64, StoreError> {
        let rows: Vec<(i64,)> = self.write(statements, Durability::Now).await?;
        Ok(rows.first().map_or(0, |(changed,)| changed.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_said_in_the_words_of_the_dialect() {
        let dialect = Dialect {
            fragments: &[("now", "clock()"), ("from_now", "after(?, ? % 7)")],
            given: |parameter, columns, is_one| format!("[{parameter}|{columns}|{is_one}]"),
        };
        for (template, sql) in [
            ("select {now}, {from_now $2}{now}", "select clock(), after($2, $2 % 7)clock()"),
            ("from {given $1: id uuid, a b} x", "from [$1| id uuid, a b|false] x"),
            ("{given_one $3: a}", "[$3| a|true]"),
            ("no fragment } or {", "no fragment } or {"),
        ] {
            assert_eq!(dialect.render(template), sql);
        }
    }
}
