//! Jobs in PostgreSQL: for many workers and machines.
//!
//! A few connections, opened when they are first needed, and put back after each call. No call waits for the server without
//! end: a worker must notice that it can't renew its lease before the lease runs out.

mod cached_connection;
mod changes;
mod connection;
mod group_commit;
mod statements;

use super::{
    Store, StoreError,
    error::message,
    queue::{ChangeWaiter, ClaimedColumns},
    sql::{Columns, Durability, Engine, SqlStatement},
    url_secrets::UrlSecrets,
    value::{DbId, DbTime, Value},
};
use crate::failpoint;
use async_trait::async_trait;
use cached_connection::CachedConnection;
use group_commit::GroupCommit;
use overnight_core::job::{id::JobId, record::Checkpoint};
use sqlx::{
    Arguments, AssertSqlSafe, Executor, PgPool, Postgres,
    error::BoxDynError,
    postgres::{PgArguments, PgConnectOptions, PgPoolOptions},
};
use statements::DIALECT;
use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::sync::Mutex;

/// How long to wait for the server to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// The time limit of a statement on the server, and of an idle open transaction: a process that is stopped half way
/// must not keep its jobs locked.
const STATEMENT: &str = "set statement_timeout = '20s'; set idle_in_transaction_session_timeout = '10s'";

/// The time limit of a whole call, including the wait for a connection: it applies if the network drops all packets.
const CALL: Duration = Duration::from_secs(30);

pub(super) struct PostgresStore {
    pool: PgPool,
    database: Database,
    options: PgConnectOptions,
    /// Exists from the first wait for a change on.
    changes: OnceLock<ChangeWaiter>,
    /// Writes checkpoints.
    group_commit: GroupCommit,
    /// For the claims, of which a worker makes one at a time.
    claims: Mutex<CachedConnection>,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore").field(&self.database.name).finish()
    }
}

/// The database's name in errors.
#[derive(Clone)]
struct Database {
    /// Host, port and name.
    name: String,
    secrets: UrlSecrets,
}

impl PostgresStore {
    /// Opens up to `connections` connections, each when it is first needed.
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

    async fn within<T>(&self, call: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, StoreError> {
        let called = tokio::time::timeout(CALL, call).await.map_err(|_| self.database.silent(CALL))?;
        called.map_err(|error| self.database.failed(error))
    }
}

/// All rows of a statement.
async fn rows<T: Columns>(
    executor: impl Executor<'_, Database = Postgres>,
    statement: &SqlStatement,
) -> Result<Vec<T>, sqlx::Error> {
    let arguments = arguments(&statement.values).map_err(sqlx::Error::Encode)?;
    let sql = AssertSqlSafe(DIALECT.render(&statement.template));
    sqlx::query_as_with(sql, arguments).fetch_all(executor).await
}

fn arguments(values: &[Value]) -> Result<PgArguments, BoxDynError> {
    let mut arguments = PgArguments::default();
    for value in values {
        match value {
            Value::Uuid(id) => arguments.add(id.map(DbId)),
            Value::Uuids(ids) => arguments.add(ids),
            Value::Time(time) => arguments.add(time.map(DbTime)),
            Value::Text(text) => arguments.add(text),
            Value::Integer(number) => arguments.add(number),
            Value::Real(number) => arguments.add(number),
            Value::Flag(flag) => arguments.add(flag),
        }?;
    }
    Ok(arguments)
}

impl Store for PostgresStore {
    fn with_own_connection(&self) -> Arc<dyn Store> {
        Arc::new(Self::over(self.options.clone(), self.database.clone(), STATEMENT, 1))
    }
}

#[async_trait]
impl Engine for PostgresStore {
    const CLAIM_NEXT: &'static str = statements::CLAIM_NEXT;
    const RESERVE: &'static str = statements::RESERVE;
    const MARK_ENDED: &'static str = statements::MARK_ENDED;
    const CHECKPOINT: &'static str = statements::CHECKPOINT;

    fn database(&self) -> &str {
        &self.database.name
    }

    async fn read<T: Columns>(&self, statement: SqlStatement) -> Result<Vec<T>, StoreError> {
        self.within(rows(&self.pool, &statement)).await
    }

    async fn write<T: Columns>(
        &self,
        statements: Vec<SqlStatement>,
        _durability: Durability,
    ) -> Result<Vec<T>, StoreError> {
        let written = async {
            // One statement is a transaction of its own.
            if let [statement] = &statements[..] {
                failpoint::hit("store.commit.before");
                return rows(&self.pool, statement).await;
            }
            let mut transaction = self.pool.begin().await?;
            let mut all = Vec::new();
            for statement in &statements {
                all.extend(rows(&mut *transaction, statement).await?);
            }
            failpoint::hit("store.commit.before");
            transaction.commit().await?;
            Ok(all)
        };
        let rows = self.within(written).await?;
        failpoint::hit("store.commit.done");
        Ok(rows)
    }

    async fn write_claim(&self, statement: SqlStatement) -> Result<Vec<ClaimedColumns>, StoreError> {
        let claimed = async {
            let mut cached = self.claims.lock().await;
            let (mut connection, _) = cached.connection(&self.pool).await?;
            let claimed = rows(&mut connection, &statement).await?;
            cached.put_back(connection);
            Ok(claimed)
        };
        self.within(claimed).await
    }

    async fn write_checkpoint(&self, id: JobId, lease: u64, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        match tokio::time::timeout(CALL, self.group_commit.write(id, lease, checkpoint)).await {
            Ok(written) => written,
            Err(_) => Err(self.database.silent(CALL)),
        }
    }

    async fn wait_for_change(&self, within: Duration) -> bool {
        self.changes.get_or_init(|| changes::listen(self.options.clone())).wait(within).await
    }
}

impl Database {
    fn failed(&self, error: sqlx::Error) -> StoreError {
        let database = self.name.clone();
        let detail = self.secrets.redacted(&message(&error));
        match error {
            sqlx::Error::Database(error) => self.refused(error.code().as_deref().unwrap_or_default(), detail),
            // A connection that ends during its greeting is reported as an invalid answer, not as a system error.
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
            // Wrong login, database or schema, or missing permissions.
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
