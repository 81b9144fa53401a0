//! (g) The longest time between two renewals of a lease, while a worker of the program itself works four jobs that search a
//! hundred megabytes, again and again. For a minute, or as many seconds as are named: `-- leases 600`.

use crate::{load::Load, search, table};
use overnight::worker::WorkerTimes;
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use std::{
    collections::HashMap,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

const JOBS: usize = 4;
const SECONDS: u64 = 60;
/// How often the leases are looked at.
const LOOK: Duration = Duration::from_millis(20);

pub(crate) fn measure() {
    let seconds = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(SECONDS);
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let load = Load::new(64);
    load.put(folder.path());
    search::put_documents(&folder.path().join("docs"));
    std::fs::write(folder.path().join("script.yaml"), searching(load)).unwrap();
    for _ in 0..JOBS {
        let submit = ["submit", "./task.md", "--documents", "docs", "--model", "scripted:script.yaml"];
        assert!(program(folder.path(), &submit).status().unwrap().success());
    }
    let mut worker = program(folder.path(), &["work", "--concurrency", &JOBS.to_string()]).spawn().unwrap();
    let (watched, longest, (claims, turns)) = crate::load::wait(watched(folder.path(), Duration::from_secs(seconds)));
    worker.kill().unwrap();
    worker.wait().unwrap();
    let limit = WorkerTimes::default().lease.as_secs_f64();
    table::plain("leases: watched while 4 jobs search 100 MB", watched.as_secs_f64(), "s");
    table::plain("turns of the jobs, a third of them with six searches each", turns as f64, "");
    table::limited("longest time between two renewals", longest.as_secs_f64(), limit, "s");
    table::limited("leases that were lost", claims as f64 - JOBS as f64, 0.0, "");
}

fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overnight"));
    command.args(arguments).current_dir(folder).env_clear().stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The load's script, where six searches stand in the place of each reading.
fn searching(load: Load) -> String {
    let mut script: Value = serde_yaml::from_str(&load.script()).unwrap();
    for (number, reply) in script["replies"].as_array_mut().unwrap().iter_mut().enumerate() {
        if reply["calls"][0].get("read_document").is_some() {
            let calls = search::PATTERNS.map(|(_, pattern)| {
                let pattern = format!("{pattern} {number}");
                json!({ "search_files": { "pattern": pattern, "path": "documents" } })
            });
            reply["calls"] = calls.to_vec().into();
        }
    }
    script.to_string()
}

/// For how long the jobs were watched from when all of them ran, until one ended or for `time`; the longest time for which a
/// deadline stayed as it was; and how often jobs were claimed, with their turns.
async fn watched(folder: &Path, time: Duration) -> (Duration, Duration, (i64, i64)) {
    let url = format!("sqlite://{}", folder.join("workspaces/overnight.db").display());
    let mut database = SqliteConnection::connect(&url).await.unwrap();
    let mut leases: HashMap<Vec<u8>, (String, Instant)> = HashMap::new();
    let (mut longest, mut since) = (Duration::ZERO, None);
    while since.is_none_or(|since: Instant| since.elapsed() < time) {
        let rows: Vec<(Vec<u8>, String)> =
            sqlx::query_as("select id, lease_until from jobs where status = 'running' and turns > 0")
                .fetch_all(&mut database)
                .await
                .unwrap();
        match since {
            None if rows.len() == JOBS => since = Some(Instant::now()),
            Some(_) if rows.len() < JOBS => break,
            Some(_) | None => {}
        }
        for (id, until) in rows {
            let lease = leases.entry(id).or_insert_with(|| (until.clone(), Instant::now()));
            longest = longest.max(lease.1.elapsed());
            if lease.0 != until {
                *lease = (until, Instant::now());
            }
        }
        tokio::time::sleep(LOOK).await;
    }
    let counts = sqlx::query_as("select sum(lease), sum(turns) from jobs").fetch_one(&mut database).await.unwrap();
    (since.map_or(time, |since| since.elapsed()), longest, counts)
}
