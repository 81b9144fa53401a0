//! A folder to work in, and the program run there.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{done, read, reply, write},
    support::copy,
};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_overnight");
/// A folder in memory, where there is one: what a kill leaves is what the system was given, not what reached the disk.
const MEMORY: &str = "/dev/shm";

const RULES: &str = "# Rules

A clerk MUST sign. A guest MAY enter.

## Doors

The door SHALL be shut. The key SHOULD NOT be lost.
";

const TASK: &str = "\
---
name: reviewed
description: A report that a person reads
deliverables:
  - path: output/report.md
    min_words: 3
review: required
context: { budget_tokens: 10000 }
---
# Task

Write a report.
";

const PLAN: &str =
    "# Execution Plan\n\n## Phase 1: Reading\n\n- [ ] Read all\n\n## Phase 2: Writing\n\n- [ ] Write the report\n";
const MENDED: &str = "# Execution Plan\n\n## Phase 1: Reading ✓ COMPLETE\n\n- [x] Read all\n\n## Phase 2: Writing ✓ COMPLETE\n\n- [x] Write the report\n\n## Phase 3: Mending\n\n- [ ] Mend the report\n";

pub(super) struct TestDir {
    folder: TempDir,
    /// `sqlite:` below the folder, where none is named.
    pub(super) database: Option<String>,
}

/// What a command came to.
#[derive(Debug)]
pub(super) struct Ran {
    /// None: it was killed.
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ran {
    fn new(status: ExitStatus, stdout: Vec<u8>, stderr: Vec<u8>) -> Self {
        Self {
            code: status.code(),
            signal: status.signal(),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }
}

impl TestDir {
    /// Two documents, instructions, and the script of a job with all kinds of writing in it.
    pub(super) fn new() -> Self {
        let dir = Self::empty();
        dir.put("docs/rules.md", RULES);
        // Longer than one read.
        let line = "The word stands here once more, and nothing else does, line after line.\n";
        dir.put("docs/long.md", &line.repeat(120));
        dir.put("small/rules.md", RULES);
        dir.put("task.md", TASK);
        dir.put("script.json", &json!({"version": 1, "replies": script()}).to_string());
        dir
    }

    /// Has the model of the script answer later.
    #[cfg(feature = "failpoints")]
    pub(super) fn answer_later(&self) {
        let later = json!({"folder": "calls", "after_ms": 0, "every_ms": 5});
        let script = json!({"version": 1, "replies": script(), "later": later});
        self.put("script.json", &script.to_string());
    }

    fn empty() -> Self {
        let memory = Path::new(MEMORY);
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        Self { folder: TempDir::new_in(parent).unwrap(), database: None }
    }

    pub(super) fn copy(&self) -> Self {
        let copied = Self { database: self.database.clone(), ..Self::empty() };
        copy(self.path(), copied.path());
        copied
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Copies everything to `place`, for a person to look at.
    pub(super) fn keep(&self, place: &Path) {
        fs::create_dir_all(place).unwrap();
        copy(self.path(), place);
    }

    pub(super) fn put(&self, path: &str, content: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn database_url(&self) -> String {
        let own = || format!("sqlite://{}/workspaces/overnight.db", self.path().display());
        self.database.clone().unwrap_or_else(own)
    }

    /// The file in which the program notes each model call, and whatever else it is asked to.
    pub(super) fn list(&self) -> PathBuf {
        self.path().join("list")
    }

    /// Model calls so far. Only a program with failpoints notes them.
    pub(super) fn calls(&self) -> Option<usize> {
        let list = fs::read_to_string(self.list()).unwrap_or_default();
        cfg!(feature = "failpoints").then(|| list.lines().filter(|line| *line == CALLED).count())
    }

    /// The program with `points` besides the one that counts the model calls.
    pub(super) fn command(&self, arguments: &[&str], points: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.path()).env_clear().args(arguments);
        command.env("DATABASE_URL", self.database_url());
        let counted = if points.contains(&format!("{CALLED}=")) {
            points.to_owned()
        } else {
            format!("{CALLED}=return({});{points}", self.list().display())
        };
        command.env("FAILPOINTS", counted.trim_end_matches(';')).stdin(Stdio::null());
        command
    }

    pub(super) fn run(&self, arguments: &[&str], points: &str) -> Ran {
        let Output { status, stdout, stderr } = self.command(arguments, points).output().unwrap();
        Ran::new(status, stdout, stderr)
    }

    /// Starts the program; what it says goes into files, so that nobody waits for a reader.
    pub(super) fn start(&self, arguments: &[&str]) -> Child {
        let to = |name: &str| fs::File::create(self.path().join(name)).unwrap();
        self.command(arguments, "").stdout(to("stdout")).stderr(to("stderr")).spawn().unwrap()
    }

    /// What a started program came to.
    pub(super) fn wait(&self, child: &mut Child) -> Ran {
        let status = child.wait().unwrap();
        let read = |name: &str| fs::read(self.path().join(name)).unwrap();
        Ran::new(status, read("stdout"), read("stderr"))
    }

    /// The workspaces, the oldest first.
    pub(super) fn workspaces(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.path().join("workspaces"));
        let mut found: Vec<PathBuf> = folder
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir() && !is_unfinished(path))
            .collect();
        found.sort();
        found
    }

    /// Whatever a crash left half made; what lies in such a folder goes with it.
    pub(super) fn unfinished(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut all = walkdir::WalkDir::new(self.path()).into_iter();
        while let Some(entry) = all.next() {
            let entry = entry.unwrap();
            if is_unfinished(entry.path()) {
                if entry.file_type().is_dir() {
                    all.skip_current_dir();
                }
                found.push(entry.into_path());
            }
        }
        found
    }
}

/// The point that counts model calls.
pub(super) const CALLED: &str = "model.called";

/// How the name of everything half made begins.
pub(super) const UNFINISHED: &str = ".overnight-tmp-";

fn is_unfinished(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(UNFINISHED))
}

