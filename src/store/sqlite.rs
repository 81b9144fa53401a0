//! Jobs in a SQLite file: for one machine, with no server. Several processes may use the file at once.
//!
//! Every write is a transaction that takes the write lock first (`begin immediate`), because one that read before it writes
//! can't wait for its turn. All go through one connection ([`writer`]); reading has others, which the write-ahead log lets
//! go on meanwhile. A commit is on the disk before it is acknowledged, but for the checkpoint of a job that is running.

mod changes;
mod checkpoint;
mod connection;
mod operator_requests;
mod ownership;
mod queue;
mod schedules;
mod writer;

use super::{
    ControlSignal, JobFilter, JobRow, Store, StoreError,
    connect::LAST,
    error::message,
    ownership::{DatabaseContents, newest_known},
    row::{JobColumns, PhaseColumns, RowReader, TodoColumns, control_signal},
    value::{DbId, DbTime, NO_HEAD, count, ids_beginning, lease_ms, text},
};
use async_trait::async_trait;
use changes::ChangePoller;
use connection::{connected, make, migrate, options};
use overnight_core::job::{
    id::JobId,
    record::{Checkpoint, JobStatus, NewJob, PhaseRow, TodoRow},
};
use ownership::{inspect, refuse_foreign, stamp_if_closed};
use sqlx::{
    Arguments, Connection, QueryBuilder, Sqlite, SqlitePool,
    error::BoxDynError,
    migrate::Migrator,
    sqlite::{SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use std::{fmt, path::Path, sync::Arc, time::Duration};
use uuid::Uuid;
use writer::{Durability, Sql, SqliteWriter, sql};

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// How long a call waits for another process to finish its write.
const BUSY: Duration = Duration::from_secs(10);

/// Matches shown for an ambiguous name.
const MOST_SHOWN: usize = 5;

/// Connections for reading: a long list keeps no job waiting.
const READERS: u32 = 4;

const CREATE: Sql = sql!(
    "insert into jobs (id, created, instructions, instructions_sha256, model, documents, workspace, journal_head, updated)
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
     on conflict (id) do nothing"
);

const CLAIM: Sql = sql!(
    "update jobs set
        status = 'running', hold_reason = null, reason = null, lease = lease + 1, worker = ?2, turns_at_claim = turns,
        lease_until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', format('+%d.%03d seconds', ?3 / 1000, ?3 % 1000)),
        run_after = null, may_cost_usd = 0, wants = case when wants = 'pause' then null else wants end,
        updated = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
     where id = ?1 and status in ('queued', 'running', 'held')
     returning lease"
);

const RENEW: Sql = sql!(
    "update jobs set
        lease_until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', format('+%d.%03d seconds', ?3 / 1000, ?3 % 1000))
     where id = ?1 and lease = ?2 and worker is not null
     returning lease"
);

const SEND_SIGNAL: Sql = sql!(
    "update jobs set
        wants = case when wants = 'cancel' then wants else ?2 end,
        updated = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
     where id = ?1 and status in ('queued', 'running', 'held')
     returning lease; update queue_changes set number = number + 1 where changes() > 0"
);

pub(super) struct SqliteStore {
    writer: Arc<SqliteWriter>,
    readers: SqlitePool,
    /// The file's path, for errors.
    database: String,
    changes: ChangePoller,
    /// Which file it was when it was opened.
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

    /// Opens what is there, so that nothing of it can be changed.
    pub(super) async fn open_to_read(path: &Path) -> Result<Option<Self>, StoreError> {
        let database = path.display().to_string();
        if !path.exists() {
            return Ok(None);
        }
        let mut options = options(path).pragma("query_only", "on");
        refuse_foreign(&options, path, &database).await?;
        let mut found = inspect_file(&options, &database).await;
        // Where nothing can be put beside the file, it is read as one that nobody changes, as long as nobody has it open.
        if found.is_err() && stamp_if_closed(path).is_some() {
            options = options.read_only(true).immutable(true);
            found = inspect_file(&options, &database).await;
        }
        let is_readable = found?.is_readable(&database, newest_known(&MIGRATIONS))?;
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

    /// An error where the file was removed, or another put in its place: what is written still goes to the old one, which
    /// nobody else sees.
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

    /// Writes; `Some` where it took effect.
    async fn write(
        &self,
        sql: Sql,
        arguments: Result<SqliteArguments, BoxDynError>,
        durability: Durability,
    ) -> Result<Option<i64>, StoreError> {
        let arguments = arguments.map_err(|error| self.failed(sqlx::Error::Encode(error)))?;
        self.writer.write(sql, arguments, durability).await
    }

    /// Why a write found no row that it may change.
    async fn why_not(&self, id: JobId) -> StoreError {
        let status: Result<Option<String>, _> = sqlx::query_scalar("select status from jobs where id = ?1")
            .bind(DbId(id.0))
            .fetch_optional(&self.readers)
            .await;
        match status {
            Ok(None) => StoreError::NotFound { name: id.to_string() },
            Ok(Some(status)) => {
                let read = RowReader { database: &self.database, row: format!("job {id}") };
                read.word("status", &status).map_or_else(|error| error, |status| StoreError::Ended { id, status })
            }
            Err(error) => self.failed(error),
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    async fn create(&self, job: &NewJob) -> Result<(), StoreError> {
        let arguments = || {
            let mut arguments = SqliteArguments::default();
            arguments.add(DbId(job.id.0))?;
            arguments.add(DbTime(job.created))?;
            arguments.add(text(&job.instructions))?;
            arguments.add(text(&job.instructions_sha256))?;
            arguments.add(text(&job.model))?;
            arguments.add(count(job.documents))?;
            arguments.add(text(&job.workspace))?;
            arguments.add(NO_HEAD)?;
            Ok(arguments)
        };
        self.write(CREATE, arguments(), Durability::Now).await.map(drop)
    }

    async fn claim(&self, id: JobId, worker: Uuid, for_ms: u64) -> Result<u64, StoreError> {
        let arguments = || {
            let mut arguments = SqliteArguments::default();
            arguments.add(DbId(id.0))?;
            arguments.add(DbId(worker))?;
            arguments.add(lease_ms(for_ms))?;
            Ok(arguments)
        };
        match self.write(CLAIM, arguments(), Durability::Now).await? {
            Some(lease) => RowReader { database: &self.database, row: format!("job {id}") }.number("lease", lease),
            None => Err(self.why_not(id).await),
        }
    }

    async fn renew(&self, id: JobId, lease: u64, for_ms: u64) -> Result<(), StoreError> {
        let arguments = || {
            let mut arguments = SqliteArguments::default();
            arguments.add(DbId(id.0))?;
            arguments.add(count(lease))?;
            arguments.add(lease_ms(for_ms))?;
            Ok(arguments)
        };
        self.write(RENEW, arguments(), Durability::Soon).await?.map(drop).ok_or(StoreError::LeaseLost { id })
    }

    async fn checkpoint(&self, id: JobId, lease: u64, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let is_running = checkpoint.state.status == JobStatus::Running;
        let durability = if is_running { Durability::Soon } else { Durability::Now };
        let arguments = checkpoint::arguments(id, Some(lease), checkpoint);
        let written = self.write(checkpoint::sql(checkpoint), arguments, durability).await?;
        written.map(drop).ok_or(StoreError::LeaseLost { id })
    }

    async fn restore(&self, job: &NewJob, checkpoint: &Checkpoint, lease: u64) -> Result<(), StoreError> {
        let arguments = || {
            let mut arguments = checkpoint::arguments(job.id, None, checkpoint)?;
            arguments.add(DbTime(job.created))?;
            arguments.add(text(&job.instructions))?;
            arguments.add(text(&job.instructions_sha256))?;
            arguments.add(text(&job.model))?;
            arguments.add(count(job.documents))?;
            arguments.add(text(&job.workspace))?;
            arguments.add(count(lease))?;
            Ok(arguments)
        };
        let restored = self.write(checkpoint::RESTORED, arguments(), Durability::Now).await?;
        restored.map(drop).ok_or(StoreError::LeaseLost { id: job.id })
    }

    async fn job(&self, id: JobId) -> Result<Option<JobRow>, StoreError> {
        let row: Option<JobColumns> = sqlx::query_as("select * from jobs where id = ?1")
            .bind(DbId(id.0))
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| self.failed(error))?;
        row.map(|row| row.row(&self.database)).transpose()
    }

    async fn find(&self, name: &str) -> Result<JobId, StoreError> {
        let name = name.trim();
        let found: Result<Vec<DbId>, _> = if name == LAST {
            sqlx::query_scalar("select id from jobs order by created desc, id desc limit 1")
                .fetch_all(&self.readers)
                .await
        } else {
            let Some((first, last)) = ids_beginning(name) else {
                return Err(StoreError::NotFound { name: name.to_owned() });
            };
            sqlx::query_scalar("select id from jobs where id between ?1 and ?2 order by id limit ?3")
                .bind(DbId(first))
                .bind(DbId(last))
                .bind(count(MOST_SHOWN as u64 + 1))
                .fetch_all(&self.readers)
                .await
        };
        let mut matches: Vec<JobId> =
            found.map_err(|error| self.failed(error))?.into_iter().map(|id| JobId(id.0)).collect();
        match matches[..] {
            [] => Err(StoreError::NotFound { name: name.to_owned() }),
            [id] => Ok(id),
            _ => {
                let more = matches.len() > MOST_SHOWN;
                matches.truncate(MOST_SHOWN);
                Err(StoreError::Ambiguous { name: name.to_owned(), matches, more })
            }
        }
    }

    async fn jobs(&self, filter: &JobFilter) -> Result<Vec<JobRow>, StoreError> {
        let rows: Vec<JobColumns> =
            listed(filter).build_query_as().fetch_all(&self.readers).await.map_err(|error| self.failed(error))?;
        rows.into_iter().map(|row| row.row(&self.database)).collect()
    }

    async fn phases(&self, id: JobId) -> Result<Vec<PhaseRow>, StoreError> {
        let rows: Vec<PhaseColumns> = sqlx::query_as("select * from phases where job = ?1 order by number, attempt")
            .bind(DbId(id.0))
            .fetch_all(&self.readers)
            .await
            .map_err(|error| self.failed(error))?;
        rows.into_iter().map(|row| row.row(&self.database)).collect()
    }

    async fn todos(&self, id: JobId) -> Result<Vec<TodoRow>, StoreError> {
        let rows: Vec<TodoColumns> =
            sqlx::query_as("select * from todos where job = ?1 order by phase, attempt, position, id")
                .bind(DbId(id.0))
                .fetch_all(&self.readers)
                .await
                .map_err(|error| self.failed(error))?;
        rows.into_iter().map(|row| row.row(&self.database)).collect()
    }

    async fn send_signal(&self, id: JobId, signal: ControlSignal) -> Result<(), StoreError> {
        let arguments = || {
            let mut arguments = SqliteArguments::default();
            arguments.add(DbId(id.0))?;
            arguments.add(signal.name())?;
            Ok(arguments)
        };
        match self.write(SEND_SIGNAL, arguments(), Durability::Now).await? {
            Some(_) => {
                self.changes.notify();
                Ok(())
            }
            None => Err(self.why_not(id).await),
        }
    }

    fn with_own_connection(&self) -> Arc<dyn Store> {
        // One connection at a time can write, and the writer's has a thread of its own: another would wait for it longer.
        Arc::new(Self {
            writer: self.writer.clone(),
            readers: self.readers.clone(),
            database: self.database.clone(),
            changes: ChangePoller::default(),
            file: self.file,
        })
    }

    async fn control_signal(&self, id: JobId, lease: u64) -> Result<Option<ControlSignal>, StoreError> {
        let wants: Option<Option<String>> = sqlx::query_scalar("select wants from jobs where id = ?1 and lease = ?2")
            .bind(DbId(id.0))
            .bind(count(lease))
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| self.failed(error))?;
        let Some(wants) = wants else {
            return Err(StoreError::LeaseLost { id });
        };
        control_signal(wants.as_deref(), &RowReader { database: &self.database, row: format!("job {id}") })
    }
}

/// The query for a list: only with the conditions that it has, so that each finds its index.
fn listed(filter: &JobFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("select * from jobs where true");
    if let Some(status) = filter.status {
        query.push(" and status = ").push_bind(status.name());
    }
    if let Some(since) = filter.since {
        query.push(" and created >= ").push_bind(DbTime(since));
    }
    if let Some(since) = filter.updated_since {
        query.push(" and updated >= ").push_bind(DbTime(since));
    }
    if let Some(batch) = filter.batch {
        query.push(" and batch = ").push_bind(DbId(batch));
    }
    if let Some(worker) = filter.worker {
        query.push(" and worker = ").push_bind(DbId(worker));
    }
    if filter.needs_review {
        query.push(" and status = 'held' and hold_reason = 'review'");
    }
    query.push(" order by created desc, id desc");
    if let Some(limit) = filter.limit {
        query.push(" limit ").push_bind(i64::from(limit));
    }
    query
}

const IOERR_SHMSIZE: u32 = 4874;

/// What to do about a file that is no database, or none any more.
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
    // The shared memory of the write-ahead log is a file as well; that it can't be lengthened has a code of its own.
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
