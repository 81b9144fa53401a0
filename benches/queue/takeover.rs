//! (e) From a worker's death by SIGKILL until another has its job: the program itself, with the times that it has.

use crate::{
    load::{Ground, RUNS},
    measure::{median, ms},
    table,
};
use overnight::worker::WorkerTimes;
use sqlx::{Connection, PgConnection};
use std::{
    fmt::Write,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use uuid::Uuid;

/// Statements of a document that keeps a worker busy for longer than it takes to kill it.
const STATEMENTS: usize = 20_000;

pub(crate) fn measure(ground: &Ground) {
    let times: Vec<Duration> = (0..RUNS).map(|_| one_run(ground)).collect();
    let WorkerTimes { lease, sweep, .. } = WorkerTimes::default();
    table::limited("SIGKILL to taken over", ms(median(times)), ms(lease + sweep), "ms");
}

fn one_run(ground: &Ground) -> Duration {
    let url = ground.database();
    let folder = TempDir::new().unwrap();
    let mut text = String::new();
    for number in 0..STATEMENTS {
        writeln!(text, "Part {number} MUST hold for {number} hours.\n").unwrap();
    }
    std::fs::write(folder.path().join("long.md"), text).unwrap();
    let submit = ["submit", "extract-requirements", "--documents", "long.md"];
    assert!(program(&url, folder.path(), &submit).status().unwrap().success());
    ground.runtime.block_on(async {
        let mut database = PgConnection::connect(&url).await.unwrap();
        let mut dies = Ended(program(&url, folder.path(), &["work"]).spawn().unwrap());
        let first = holder(&mut database, None).await;
        let _lives = Ended(program(&url, folder.path(), &["work"]).spawn().unwrap());
        dies.0.kill().unwrap();
        let killed = Instant::now();
        holder(&mut database, Some(first)).await;
        killed.elapsed()
    })
}

fn program(url: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overnight"));
    command.args(arguments).current_dir(folder).env_clear().env("OVERNIGHT_DATABASE_URL", url);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Waits until a worker other than `before` has the job.
async fn holder(database: &mut PgConnection, before: Option<Uuid>) -> Uuid {
    loop {
        let worker: Option<Uuid> =
            sqlx::query_scalar("select worker from jobs").fetch_one(&mut *database).await.unwrap();
        match worker {
            Some(worker) if Some(worker) != before => return worker,
            Some(_) | None => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

/// A process that is gone at the end.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
