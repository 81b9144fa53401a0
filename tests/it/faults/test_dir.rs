//! A folder to work in with the real program, and jobs made in this process, which can be stopped at any decision.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::script;
use crate::support::made;
use overnight::{
    model::{Model, scripted::Scripted},
    runner::{IndexOutcome, JobOutcome, JobRunner, OpenJob, Reindexed, RunError, RunReport},
    store::{JobRow, Store, connect},
};
use overnight_core::{
    job::{
        digest::sha256,
        id::JobId,
        instructions,
        record::{HoldReason, JobStatus, PhaseRow, TodoRow},
        state::Job,
        time::Timestamp,
    },
    machine::effect::Command as Word,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    future::poll_fn,
    io::{BufRead, BufReader},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::{Path, PathBuf},
    pin::pin,
    process::{Child, ChildStderr, Command, Stdio},
    sync::Arc,
    task::Poll,
};
use tempfile::TempDir;

pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_overnight");
pub(super) const RUN: [&str; 6] = ["run", "./task.md", "--documents", "docs", "--model", "scripted:script.json"];

/// What a command came to.
#[derive(Debug, PartialEq)]
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// A folder with two documents, a task and a script.
pub(super) struct TestDir {
    pub(super) folder: TempDir,
    pub(super) url: String,
}

impl TestDir {
    pub(super) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let url = format!("sqlite://{}/workspaces/overnight.db", folder.path().display());
        Self::with(folder, url)
    }

    pub(super) fn on(url: String) -> Self {
        Self::with(TempDir::new().unwrap(), url)
    }

    fn with(folder: TempDir, url: String) -> Self {
        let dir = Self { folder, url };
        dir.put("docs/a.md", "# A\n\nThe server MUST answer within 2 s.\n");
        dir.put("docs/b.md", "# B\n\nA client SHOULD wait.\n");
        dir.put("task.md", script::task(""));
        dir.script(&script::whole(0.9));
        dir
    }

    pub(super) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn put(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(super) fn read(&self, name: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(super) fn script(&self, replies: &[Value]) {
        self.put("script.json", script::file(replies));
    }

    pub(super) fn workspaces(&self) -> PathBuf {
        self.path("workspaces")
    }

    pub(super) fn workspace(&self, id: JobId) -> PathBuf {
        self.workspaces().join(id.to_string())
    }

    /// The program, without what this machine's environment might say.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.folder.path()).env_clear().env("DATABASE_URL", &self.url).args(arguments);
        command.stdin(Stdio::null());
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Ran {
        ran(&self.command(arguments).output().unwrap())
    }

    /// The exit code and the object that `--json` prints.
    pub(super) fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let ran = self.run(&[arguments, &["--json"]].concat());
        (ran.code, serde_json::from_str(&ran.stdout).unwrap_or_else(|_| unreachable!("{ran:?}")))
    }

    /// Starts a command; its stderr is the caller's to read.
    pub(super) fn start(&self, arguments: &[&str]) -> (Child, BufReader<ChildStderr>) {
        let mut child = self.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        (child, stderr)
    }

    /// Starts a command that works on a job, and returns once it does.
    pub(super) fn working(&self, arguments: &[&str]) -> Child {
        let (child, mut stderr) = self.start(arguments);
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.starts_with("job "), "{line}");
        // Read on, so that the program never waits for us.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        child
    }

    pub(super) async fn store(&self) -> Arc<dyn Store> {
        connect(&self.url).await.unwrap()
    }

    /// A job made in this process.
    pub(super) fn make(&self) -> PathBuf {
        let text = self.read("task.md");
        let read =
            instructions::parse("task.md", &text, &|path| Err(instructions::UnreadFile(path.to_owned()))).unwrap();
        made(&self.workspaces(), read, &text, &[self.path("docs")], self.model().as_ref())
    }

    fn model(&self) -> Arc<dyn Model> {
        Arc::new(Scripted::parse("script.json", &self.read("script.json")).unwrap())
    }

    /// Works a job in this process, after `words`, until it rests.
    pub(super) async fn work(&self, store: &dyn Store, path: &Path, words: Vec<Word>) -> Result<JobOutcome, RunError> {
        self.watched(store, path, words, &mut |_, _| {}).await
    }

    /// [`Self::work`], with every report.
    pub(super) async fn watched(
        &self,
        store: &dyn Store,
        path: &Path,
        words: Vec<Word>,
        watch: &mut (dyn FnMut(&Job, RunReport<'_>) + Send),
    ) -> Result<JobOutcome, RunError> {
        let (_keep, stop) = tokio::sync::watch::channel(false);
        self.stoppable(store, path, words, stop, watch).await
    }

    /// [`Self::watched`], until `stop` turns true.
    pub(super) async fn stoppable(
        &self,
        store: &dyn Store,
        path: &Path,
        words: Vec<Word>,
        stop: tokio::sync::watch::Receiver<bool>,
        watch: &mut (dyn FnMut(&Job, RunReport<'_>) + Send),
    ) -> Result<JobOutcome, RunError> {
        let mut session = OpenJob::open(path, None)?;
        session.claim(store).await?;
        let model = self.model();
        let open = Word::Open {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: "scripted:script.json".to_owned(),
            torn_bytes: None,
        };
        let words = [vec![open], words].concat();
        JobRunner::new(store, model, stop, watch).with_commands(words).run(&mut session).await
    }

    /// Works a job and dies, as by `kill -9`, right after decision number `last` of this run.
    pub(super) async fn die(&self, store: &dyn Store, path: &Path, last: usize) {
        let mut count = 0;
        let mut watch = |_: &Job, report: RunReport<'_>| {
            if let RunReport::Decided(_) = report {
                count += 1;
                if count == last {
                    // Not one step further, however fast the database answers.
                    resume_unwind(Box::new("death"));
                }
            }
        };
        let mut work = pin!(self.watched(store, path, Vec::new(), &mut watch));
        poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(rested)) => unreachable!("{rested:?}"),
            Err(_) => Poll::Ready(()),
        })
        .await;
    }
}

