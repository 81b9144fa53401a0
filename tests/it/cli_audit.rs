//! What a person and an auditor see of a job: the real program on a job made by a scripted model, which plans, works, is
//! rewound, plans again, works on, and is reviewed. Whole outputs are compared with times, ids and hashes replaced; `UPDATE=1` rewrites
//! what is expected.
#![expect(clippy::unwrap_used, reason = "helpers of tests: what can't be had fails the test")]

use crate::support::{copy, golden};
use overnight_core::{job::digest::sha256, message::Message};
use regex::Regex;
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};
use tempfile::TempDir;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli_audit");

/// A folder with a task, two documents, a script, and a database once a job was made.
struct TestDir(TempDir);

impl TestDir {
    fn new() -> Self {
        let dir = Self(TempDir::new().unwrap());
        fs::create_dir(dir.path("docs")).unwrap();
        fs::write(dir.path("docs/a.md"), "Apples are red.\nSome are green.\n").unwrap();
        fs::write(dir.path("docs/b.md"), "# Pears\nPears are soft.\n").unwrap();
        for file in ["task.md", "script.yaml"] {
            fs::copy(Path::new(HERE).join(file), dir.path(file)).unwrap();
        }
        dir
    }

    /// With one job, worked as far as `more` allows.
    fn with_job(more: &[&str]) -> Self {
        let dir = Self::new();
        let mut words = vec!["run", "./task.md", "--documents", "docs", "--model", "scripted:script.yaml", "--quiet"];
        words.extend(more);
        dir.run(&words);
        dir
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overnight"));
        command.args(words).current_dir(self.0.path()).env_clear().env("TZ", "Asia/Kathmandu");
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// stdout of a command that must end with `code`, and say nothing else.
    fn says(&self, code: i32, words: &[&str]) -> String {
        let output = self.run(words);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.as_str()), (Some(code), ""), "{words:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// stderr of a command that must end with `code`, and give no result.
    fn refuses(&self, code: i32, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!((output.status.code(), String::from_utf8(output.stdout).unwrap().as_str()), (Some(code), ""));
        String::from_utf8(output.stderr).unwrap()
    }

    fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.says(0, words)).unwrap()
    }

    /// What verifying the newest job finds.
    fn faults(&self) -> Value {
        serde_json::from_str(&self.says(1, &["audit", "verify", "last", "--json"])).unwrap()
    }

    /// The newest job's workspace.
    fn workspace(&self) -> PathBuf {
        PathBuf::from(self.json(&["show", "last", "--json"])["workspace"].as_str().unwrap())
    }
}

/// `text` without what differs from job to job.
fn normal(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, word) in [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
        (r"(?m)^01[0-9a-f-]{6,}", "ID"),
        (r"/\S*/\.tmp\w+", "DESK"),
        (r"[0-9a-f]{64}", "SHA256"),
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+Z)?)?", "TIME"),
        (r"\b(\d+ms|\d+\.\ds|\d+m \d\ds)", "DURATION"),
        (r"\d{4,}", "N"),
        ("(\\S) {2,}", "$1  "),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, word).into_owned();
    }
    text
}

#[track_caller]
fn check(name: &str, text: &str) {
    golden(&format!("cli_audit/expected/{name}"), &normal(text));
}

/// Changes one bit of a file's middle byte.
fn flip(path: &Path) {
    let mut content = fs::read(path).unwrap();
    let middle = content.len() / 2;
    content[middle] ^= 1;
    fs::write(path, content).unwrap();
}

#[test]
fn a_finished_job_is_told_whole() {
    let dir = TestDir::with_job(&[]);
    check("jobs.txt", &dir.says(0, &["jobs"]));
    check("show.txt", &dir.says(0, &["show", "last"]));
    check("logs.txt", &dir.says(0, &["logs", "last"]));
    check("logs-phase-1.txt", &dir.says(0, &["logs", "last", "--phase", "1"]));
    check("audit.txt", &dir.says(0, &["audit", "last"]));
    check("audit-phase-0.txt", &dir.says(0, &["audit", "last", "--phase", "0"]));
    check("audit-phase-1.txt", &dir.says(0, &["audit", "last", "--phase", "1"]));
    check("verify.txt", &dir.says(0, &["audit", "verify", "last"]));
    check("verify-all.txt", &dir.says(0, &["audit", "verify", "--all"]));
}

#[test]
fn a_held_job_shows_its_board_and_what_can_be_done() {
    let dir = TestDir::with_job(&["--turns", "4"]);
    check("jobs-held.txt", &dir.says(0, &["jobs", "--status", "held"]));
    check("show-held.txt", &dir.says(0, &["show", "last"]));
    check("audit-held.txt", &dir.says(0, &["audit", "last"]));
}

