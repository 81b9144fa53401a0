//! What people do with jobs of the queue: the real program beside a worker that the test plays. Texts are compared whole;
//! `UPDATE=1` rewrites what is expected.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod listed;
mod narrow;
mod rehearsed;
mod reported;
mod requests;
mod waiting;
mod watched;

use crate::{
    cli_run::PROGRAM,
    queue::batch_id,
    store::{A, MINUTE, at, id},
    support::{drive, golden, request, shipped, wait},
};
use overnight::{
    extraction::Extractor,
    model::rules::Offline,
    runner,
    store::{self, NewBatch, QueueEntry, QueuedJob, Store},
    workspace::lock,
};
use overnight_core::job::{digest::sha256, id::JobId, record::JobStatus};
use regex::Regex;
use serde_json::{Map, Value};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};
use tempfile::TempDir;

/// What a person, or a file's name, brings to whoever prints it.
const HOSTILE: &str = "a\u{1b}[31m|b\u{202e}\r\nc `d` <script>";

const PAST: &str = "2020-01-01T00:00:00.000Z";
const FUTURE: &str = "2099-01-01T06:30:00.000Z";

/// The program in a folder of its own, with the database that it takes without being told.
struct TestDir {
    folder: TempDir,
    store: Arc<dyn Store>,
}

fn batch(number: u32, name: Option<&str>) -> NewBatch {
    NewBatch {
        id: batch_id(number),
        created: at(&format!("2026-11-21T22:{number:02}:00.000Z")),
        name: name.map(str::to_owned),
        instructions: "extract-requirements".to_owned(),
        instructions_text: shipped("extract-requirements").1,
        instructions_sha256: sha256(shipped("extract-requirements").1.as_bytes()),
        model: "offline".to_owned(),
        settings: serde_json::json!({}),
        budget_usd: None,
        time_window: None,
    }
}

/// Numbers of jobs begin at 11, so that no job's id begins as a batch's.
fn queued(number: u32) -> QueuedJob {
    QueuedJob {
        id: id(number),
        label: format!("contract {number}.md"),
        sources: vec!["rules.md".to_owned()],
        documents: 1,
        documents_sha256: Some(sha256(format!("document {number}").as_bytes())),
        priority: 0,
        run_after: None,
        group: None,
        max_attempts: 3,
        is_held: false,
    }
}

