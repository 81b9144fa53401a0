//! Databases that are not this program's, or not wholly: what it says of them, and that it leaves them as they are.

use crate::{cli_run::TestDir, store::postgres_url, support::wait};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions};
use std::path::Path;

/// What another program made with the library that this one uses.
const OTHER_MIGRATIONS: &str = "create table _sqlx_migrations (version bigint primary key, description text not null,
        installed_on timestamp not null default current_timestamp, success boolean not null, checksum HASH not null,
        execution_time bigint not null);
    insert into _sqlx_migrations (version, description, success, checksum, execution_time) values (1, 'tables', true, 'other', 0);
    create table invoices (id bigint)";
const OTHER_JOBS: &str = "create table jobs (id bigint, task text)";
const POSTGRES_TABLES: &str = "select coalesce(string_agg(schemaname || '.' || tablename, ' ' order by 1), '')
    from (select schemaname, tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema')
        order by 1, 2) as tables";

fn foreign(database: &str) -> String {
    format!(
        "error: the database {database} isn't overnight's: it has tables of another program; name another with \
         OVERNIGHT_DATABASE_URL or --database-url\n"
    )
}

/// Its six migrations, never released, became one: it is known by the hash of its first.
fn development(database: &str) -> String {
    format!(
        "error: database {database} was made by an earlier development version of overnight, and can't be brought up to this \
         one: remove it and run `overnight reindex`\n"
    )
}

pub(crate) async fn postgres(url: &str, sql: &str) {
    PgConnection::connect(url).await.unwrap().execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.unwrap();
}

async fn tables(url: &str) -> String {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::query_scalar(POSTGRES_TABLES).fetch_one(&mut connection).await.unwrap()
}

pub(crate) async fn sqlite(file: &Path, sql: &str) {
    let options = SqliteConnectOptions::new().filename(file).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.unwrap();
    connection.close().await.unwrap();
}

/// `host:port/name` of `postgres://user:password@host:port/name`.
fn told(url: &str) -> &str {
    url.rsplit_once('@').unwrap().1
}

#[test]
fn another_programs_file_is_refused_and_stays_as_it_is() {
    let other = OTHER_MIGRATIONS.replace("HASH", "blob");
    let old = other.replace("'other'", "x'db84488daf5f544fab'");
    let foreign: fn(&str) -> String = foreign;
    let recipes = "create table recipes (name text)";
    for (sql, refusal) in [(OTHER_JOBS, foreign), (&other, foreign), (recipes, foreign), (&old, development)] {
        for log in ["delete", "wal"] {
            let dir = TestDir::new();
            let file = dir.path().join("other.db");
            wait(sqlite(&file, &format!("pragma journal_mode = {log}; {sql}")));
            let before = std::fs::read(&file).unwrap();
            let url = format!("sqlite://{}", file.display());
            for command in ["jobs", "work"] {
                let ran = dir.run_with(&[("OVERNIGHT_DATABASE_URL", &url)], &[command]);
                let expected = (2, String::new(), refusal(&file.display().to_string()));
                assert_eq!((ran.code, ran.stdout, ran.stderr), expected, "{command} {sql}");
            }
            assert_eq!(std::fs::read(&file).unwrap(), before, "{log} {sql}");
            let beside = std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name());
            let beside: Vec<_> = beside.filter(|name| name.to_string_lossy().starts_with("other.db")).collect();
            assert_eq!(beside, ["other.db"], "{log} {sql}");
        }
    }
}

#[test]
fn another_programs_file_is_refused_while_it_is_open() {
    let dir = TestDir::new();
    let file = dir.path().join("other.db");
    wait(async {
        let options = SqliteConnectOptions::new().filename(&file).create_if_missing(true);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        connection.execute("pragma journal_mode = wal; create table jobs (id bigint)").await.unwrap();
        let url = format!("sqlite://{}", file.display());
        let ran = dir.run_with(&[], &["jobs", "--database-url", &url]);
        assert_eq!((ran.code, ran.stderr), (2, foreign(&file.display().to_string())));
        let tables: i64 =
            sqlx::query_scalar("select count(*) from sqlite_schema").fetch_one(&mut connection).await.unwrap();
        assert_eq!(tables, 1);
    });
}

#[test]
fn another_programs_postgres_database_is_refused_and_stays_as_it_is() {
    let other = OTHER_MIGRATIONS.replace("HASH", "bytea");
    let old = other.replace("'other'", "'\\x84b228ca3f38a51aab'");
    let foreign: fn(&str) -> String = foreign;
    for (sql, there, refusal) in [
        (OTHER_JOBS, "public.jobs", foreign),
        (&other, "public._sqlx_migrations public.invoices", foreign),
        (&old, "public._sqlx_migrations public.invoices", development),
        (
            "create table invoices (id bigint); create index todos_by_status on invoices (id)",
            "public.invoices",
            foreign,
        ),
    ] {
        let url = wait(postgres_url());
        wait(postgres(&url, sql));
        let dir = TestDir::new();
        for command in ["jobs", "work"] {
            let ran = dir.run_with(&[], &[command, "--database-url", &url]);
            assert_eq!((ran.code, ran.stdout, ran.stderr), (2, String::new(), refusal(told(&url))), "{command} {sql}");
        }
        assert_eq!(wait(tables(&url)), there);
    }
}

#[test]
fn a_postgres_database_is_shared_where_nothing_is_in_the_way() {
    let url = wait(postgres_url());
    let other = OTHER_MIGRATIONS.replace("HASH", "bytea");
    wait(postgres(&url, &format!("create schema aside; set search_path = aside; {OTHER_JOBS}; {other}")));
    wait(postgres(&url, "create table public.invoices (id bigint)"));
    let dir = TestDir::new();
    let none = "there is no job yet\n";
    // The second time, it is a database of ours.
    for _ in 0..2 {
        assert_eq!(dir.run_with(&[], &["migrate", "--database-url", &url]).code, 0);
        let ran = dir.run_with(&[], &["jobs", "--database-url", &url]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, none), "{ran:?}");
    }
    // A schema of one's own, before one of the same path that is another program's.
    let mine = format!("{url}?options=-csearch_path%3Dmine,aside");
    wait(postgres(&url, "create schema mine"));
    assert_eq!(dir.run_with(&[], &["migrate", "--database-url", &mine]).code, 0);
    let ran = dir.run_with(&[], &["jobs", "--database-url", &mine]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, none), "{ran:?}");
    let all = wait(tables(&url));
    assert!(all.contains("mine.jobs") && all.contains("public.jobs"), "{all}");
    assert!(all.starts_with("aside._sqlx_migrations aside.invoices aside.jobs mine."), "{all}");
}

/// The password is `no`, which is a word of what the server says.
#[test]
fn who_may_make_no_tables_is_told_so_in_whole_words() {
    for (which, sql, said) in [
        ("a", "revoke create on schema public from public", "permission denied for schema public"),
        ("b", "drop schema public", "no schema has been selected to create in"),
    ] {
        let url = wait(postgres_url());
        let database = url.rsplit_once('/').unwrap().1;
        let role = format!("{database}_{which}");
        wait(postgres(&url, &format!("{sql}; create role {role} login password 'no'")));
        let theirs = url.replacen("postgres@", &format!("{role}:no@"), 1);
        let ran = TestDir::new().run_with(&[], &["migrate", "--database-url", &theirs]);
        let expected = format!("error: can't open database {}: {said}\n", told(&url));
        assert_eq!((ran.code, ran.stderr), (2, expected), "{which}");
        assert_eq!(wait(tables(&url)), "");
    }
}