#[test]
fn json_has_stable_fields() {
    let dir = TestDir::with_job(&[]);
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    let jobs = dir.json(&["jobs", "--json"]);
    let show = dir.json(&["show", "last", "--json"]);
    let audit = dir.json(&["audit", "last", "--json"]);
    let phase = dir.json(&["audit", "last", "--phase", "1", "--json"]);
    let verify = dir.json(&["audit", "verify", "last", "--json"]);
    let text = [
        ("jobs", names(&jobs[0])),
        ("show", names(&show)),
        ("show.documents", names(&show["documents"][0])),
        ("show.phases", names(&show["phases"][0])),
        ("audit", names(&audit)),
        ("audit.phases", names(&audit["phases"][0])),
        ("audit.phases.spent", names(&audit["phases"][0]["spent"])),
        ("phase", names(&phase[0])),
        ("verify", names(&verify)),
    ]
    .map(|(what, names)| format!("{what}: {names}\n"));
    check("json-fields.txt", &text.concat());
    // The phases, and what came after the last of them, add up to the job.
    for field in ["turns", "tokens_in", "tokens_out", "worked_ms"] {
        let phases = audit["phases"].as_array().unwrap();
        let sum: u64 = phases.iter().map(|phase| phase["spent"][field].as_u64().unwrap()).sum();
        let since = audit["since"][field].as_u64().unwrap();
        assert_eq!(Some(sum + since), show[field].as_u64(), "{field}");
    }
}

#[test]
fn each_turns_prompt_is_made_anew_byte_for_byte() {
    let dir = TestDir::with_job(&[]);
    let mut recorded = Vec::new();
    let lines = dir.says(0, &["logs", "last", "--json"]);
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let events = line["events"].as_array().unwrap().iter();
        recorded.extend(events.filter_map(|event| event["prompt_sha256"].as_str().map(str::to_owned)));
    }
    assert_eq!(recorded.len(), 9);
    for (turn, recorded) in (1..).zip(recorded) {
        let turn: usize = turn;
        let prompt = dir.json(&["audit", "prompt", "last", "--turn", &turn.to_string(), "--json"]);
        let messages: Vec<Message> = serde_json::from_value(prompt["messages"].clone()).unwrap();
        let text: String = messages.iter().map(|message| serde_json::to_string(message).unwrap() + "\n").collect();
        assert_eq!(sha256(text.as_bytes()), recorded, "turn {turn}");
    }
    let text = dir.says(0, &["audit", "prompt", "last", "--turn", "2"]);
    assert!(text.starts_with("tools: read_file, write_file, "), "{text}");
    assert!(text.contains("\n──── 3 of 5: assistant ────\n[call_1_1] write_file {\"path\":"), "{text}");
    assert!(text.contains("\n──── 5 of 5: result of [call_1_2] read_document ────\n"), "{text}");
    let with_tools = dir.says(0, &["audit", "prompt", "last", "--turn", "2", "--tools"]);
    assert!(with_tools.contains("\n──── tool job_complete ────\n"), "{with_tools}");
}

