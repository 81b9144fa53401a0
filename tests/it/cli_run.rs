//! The program as a person uses it: run, resume, review, cancel, with what they print and their exit codes. The model is a
//! script, so that every run goes the same way.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by it")]

use crate::support::wait;
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_overnight");

const TASK: &str = "\
---
name: task
description: A report on two documents
deliverables:
  - path: output/report.md
    min_words: 3
context: { inline: never }
---
# Task

Write a report.
";

const REVIEWED_TASK: &str = r#"---
name: reviewed
description: A report that a person reads
deliverables:
  - path: output/report.json
    schema: { type: object, required: [title], properties: { title: { type: string } } }
review: required
finale: ["Read the report once more"]
---
# Task

Write a report.
"#;

/// A folder to work in, with two documents and a task.
pub(crate) struct TestDir(TempDir);

/// What a command came to.
#[derive(Debug, PartialEq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl TestDir {
    pub(crate) fn new() -> Self {
        let dir = Self(TempDir::new().unwrap());
        dir.put("docs/a.md", "# A\n\nThe server MUST answer within 2 s.\n");
        dir.put("docs/b.md", "# B\n\nA client SHOULD wait.\n");
        dir.put("task.md", TASK);
        dir
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn script(&self, path: &str, replies: &[Value]) {
        self.put(path, json!({"version": 1, "replies": replies}).to_string());
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.0.path()
    }

    /// The command, without what this machine's environment might say.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(&[], arguments)
    }

    /// The same, with some variables.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let output = assert_cmd::Command::new(PROGRAM)
            .current_dir(self.0.path())
            .env_clear()
            .envs(variables.iter().copied())
            .args(arguments)
            .timeout(Duration::from_mins(10))
            .output()
            .unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs quietly with `--json`: the exit code and the object.
    fn result(&self, arguments: &[&str]) -> (i32, Value) {
        let ran = self.run(&[arguments, &["--json", "--quiet"]].concat());
        assert_eq!(ran.stderr, "", "{arguments:?}");
        (ran.code, serde_json::from_str(&ran.stdout).unwrap())
    }

    /// Starts a command, and returns when it has said its first word.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.0.path()).env_clear().args(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.starts_with("job "), "{line}");
        // Read on, so that the program never waits for us.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        child
    }

    /// Starts a command and kills it after so long; whether it had not ended by then.
    pub(crate) fn killed_after(&self, arguments: &[&str], time: Duration) -> bool {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.0.path()).env_clear().args(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(time);
        let is_running = child.try_wait().unwrap().is_none();
        let _ = child.kill();
        child.wait().unwrap();
        is_running
    }

    fn read(&self, path: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    /// The workspaces that look like jobs, or like what is left of one.
    fn workspaces(&self) -> Vec<String> {
        let folder = std::fs::read_dir(self.0.path().join("workspaces"));
        let names = folder.into_iter().flatten().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.starts_with("overnight.db")).collect()
    }

    /// The workspace of the only job.
    pub(crate) fn workspace(&self) -> PathBuf {
        let [name] = &self.workspaces()[..] else { panic!("{:?}", self.workspaces()) };
        self.0.path().join("workspaces").join(name)
    }
}

pub(crate) fn reply(calls: &[Value]) -> Value {
    json!({ "calls": calls })
}

pub(crate) fn read(path: &str) -> Value {
    json!({"read_file": {"path": path}})
}

pub(crate) fn write(path: &str, content: &str) -> Value {
    json!({"write_file": {"path": path, "content": content}})
}

pub(crate) fn done() -> Value {
    json!({"todo_complete": {}})
}

/// A plan whose phases have five steps each.
pub(crate) fn plan(titles: &[&str]) -> String {
    let steps =
        ["first", "second", "third", "fourth", "fifth"].map(|which| format!("- [ ] Do the {which} part\n")).concat();
    let phases = (1..).zip(titles).map(|(number, title): (u32, _)| format!("\n## Phase {number}: {title}\n\n{steps}"));
    format!("# Execution Plan\n\n## Overview\n\nRead, then write.\n{}", phases.collect::<String>())
}

/// The bootstrap: a plan with these phases.
pub(crate) fn bootstrap(titles: &[&str]) -> Value {
    reply(&[write("main_plan.md", &plan(titles))])
}

/// A phase has ended: memory, `update`, and the work of the next one.
pub(crate) fn next(update: &[Value], first: Value) -> Value {
    let mut calls = [&[write("workspace.md", "# Memory\n")], update].concat();
    calls.extend(work(first)["calls"].as_array().unwrap().iter().cloned());
    reply(&calls)
}