fn append(path: &str, content: &str) -> Value {
    json!({"append_file": {"path": path, "content": content}})
}

fn document(name: &str) -> Value {
    json!({"read_document": {"name": name}})
}

/// Memory and todos in one reply, behind `first`.
fn plan(first: &[Value]) -> Value {
    let todos: Vec<Value> = ["first", "second", "third", "fourth", "fifth"]
        .iter()
        .map(|which| json!({"content": format!("Do the {which} part"), "active_form": format!("Doing the {which} part")}))
        .collect();
    let calls = [append("workspace.md", "One more phase.\n"), json!({"todo_write": {"todos": todos}})];
    reply(&[first, &calls].concat())
}

/// One todo's work and its end.
fn todo(work: Value) -> Value {
    reply(&[work, done()])
}

/// A job with appends, edits, a spilt result, a rewind, a review, and feedback after which a phase more is worked.
fn script() -> Vec<Value> {
    let report = "output/report.md";
    let complete = json!({"job_complete": {"summary": "All was read.", "deliverables": [report], "confidence": 0.9}});
    let review = |replies: &mut Vec<Value>| {
        replies.push(reply(&[
            read(report),
            done(),
            json!({"list_files": {"path": "output"}}),
            done(),
            complete.clone(),
        ]));
    };
    let mut replies = vec![
        reply(&[json!({"generate_workspace_summary": {}}), read("workspace_summary.md"), read("instructions.md")]),
        reply(&[write("main_plan.md", PLAN), read("main_plan.md")]),
        plan(&[]),
        todo(document("rules.md")),
        reply(&[json!({"search_files": {"pattern": "word"}}), append("notes/log.md", "searched\n")]),
        // With names so long that their list is too large for the conversation.
        reply(
            &(10..25)
                .map(|number| append(&format!("notes/{}{number}.md", "long".repeat(60)), "\n"))
                .collect::<Vec<_>>(),
        ),
        reply(&[json!({"list_files": {"path": "notes"}})]),
        reply(&[append("notes/log.md", "searched again\n"), done(), json!({"todo_rewind": {"issue": "too coarse"}})]),
        plan(&[]),
        reply(&[document("long.md"), json!({"read_document": {"name": "long.md", "from": 60}})]),
        reply(&[json!({"read_document": {"name": "long.md", "from": 71}}), done()]),
    ];
    // Two todos, each with work of its own: the same again and again would be stuck.
    let mut line = 0;
    let mut dull = || {
        line += 2;
        let read = |line: u64| json!({"read_document": {"name": "long.md", "from": line, "to": line}});
        reply(&[read(line), done(), read(line + 1), done()])
    };
    replies.extend([dull(), dull(), plan(&[])]);
    replies.extend([
        todo(write(report, "# Report\n\nThe clerk signs.\n")),
        todo(append(report, "\nThe door is shut.\n")),
        reply(&[json!({"edit_file": {"path": report, "old": "signs", "new": "must sign"}}), done()]),
        dull(),
    ]);
    review(&mut replies);
    replies.extend([
        plan(&[write("main_plan.md", MENDED)]),
        todo(append(report, "\nThe key is kept.\n")),
        dull(),
        dull(),
    ]);
    review(&mut replies);
    replies
}