impl TestDir {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("rules.md"), "# Rules\n\nA clerk MUST sign. A guest MAY enter.\n").unwrap();
        let url = format!("sqlite://{}", folder.path().join("workspaces/overnight.db").display());
        let store = wait(async { store::connect(&url).await.unwrap() });
        Self { folder, store }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn submit(&self, batch: &NewBatch, jobs: &[QueuedJob]) {
        wait(async { self.store.submit(batch, jobs, true).await.unwrap() });
    }

    fn entry(&self, batch: u32, job: u32) -> QueueEntry {
        let manifest = wait(async { self.store.batch_entries(batch_id(batch)).await.unwrap() });
        manifest.into_iter().find(|entry| entry.job.id == id(job)).unwrap()
    }

    /// How the jobs of a batch stand: number, status, what holds it, what is wished.
    fn manifest(&self, batch: u32) -> Vec<String> {
        let manifest = wait(async { self.store.batch_entries(batch_id(batch)).await.unwrap() });
        let line = |entry: QueueEntry| {
            let hold = entry.hold_reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            let wants = entry.wants.map(|wish| format!(", wants {}", wish.name())).unwrap_or_default();
            format!("{} {}{hold}{wants}", &entry.job.id.to_string()[6..8], entry.status)
        };
        manifest.into_iter().map(line).collect()
    }

    /// The next job in line, with its lease.
    fn claim(&self) -> (JobId, u64) {
        wait(async {
            let claimed = self.store.claim_next(A, &lock::host(), 1, MINUTE).await.unwrap();
            (claimed[0].id, claimed[0].lease)
        })
    }

    /// Works the next job in line as a worker does; its workspace.
    fn work(&self) -> PathBuf {
        self.worked(|_| {})
    }

    /// The same; `before` sees the workspace before the work begins.
    fn worked(&self, before: impl FnOnce(&Path)) -> PathBuf {
        let (job, lease) = self.claim();
        let path = self.workspace(job, lease, Some(&lock::host()));
        before(&path);
        let (_, outcome) = wait(drive(&*self.store, &path, Arc::new(Offline(None)), None, &mut |_, _| {}));
        assert_eq!(outcome.unwrap(), runner::JobOutcome::Ended(JobStatus::Completed));
        path
    }

    /// Makes the workspace of a claimed job.
    fn workspace(&self, job: JobId, lease: u64, host: Option<&str>) -> PathBuf {
        let (instructions, text) = shipped("extract-requirements");
        let (extractor, documents) = (Extractor::in_process(), [self.path("rules.md")]);
        let request = request(&extractor, instructions, &text, &documents, &Offline(None));
        let row = wait(async { self.store.job(job).await.unwrap().unwrap() });
        let made = runner::create_as(job, row.job.created, &self.path("workspaces"), &request).unwrap();
        wait(async { self.store.set_workspace(job, lease, made.path.to_str().unwrap(), host).await.unwrap() });
        made.path
    }

    /// Runs SQL past the program.
    fn sql(&self, statement: &str) {
        wait(async {
            let url = format!("sqlite://{}", self.path("workspaces/overnight.db").display());
            let mut database = <sqlx::SqliteConnection as sqlx::Connection>::connect(&url).await.unwrap();
            sqlx::raw_sql(sqlx::AssertSqlSafe(statement.to_owned())).execute(&mut database).await.unwrap();
        });
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words).current_dir(self.folder.path()).env_clear().env("TZ", "UTC");
        command
    }

    fn output(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// stdout of a command that must end with `code`, and say nothing else.
    #[track_caller]
    fn says(&self, code: i32, words: &[&str]) -> String {
        let output = self.output(words);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.as_str()), (Some(code), ""), "{words:?}");
        self.steady(&String::from_utf8(output.stdout).unwrap())
    }

    /// stderr of a command that must end with `code`, and give no result.
    #[track_caller]
    fn refuses(&self, code: i32, words: &[&str]) -> String {
        let output = self.output(words);
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!((output.status.code(), stdout.as_str()), (Some(code), ""), "{words:?}");
        self.steady(&String::from_utf8(output.stderr).unwrap())
    }

    #[track_caller]
    fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.says(0, words)).unwrap()
    }

    /// What a command shows on a terminal of 80 columns that has no colours.
    fn on_terminal(&self, words: &str) -> String {
        let line = format!("stty cols 80 rows 24; exec {PROGRAM} {words}");
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(self.folder.path());
        let output = command.env_clear().env("PATH", "/usr/bin:/bin").env("TZ", "UTC").output().unwrap();
        self.steady(&String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n"))
    }

    /// `text` without what differs from run to run.
    fn steady(&self, text: &str) -> String {
        let folder = fs::canonicalize(self.folder.path()).unwrap();
        let mut text = text.replace(&*folder.to_string_lossy(), "DESK").replace(&lock::host(), "HERE");
        for (pattern, word) in [
            // Everything of the test itself is of other years, or at full minutes.
            (r"2026-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d*[1-9]\d*Z?", "NOW"),
            (r"\b(\d+ms|\d+\.\ds)\b", "MS"),
            // The store's own words.
            (r"given up after (1 attempts; the last one|attempt 1): ", "given up: "),
        ] {
            text = Regex::new(pattern).unwrap().replace_all(&text, word).into_owned();
        }
        text
    }
}

#[track_caller]
fn check(name: &str, text: &str) {
    golden(&format!("batches/expected/{name}"), text);
}

/// JSON as it is printed, with its fields in as few lines as hold them.
#[track_caller]
fn check_json(name: &str, printed: &str) {
    let value: Value = serde_json::from_str(printed).unwrap();
    assert_eq!(printed, format!("{value:#}\n"));
    check(name, &filled(value.as_object().unwrap().iter()));
}

/// Fields with their values; a line is begun where the last one is full.
fn filled<'v>(fields: impl Iterator<Item = (&'v String, &'v Value)>) -> String {
    let mut text = String::new();
    let mut room = 0;
    for told in fields.map(|(field, value)| format!("{field}: {value}")) {
        let is_first = text.is_empty();
        text.push_str(if room > told.len() {
            ", "
        } else if is_first {
            ""
        } else {
            "\n"
        });
        room = if room > told.len() { room } else { 120 }.saturating_sub(told.len() + 2);
        text.push_str(&told);
    }
    text + "\n"
}

/// The first of a list whole, and of each other what is otherwise.
fn told_once(list: &Value) -> String {
    let list: Vec<&Map<String, Value>> = list.as_array().unwrap().iter().map(|one| one.as_object().unwrap()).collect();
    let other = |one: &&Map<String, Value>| {
        assert!(one.keys().eq(list[0].keys()));
        filled(one.iter().filter(|(field, value)| list[0][*field] != **value))
    };
    filled(list[0].iter()) + &list[1..].iter().map(other).collect::<String>()
}

/// Whether `text` is lines that no terminal obeys.
fn is_plain(text: &str) -> bool {
    text.chars().all(|letter| letter == '\n' || !(letter.is_control() || ('\u{202a}'..='\u{202e}').contains(&letter)))
}
