//! What a pipeline relies on: exit codes and the log of `work --until-empty`, what a hook may know, who may read a workspace,
//! and how long a tool call may take.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{PROGRAM, Ran, TestDir, whole_job},
    support::events,
};
use overnight_core::answer;
use serde_json::{Value, json};
use std::{os::unix::fs::PermissionsExt, process::Command};

const REVIEWED: &str = "---\nname: reviewed\ndescription: d\nreview: required\n\
    deliverables: [{ path: output/report.md, min_words: 3 }]\n---\n# Task\n\nWrite a report.\n";

impl TestDir {
    /// Submits a job, and empties the queue.
    fn worked(&self, submit: &[&str], work: &[&str]) -> Ran {
        let submitted = self.run_with(&[], &[&["submit"], submit].concat());
        assert_eq!(submitted.code, 0, "{submitted:?}");
        if submit.contains(&"gone.md") {
            std::fs::remove_file(self.path().join("gone.md")).unwrap();
        }
        self.run_with(&[], &[&["work", "--until-empty"], work].concat())
    }
}

#[test]
fn a_pipeline_sees_what_became_of_the_jobs() {
    let dir = TestDir::new();
    dir.put("gone.md", "A clerk MUST sign.\n");
    dir.put("reviewed.md", REVIEWED);
    dir.script("script.json", &whole_job());
    let [offline, gone] = ["docs/a.md", "gone.md"]
        .map(|document| ["extract-requirements", "--max-attempts", "1", "--documents", document]);
    let reviewed = ["./reviewed.md", "--documents", "docs", "--model", "scripted:script.json"];
    for (submit, work, code, summary) in [
        (&offline[..], &[][..], 0, "1 completed\n"),
        (&offline, &["--on-batch-end", "true"], 0, "1 completed\n"),
        (&offline, &["--on-batch-end", "exit 3"], 1, "1 completed, 1 failed hooks\n"),
        (&reviewed, &[], 4, "1 held (review)\n"),
        (&gone, &["--log-format", "json", "--quiet"], 3, "1 failed, 1 failed attempts\n"),
    ] {
        // Another text each time: what was done is not done again.
        dir.put("docs/a.md", format!("# A\n\nThe server MUST answer within 2 s, or {code}{}.\n", work.len()));
        let ran = dir.worked(submit, work);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, summary), "{ran:?}");
        if code == 3 {
            let lines: Vec<Value> = ran.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let told = |name: &str| lines.iter().map(|line| line[name].clone()).collect::<Vec<_>>();
            assert_eq!(
                (told("level"), told("rest"), told("label")),
                (vec![json!("error")], vec![json!("failed")], vec![json!("gone.md")])
            );
            assert!(lines[0]["reason"].as_str().unwrap().contains("gone.md doesn't exist"), "{lines:?}");
            let jobs: Value = serde_json::from_str(&dir.run_with(&[], &["jobs", "--json"]).stdout).unwrap();
            assert_eq!(lines[0]["job"], jobs[0]["id"]);
        }
    }
}

#[test]
fn a_hook_knows_no_key_and_no_password() {
    let dir = TestDir::new();
    let submit = ["submit", "extract-requirements", "--documents", "docs"];
    assert_eq!(dir.run_with(&[], &submit).code, 0);
    let database = format!("sqlite://{}", dir.path().join("workspaces/overnight.db").display());
    let plain = [("HOME", "/nowhere"), ("LANG", "C"), ("PATH", "/usr/bin:/bin"), ("TMPDIR", "/tmp"), ("TZ", "UTC")];
    let secret = [
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("DATABASE_URL", database.as_str()),
        ("MY_OWN_KEY", "hunter2"),
        ("OPENAI_API_KEY", "hunter2"),
        ("OVERNIGHT_API_KEY_ENV", "MY_OWN_KEY"),
    ];
    let work = ["work", "--until-empty", "--on-batch-end", "env > environment"];
    let ran = dir.run_with(&[&plain[..], &secret].concat(), &work);
    assert_eq!(ran.code, 0, "{ran:?}");
    let environment = std::fs::read_to_string(dir.path().join("environment")).unwrap();
    // What a shell sets by itself.
    let own = ["PWD=", "OLDPWD=", "SHLVL=", "_="];
    let mut found: Vec<&str> =
        environment.lines().filter(|line| !own.iter().any(|name| line.starts_with(name))).collect();
    found.sort_unstable();
    assert_eq!(found, plain.map(|(name, value)| format!("{name}={value}")));
}

#[test]
fn nobody_else_can_read_what_a_job_knows() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    for words in [
        &["run", "./task.md", "--documents", "docs", "--model", "scripted:script.json", "--quiet"][..],
        &["report", "--collect", "collected"],
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", "umask 0; exec \"$0\" \"$@\"", PROGRAM]).args(words);
        let output = command.current_dir(dir.path()).env_clear().output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let open: Vec<String> = ["workspaces", "collected"]
        .iter()
        .flat_map(|folder| {
            walkdir::WalkDir::new(dir.path().join(folder)).min_depth(usize::from(*folder == "collected"))
        })
        .map(Result::unwrap)
        .filter_map(|entry| {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            let expected = if entry.file_type().is_dir() { 0o700 } else { 0o600 };
            (mode != expected).then(|| format!("{mode:o} {}", entry.path().display()))
        })
        .collect();
    assert_eq!(open, [""; 0]);
}

#[test]
fn a_tool_call_ends_with_its_time() {
    let dir = TestDir::new();
    let task = std::fs::read_to_string(dir.path().join("task.md")).unwrap();
    dir.put("task.md", task.replace("description:", "limits: { tool_call: 400ms }\ndescription:"));
    let mut replies = whole_job();
    replies.insert(1, json!({"calls": [{"search_files": {"pattern": "server"}}]}));
    dir.script("script.json", &replies);
    let run = ["run", "./task.md", "--documents", "docs", "--model", "scripted:script.json", "--quiet"];
    let ran = dir.run_with(&[("FAILPOINTS", "tool.search=return(loop)")], &run);
    assert_eq!(ran.code, 0, "{ran:?}");
    let results: Vec<String> = events(&dir.path().join("workspaces"))
        .iter()
        .filter(|event| event["type"] == "tool_returned" && event["name"] == "search_files")
        .map(|event| event["result"]["text"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(results, [answer!("tool.took_too_long", tool = "search_files", limit = "400ms")]);
}
