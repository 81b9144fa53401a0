//! Jobs in PostgreSQL: for many workers and machines.
//!
//! A few connections, opened when they are first needed, and put back after each call. No call waits for the server without
//! end: a worker must notice that it can't renew its lease before the lease runs out.

mod cached_connection;
mod changes;
mod checkpoint;
mod group_commit;
mod group_statement;
mod operator_requests;
mod queue;
mod schedules;

use super::{
    ControlSignal, JobFilter, JobRow, Store, StoreError,
    connect::{LAST, UrlSecrets},
    error::message,
    ownership::{self, DatabaseContents},
    queue::ChangeWaiter,
    row::{JobColumns, PhaseColumns, RowReader, TodoColumns, control_signal},
    value::{DbId, DbTime, NO_HEAD, count, ids_beginning, lease_ms, text},
};
use crate::failpoint;
use async_trait::async_trait;
use cached_connection::CachedConnection;
use group_commit::GroupCommit;
use overnight_core::job::{
    id::JobId,
    record::{Checkpoint, NewJob, PhaseRow, TodoRow},
};
use sqlx::{
    ConnectOptions, Connection, PgConnection, PgPool, Postgres, QueryBuilder, Transaction,
    migrate::{MigrateError, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
};
use std::{
    fmt,
    str::FromStr,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::sync::Mutex;
use uuid::Uuid;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

/// How long to wait for the server to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a statement may take before the server gives it up, and how long a transaction may stay open in between: a
/// process that is stopped half way must not keep its jobs locked.
const STATEMENT: &str = "set statement_timeout = '20s'; set idle_in_transaction_session_timeout = '10s'";

/// The same, for who changes nothing.
const TO_READ: &str = "set statement_timeout = '20s'; set idle_in_transaction_session_timeout = '10s'; set default_transaction_read_only = on";

/// How long a whole call may take, the wait for a connection included: the bound where the network just swallows it.
const CALL: Duration = Duration::from_secs(30);

const CONNECTIONS: u32 = 2;

/// Matches shown for an ambiguous name.
const MOST_SHOWN: usize = 5;

pub(super) struct PostgresStore {
    pool: PgPool,
    database: Database,
    options: PgConnectOptions,
    /// There when somebody has first waited for one.
    changes: OnceLock<ChangeWaiter>,
    /// Writes checkpoints.
    group_commit: GroupCommit,
    /// For the claims of [`queue`], of which a worker makes one at a time.
    claims: Mutex<CachedConnection>,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore").field(&self.database.name).finish()
    }
}

/// How errors speak of the database.
#[derive(Clone)]
struct Database {
    /// Host, port and name.
    name: String,
    secrets: UrlSecrets,
}

impl PostgresStore {
    pub(super) async fn open(url: &str, secrets: UrlSecrets) -> Result<Self, StoreError> {
        let store = Self::begun(url, secrets, STATEMENT).await?;
        store.migrate().await?;
        Ok(store)
    }

    /// Opens what is there, so that nothing of it can be changed.
    pub(super) async fn open_to_read(url: &str, secrets: UrlSecrets) -> Result<Option<Self>, StoreError> {
        let store = Self::begun(url, secrets, TO_READ).await?;
        let is_readable =
            store.inspect().await?.is_readable(&store.database.name, ownership::newest_known(&MIGRATIONS))?;
        Ok(is_readable.then_some(store))
    }

    async fn begun(url: &str, secrets: UrlSecrets, statement: &'static str) -> Result<Self, StoreError> {
        let unread = Database { name: "postgres://…".to_owned(), secrets };
        let options = PgConnectOptions::from_str(url).map_err(|error| unread.wrong(&error))?;
        let options = options.application_name("overnight").disable_statement_logging();
        let host = options.get_socket().map_or(options.get_host().into(), |socket| socket.to_string_lossy());
        let name = options.get_database().unwrap_or(options.get_username());
        let database = Database { name: format!("{host}:{}/{name}", options.get_port()), ..unread };
        // The pool would try a refused connection again until its time is up; a person wants to know at once.
        let connection = tokio::time::timeout(CONNECT, PgConnection::connect_with(&options))
            .await
            .map_err(|_| database.silent(CONNECT))?
            .map_err(|error| database.failed(error))?;
        // Nothing depends on a polite goodbye.
        let _ = tokio::time::timeout(CONNECT, connection.close()).await;
        Ok(Self::over(options, database, statement, CONNECTIONS))
    }

    /// Opens up to so many connections, each when it is first needed.
    fn over(options: PgConnectOptions, database: Database, statement: &'static str, connections: u32) -> Self {
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(CONNECT)
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    sqlx::raw_sql(statement).execute(connection).await?;
                    Ok(())
                })
            })
            .connect_lazy_with(options.clone());
        Self {
            group_commit: GroupCommit::new(pool.clone(), database.clone()),
            pool,
            database,
            options,
            changes: OnceLock::new(),
            claims: Mutex::default(),
        }
    }

    fn failed(&self, error: sqlx::Error) -> StoreError {
        self.database.failed(error)
    }

    async fn within<T>(&self, call: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        tokio::time::timeout(CALL, call).await.map_err(|_| self.database.silent(CALL))?
    }

    async fn begin(&self) -> Result<Transaction<'static, Postgres>, StoreError> {
        self.pool.begin().await.map_err(|error| self.failed(error))
    }

    async fn commit(&self, transaction: Transaction<'static, Postgres>) -> Result<(), StoreError> {
        failpoint::hit("store.commit.before");
        transaction.commit().await.map_err(|error| self.failed(error))?;
        failpoint::hit("store.commit.done");
        Ok(())
    }

    /// Brings the schema up to this program's.
    async fn migrate(&self) -> Result<(), StoreError> {
        let known = ownership::newest_known(&MIGRATIONS);
        if self.inspect().await?.version(&self.database.name, known)? == known {
            return Ok(());
        }
        // The migrator's own lock keeps two processes apart that find the same new database.
        let mut connection = self.pool.acquire().await.map_err(|error| self.failed(error))?;
        // A migration takes as long as it takes; the connection without the bound isn't used for anything else.
        connection.close_on_drop();
        sqlx::raw_sql("set statement_timeout = 0")
            .execute(&mut *connection)
            .await
            .map_err(|error| self.failed(error))?;
        MIGRATIONS.run_direct(None, &mut *connection, false).await.map_err(|error| match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => self.failed(error),
            error => StoreError::Sql { database: self.database.name.clone(), detail: error.to_string() },
        })
    }

    /// What is there. Other schemas, and tables that are in nobody's way, are no concern.
    async fn inspect(&self) -> Result<DatabaseContents, StoreError> {
        let failed = |error| self.failed(error);
        // Before the migrations: another process that makes these tables now tells its migrations with them.
        let in_the_way = "select exists (select 1 from pg_class
            where relnamespace = to_regnamespace(quote_ident(current_schema())) and relname = any($1))";
        let has_tables =
            sqlx::query_scalar(in_the_way).bind(ownership::object_names(&MIGRATIONS)).fetch_one(&self.pool);
        let has_tables = has_tables.await.map_err(failed)?;
        // In the schema where tables are made, or in another one of the path.
        let kept = "select relnamespace = to_regnamespace(quote_ident(current_schema())) from pg_class
            where oid = to_regclass('_sqlx_migrations')";
        let kept: Option<Option<bool>> = sqlx::query_scalar(kept).fetch_optional(&self.pool).await.map_err(failed)?;
        let Some(is_here) = kept.map(|is_here| is_here == Some(true)) else {
            return Ok(DatabaseContents { has_tables, is_ours: false, has_migrations: false, newest: 0 });
        };
        let seen = "select count(*) > 0, coalesce(bool_or(checksum = $1), false), coalesce(max(version), 0)
            from _sqlx_migrations";
        let seen = sqlx::query_as(seen).bind(ownership::first_checksum(&MIGRATIONS)).fetch_one(&self.pool);
        let (has_any, is_ours, newest): (bool, bool, i64) = seen.await.map_err(failed)?;
        Ok(DatabaseContents { has_tables, is_ours, has_migrations: is_here && has_any, newest })
    }

    /// Why a write found no row that it may change.
    async fn why_not(&self, connection: &mut PgConnection, id: JobId) -> StoreError {
        let status: Result<Option<String>, _> = sqlx::query_scalar("select status from jobs where id = $1")
            .bind(DbId(id.0))
            .fetch_optional(connection)
            .await;
        match status {
            Ok(None) => StoreError::NotFound { name: id.to_string() },
            Ok(Some(status)) => {
                let read = RowReader { database: &self.database.name, row: format!("job {id}") };
                read.word("status", &status).map_or_else(|error| error, |status| StoreError::Ended { id, status })
            }
            Err(error) => self.failed(error),
        }
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn create(&self, job: &NewJob) -> Result<(), StoreError> {
        self.within(async {
        let mut transaction = self.begin().await?;
        sqlx::query(
            "insert into jobs (id, created, instructions, instructions_sha256, model, documents, workspace, journal_head,
                updated)
             values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())
             on conflict (id) do nothing",
        )
        .bind(DbId(job.id.0))
        .bind(DbTime(job.created))
        .bind(text(&job.instructions))
        .bind(text(&job.instructions_sha256))
        .bind(text(&job.model))
        .bind(count(job.documents))
        .bind(text(&job.workspace))
        .bind(NO_HEAD)
        .execute(&mut *transaction)
        .await
        .map_err(|error| self.failed(error))?;
        self.commit(transaction).await
        })
        .await
    }

    async fn claim(&self, id: JobId, worker: Uuid, for_ms: u64) -> Result<u64, StoreError> {
        self.within(async {
            let mut transaction = self.begin().await?;
            let lease: Option<i64> = sqlx::query_scalar(
                "update jobs set
                status = 'running', hold_reason = null, reason = null, lease = lease + 1, worker = $2, turns_at_claim = turns,
                lease_until = clock_timestamp() + $3 * interval '1 millisecond',
                run_after = null, may_cost_usd = 0, wants = case when wants = 'pause' then null else wants end,
                updated = clock_timestamp()
             where id = $1 and status in ('queued', 'running', 'held')
             returning lease",
            )
            .bind(DbId(id.0))
            .bind(DbId(worker))
            .bind(lease_ms(for_ms))
            .fetch_optional(&mut *transaction)
            .await
            .map_err(|error| self.failed(error))?;
            let Some(lease) = lease else {
                return Err(self.why_not(&mut transaction, id).await);
            };
            self.commit(transaction).await?;
            RowReader { database: &self.database.name, row: format!("job {id}") }.number("lease", lease)
        })
        .await
    }

    async fn renew(&self, id: JobId, lease: u64, for_ms: u64) -> Result<(), StoreError> {
        self.within(async {
            let mut transaction = self.begin().await?;
            let renewed = sqlx::query(
                "update jobs set
                lease_until = clock_timestamp() + $3 * interval '1 millisecond'
             where id = $1 and lease = $2 and worker is not null",
            )
            .bind(DbId(id.0))
            .bind(count(lease))
            .bind(lease_ms(for_ms))
            .execute(&mut *transaction)
            .await
            .map_err(|error| self.failed(error))?;
            if renewed.rows_affected() == 0 {
                return Err(StoreError::LeaseLost { id });
            }
            self.commit(transaction).await
        })
        .await
    }

    async fn checkpoint(&self, id: JobId, lease: u64, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        self.within(self.group_commit.write(id, lease, checkpoint)).await
    }

    async fn restore(&self, job: &NewJob, checkpoint: &Checkpoint, lease: u64) -> Result<(), StoreError> {
        self.within(async {
            let mut transaction = self.begin().await?;
            // Status and head are set first, so that the checkpoint counts as a repetition of itself: nobody has the lease.
            let (lease, batch): (i64, Option<DbId>) = sqlx::query_as(
                "insert into jobs (id, created, instructions, instructions_sha256, model, documents, workspace, status,
                journal_head, lease, updated)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock_timestamp())
             on conflict (id) do update set
                created = excluded.created, instructions = excluded.instructions,
                model = excluded.model, documents = excluded.documents, workspace = excluded.workspace, status = excluded.status,
                journal_head = excluded.journal_head, lease = greatest(jobs.lease + 1, excluded.lease),
                worker = null, lease_until = null
             returning lease, batch",
            )
            .bind(DbId(job.id.0))
            .bind(DbTime(job.created))
            .bind(text(&job.instructions))
            .bind(text(&job.instructions_sha256))
            .bind(text(&job.model))
            .bind(count(job.documents))
            .bind(text(&job.workspace))
            .bind(checkpoint.state.status.name())
            .bind(&checkpoint.state.journal_head)
            .bind(count(lease))
            .fetch_one(&mut *transaction)
            .await
            .map_err(|error| self.failed(error))?;
            for old in ["delete from todos where job = $1", "delete from phases where job = $1"] {
                let deleted = sqlx::query(old).bind(DbId(job.id.0)).execute(&mut *transaction).await;
                deleted.map_err(|error| self.failed(error))?;
            }
            let lease =
                RowReader { database: &self.database.name, row: format!("job {}", job.id) }.number("lease", lease)?;
            let written = checkpoint::write(&mut transaction, job.id, lease, checkpoint).await;
            if !written.map_err(|error| self.failed(error))? {
                return Err(StoreError::LeaseLost { id: job.id });
            }
            if let Some(batch) = batch.filter(|_| !checkpoint.state.status.is_end()) {
                let opened = sqlx::query("update batches set ended_at = null where id = $1").bind(batch);
                opened.execute(&mut *transaction).await.map_err(|error| self.failed(error))?;
            }
            self.commit(transaction).await
        })
        .await
    }

    async fn job(&self, id: JobId) -> Result<Option<JobRow>, StoreError> {
        self.within(async {
            let row: Option<JobColumns> = sqlx::query_as("select * from jobs where id = $1")
                .bind(DbId(id.0))
                .fetch_optional(&self.pool)
                .await
                .map_err(|error| self.failed(error))?;
            row.map(|row| row.row(&self.database.name)).transpose()
        })
        .await
    }

    async fn find(&self, name: &str) -> Result<JobId, StoreError> {
        self.within(async {
            let name = name.trim();
            let found: Result<Vec<DbId>, _> = if name == LAST {
                sqlx::query_scalar("select id from jobs order by created desc, id desc limit 1")
                    .fetch_all(&self.pool)
                    .await
            } else {
                let Some((first, last)) = ids_beginning(name) else {
                    return Err(StoreError::NotFound { name: name.to_owned() });
                };
                sqlx::query_scalar("select id from jobs where id between $1 and $2 order by id limit $3")
                    .bind(DbId(first))
                    .bind(DbId(last))
                    .bind(count(MOST_SHOWN as u64 + 1))
                    .fetch_all(&self.pool)
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
        })
        .await
    }

    async fn jobs(&self, filter: &JobFilter) -> Result<Vec<JobRow>, StoreError> {
        self.within(async {
            let rows: Vec<JobColumns> =
                listed(filter).build_query_as().fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
            rows.into_iter().map(|row| row.row(&self.database.name)).collect()
        })
        .await
    }

    async fn phases(&self, id: JobId) -> Result<Vec<PhaseRow>, StoreError> {
        self.within(async {
            let rows: Vec<PhaseColumns> =
                sqlx::query_as("select * from phases where job = $1 order by number, attempt")
                    .bind(DbId(id.0))
                    .fetch_all(&self.pool)
                    .await
                    .map_err(|error| self.failed(error))?;
            rows.into_iter().map(|row| row.row(&self.database.name)).collect()
        })
        .await
    }

    async fn todos(&self, id: JobId) -> Result<Vec<TodoRow>, StoreError> {
        self.within(async {
            let rows: Vec<TodoColumns> =
                sqlx::query_as("select * from todos where job = $1 order by phase, attempt, position, id")
                    .bind(DbId(id.0))
                    .fetch_all(&self.pool)
                    .await
                    .map_err(|error| self.failed(error))?;
            rows.into_iter().map(|row| row.row(&self.database.name)).collect()
        })
        .await
    }

    async fn send_signal(&self, id: JobId, signal: ControlSignal) -> Result<(), StoreError> {
        self.within(async {
            let mut transaction = self.begin().await?;
            let left: i64 = sqlx::query_scalar(
                "with left_for as (
                update jobs set
                    wants = case when wants = 'cancel' then wants else $2 end,
                    updated = clock_timestamp()
                where id = $1 and status in ('queued', 'running', 'held')
                returning 1
             )
             select overnight_tell(count(*)) from left_for",
            )
            .bind(DbId(id.0))
            .bind(signal.name())
            .fetch_one(&mut *transaction)
            .await
            .map_err(|error| self.failed(error))?;
            if left == 0 {
                return Err(self.why_not(&mut transaction, id).await);
            }
            self.commit(transaction).await
        })
        .await
    }

    fn with_own_connection(&self) -> Arc<dyn Store> {
        Arc::new(Self::over(self.options.clone(), self.database.clone(), STATEMENT, 1))
    }

    async fn control_signal(&self, id: JobId, lease: u64) -> Result<Option<ControlSignal>, StoreError> {
        self.within(async {
            let wants: Option<Option<String>> =
                sqlx::query_scalar("select wants from jobs where id = $1 and lease = $2")
                    .bind(DbId(id.0))
                    .bind(count(lease))
                    .fetch_optional(&self.pool)
                    .await
                    .map_err(|error| self.failed(error))?;
            let Some(wants) = wants else {
                return Err(StoreError::LeaseLost { id });
            };
            control_signal(wants.as_deref(), &RowReader { database: &self.database.name, row: format!("job {id}") })
        })
        .await
    }
}

