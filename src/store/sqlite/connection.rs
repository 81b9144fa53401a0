//! Opens a file, and updates its schema to this program's.

use super::{BUSY, failed, ownership::inspect};
use crate::store::{StoreError, migrations::SQLITE as MIGRATIONS, ownership::newest_known};
use sqlx::{ConnectOptions, Connection, SqliteConnection, migrate::MigrateError, sqlite::SqliteConnectOptions};
use std::{
    fs::{DirBuilder, OpenOptions},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
    time::{Duration, Instant},
};

/// Creates the file and its folder if missing, accessible only to their owner; this also covers SQLite's own files.
pub(super) fn make(path: &Path, database: &str) -> Result<(), StoreError> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| StoreError::Connect {
            database: database.to_owned(),
            detail: format!("its folder can't be made: {error}"),
        })?;
    }
    // If it can't be created, SQLite reports why.
    let _ = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    Ok(())
}

pub(super) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).foreign_keys(true).busy_timeout(BUSY)
}

/// Turning a new file to write-ahead logging doesn't wait for a process that does the same; so wait here.
pub(super) async fn connected(options: &SqliteConnectOptions, database: &str) -> Result<SqliteConnection, StoreError> {
    let since = Instant::now();
    loop {
        match options.connect().await.map_err(|error| failed(database, error)) {
            Err(error) if error.retryable() && since.elapsed() < BUSY => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            // Any error before the first read is an error of the file.
            Err(StoreError::Sql { database, detail }) => return Err(StoreError::Connect { database, detail }),
            result => return result,
        }
    }
}

/// Brings the schema up to this program's.
pub(super) async fn migrate(connection: &mut SqliteConnection, database: &str) -> Result<(), StoreError> {
    let newest = newest_known(&MIGRATIONS);
    let found = inspect(connection).await.map_err(|error| failed(database, error))?;
    if found.version(database, &MIGRATIONS, newest)? == newest {
        return Ok(());
    }
    // All in one transaction, because two processes may find the same new file.
    let mut transaction = connection.begin_with("begin immediate").await.map_err(|error| failed(database, error))?;
    MIGRATIONS.run_direct(None, &mut *transaction, false).await.map_err(|error| match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failed(database, error),
        error => StoreError::Sql { database: database.to_owned(), detail: error.to_string() },
    })?;
    transaction.commit().await.map_err(|error| failed(database, error))
}
