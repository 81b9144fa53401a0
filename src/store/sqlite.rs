//! Jobs in a SQLite file: for one machine, with no server. Several processes may use the file at once.
//!
//! Every write is a transaction that takes the write lock first (`begin immediate`), because one that read before it writes
//! can't wait for its turn. All go through one connection ([`writer`]); reading has others, which the write-ahead log lets
//! go on meanwhile. A commit is on the disk before it is acknowledged, but for the checkpoint of a job that is running.

mod changes;
mod connection;
mod ownership;
mod statements;
mod writer;

use super::{
    Store, StoreError,
    error::message,
    migrations::SQLITE as MIGRATIONS,
    ownership::DatabaseContents,
    queue::ClaimedColumns,
    sql::{Columns, Durability, Engine, SqlStatement, checkpoint_values},
    value::{DbId, DbTime, Value},
};
use async_trait::async_trait;
use changes::ChangePoller;
use connection::{connected, make, migrate, options};
use overnight_core::job::{
    id::JobId,
    record::{Checkpoint, JobStatus},
};
use ownership::{inspect, refuse_foreign, stamp_if_closed};
use sqlx::{
    Arguments, AssertSqlSafe, Connection, SqlitePool,
    error::BoxDynError,
    sqlite::{
        SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
    },
    types::Json,
};
use statements::{CHECKPOINT_RUNNING, CHECKPOINT_RUNNING_JOB, DIALECT};
use std::{fmt, path::Path, sync::Arc, time::Duration};
use writer::{SqliteWriter, WriteCommand};

/// How long a call waits for another process to finish its write.
const BUSY: Duration = Duration::from_secs(10);

/// Connections for reading: a long list keeps no job waiting.
const READERS: u32 = 4;

pub(super) struct SqliteStore {
    writer: Arc<SqliteWriter>,
    readers: SqlitePool,
    /// The file's path, for errors.
    database: String,
    changes: ChangePoller,
    /// The identity of the file when it was opened.
    file: Option<(u64, u64)>,
}

/// Inspects the file by a connection of its own.
async fn inspect_file(options: &SqliteConnectOptions, database: &str) -> Result<DatabaseContents, StoreError> {
    let mut connection = connected(options, database).await?;
    let found = inspect(&mut connection).await.map_err(|error| failed(database, error));
    // Best effort: it was only read.
    let _ = connection.close().await;
    found
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteStore").field(&self.database).finish()
    }
}

impl SqliteStore {
    pub(super) async fn open(path: &Path) -> Result<Self, StoreError> {
        let database = path.display().to_string();
        make(path, &database)?;
        let options = options(path).create_if_missing(true);
        refuse_foreign(&options, path, &database).await?;
        let options = options.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
        let mut connection = connected(&options, &database).await?;
        migrate(&mut connection, &database).await?;
        let writer = SqliteWriter::new(connection, database.clone()).map_err(|error| StoreError::Connect {
            database: database.clone(),
            detail: format!("the system gives no thread for it: {error}"),
        })?;
        Ok(Self::with(writer, options, path, database))
    }

    /// Opens an existing file in such a way that nothing can be changed.
    pub(super) async fn open_to_read(path: &Path) -> Result<Option<Self>, StoreError> {
        let database = path.display().to_string();
        if !path.exists() {
            return Ok(None);
        }
        let mut options = options(path).pragma("query_only", "on");
        refuse_foreign(&options, path, &database).await?;
        let mut found = inspect_file(&options, &database).await;
        // If no file can be created beside it, it is read as immutable, provided that no process has it open.
        if found.is_err() && stamp_if_closed(path).is_some() {
            options = options.read_only(true).immutable(true);
            found = inspect_file(&options, &database).await;
        }
        let is_readable = found?.is_readable(&database, &MIGRATIONS)?;
        Ok(is_readable.then(|| Self::with(SqliteWriter::none(database.clone()), options, path, database)))
    }

    fn with(writer: SqliteWriter, options: SqliteConnectOptions, path: &Path, database: String) -> Self {
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .acquire_timeout(BUSY * 3)
            .connect_lazy_with(options.create_if_missing(false));
        let file = identity(path);
        Self { writer: Arc::new(writer), readers, database, changes: ChangePoller::default(), file }
    }

    /// An error if the file was removed or replaced: writes would still go to the old one, which no other process sees.
    fn check_file(&self) -> Result<(), StoreError> {
        if self.file == identity(Path::new(&self.database)) {
            return Ok(());
        }
        let detail =
            "its file was removed or replaced while it was in use: start again, and `overnight reindex` brings \
                      back what the workspaces know"
                .to_owned();
        Err(StoreError::Connect { database: self.database.clone(), detail })
    }

    fn failed(&self, error: sqlx::Error) -> StoreError {
        failed(&self.database, error)
    }

    fn command(&self, statement: SqlStatement) -> Result<WriteCommand, StoreError> {
        let arguments = arguments(statement.values).map_err(|error| self.failed(sqlx::Error::Encode(error)))?;
        Ok(WriteCommand { sql: DIALECT.render(&statement.template), arguments })
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
        // The last connection takes away the log and its index; of two that close at the same moment, as a pool's may, each sees
        // the other and leaves that to it. One more that closes alone makes sure of it.
        if stamp_if_closed(Path::new(&self.database)).is_none() {
            let _ = inspect_file(&self.readers.connect_options(), &self.database).await;
        }
    }

