//! Whether a database is new, this program's or another program's: found out before anything is written into it. Many programs
//! call a table `jobs`, and many keep their migrations where this one does.

use super::StoreError;
use sqlx::migrate::Migrator;

/// What an inspection of a database found.
pub(super) struct DatabaseContents {
    /// It has tables where this program's would be.
    pub(super) has_tables: bool,
    /// Of the migrations that it has seen, one has the hash of this program's first.
    pub(super) is_ours: bool,
    /// It has seen migrations, and they lie where this program's would be.
    pub(super) has_migrations: bool,
    /// The newest of them.
    pub(super) newest: i64,
}

impl DatabaseContents {
    /// The newest migration of this program's that the database has seen; 0 for a new one. `Foreign`, `Newer`.
    pub(super) fn version(&self, database: &str, known: i64) -> Result<i64, StoreError> {
        let database = || database.to_owned();
        match self {
            Self { is_ours: true, newest, .. } if *newest > known => {
                Err(StoreError::Newer { database: database(), found: *newest, known })
            }
            Self { is_ours: true, newest, .. } => Ok(*newest),
            Self { has_tables: true, .. } | Self { has_migrations: true, .. } => {
                Err(StoreError::Foreign { database: database() })
            }
            Self { .. } => Ok(0),
        }
    }
}

impl DatabaseContents {
    /// Whether there is anything to read; what is there is of this program's present version.
    pub(super) fn is_readable(&self, database: &str, known: i64) -> Result<bool, StoreError> {
        match self.version(database, known)? {
            0 => Ok(false),
            version if version == known => Ok(true),
            _ => Err(StoreError::Older { database: database.to_owned() }),
        }
    }
}

/// The newest migration that this program knows.
pub(super) fn newest_known(migrations: &Migrator) -> i64 {
    migrations.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// The hash of the first migration: by it a database is known as this program's.
pub(super) fn first_checksum(migrations: &Migrator) -> &[u8] {
    migrations.iter().min_by_key(|migration| migration.version).map_or(&[], |migration| &*migration.checksum)
}

/// The tables, views and indexes that the migrations make: another program's of such a name would be in the way.
pub(super) fn object_names(migrations: &Migrator) -> Vec<String> {
    let statements = migrations.iter().flat_map(|migration| migration.sql.as_str().lines());
    let names = statements.filter_map(|line| {
        let words: Vec<&str> =
            line.split_whitespace().filter(|word| !matches!(*word, "unique" | "temporary")).collect();
        match words[..] {
            ["create", "table" | "view" | "index", name, ..] => Some(name.trim_end_matches('(').to_owned()),
            _ => None,
        }
    });
    names.collect()
}
