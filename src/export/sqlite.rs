//! A SQLite database with one table, `records`.

use super::{
    ColumnKind, TableColumn, TableColumns,
    table_writer::{ExportError, RecordRow, TableNotes, TableWriter, shown},
};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use std::path::Path;
use tokio::runtime::Handle;

/// Rows of one transaction.
const ROWS: usize = 5_000;

pub(super) struct SqliteTable {
    database: SqliteConnection,
    columns: Vec<TableColumn>,
    insert: String,
    rows: usize,
}

impl SqliteTable {
    pub(super) fn new(path: &Path, columns: &TableColumns) -> Result<Self, ExportError> {
        let columns = columns.all();
        let defined: Vec<String> =
            columns.iter().map(|column| format!("{} {}", quoted(&column.name), of(column))).collect();
        let create = format!("create table records ({})", defined.join(", "));
        let marks = vec!["?"; columns.len()].join(", ");
        let insert = format!("insert into records values ({marks})");
        let options = SqliteConnectOptions::new().filename(path);
        let database = wait(async {
            let mut database = SqliteConnection::connect_with(&options).await?;
            run(&mut database, &create).await?;
            run(&mut database, "begin").await?;
            Ok::<_, sqlx::Error>(database)
        })?;
        Ok(Self { database, columns, insert, rows: 0 })
    }
}

impl TableWriter for SqliteTable {
    fn row(&mut self, RecordRow { cells, .. }: &RecordRow<'_>) -> Result<(), ExportError> {
        let Self { database, columns, insert, rows } = self;
        *rows += 1;
        let is_full = rows.is_multiple_of(ROWS);
        wait(async {
            let mut query = sqlx::query(AssertSqlSafe(insert.clone()));
            for (column, cell) in columns.iter().zip(*cells) {
                query = match column.kind {
                    ColumnKind::Text => query.bind((!cell.is_null()).then(|| shown(cell))),
                    ColumnKind::Integer => query.bind(cell.as_i64()),
                    ColumnKind::Number => query.bind(cell.as_f64()),
                    ColumnKind::Flag => query.bind(cell.as_bool()),
                };
            }
            query.execute(&mut *database).await?;
            if is_full {
                run(database, "commit").await?;
                run(database, "begin").await?;
            }
            Ok::<_, sqlx::Error>(())
        })?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<TableNotes, ExportError> {
        let Self { mut database, .. } = *self;
        wait(async {
            run(&mut database, "commit").await?;
            database.close().await
        })?;
        Ok(TableNotes::new())
    }
}

/// Rows come one by one, from a thread that may block.
fn wait<T>(work: impl Future<Output = T>) -> T {
    Handle::current().block_on(work)
}

/// Runs a statement that has only quoted names, and no other text from outside.
async fn run(database: &mut SqliteConnection, statement: &str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(database).await.map(drop)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn of(column: &TableColumn) -> &'static str {
    match column.kind {
        ColumnKind::Text => "text",
        ColumnKind::Integer | ColumnKind::Flag => "integer",
        ColumnKind::Number => "real",
    }
}
