//! Errors of the database, and whether trying again can help.

use overnight_core::job::{id::JobId, record::JobStatus};
use std::fmt;
use thiserror::Error;

/// A failed call to the database. `database` is host and name, or the file's path: never a URL, which may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// The URL, its path, the login or the database itself is wrong.
    #[error("can't open database {database}: {detail}")]
    Connect { database: String, detail: String },
    /// The database is down, busy or cut off. It is unknown whether the write took effect: repeat it.
    #[error("database {database} doesn't answer: {detail}")]
    Unreachable { database: String, detail: String },
    /// The database's disk is full.
    #[error("no room left for database {database}: {detail}")]
    Full { database: String, detail: String },
    /// The tables were made by another program.
    #[error(
        "the database {database} isn't overnight's: it has tables of another program; name another with \
         OVERNIGHT_DATABASE_URL or --database-url"
    )]
    Foreign { database: String },
    /// Made by a version of this program that was never released.
    #[error(
        "database {database} was made by an earlier development version of overnight, and can't be brought up to this one: \
         remove it and run `overnight reindex`"
    )]
    Development { database: String },
    /// Made by an earlier version of this program; a reader must not change it.
    #[error("database {database} was made by an older overnight: `overnight migrate` brings it up to this one")]
    Older { database: String },
    /// Made by a later version of this program.
    #[error(
        "database {database} was made by a newer overnight (its schema is {found}, this program knows up to {known}): \
         update this program"
    )]
    Newer { database: String, found: i64, known: i64 },
    /// Another process has claimed the job, or no process has it any more. Control flow: stop, and write nothing more.
    #[error("the lease on job {id} is lost")]
    LeaseLost { id: JobId },
    #[error("job {id} has already ended: it is {status}")]
    Ended { id: JobId, status: JobStatus },
    #[error("{}", not_found(.name))]
    NotFound { name: String },
    /// A few of the matches, oldest first; `more` when there are others.
    #[error("more than one job begins or ends with '{name}': {}{}; give more of the id", IdList(.matches), if *.more { ", …" } else { "" })]
    Ambiguous { name: String, matches: Vec<JobId>, more: bool },
    /// `many`: the name is the beginning of more than one batch's id.
    #[error("{}", no_batch(.name, *.many))]
    NoBatch { name: String, many: bool },
    /// A stored row that this program can't have written.
    #[error("database {database} holds a row that can't be read: {detail}")]
    Corrupt { database: String, detail: String },
    /// The database refused: a defect of this program, or a changed schema.
    #[error("database {database} refused: {detail}")]
    Sql { database: String, detail: String },
}

impl StoreError {
    /// Whether the same call can succeed later, once the database is back or its disk has room: a process that works
    /// through the night waits for that.
    pub fn passes(&self) -> bool {
        self.retryable() || matches!(self, Self::Full { .. })
    }

    /// Whether the same call can succeed later without anybody's help.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Connect { .. }
            | Self::Full { .. }
            | Self::Foreign { .. }
            | Self::Development { .. }
            | Self::Older { .. }
            | Self::Newer { .. }
            | Self::LeaseLost { .. }
            | Self::Ended { .. }
            | Self::NotFound { .. }
            | Self::Ambiguous { .. }
            | Self::NoBatch { .. }
            | Self::Corrupt { .. }
            | Self::Sql { .. } => false,
        }
    }
}

/// The message of a database error, without the client library's words around it.
pub(super) fn message(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Configuration(error) | sqlx::Error::Tls(error) => error.to_string(),
        sqlx::Error::PoolTimedOut => "it accepts no connection".to_owned(),
        error => error.to_string(),
    }
}

fn not_found(name: &str) -> String {
    if name == super::newest::LAST {
        "there is no job yet".to_owned()
    } else {
        format!("no job has the id '{name}' or one that begins so; `overnight jobs` lists them")
    }
}

fn no_batch(name: &str, many: bool) -> String {
    if many {
        format!("the ids of more than one batch begin with '{name}'; give more of the id")
    } else if name == super::newest::LAST {
        "there is no batch yet".to_owned()
    } else {
        format!("no batch has the name '{name}', or an id that is it or begins so")
    }
}

struct IdList<'a>(&'a [JobId]);

impl fmt::Display for IdList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, id) in self.0.iter().enumerate() {
            write!(f, "{}{id}", if place == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