#[test]
fn numbers_that_are_not_there_are_answered_with_those_that_are() {
    let dir = TestDir::with_job(&[]);
    for (words, sentence) in [
        (["audit", "prompt", "last", "--turn", "10"].as_slice(), "there is no turn 10: the job has turns 1 to 9"),
        (&["audit", "prompt", "last", "--turn", "0"], "there is no turn 0: the job has turns 1 to 9"),
        (&["audit", "last", "--phase", "3"], "there is no phase 3: the job has phases 0 to 2"),
        (&["logs", "last", "--phase", "3"], "there is no phase 3: the job has phases 0 to 2"),
        (&["show", "./nowhere"], "there is no workspace folder at ./nowhere"),
        (&["audit", "verify", "./nowhere"], "there is no workspace folder at ./nowhere"),
        (&["audit", "verify", "./docs"], "./docs is not a workspace: it has no job.yaml"),
    ] {
        assert_eq!(dir.refuses(2, words), format!("error: {sentence}\n"));
    }
    for words in
        [["jobs", "--status", "done"].as_slice(), &["jobs", "--since", "yesterday"], &["audit"], &["audit", "verify"]]
    {
        assert_eq!(dir.run(words).status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn jobs_are_listed_newest_first_under_names_that_find_them() {
    let dir = TestDir::with_job(&[]);
    for _ in 0..2 {
        dir.run(&["run", "./task.md", "--documents", "docs", "--model", "scripted:script.yaml", "--turns", "1"]);
    }
    let all = dir.json(&["jobs", "--json"]);
    let ids: Vec<&str> = all.as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a > b), "{ids:?}");
    let listed = |words: &[&str]| {
        let text = dir.says(0, words);
        text.lines().skip(1).map(|line| line.split_whitespace().next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let names = listed(&["jobs"]);
    assert_eq!(names.len(), 3);
    for (name, id) in names.iter().zip(&ids) {
        assert_eq!(dir.json(&["show", name, "--json"])["id"], *id);
    }
    assert_eq!(listed(&["jobs", "--limit", "1"]), names[..1]);
    assert_eq!(listed(&["jobs", "--status", "completed"]), names[2..]);
    assert_eq!(listed(&["jobs", "--since", "2h"]), names);
    let nothing = dir.run(&["jobs", "--status", "failed"]);
    assert_eq!((nothing.stdout.as_slice(), nothing.stderr.as_slice()), (b"".as_slice(), b"no job fits\n".as_slice()));
}

#[test]
fn a_flipped_byte_is_found_and_named() {
    let dir = TestDir::with_job(&[]);
    let workspace = dir.workspace();
    let first = |file: &str| {
        flip(&workspace.join(file));
        let text = dir.says(1, &["audit", "verify", "last"]);
        assert_eq!(dir.faults()["faults"][0]["file"], *file);
        flip(&workspace.join(file));
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(
        first("archive/phase-01-read-the-texts/todos.md"),
        "archive/phase-01-read-the-texts/todos.md: changed: its manifest holds another SHA-256 of it"
    );
    assert_eq!(first("documents/a.md"), "documents/a.md: changed: the journal holds another SHA-256 of it");
    assert!(first("output/report.md").starts_with("output/report.md: changed: "));
    let line = first("archive/phase-01-read-the-texts/journal.jsonl");
    assert!(
        Regex::new(r"^archive/phase-01-read-the-texts/journal\.jsonl line \d+: ").unwrap().is_match(&line),
        "{line}"
    );
    dir.says(0, &["audit", "verify", "last"]);
    // What only the database knows: the journal's end is cut off cleanly.
    let journal = workspace.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.trim_end().rsplit_once('\n').map_or(String::new(), |(kept, _)| format!("{kept}\n")))
        .unwrap();
    let fault = dir.says(1, &["audit", "verify", "last"]);
    assert!(fault.ends_with("its end was cut off\n"), "{fault}");
}

#[test]
fn a_copied_workspace_needs_no_database() {
    let dir = TestDir::with_job(&[]);
    let elsewhere = TestDir::new();
    copy(&dir.workspace(), &elsewhere.path("copied"));
    let no_database = ["--database-url", "sqlite:///dev/null/none.db"];
    for words in [
        ["audit", "--phase", "1"].as_slice(),
        &["audit", "prompt", "--turn", "3"],
        &["audit"],
        &["logs"],
        &["logs", "--json"],
    ] {
        let of = |job: &'static str| words.iter().copied().chain([job]).collect::<Vec<_>>();
        let mut copied = of("./copied");
        copied.extend(no_database);
        assert_eq!(elsewhere.says(0, &copied), dir.says(0, &of("last")), "{words:?}");
    }
    let mut verify = vec!["audit", "verify", "./copied"];
    verify.extend(no_database);
    check("verify-copied.txt", &elsewhere.says(0, &verify));
    check("show-copied.txt", &elsewhere.says(0, &["show", "./copied"]));
    assert!(!elsewhere.path("workspaces").exists(), "no database was made");
    flip(&elsewhere.path("copied/output/report.md"));
    assert!(elsewhere.says(1, &["audit", "verify", "./copied"]).starts_with("output/report.md: changed: "));
}

#[test]
fn sha256sum_alone_confirms_the_chain() {
    const SCRIPT: &str = r#"
        prev=$(printf '%064d' 0)
        for file in $(grep -o -m1 '^{"seq":[0-9]*' archive/*/journal.jsonl | sed 's/^\(.*\):{"seq":\(.*\)/\2 \1/' | sort -n | cut -d' ' -f2) journal.jsonl; do
            while IFS= read -r line; do
                case $line in *"\"prev\":\"$prev\""*) ;; *) echo "broken in $file"; exit 1 ;; esac
                prev=$(printf %s "$line" | sha256sum | cut -d' ' -f1)
            done < "$file"
        done
        echo "$prev"
        for manifest in archive/*/manifest.json; do
            grep -q "\"$(sha256sum < "$manifest" | cut -d' ' -f1)\"" journal.jsonl archive/*/journal.jsonl || exit 1
        done"#;
    let dir = TestDir::with_job(&[]);
    let output = Command::new("bash").args(["-c", SCRIPT]).current_dir(dir.workspace()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let head = String::from_utf8(output.stdout).unwrap();
    assert_eq!(dir.json(&["audit", "verify", "last", "--json"])["verified"]["head"], head.trim());
}

#[test]
fn a_followed_log_ends_with_the_job_and_misses_nothing() {
    let dir = TestDir::with_job(&["--turns", "4"]);
    let follow =
        |words: &[&str]| -> Child { dir.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap() };
    let text = follow(&["logs", "last", "--follow"]);
    let json = follow(&["logs", "last", "--follow", "--json"]);
    let resumed = dir.run(&["resume", "last", "--turns", "100", "--quiet"]);
    assert_eq!(resumed.status.code(), Some(0), "{resumed:?}");
    for (child, words) in [(text, ["logs", "last"].as_slice()), (json, &["logs", "last", "--json"])] {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), dir.says(0, words));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = TestDir::with_job(&[]);
    for words in [["logs", "last"].as_slice(), &["audit", "prompt", "last", "--turn", "9"], &["jobs"]] {
        let mut child = dir.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
    }
}