/// The query for a list: only with the conditions that it has, so that each finds its index.
fn listed(filter: &JobFilter) -> QueryBuilder<Postgres> {
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

impl Database {
    fn failed(&self, error: sqlx::Error) -> StoreError {
        let database = self.name.clone();
        let detail = self.secrets.redacted(&message(&error));
        match error {
            sqlx::Error::Database(error) => self.refused(error.code().as_deref().unwrap_or_default(), detail),
            // A connection that ends within its greeting is no error of the system, but an answer that makes no sense.
            sqlx::Error::Io(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => StoreError::Unreachable { database, detail },
            sqlx::Error::Tls(_) | sqlx::Error::Configuration(_) => StoreError::Connect { database, detail },
            sqlx::Error::ColumnDecode { .. } => StoreError::Corrupt { database, detail },
            _ => StoreError::Sql { database, detail },
        }
    }

    /// Sorts PostgreSQL's error codes (postgresql.org/docs/current/errcodes-appendix.html); the first two letters are the class.
    fn refused(&self, code: &str, detail: String) -> StoreError {
        let database = self.name.clone();
        match (code.get(..2).unwrap_or_default(), code) {
            (_, "53100") => StoreError::Full { database, detail },
            // Connection broken, too busy, deadlock or serialization, shutting down or a statement that took too long.
            ("08" | "53" | "40" | "57", _) | (_, "55P03") => StoreError::Unreachable { database, detail },
            // Who may log in, to which database and which schema, and what they may do there.
            ("28" | "3D" | "3F", _) | (_, "42501") => StoreError::Connect { database, detail },
            _ => StoreError::Sql { database, detail },
        }
    }

    fn wrong(&self, error: &sqlx::Error) -> StoreError {
        StoreError::Connect { database: self.name.clone(), detail: self.secrets.redacted(&message(error)) }
    }

    fn silent(&self, after: Duration) -> StoreError {
        StoreError::Unreachable {
            database: self.name.clone(),
            detail: format!("no answer within {} seconds", after.as_secs()),
        }
    }
}
