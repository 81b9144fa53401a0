//! Connects to a database, and updates its schema to this program's.

use super::{CONNECT, Database, PostgresStore, STATEMENT};
use crate::store::{
    StoreError,
    migrations::POSTGRES as MIGRATIONS,
    ownership::{self, DatabaseContents},
    url_secrets::UrlSecrets,
};
use sqlx::{ConnectOptions, Connection, PgConnection, migrate::MigrateError, postgres::PgConnectOptions};
use std::str::FromStr;

/// The settings of connections that change nothing: as [`STATEMENT`], and writes are refused.
const TO_READ: &str = "set statement_timeout = '20s'; set idle_in_transaction_session_timeout = '10s'; \
    set default_transaction_read_only = on";

const CONNECTIONS: u32 = 2;

impl PostgresStore {
    pub(in crate::store) async fn open(url: &str, secrets: UrlSecrets) -> Result<Self, StoreError> {
        let store = Self::connected(url, secrets, STATEMENT).await?;
        store.migrate().await?;
        Ok(store)
    }

    /// Opens an existing database in such a way that nothing can be changed.
    pub(in crate::store) async fn open_to_read(url: &str, secrets: UrlSecrets) -> Result<Option<Self>, StoreError> {
        let store = Self::connected(url, secrets, TO_READ).await?;
        let is_readable = store.inspect().await?.is_readable(&store.database.name, &MIGRATIONS)?;
        Ok(is_readable.then_some(store))
    }

    async fn connected(url: &str, secrets: UrlSecrets, statement: &'static str) -> Result<Self, StoreError> {
        let unread = Database { name: "postgres://…".to_owned(), secrets };
        let options = PgConnectOptions::from_str(url).map_err(|error| unread.wrong(&error))?;
        let options = options.application_name("overnight").disable_statement_logging();
        let host = options.get_socket().map_or(options.get_host().into(), |socket| socket.to_string_lossy());
        let name = options.get_database().unwrap_or(options.get_username());
        let database = Database { name: format!("{host}:{}/{name}", options.get_port()), ..unread };
        // The pool would retry a refused connection until its time is up; a person wants the error immediately.
        let connection = tokio::time::timeout(CONNECT, PgConnection::connect_with(&options))
            .await
            .map_err(|_| database.silent(CONNECT))?
            .map_err(|error| database.failed(error))?;
        // Closing without a goodbye does no harm.
        let _ = tokio::time::timeout(CONNECT, connection.close()).await;
        Ok(Self::over(options, database, statement, CONNECTIONS))
    }

    /// Brings the schema up to this program's.
    async fn migrate(&self) -> Result<(), StoreError> {
        let known = ownership::newest_known(&MIGRATIONS);
        if self.inspect().await?.version(&self.database.name, &MIGRATIONS, known)? == known {
            return Ok(());
        }
        // The migrator's own lock keeps two processes apart that find the same new database.
        let mut connection = self.pool.acquire().await.map_err(|error| self.database.failed(error))?;
        // Migrations have no time limit; the connection without the limit isn't used for anything else.
        connection.close_on_drop();
        sqlx::raw_sql("set statement_timeout = 0")
            .execute(&mut *connection)
            .await
            .map_err(|error| self.database.failed(error))?;
        MIGRATIONS.run_direct(None, &mut *connection, false).await.map_err(|error| match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => self.database.failed(error),
            error => StoreError::Sql { database: self.database.name.clone(), detail: error.to_string() },
        })
    }

    /// Inspects the database. Other schemas, and tables that don't conflict, don't matter.
    async fn inspect(&self) -> Result<DatabaseContents, StoreError> {
        let failed = |error| self.database.failed(error);
        // Before the migrations: if another process creates these tables now, its migrations will show them as ours.
        let in_the_way = "select exists (select 1 from pg_class
            where relnamespace = to_regnamespace(quote_ident(current_schema())) and relname = any($1))";
        let has_tables =
            sqlx::query_scalar(in_the_way).bind(ownership::object_names(&MIGRATIONS)).fetch_one(&self.pool);
        let has_tables = has_tables.await.map_err(failed)?;
        // In the schema where tables are made, or in another one of the path.
        let migrations = "select relnamespace = to_regnamespace(quote_ident(current_schema())) from pg_class
            where oid = to_regclass('_sqlx_migrations')";
        let place: Option<Option<bool>> =
            sqlx::query_scalar(migrations).fetch_optional(&self.pool).await.map_err(failed)?;
        let migrations = if place.is_some() {
            let seen = sqlx::query_as("select version, checksum from _sqlx_migrations").fetch_all(&self.pool);
            seen.await.map_err(failed)?
        } else {
            Vec::new()
        };
        Ok(DatabaseContents { has_tables, migrations, are_here: place.flatten() == Some(true) })
    }
}
