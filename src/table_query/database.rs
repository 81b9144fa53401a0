//! The tables in a database in memory, and the answer to a statement. SQLite's own authorizer decides what the
//! statement may do; it is called for each action when a statement is compiled
//! (<https://sqlite.org/c3ref/set_authorizer.html>). The program does not search statements for words.

use super::{
    TableAnswer, TableQuery,
    column::{CellKind, CellValue, ColumnGuess},
    names::{MOST_COLUMNS, column_names},
};
use overnight_documents::{TableHeader, TableSink, tables};
use rusqlite::{
    Connection,
    config::DbConfig,
    fallible_iterator::FallibleIterator,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
    types::ValueRef,
};
use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

/// The most bytes of all loaded texts together.
pub const MOST_INPUT_BYTES: usize = 128 << 20;
/// Rows of all tables together.
const MOST_ROWS: u64 = 2_000_000;
/// The most bytes of memory that the database takes.
const MOST_HEAP_BYTES: u64 = 220 << 20;
/// Rows and bytes of an answer.
const MOST_ANSWER_ROWS: usize = 1_000;
const MOST_ANSWER_BYTES: usize = 256 << 10;
/// The most bytes of a text that a statement builds.
const MOST_VALUE_BYTES: i32 = 1 << 20;
/// The time limit of the statement itself.
const MOST_TIME: Duration = Duration::from_secs(5);
/// The number of SQLite's virtual machine steps between two checks of the clock.
const STEPS: i32 = 10_000;

/// Answers a question; `texts` are the texts that it names, concatenated. The error is a sentence for the caller.
pub fn answer(query: &TableQuery, texts: &[u8]) -> Result<TableAnswer, String> {
    let database = Connection::open_in_memory().map_err(|error| told(&error))?;
    let heap =
        format!("pragma hard_heap_limit = {MOST_HEAP_BYTES}; pragma temp_store = memory; pragma journal_mode = off");
    database.execute_batch(&heap).map_err(|error| told(&error))?;
    load(&database, query, texts)?;
    bound(&database).map_err(|error| told(&error))?;
    run(&database, &query.sql)
}

fn told(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
            rusqlite::ErrorCode::OutOfMemory => {
                format!("it needs more than {} MiB of memory; ask for less", MOST_HEAP_BYTES >> 20)
            }
            rusqlite::ErrorCode::OperationInterrupted => {
                format!("it takes longer than {} seconds; ask for less", MOST_TIME.as_secs())
            }
            rusqlite::ErrorCode::AuthorizationForStatementDenied => {
                "only SELECT over the tables of documents is allowed".to_owned()
            }
            rusqlite::ErrorCode::TooBig => "it makes a text of more than 1 MiB; ask for less".to_owned(),
            _ => message.clone().unwrap_or_else(|| failure.to_string()),
        },
        other => other.to_string(),
    }
}

// ── Loading

/// The kinds of the columns of each table that is loaded.
struct Guesses<'q> {
    names: &'q [Option<String>],
    format: &'q str,
    tables: Vec<(Vec<String>, Vec<ColumnGuess>)>,
}

impl TableSink for Guesses<'_> {
    fn begin(&mut self, header: TableHeader) -> ControlFlow<()> {
        let columns = header.columns.len().min(MOST_COLUMNS);
        self.tables.push((header.columns, (0..columns).map(|_| ColumnGuess::new(self.format)).collect()));
        ControlFlow::Continue(())
    }

    fn row(&mut self, cells: &[&str]) -> ControlFlow<()> {
        let is_wanted = matches!(self.names.get(self.tables.len().saturating_sub(1)), Some(Some(_)));
        if let Some((_, guesses)) = self.tables.last_mut().filter(|_| is_wanted) {
            guesses.iter_mut().zip(cells).for_each(|(guess, cell)| guess.look(cell));
        }
        ControlFlow::Continue(())
    }
}

/// Puts the rows of one document into its tables.
struct Loader<'d> {
    tables: Vec<Option<LoadedTable<'d>>>,
    next: usize,
    rows: &'d mut u64,
    failed: Option<String>,
}

struct LoadedTable<'d> {
    insert: rusqlite::Statement<'d>,
    kinds: Vec<CellKind>,
}

