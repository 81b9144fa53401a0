//! A night of fourteen jobs, each of which went another way.

use crate::{
    cli_run::{PROGRAM, RUN, whole_job},
    store::listed,
    support::{files, made, wait},
};
use async_trait::async_trait;
use overnight::{
    model::{Failure, FailureKind, Model, Request, scripted::Scripted},
    runner::{JobRunner, OpenJob, RunReport},
    store::{self, JobFilter, JobRow, Store},
};
use overnight_core::{
    job::{id::JobId, instructions, limits::Limits, state::Job},
    machine::effect::Command as Word,
    message::{Reply, Usage},
};
use regex::Regex;
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tempfile::TempDir;

/// What a model writes to whoever is careless with it.
pub(super) const HOSTILE: &str =
    "a|b `c` **d** <script>alert(1)</script> \u{1b}[31m[e](x)\n\n# f\r\n=1+1 \u{202e}\"g\"";

const TASK: &str = "---\nname: NAME\ndescription: A report\ndeliverables:\n  - path: output/report.md\n    min_words: 3\nMORE---\n# Task\n\nWrite a report.\n";

/// The program in a folder of its own, with its jobs.
pub(super) struct Night {
    folder: TempDir,
    /// In the order in which they were made.
    ids: Vec<JobId>,
}

/// A script whose prompts were partly cached, and whose turns cost something, where the reply's length is even: of the
/// others no price is known. Its first attempts fail.
#[derive(Debug)]
struct Paid {
    script: Scripted,
    fails: Option<FailureKind>,
    has_failed: AtomicBool,
    is_known: bool,
}

#[async_trait]
impl Model for Paid {
    fn name(&self) -> &str {
        self.script.name()
    }

    fn window_tokens(&self) -> u64 {
        self.script.window_tokens()
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        if let Some(kind) = self.fails.filter(|_| !self.has_failed.swap(true, Ordering::Relaxed)) {
            return Err(Failure::new(kind, format!("the provider said: {HOSTILE}")));
        }
        let reply = self.script.reply(request).await?;
        Ok(Reply { usage: Usage { cached: reply.usage.input / 3, ..reply.usage }, ..reply })
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        let is_known = self.is_known || usage.output.is_multiple_of(2);
        is_known.then(|| f64::from(u32::try_from(usage.output).unwrap()) * 1e-6)
    }
}

/// What was told, but for that one died before its row was written, which is told each time.
fn said(stderr: Vec<u8>) -> String {
    let text = String::from_utf8(stderr).unwrap();
    text.split_inclusive('\n').filter(|line| !line.contains(" is further than the database says: ")).collect()
}

impl Night {
    /// Nothing happened yet.
    pub(super) fn new() -> Self {
        let night = Self { folder: TempDir::new().unwrap(), ids: Vec::new() };
        fs::create_dir(night.path("docs")).unwrap();
        fs::write(night.path("docs/a.md"), "# A\n\nThe server MUST answer within 2 s.\n").unwrap();
        fs::write(night.path("docs/=b,\"x\".md"), "# B\n\nA client SHOULD wait.\n").unwrap();
        night
    }

    /// Fourteen jobs.
    pub(super) fn whole() -> Self {
        let mut night = Self::new();
        let script = whole_job_with("a.md", &json!({"confidence": 0.9}));
        let blocked = json!({"confidence": 1, "status": "blocked", "summary": HOSTILE});
        // 0: as it should be.
        night.run(0, "task", "", &script, &[]);
        // 1, 2: held for the same reason; 3: held, and then cancelled.
        night.run(4, "task", "", &script, &["--turns", "2"]);
        night.run(4, "task", "", &script, &["--turns", "2"]);
        night.run(4, "task", "", &script, &["--turns", "3"]);
        night.says(0, &["cancel", "last"]);
        // 4: blocked, with a name and a reason that nobody should trust.
        night.run(3, "'=task|<b>x</b>`'", "", &whole_job_with("a.md", &blocked), &[]);
        // 5: waits for its review.
        night.run(4, "reviewed", "review: required\n", &script, &[]);
        // 6: partial for its checks; 7: partial for its confidence.
        let mut lazy = whole_job_with("none", &json!({"confidence": 0.4}));
        let last = lazy.pop().unwrap();
        let call = last["calls"].as_array().unwrap().last().unwrap().clone();
        lazy.push(last);
        lazy.extend((0..4).map(|_| json!({"calls": [call]})));
        night.run(3, "partial", "", &lazy, &[]);
        night.run(3, "unsure", "confidence_floor: 0.6\n", &whole_job_with("a.md", &json!({"confidence": 0.5})), &[]);
        // 8: completed, not too sure, with notes; its workspace is gone. 9: with a deliverable that was changed.
        let notes = json!({"confidence": 0.6, "notes": HOSTILE});
        night.run(0, "lost", "", &whole_job_with("a.md", &notes), &[]);
        night.run(0, "changed", "", &script, &[]);
        // 10: failed; the script says too little. 11: held, and its journal is broken.
        night.run(1, "failed", "", &script[..2], &[]);
        night.run(4, "broken", "", &script, &["--turns", "2"]);
        // 12: priced, with a prompt that was too long once; 13: a key that was refused, then the process died.
        let paid = |fails, is_known| Paid {
            script: scripted(&script),
            fails: Some(fails),
            has_failed: AtomicBool::new(false),
            is_known,
        };
        night.drive("paid", paid(FailureKind::ContextLength, true), None);
        night.drive("unpriced", paid(FailureKind::KeyRefused, false), Some(3));
        let rows = night.rows();
        night.ids = rows.iter().map(|row| row.job.id).collect();
        fs::remove_dir_all(night.workspace(night.gone())).unwrap();
        fs::write(night.workspace(night.ids[9]).join("output/report.md"), "Quite another report.\n").unwrap();
        let journal = night.workspace(night.broken()).join("journal.jsonl");
        let content = fs::read_to_string(&journal).unwrap();
        fs::write(&journal, content.replacen("\"seq\"", "\"sex\"", 1)).unwrap();
        night
    }

