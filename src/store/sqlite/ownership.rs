//! Finds out which program a file belongs to without changing it: even another program's write mode must stay the same.

use crate::store::{StoreError, migrations::SQLITE as MIGRATIONS, ownership::DatabaseContents};
use sqlx::{ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use std::{path::Path, time::SystemTime};

/// Inspects a file. A file belongs to one program: any tables in it conflict.
pub(super) async fn inspect(connection: &mut SqliteConnection) -> Result<DatabaseContents, sqlx::Error> {
    // Before the migrations: if another process creates these tables now, its migrations will show them as ours.
    let tables = "select exists (select 1 from sqlite_schema
        where type in ('table', 'view') and name <> '_sqlx_migrations' and name not glob 'sqlite_*'),
        exists (select 1 from sqlite_schema where name = '_sqlx_migrations')";
    let (has_tables, is_kept): (bool, bool) = sqlx::query_as(tables).fetch_one(&mut *connection).await?;
    let migrations = if is_kept {
        sqlx::query_as("select version, checksum from _sqlx_migrations").fetch_all(connection).await?
    } else {
        Vec::new()
    };
    Ok(DatabaseContents { has_tables, migrations, are_here: true })
}

/// Refuses another program's file before it is opened in a way that changes it. Other faults of the file are reported
/// when it is opened.
pub(super) async fn refuse_foreign(
    options: &SqliteConnectOptions,
    path: &Path,
    database: &str,
) -> Result<(), StoreError> {
    let options = options.clone().read_only(true).create_if_missing(false);
    // Inspecting a file that no process has open leaves nothing beside it. It takes no lock: the result is valid if the
    // file has not changed meanwhile.
    let before = stamp_if_closed(path);
    if before.is_some() {
        let found = inspect_file(options.clone().immutable(true), database).await;
        if found.is_ok() || stamp_if_closed(path) == before {
            return found;
        }
    }
    inspect_file(options, database).await
}

async fn inspect_file(options: SqliteConnectOptions, database: &str) -> Result<(), StoreError> {
    let Ok(mut connection) = options.connect().await else { return Ok(()) };
    let found = inspect(&mut connection).await;
    // Best effort: it was only read.
    let _ = connection.close().await;
    match found.map(|found| found.version(database, &MIGRATIONS, i64::MAX)) {
        Ok(Err(foreign)) => Err(foreign),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

/// Length and time of a file that no process has open: an open one has a log beside it.
pub(super) fn stamp_if_closed(path: &Path) -> Option<(u64, SystemTime)> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if Path::new(&log).exists() {
        return None;
    }
    let file = path.metadata().ok()?;
    Some((file.len(), file.modified().ok()?))
}