impl TableSink for Loader<'_> {
    fn begin(&mut self, _: TableHeader) -> ControlFlow<()> {
        self.next += 1;
        ControlFlow::Continue(())
    }

    fn row(&mut self, cells: &[&str]) -> ControlFlow<()> {
        let Some(Some(table)) = self.next.checked_sub(1).and_then(|at| self.tables.get_mut(at)) else {
            return ControlFlow::Continue(());
        };
        *self.rows += 1;
        let inserted = if *self.rows > MOST_ROWS {
            Err(format!("the tables have more than {MOST_ROWS} rows in all; name fewer of them"))
        } else {
            table.insert(cells).map_err(|error| told(&error))
        };
        match inserted {
            Ok(()) => ControlFlow::Continue(()),
            Err(why) => {
                self.failed = Some(why);
                ControlFlow::Break(())
            }
        }
    }
}

impl LoadedTable<'_> {
    fn insert(&mut self, cells: &[&str]) -> rusqlite::Result<()> {
        let mut place = 0;
        for (number, kind) in self.kinds.iter().enumerate() {
            let cell = cells.get(number).copied().unwrap_or_default();
            place += 1;
            match kind.read(cell) {
                CellValue::Null => self.insert.raw_bind_parameter(place, rusqlite::types::Null)?,
                CellValue::Whole(number) => self.insert.raw_bind_parameter(place, number)?,
                CellValue::Number(number) => self.insert.raw_bind_parameter(place, number)?,
                CellValue::Text(text) => self.insert.raw_bind_parameter(place, text)?,
            }
            if *kind != CellKind::Text {
                place += 1;
                self.insert.raw_bind_parameter(place, cell)?;
            }
        }
        self.insert.raw_execute().map(drop)
    }
}

fn load(database: &Connection, query: &TableQuery, texts: &[u8]) -> Result<(), String> {
    database.execute_batch("begin").map_err(|error| told(&error))?;
    let (mut from, mut rows) = (0, 0);
    for text in &query.texts {
        let end = from + usize::try_from(text.bytes).unwrap_or(usize::MAX);
        let content = texts.get(from..end).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let content = content.ok_or("a document's text can't be read")?;
        from = end;
        let mut guesses = Guesses { names: &text.tables, format: &text.format, tables: Vec::new() };
        tables(&text.format, content, &mut guesses);
        let mut loaded = Vec::new();
        for (name, (headers, guesses)) in text.tables.iter().zip(&guesses.tables) {
            let table = name.as_ref().map(|name| create(database, name, headers, guesses)).transpose();
            loaded.push(table.map_err(|error| told(&error))?);
        }
        let mut sink = Loader { tables: loaded, next: 0, rows: &mut rows, failed: None };
        tables(&text.format, content, &mut sink);
        if let Some(why) = sink.failed {
            return Err(why);
        }
    }
    database.execute_batch("commit").map_err(|error| told(&error))
}

/// Creates a table. A column of numbers or dates has another column beside it with its cells as written.
fn create<'d>(
    database: &'d Connection,
    name: &str,
    headers: &[String],
    guesses: &[ColumnGuess],
) -> rusqlite::Result<LoadedTable<'d>> {
    let kinds: Vec<CellKind> = guesses.iter().map(ColumnGuess::kind).collect();
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut columns = Vec::new();
    for (column, kind) in column_names(headers).iter().zip(&kinds) {
        columns.push(quoted(column));
        if *kind != CellKind::Text {
            columns.push(quoted(&format!("{column}_text")));
        }
    }
    let name = quoted(name);
    database.execute_batch(&format!("create table {name} ({})", columns.join(", ")))?;
    let places = vec!["?"; columns.len()].join(", ");
    Ok(LoadedTable { insert: database.prepare(&format!("insert into {name} values ({places})"))?, kinds })
}

// ── Asking

/// Allows only reading from here on, within limits.
fn bound(database: &Connection) -> rusqlite::Result<()> {
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
        (Limit::SQLITE_LIMIT_COLUMN, 500),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    ] {
        database.set_limit(limit, most)?;
    }
    // An unknown column in double quotes is an error, not a text.
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    let until = Instant::now() + MOST_TIME;
    database.progress_handler(STEPS, Some(move || Instant::now() > until))?;
    database.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Read { table_name, .. } if !table_name.starts_with("sqlite_") => Authorization::Allow,
        AuthAction::Function { function_name } if function_name != "load_extension" => Authorization::Allow,
        _ => Authorization::Deny,
    }))
}