/// Five todos, each with its work.
pub(crate) fn work(first: Value) -> Value {
    let read_document = |name: &str| json!({"read_document": {"name": name}});
    reply(&[
        first,
        json!({"todo_complete": {"outcome": "one statement found"}}),
        read_document("a.md"),
        done(),
        read_document("b.md"),
        done(),
        json!({"list_documents": {}}),
        done(),
        json!({"list_files": {}}),
        done(),
    ])
}

pub(crate) fn complete(deliverable: &str) -> Value {
    json!({"job_complete": {"summary": "Both were read.\nOne MUST.", "deliverables": [deliverable], "confidence": 0.9}})
}

/// A whole job with two planned phases: four turns.
pub(crate) fn whole_job() -> Vec<Value> {
    let report = "output/report.md";
    vec![
        bootstrap(&["Reading", "Writing"]),
        work(json!({"list_documents": {}})),
        next(&[], write(report, "The server must answer within two seconds.\n")),
        reply(&[read(report), done(), json!({"list_files": {"path": "output"}}), done(), complete(report)]),
    ]
}

pub(crate) const RUN: [&str; 6] = ["run", "./task.md", "--documents", "docs", "--model", "scripted:script.json"];

/// `value` without what differs from run to run.
fn steady(mut value: Value) -> Value {
    for name in ["id", "workspace", "worked_ms", "tokens_in", "tokens_out", "completed_at"] {
        assert!(!value[name].is_null(), "{name}");
        value[name] = json!("…");
    }
    value
}

#[test]
fn a_job_is_completed() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    let ran = dir.run(&RUN);
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.stdout.lines().next().unwrap().strip_prefix("job ").unwrap().split_once(':').unwrap().0;
    let worked = ran.stdout.lines().find(|line| line.starts_with("worked: ")).unwrap();
    assert!(worked.starts_with("worked: 4 phases, 18 todos, 4 turns, "), "{worked}");
    let expected = format!(
        "job {id}: completed\n\
         deliverable: workspaces/{id}/output/report.md (43 bytes)\n\
         checks: 4 of 4 passed\n\
         coverage: 100 %\n\
         confidence: 0.9\n\
         {worked}\n\
         summary:\n  Both were read.\n  One MUST.\n\
         more: overnight show {id}, overnight audit {id}\n"
    );
    assert_eq!(ran.stdout, expected);
    let stderr = format!(
        "job {id}: task, 2 documents, model scripted:script.json\n\
         phase 0: Bootstrap, 5 todos\n\
         \x20 [1/5] Generate the workspace summary with generate_workspace_summary(): done by the system\n\
         \x20 [2/5] Read workspace_summary.md: done by the system\n\
         \x20 [3/5] Read instructions.md: done by the system\n\
         \x20 [4/5] Write the plan to main_plan.md: saved: 2 phases\n\
         \x20 [5/5] Divide the plan into phases, as many as it needs: saved: 2 phases\n\
         phase 0 done: Bootstrap, 5 of 5 todos, 1 turn\n\
         phase 1: Reading (1 of 2), 5 todos\n\
         {PARTS}\
         phase 1 done: Reading, 5 of 5 todos, 1 turn\n\
         phase 2: Writing (2 of 2), 5 todos\n\
         {PARTS}\
         phase 2 done: Writing, 5 of 5 todos, 1 turn\n\
         phase 3: Review, 3 todos\n\
         \x20 [1/3] Verify all deliverables\n\
         \x20 [2/3] Generate summary report\n\
         \x20 [3/3] Call job_complete(): accepted by the program: all its 4 checks passed\n\
         phase 3 done: Review, 3 of 3 todos, 1 turn\n"
    );
    assert_eq!(ran.stderr, stderr);
    assert_eq!(dir.read(format!("workspaces/{id}/output/report.md")), "The server must answer within two seconds.\n");
}

const PARTS: &str = "  \
  [1/5] Do the first part: one statement found
  [2/5] Do the second part
  [3/5] Do the third part
  [4/5] Do the fourth part
  [5/5] Do the fifth part
";