pub(super) fn ran(output: &std::process::Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout.clone()).unwrap(),
        stderr: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

/// The job whose workspace is at `path`.
pub(super) fn id(path: &Path) -> JobId {
    path.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// All rows of one job.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    pub(super) job: JobRow,
    pub(super) phases: Vec<PhaseRow>,
    pub(super) todos: Vec<TodoRow>,
}

/// The rows of job `id`, without when they were written and by which process.
pub(super) async fn rows(store: &dyn Store, id: JobId) -> Option<Rows> {
    let job = store.job(id).await.unwrap()?;
    let job = JobRow { updated: Timestamp::default(), worker: None, ..job };
    Some(Rows { job, phases: store.phases(id).await.unwrap(), todos: store.todos(id).await.unwrap() })
}

/// Every file below `folder` with the hash of its content, without locks and the database.
pub(super) fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file() && entry.file_name() != ".lock")
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with("overnight.db"))
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).unwrap().to_owned();
            (path, sha256(&std::fs::read(entry.path()).unwrap()))
        })
        .collect()
}

/// How a journal says that its job stands.
type Standing = Option<(JobStatus, Option<HoldReason>)>;

/// What a walk of `reindex` did, job by job.
pub(super) fn seen(done: &Reindexed) -> Vec<(&'static str, Standing)> {
    let word = |outcome: &IndexOutcome| match outcome {
        IndexOutcome::Restored => "restored",
        IndexOutcome::Updated => "updated",
        IndexOutcome::Unchanged => "unchanged",
        IndexOutcome::Busy(_) => "busy",
        IndexOutcome::Ahead(_) => "ahead",
        IndexOutcome::Broken(_) => "broken",
    };
    done.jobs.iter().map(|job| (word(&job.outcome), job.standing)).collect()
}