fn run(database: &Connection, sql: &str) -> Result<TableAnswer, String> {
    let mut statements = rusqlite::Batch::new(database, sql);
    let first = statements.next().map_err(|error| told(&error))?;
    let mut statement = first.ok_or("there is no statement; write SELECT … FROM …")?;
    let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let mut answer = TableAnswer { columns, ..TableAnswer::default() };
    let width = answer.columns.len();
    let mut bytes = 0;
    {
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| told(&error))? {
            let cells: Vec<String> = (0..width).map(|at| row.get_ref(at).map(shown).unwrap_or_default()).collect();
            bytes += cells.iter().map(String::len).sum::<usize>();
            if answer.rows.len() == MOST_ANSWER_ROWS || bytes > MOST_ANSWER_BYTES {
                answer.is_cut = true;
                break;
            }
            answer.rows.push(cells);
        }
    }
    drop(statement);
    match statements.next().map_err(|error| told(&error))? {
        Some(_) => Err("there is more than one statement; send one at a time".to_owned()),
        None => Ok(answer),
    }
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::TableText, *};

    const PRICES: &str = "article;price;since\nBolt;1,37;03.05.2024\nNut;1.002,50;04.05.2024\n";
    const STOCK: &str = "# Stock\n\n| Article | Count |\n| --- | --- |\n| Bolt | 3 |\n| Nut | 4 |\n";

    fn ask(sql: &str) -> Result<TableAnswer, String> {
        let text = |format: &str, text: &str, name: &str| TableText {
            format: format.to_owned(),
            bytes: text.len() as u64,
            tables: vec![Some(name.to_owned())],
        };
        let texts = vec![text("CSV", PRICES, "prices"), text("workbook", STOCK, "stock")];
        answer(&TableQuery { sql: sql.to_owned(), texts }, &[PRICES, STOCK].concat().into_bytes())
    }

    #[test]
    fn tables_are_joined() {
        let sql = "select p.article, price * count as value, since, since_text from prices p join stock s using (article) \
                   order by value desc;";
        let found = ask(sql).unwrap();
        assert_eq!(found.columns, ["article", "value", "since", "since_text"]);
        assert_eq!(
            found.rows,
            [["Nut", "4010", "2024-05-04", "04.05.2024"], ["Bolt", "4.11", "2024-05-03", "03.05.2024"]]
        );
        let many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select i from n";
        let cut = ask(many).unwrap();
        assert_eq!((cut.rows.len(), cut.is_cut), (MOST_ANSWER_ROWS, true));
    }

    #[test]
    fn nothing_but_reading_is_possible() {
        let denied = "only SELECT over the tables of documents is allowed";
        for sql in [
            "delete from prices",
            "insert into prices values (1, 2, 3, 4, 5)",
            "create table x (y)",
            "attach '/etc/passwd' as p",
            "pragma table_info(prices)",
            "pragma hard_heap_limit = 0",
            "select * from sqlite_master",
            "select * from pragma_database_list",
            "select load_extension('x')",
            "vacuum into '/tmp/x.db'",
            "begin",
            "create temp view v as select 1",
            "drop table prices",
        ] {
            let why = ask(sql).unwrap_err();
            assert!(why == denied || why.contains("not authorized") || why.contains("prohibited"), "{sql}: {why}");
        }
        for (sql, why) in [
            ("select 1; select 2", "there is more than one statement; send one at a time"),
            ("", "there is no statement; write SELECT … FROM …"),
            ("-- nothing", "there is no statement; write SELECT … FROM …"),
            ("select readfile('/etc/passwd')", "no such function: readfile"),
        ] {
            assert_eq!(ask(sql).unwrap_err(), why, "{sql}");
        }
    }

    #[test]
    fn hostile_statements_are_bounded() {
        let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
        assert_eq!(ask(endless).unwrap_err(), "it takes longer than 5 seconds; ask for less");
        for sql in [
            "select hex(zeroblob(100000000))",
            "with recursive n(i, t) as (select 1, 'xxxxxxxxxx' union all select i + 1, t || t from n where i < 60) select max(length(t)) from n",
            "select group_concat(t) from (with recursive n(i, t) as (select 1, hex(zeroblob(1000)) union all select i + 1, t from n where i < 100000) select t from n)",
        ] {
            let why = ask(sql).unwrap_err();
            assert!(why.contains("ask for less") || why.contains("too big"), "{sql}: {why}");
        }
        // SQLite's own answer to a text that is too long.
        assert_eq!(ask("select printf('%.*c', 100000000, 'x')").unwrap().rows, [[""]]);
        let wide = format!("select {}", vec!["1"; 600].join(", "));
        assert!(ask(&wide).is_err());
        let deep = format!("select {}1{}", "abs(".repeat(3_000), ")".repeat(3_000));
        assert!(ask(&deep).is_err());
    }
}