#[test]
fn the_result_is_one_json_object() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    let (code, result) = dir.result(&RUN);
    assert_eq!(code, 0);
    let workspace =
        std::fs::canonicalize(dir.0.path()).unwrap().join("workspaces").join(result["id"].as_str().unwrap());
    assert_eq!(result["workspace"].as_str().unwrap(), workspace.to_str().unwrap());
    let passed = |name: &str, detail: &str| json!({"name": name, "passed": true, "detail": detail});
    let expected = json!({
        "id": "…", "status": "completed", "hold_reason": null, "reason": null,
        "instructions": "task", "model": "scripted:script.json", "workspace": "…",
        "deliverables": [{
            "path": "output/report.md",
            "sha256": "0bc7b4eb8ff371f0733db71bd2f44476afd4d0dd6c20266763e1f4cbcc4579d2",
            "bytes": 43,
        }],
        "not_read": [], "left_out_files": 0, "left_out": [], "recognised": [],
        "phase_number": 3, "phase_title": "Review", "phases_planned": 2, "phases_complete": 2, "completed_at": "…",
        "coverage": 1.0, "confidence": 0.9, "notes": null, "summary": "Both were read.\nOne MUST.",
        "approved_by": null, "corrections": 0,
        "checks": [
            passed("output/report.md: exists", "43 bytes."),
            passed("output/report.md: not empty", "It has content."),
            passed("output/report.md: words", "7 (at least 3)."),
            passed("coverage", "100 % of the documents' text was shown"),
        ],
        "proof": null, "refused_records": null, "doubts": 0, "phases": 4, "todos": 18, "turns": 4,
        "tokens_in": "…", "tokens_out": "…", "tokens_cached": 0, "cost_usd": 0.0, "worked_ms": "…",
    });
    assert_eq!(steady(result), expected);
    // A job that has ended is only shown again.
    let (code, again) = dir.result(&["resume", "last"]);
    assert_eq!((code, steady(again)), (0, expected));
}

#[test]
fn what_is_wrong_with_a_request_is_one_sentence() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    dir.put("key.md", TASK.replace("deliverables:", "delivrables:"));
    dir.put("yaml.md", TASK.replace("name: task", "name: [task"));
    dir.put("latin.md", b"---\nname: caf\xe9\n---\n");
    dir.put("file.pdf", "%PDF-1.7\n\x01\x02");
    std::fs::create_dir(dir.0.path().join("empty")).unwrap();
    std::fs::create_dir(dir.0.path().join("folder.md")).unwrap();
    let cases: [(&[&str], &str); 13] = [
        (&["task.md", "-d", "docs", "--cost", "-3"], "--cost must be an amount in USD such as 5.00, not '-3'"),
        (&["key.md", "-d", "docs"], "key.md:4: unknown key 'delivrables'; did you mean 'deliverables'?"),
        (&["yaml.md", "-d", "docs"], "yaml.md:3: not valid YAML: did not find expected ',' or ']'"),
        (
            &["latin.md", "-d", "docs"],
            "latin.md can't be used as instructions: it is not UTF-8 text (byte 13 can't be read); save it as UTF-8",
        ),
        (&["folder.md", "-d", "docs"], "folder.md can't be used as instructions: it is a folder; name a file in it"),
        (&["docs", "-d", "docs"], "docs can't be used as instructions: it is a folder; name a file in it"),
        (&["none.md", "-d", "docs"], "none.md can't be used as instructions: no such file"),
        (
            &["extract-requirments", "-d", "docs"],
            "there are no instructions 'extract-requirments', neither as instructions/extract-requirments.md nor with the program: did you mean extract-requirements?",
        ),
        (&["task.md", "-d", "docs", "none.md"], "none.md doesn't exist: check the path"),
        (
            &["task.md", "-d", "empty"],
            "empty has no documents: hidden files and what .overnightignore names don't count; put files in it, or name them",
        ),
        (
            &["task.md", "-d", "file.pdf"],
            "file.pdf can't be read as PDF, because it is cut off before its table of objects: open it in its own program and save it again, or leave it out",
        ),
        (
            &["task.md", "-d", "docs", "--model", "gpt"],
            "the model 'gpt' is not known: use offline, scripted:FILE, replay:JOB, openai:NAME, anthropic:NAME, gemini:NAME or ollama:NAME",
        ),
        (
            &["task.md", "-d", "docs", "--turns", "many"],
            "--turns must be a whole number such as 500k, 20M or 20000000, not 'many'",
        ),
    ];
    for (arguments, sentence) in cases {
        let ran = dir.run(&[&["run"], arguments].concat());
        assert_eq!(
            ran,
            Ran { code: 2, stdout: String::new(), stderr: format!("error: {sentence}\n") },
            "{arguments:?}"
        );
    }
    assert_eq!(dir.workspaces(), Vec::<String>::new());
}