    pub(super) fn gone(&self) -> JobId {
        self.ids[8]
    }

    pub(super) fn changed(&self) -> JobId {
        self.ids[9]
    }

    pub(super) fn broken(&self) -> JobId {
        self.ids[11]
    }

    pub(super) fn priced(&self) -> JobId {
        self.ids[12]
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn workspace(&self, id: JobId) -> PathBuf {
        self.path("workspaces").join(id.to_string())
    }

    async fn store(&self) -> Arc<dyn Store> {
        store::connect(&format!("sqlite://{}", self.path("workspaces/overnight.db").display())).await.unwrap()
    }

    /// As the database has them, the oldest first.
    pub(super) fn rows(&self) -> Vec<JobRow> {
        let mut rows = wait(async { listed(self.store().await.as_ref(), &JobFilter::default()).await });
        rows.reverse();
        rows
    }

    /// Makes numbers and times in the rows what they are in each run. None of it says more than the report reads from there.
    pub(super) fn level(&self) {
        for (place, id) in (1..).zip(&self.ids) {
            let place: u32 = place;
            self.sql(&format!(
                "update jobs set worked_ms = {}, tokens_in = turns * {}, tokens_out = turns * 7, tokens_cached = turns * 100,
                 cost_usd = case when cost_usd > 0 then 1.25 else cost_usd end where id = '{id}'",
                place * 61_234,
                place * 1_000,
            ));
        }
    }

    /// Has the job at `place` made earlier.
    pub(super) fn age(&self, place: usize, by: &str) {
        self.sql(&format!(
            "update jobs set created = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-{by}') where id = '{}'",
            self.ids[place]
        ));
    }

    fn sql(&self, statement: &str) {
        wait(async {
            let url = format!("sqlite://{}", self.path("workspaces/overnight.db").display());
            let mut database = <sqlx::SqliteConnection as sqlx::Connection>::connect(&url).await.unwrap();
            let statement = sqlx::AssertSqlSafe(statement.to_owned());
            let done = sqlx::query(statement).execute(&mut database).await.unwrap();
            assert_eq!(done.rows_affected(), 1);
        });
    }

    fn output(&self, words: &[&str]) -> Output {
        let mut command = Command::new(PROGRAM);
        command.args(words).current_dir(self.folder.path()).env_clear().env("TZ", "UTC").output().unwrap()
    }

    /// stdout of a command that must end with `code`, and say nothing else.
    #[track_caller]
    pub(super) fn says(&self, code: i32, words: &[&str]) -> String {
        let output = self.output(words);
        assert_eq!((output.status.code(), said(output.stderr).as_str()), (Some(code), ""), "{words:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// stderr of a command that must end with `code`, and give no result.
    #[track_caller]
    pub(super) fn refuses(&self, code: i32, words: &[&str]) -> String {
        let output = self.output(words);
        assert_eq!((output.status.code(), String::from_utf8(output.stdout).unwrap().as_str()), (Some(code), ""));
        said(output.stderr)
    }

    #[track_caller]
    pub(super) fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.says(0, words)).unwrap()
    }

    /// Works a job by the program.
    #[track_caller]
    pub(super) fn run(&self, code: i32, name: &str, more: &str, script: &[Value], flags: &[&str]) {
        fs::write(self.path("task.md"), TASK.replace("NAME", name).replace("MORE", more)).unwrap();
        fs::write(self.path("script.json"), json!({"version": 1, "replies": script}).to_string()).unwrap();
        let output = self.output(&[&RUN[..], &["--quiet"], flags].concat());
        assert_eq!(output.status.code(), Some(code), "{name}: {}", String::from_utf8(output.stdout).unwrap());
    }

    /// Works a job within this process, as the program does: until it rests, or as a process that dies after some turns.
    fn drive(&self, name: &str, model: Paid, dies_at: Option<u64>) {
        let text = TASK.replace("NAME", name).replace("MORE", "");
        let instructions =
            instructions::parse("task.md", &text, &|path| Err(instructions::UnreadFile(path.to_owned()))).unwrap();
        let model: Arc<dyn Model> = Arc::new(model);
        wait(async {
            let store = self.store().await;
            let path = made(&self.path("workspaces"), instructions, &text, &[self.path("docs")], &*model);
            let mut session = OpenJob::open(&path, None).unwrap();
            session.claim(&*store).await.unwrap();
            let open = || Word::Open { version: "test".to_owned(), model: model.name().to_owned(), torn_bytes: None };
            session.command(open()).unwrap();
            let (_keep, stop) = tokio::sync::watch::channel(false);
            let mut watch = |_: &Job, _: RunReport<'_>| {};
            let went = JobRunner::new(&*store, model.clone(), stop.clone(), &mut watch).run(&mut session).await;
            assert_eq!(went.is_ok(), dies_at.is_none(), "{went:?}");
            let Some(turns) = dies_at else { return };
            // Held for its key: it goes on until its turns are used; then somebody takes it up, and dies.
            let limits = Limits { turns, ..session.job.limits };
            session.claim(&*store).await.unwrap();
            session.command(Word::Resume { limits }).unwrap();
            JobRunner::new(&*store, model.clone(), stop, &mut watch).run(&mut session).await.unwrap();
            session.claim(&*store).await.unwrap();
            session.command(Word::Resume { limits: Limits::default() }).unwrap();
        });
    }
}

fn scripted(replies: &[Value]) -> Scripted {
    Scripted::parse("script.json", &json!({"version": 1, "replies": replies}).to_string()).unwrap()
}

/// [`whole_job`] whose end says something else too; with the document `second` read where `b.md` would be.
fn whole_job_with(deliverable: &str, said: &Value) -> Vec<Value> {
    let text = Value::from(whole_job()).to_string().replace("b.md", "=b,\\\"x\\\".md");
    let mut replies: Vec<Value> = serde_json::from_str(&text).unwrap();
    let last = replies.last_mut().unwrap()["calls"].as_array_mut().unwrap().last_mut().unwrap();
    let arguments = last["job_complete"].as_object_mut().unwrap();
    arguments.extend(said.as_object().unwrap().clone());
    if deliverable == "none" {
        // Nothing is written, and nothing shown.
        replies = serde_json::from_str(&Value::from(replies).to_string().replace("\"write_file\":{\"path\":\"output/report.md\",\"content\":\"The server must answer within two seconds.\\n\"}", "\"list_files\":{}")).unwrap();
    }
    replies
}

/// `text` without what differs from run to run: a job is called by its place in the night.
pub(super) fn normal(night: &Night, text: &str) -> String {
    let folder = fs::canonicalize(night.folder.path()).unwrap_or_else(|_| night.folder.path().to_owned());
    let mut text = text.replace(&*folder.to_string_lossy(), "NIGHT");
    let name = Regex::new(r"\b[0-9a-f]{6,}(-[0-9a-f]{4,})*\b").unwrap();
    text = name
        .replace_all(&text, |found: &regex::Captures<'_>| {
            let ids = night.ids.iter().map(JobId::to_string);
            match ids.into_iter().position(|id| id.starts_with(&found[0]) || id.ends_with(&found[0])) {
                Some(place) => format!("JOB{place}"),
                None => found[0].to_owned(),
            }
        })
        .into_owned();
    for (pattern, word) in [
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d( UTC)?", "TIME"),
        // The job whose process died has its row from its journal again, whatever was written there.
        (r"\b(\d+ms|\d+\.\ds)\b", "MS"),
        (r"\b\d{4,}\b", "N"),
        ("(\\S) {2,}", "$1  "),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, word).into_owned();
    }
    text
}

/// Every file below `folder` with its text.
pub(super) fn tree(folder: &Path) -> std::collections::BTreeMap<String, String> {
    let text = |content| String::from_utf8(content).unwrap();
    files(folder).into_iter().map(|(name, content)| (name, text(content))).collect()
}

/// The script of a job that goes as it should.
pub(super) fn usual() -> Vec<Value> {
    whole_job_with("a.md", &json!({}))
}
