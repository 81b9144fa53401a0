//! Whether a database is new, this program's or another program's: found out before anything is written into it. Many programs
//! call a table `jobs`, and many keep their migrations where this one does.

use super::StoreError;
use sqlx::migrate::Migrator;

/// The first bytes of the first migration's hash in databases of earlier development versions: six migrations, never
/// released, became one, and that has changed since.
const DEVELOPMENT: [u64; 4] =
    [0xdb84_488d_af5f_544f, 0x84b2_28ca_3f38_a51a, 0x5b74_8f7b_6c51_f50e, 0xb447_08df_026f_e9c8];

/// The result of inspecting a database.
pub(super) struct DatabaseContents {
    /// Whether it has tables with the names of this program's.
    pub(super) has_tables: bool,
    /// The migrations applied to it: numbers and hashes.
    pub(super) migrations: Vec<(i64, Vec<u8>)>,
    /// Whether they are in the place where this program's would be.
    pub(super) are_here: bool,
}

impl DatabaseContents {
    /// The newest migration of this program's that the database has seen; 0 for a new one. `Foreign`, `Development`, `Newer`.
    pub(super) fn version(&self, database: &str, ours: &Migrator, known: i64) -> Result<i64, StoreError> {
        let database = || database.to_owned();
        let begins =
            |hash: &[u8]| hash.first_chunk().is_some_and(|first| DEVELOPMENT.contains(&u64::from_be_bytes(*first)));
        let newest = self.migrations.iter().map(|(version, _)| *version).max().unwrap_or_default();
        if self.migrations.iter().any(|(_, hash)| hash == first(ours)) {
            let is_newer = newest > known;
            return if is_newer {
                Err(StoreError::Newer { database: database(), found: newest, known })
            } else {
                Ok(newest)
            };
        }
        if self.migrations.iter().any(|(_, hash)| begins(hash)) {
            return Err(StoreError::Development { database: database() });
        }
        if self.has_tables || (self.are_here && !self.migrations.is_empty()) {
            return Err(StoreError::Foreign { database: database() });
        }
        Ok(0)
    }

    /// Whether there is anything to read; if so, its schema is that of this version of the program.
    pub(super) fn is_readable(&self, database: &str, ours: &Migrator) -> Result<bool, StoreError> {
        let known = newest_known(ours);
        match self.version(database, ours, known)? {
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

/// The hash of the first migration: it identifies a database of this program.
fn first(migrations: &Migrator) -> &[u8] {
    migrations.iter().min_by_key(|migration| migration.version).map_or(&[], |migration| &*migration.checksum)
}

/// The tables, views and indexes that the migrations create: objects of another program with such names would conflict.
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