    fn with_own_connection(&self) -> Arc<dyn Store> {
        // Only one connection at a time can write, and the writer's has its own thread: another one would wait longer.
        Arc::new(Self {
            writer: self.writer.clone(),
            readers: self.readers.clone(),
            database: self.database.clone(),
            changes: ChangePoller::default(),
            file: self.file,
        })
    }
}

#[async_trait]
impl Engine for SqliteStore {
    const CLAIM_NEXT: &'static str = statements::CLAIM_NEXT;
    const RESERVE: &'static str = statements::RESERVE;
    const MARK_ENDED: &'static str = statements::MARK_ENDED;
    const CHECKPOINT: &'static str = statements::CHECKPOINT;

    fn database(&self) -> &str {
        &self.database
    }

    async fn read<T: Columns>(&self, statement: SqlStatement) -> Result<Vec<T>, StoreError> {
        let WriteCommand { sql, arguments } = self.command(statement)?;
        let rows = sqlx::query_as_with(AssertSqlSafe(sql), arguments).fetch_all(&self.readers).await;
        rows.map_err(|error| self.failed(error))
    }

    async fn write<T: Columns>(
        &self,
        statements: Vec<SqlStatement>,
        durability: Durability,
    ) -> Result<Vec<T>, StoreError> {
        let commands = statements.into_iter().map(|statement| self.command(statement)).collect::<Result<_, _>>()?;
        let rows: Result<Vec<SqliteRow>, _> = self.writer.rows(commands, durability).await;
        if durability == Durability::Now {
            self.changes.notify();
        }
        let read: Result<Vec<T>, _> = rows?.iter().map(T::from_row).collect();
        read.map_err(|error| self.failed(error))
    }

    async fn write_claim(&self, statement: SqlStatement) -> Result<Vec<ClaimedColumns>, StoreError> {
        self.check_file()?;
        self.write(vec![statement], Durability::Now).await
    }

    async fn write_checkpoint(&self, id: JobId, lease: u64, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let is_running = checkpoint.state.status == JobStatus::Running;
        let has_rows = !(checkpoint.phases.is_empty() && checkpoint.todos.is_empty());
        let template = match (is_running, has_rows) {
            (true, true) => CHECKPOINT_RUNNING,
            (true, false) => CHECKPOINT_RUNNING_JOB,
            (false, _) => statements::CHECKPOINT,
        };
        let durability = if is_running { Durability::Soon } else { Durability::Now };
        self.under_lease(id, template, checkpoint_values(&[(id, Some(lease), checkpoint)]), durability).await
    }

    async fn wait_for_change(&self, within: Duration) -> bool {
        self.poll_for_change(within).await
    }
}

fn arguments(values: Vec<Value>) -> Result<SqliteArguments, BoxDynError> {
    let mut arguments = SqliteArguments::default();
    for value in values {
        match value {
            Value::Uuid(id) => arguments.add(id.map(DbId)),
            Value::Uuids(ids) => arguments.add(Json(ids)),
            Value::Time(time) => arguments.add(time.map(DbTime)),
            Value::Text(text) => arguments.add(text),
            Value::Integer(number) => arguments.add(number),
            Value::Real(number) => arguments.add(number),
            Value::Flag(flag) => arguments.add(flag),
        }?;
    }
    Ok(arguments)
}

const IOERR_SHMSIZE: u32 = 4874;

/// The advice for a file that is no database, or is damaged.
const RUINED: &str = "move the file away, and `overnight reindex` makes it anew from the workspaces";

/// Sorts SQLite's result codes (sqlite.org/rescode.html); the last byte is the kind.
#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
fn failed(database: &str, error: sqlx::Error) -> StoreError {
    let database = database.to_owned();
    let detail = message(&error);
    let code = match &error {
        sqlx::Error::Database(error) => error.code().and_then(|code| code.parse::<u32>().ok()),
        sqlx::Error::PoolTimedOut => return StoreError::Unreachable { database, detail },
        sqlx::Error::ColumnDecode { .. } => return StoreError::Corrupt { database, detail },
        _ => None,
    };
    // The shared memory of the write-ahead log is a file, too; a failure to enlarge it has its own code.
    if code == Some(IOERR_SHMSIZE) {
        return StoreError::Full { database, detail };
    }
    match code.map(|code| code & 0xff) {
        // busy, locked, protocol: another process has it.
        Some(5 | 6 | 15) => StoreError::Unreachable { database, detail },
        Some(13) => StoreError::Full { database, detail },
        // perm, readonly, cantopen, auth
        Some(3 | 8 | 14 | 23) => StoreError::Connect { database, detail },
        // corrupt, notadb
        Some(11 | 26) => StoreError::Connect { database, detail: format!("{detail}; {RUINED}") },
        _ => StoreError::Sql { database, detail },
    }
}

/// The device of a file, and its number there.
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}