#[test]
fn other_encodings_are_read() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    dir.put("docs/a.md", b"# Caf\xe9\n\nLe caf\xe9 MUST \xeatre pr\xeat.\n");
    let (code, result) = dir.result(&RUN);
    assert_eq!((code, &result["coverage"]), (0, &json!(1.0)));
    let text = dir.read(Path::new(result["workspace"].as_str().unwrap()).join("documents/.text/a.md.txt"));
    assert_eq!(text, "# Café\n\nLe café MUST être prêt.\n");
}

#[test]
fn a_review_is_left_by_feedback_or_approval() {
    let dir = TestDir::new();
    dir.put("task.md", REVIEWED_TASK);
    let report = "output/report.json";
    let replies = [
        bootstrap(&["Work"]),
        work(write(report, r#"{"title": "A"}"#)),
        reply(&[read(report), done(), complete(report)]),
        next(&[write("main_plan.md", &plan(&["Work", "Mend"]))], write(report, r#"{"title": "A better one"}"#)),
        reply(&[read(report), done(), complete(report)]),
    ];
    dir.script("script.json", &replies);
    let (code, result) = dir.result(&RUN);
    let id = result["id"].as_str().unwrap();
    let state = |result: &Value| (result["status"].clone(), result["hold_reason"].clone(), result["turns"].clone());
    assert_eq!((code, state(&result)), (4, (json!("held"), json!("review"), json!(3))));
    assert_eq!(result["deliverables"][0]["bytes"], json!(14));
    let resumed = dir.run(&["resume", "last"]);
    assert_eq!(
        resumed,
        Ran {
            code: 4,
            stdout: String::new(),
            stderr: format!(
                "error: job {id} waits for a review: `overnight approve {id}` accepts it, `overnight feedback {id} \"…\"` sends it back\n"
            ),
        }
    );
    // As a process that was killed between the hold and its row leaves it.
    let row = || {
        let jobs: Value = serde_json::from_str(&dir.run(&["jobs", "--json"]).stdout).unwrap();
        (jobs[0]["status"].clone(), jobs[0]["hold_reason"].clone())
    };
    wait(async {
        let database = format!("sqlite://{}/workspaces/overnight.db", dir.0.path().display());
        let store = overnight::store::connect(&database).await.unwrap();
        store.claim(id.parse().unwrap(), uuid::Uuid::now_v7(), 60_000).await.unwrap();
    });
    assert_eq!(row(), (json!("held"), json!("review")));
    assert_eq!(dir.run(&["resume", "last"]).code, 4);
    let (code, result) = dir.result(&["feedback", id, "The title says nothing."]);
    assert_eq!((code, state(&result)), (4, (json!("held"), json!("review"), json!(5))));
    let instructions = dir.read(format!("workspaces/{id}/instructions.md"));
    assert!(instructions.ends_with("\n\n## Feedback 1\n\nThe title says nothing.\n"), "{instructions}");
    let (code, result) = dir.result(&["approve", &id[..13]]);
    assert_eq!((code, state(&result)), (0, (json!("completed"), Value::Null, json!(5))));
    assert_eq!(dir.read(format!("workspaces/{id}/{report}")), r#"{"title": "A better one"}"#);
}

#[test]
fn a_limit_holds_a_job_until_it_is_raised() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    let state = |result: &Value| (result["status"].clone(), result["reason"].clone(), result["turns"].clone());
    let held = (json!("held"), json!("2 turns are used; resume with --turns N for more"), json!(2));
    let (code, result) = dir.result(&[&RUN[..], &["--turns", "2"]].concat());
    assert_eq!((code, state(&result)), (4, held.clone()));
    let (code, result) = dir.result(&["resume", "last"]);
    assert_eq!((code, state(&result)), (4, held));
    let (code, result) = dir.result(&["resume", "last", "--turns", "100"]);
    assert_eq!((code, state(&result)), (0, (json!("completed"), Value::Null, json!(4))));
}

#[test]
fn a_job_that_cannot_be_done_says_why() {
    let dir = TestDir::new();
    let blocked = json!({"summary": "The documents are not contracts.", "deliverables": [], "confidence": 1, "status": "blocked"});
    let todos: Vec<Value> =
        (1..=5).map(|part| json!({"content": format!("Do {part}"), "active_form": "Doing it"})).collect();
    let replies = [
        bootstrap(&["Reading", "Writing"]),
        reply(&[json!({"todo_rewind": {"issue": "b.md is\nmissing"}})]),
        reply(&[
            write("workspace.md", "# Memory\n"),
            json!({"todo_write": {"todos": todos}}),
            json!({"list_documents": {}}),
            json!({ "job_complete": blocked }),
        ]),
    ];
    dir.script("script.json", &replies);
    let ran = dir.run(&RUN);
    assert_eq!(ran.code, 3);
    let early: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("ended early")).collect();
    let expected = [
        "phase 1 ended early (rewound: b.md is missing): Reading, 0 of 5 todos, 1 turn",
        "phase 1 ended early (abandoned: The documents are not contracts.): Reading, 0 of 5 todos, 1 turn",
    ];
    assert_eq!(early, expected);
    assert!(ran.stdout.lines().next().unwrap().ends_with(": blocked"), "{ran:?}");
    assert!(ran.stdout.contains("summary:\n  The documents are not contracts.\n"), "{ran:?}");

    dir.script("script.json", &[bootstrap(&["Reading"])]);
    let (code, result) = dir.result(&RUN);
    let reason =
        "the script script.json has 1 replies and was asked for reply 2: add replies, or end the job in the script";
    assert_eq!((code, &result["status"], &result["reason"]), (1, &json!("failed"), &json!(reason)));
}

/// A job whose first phase takes long: each of its first three todos gets `turns` turns.
fn long_job(turns: u64) -> Vec<Value> {
    let append = json!({"append_file": {"path": "notes/log.md", "content": "again\n"}});
    let mut replies = whole_job();
    let rest = replies[1]["calls"].as_array().unwrap()[6..].to_vec();
    let slow = (0..3).flat_map(|_| [json!({"calls": [append], "times": turns}), reply(&[done()])]);
    replies.splice(1..2, slow.chain([reply(&rest)]));
    replies
}

#[test]
fn an_interrupted_job_is_held_and_resumed() {
    let dir = TestDir::new();
    dir.script("script.json", &long_job(15));
    for signal in ["INT", "TERM", "HUP"] {
        let start = if signal == "INT" { &RUN[..] } else { &["resume", "last"] };
        let mut child = dir.start(start);
        let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }
    let (code, result) = dir.result(&["resume", "last"]);
    assert_eq!((code, &result["status"], &result["turns"]), (0, &json!("completed"), &json!(3 * 16 + 4)));
}

#[test]
fn a_killed_job_is_resumed() {
    let dir = TestDir::new();
    dir.script("script.json", &long_job(15));
    let mut child = dir.start(&RUN);
    child.kill().unwrap();
    child.wait().unwrap();
    let (code, result) = dir.result(&["resume", "last"]);
    assert_eq!((code, &result["status"], &result["turns"]), (0, &json!("completed"), &json!(3 * 16 + 4)));
}

#[test]
fn a_running_job_is_held_and_cancelled_by_who_works_on_it() {
    let dir = TestDir::new();
    // A job that can't come to its end before it hears what is asked of it.
    let unlimited = "limits: { turns: 10000000, turns_per_todo: 10000000, turns_per_phase: 10000000 }\ndeliverables:";
    dir.put("task.md", TASK.replacen("deliverables:", unlimited, 1));
    dir.script("script.json", &long_job(1_000_000));
    let mut child = dir.start(&RUN);
    let asked = dir.run(&["pause", "last"]);
    assert_eq!((asked.code, asked.stderr.as_str()), (0, ""));
    assert_eq!(child.wait().unwrap().code(), Some(4));
    let mut child = dir.start(&["resume", "last"]);
    let refused = dir.run(&["resume", "last"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains(&format!("is being worked on by process {} on ", child.id())), "{refused:?}");
    let asked = dir.run(&["cancel", "last"]);
    assert_eq!((asked.code, asked.stderr.as_str()), (0, ""));
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let (code, result) = dir.result(&["resume", "last"]);
    assert_eq!((code, &result["status"]), (5, &json!("cancelled")));
}

#[test]
fn a_held_job_is_cancelled_here() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    let (_, result) = dir.result(&[&RUN[..], &["--turns", "2"]].concat());
    let id = result["id"].as_str().unwrap();
    let paused = dir.run(&["pause", id]);
    let reason = "2 turns are used; resume with --turns N for more";
    assert_eq!((paused.code, paused.stderr), (2, format!("error: job {id} is held already (limit): {reason}\n")));
    let stdout = format!("job {id} is cancelled; what it made stays in its workspace\n");
    assert_eq!(dir.run(&["cancel", id]), Ran { code: 0, stdout, stderr: String::new() });
    let stderr = format!("error: job {id} has ended already: it is cancelled\n");
    for verb in ["cancel", "pause"] {
        assert_eq!(dir.run(&[verb, id]), Ran { code: 2, stdout: String::new(), stderr: stderr.clone() });
    }
    assert_eq!(dir.result(&["resume", id]).0, 5);
}

#[test]
fn a_journal_cut_below_what_the_database_saw_ends_the_job_as_failed() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    let (_, result) = dir.result(&[&RUN[..], &["--turns", "2"]].concat());
    let id = result["id"].as_str().unwrap();
    let journal = format!("workspaces/{id}/journal.jsonl");
    let lines = dir.read(&journal);
    let kept: Vec<&str> = lines.lines().collect();
    dir.put(&journal, format!("{}\n", kept[..kept.len() - 2].join("\n")));
    let ran = dir.run(&["resume", id, "--turns", "100"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("its end was cut off") && ran.stderr.lines().count() == 1, "{ran:?}");
    let jobs = dir.run(&["jobs", "--json"]);
    let jobs: Value = serde_json::from_str(&jobs.stdout).unwrap();
    assert_eq!(jobs[0]["status"], json!("failed"));
}

#[test]
fn changed_inputs_are_no_longer_worked() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    let (_, result) = dir.result(&[&RUN[..], &["--turns", "2"]].concat());
    let id = result["id"].as_str().unwrap();
    for file in
        ["documents/a.md", "documents/.text/a.md.txt", "instructions.md", "job.yaml", "assets/prompts/system.md"]
    {
        let path = format!("workspaces/{id}/{file}");
        let before = dir.read(&path);
        dir.put(&path, format!("{before} "));
        let ran = dir.run(&["resume", id, "--turns", "100"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        let said =
            format!("{file} in the workspace of job {id} was changed since the job was made: put it back as it was");
        assert!(ran.stderr.contains(&said), "{ran:?}");
        let jobs: Value = serde_json::from_str(&dir.run(&["jobs", "--json"]).stdout).unwrap();
        assert_eq!(jobs[0]["status"], json!("held"));
        dir.put(&path, before);
    }
    let (code, result) = dir.result(&["resume", id, "--turns", "100"]);
    assert_eq!((code, &result["status"]), (0, &json!("completed")));
}

#[test]
fn a_broken_journal_ends_the_job_as_failed() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    let (_, result) = dir.result(&[&RUN[..], &["--turns", "2"]].concat());
    let id = result["id"].as_str().unwrap();
    let journal = format!("workspaces/{id}/journal.jsonl");
    dir.put(&journal, dir.read(&journal).replacen("Reading", "Writing", 1));
    let ran = dir.run(&["resume", id]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    let begin = format!("error: job {id}: the journal is broken at journal.jsonl line ");
    assert!(ran.stderr.starts_with(&begin) && ran.stderr.lines().count() == 1, "{ran:?}");
    let cancelled = dir.run(&["cancel", id]);
    assert_eq!(cancelled.stderr, format!("error: job {id} has ended already: it is failed\n"));
}

#[test]
fn the_doctor_says_what_is_wrong() {
    let dir = TestDir::new();
    let (code, found) = {
        let ran = dir.run(&["doctor", "--json"]);
        (ran.code, serde_json::from_str::<Value>(&ran.stdout).unwrap())
    };
    assert_eq!((code, &found["passed"]), (0, &json!(true)));
    assert_eq!(
        found["settings"][0],
        json!({"name": "database_url", "value": "sqlite://workspaces/overnight.db", "origin": "default"})
    );
    dir.put("instructions/bad.md", "no front matter");
    dir.put("overnight.yaml", "model: gpt\n");
    let ran = dir.run(&["doctor"]);
    let failed: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("failed ")).collect();
    assert_eq!(ran.code, 1);
    assert_eq!(failed.len(), 2, "{ran:?}");
    assert!(failed[0].starts_with("failed instructions: instructions/bad.md:1: "), "{failed:?}");
    assert!(failed[1].starts_with("failed model: the model 'gpt' is not known"), "{failed:?}");
    assert!(ran.stdout.contains("model                gpt (overnight.yaml:1)\n"), "{ran:?}");
}
