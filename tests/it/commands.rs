//! What a person counts on of all commands: reading ones change nothing, names are names and paths are paths, nothing is lost
//! without a question, and a mistake is one sentence.

use crate::cli_run::{RUN, Ran, TestDir, whole_job};
use serde_json::Value;
use std::{collections::BTreeMap, path::PathBuf};

/// All files and folders with the files' content.
pub(crate) fn tree(dir: &TestDir) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = walkdir::WalkDir::new(dir.path()).into_iter().map(Result::unwrap);
    entries.map(|entry| (entry.path().to_owned(), std::fs::read(entry.path()).unwrap_or_default())).collect()
}

fn ran(code: i32, stdout: &str, stderr: &str) -> Ran {
    Ran { code, stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

/// With a job that was held after two turns.
fn with_job(more: &[&str]) -> TestDir {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    dir.run_with(&[], &[&RUN[..], &["-q"], more].concat());
    dir
}

const NOTHING: &str = "no jobs yet: there is nothing at sqlite://workspaces/overnight.db; `overnight run` and `overnight submit` begin there\n";

#[test]
fn reading_commands_make_nothing_where_there_is_nothing() {
    let dir = TestDir::new();
    let before = tree(&dir);
    for words in [&["jobs"][..], &["watch"], &["audit", "verify", "--all"]] {
        assert_eq!(dir.run_with(&[], words), ran(0, "", NOTHING), "{words:?}");
    }
    assert_eq!(dir.run_with(&[], &["jobs", "--json", "-q"]), ran(0, "[]\n", ""));
    let report = dir.run_with(&[], &["report"]);
    assert!(
        report.code == 0 && report.stdout.starts_with("Report on 0 jobs\n") && report.stderr == NOTHING,
        "{report:?}"
    );
    for words in [
        &["show", "last"][..],
        &["logs", "0193"],
        &["audit", "last"],
        &["report", "night"],
        &["watch", "last"],
        &["prune", "--older-than", "90d", "--dry-run"],
        &["cancel", "last"],
        &["retry", "last"],
    ] {
        assert_eq!(dir.run_with(&[], words), ran(2, "", &format!("error: {NOTHING}")), "{words:?}");
    }
    assert_eq!(dir.run_with(&[("OVERNIGHT_DOCUMENTS_OCR", "never")], &["doctor", "-q"]).code, 0);
    assert_eq!(tree(&dir), before);
}

#[test]
fn reading_commands_leave_all_as_it_is() {
    let dir = with_job(&[]);
    let before = tree(&dir);
    for words in
        [&["jobs"][..], &["show", "last"], &["audit", "last"], &["logs", "last"], &["report"], &["watch", "--once"]]
    {
        assert_eq!(dir.run_with(&[], words).code, 0, "{words:?}");
        assert_eq!(tree(&dir).keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>(), "{words:?}");
    }
    assert!(tree(&dir) == before);
}

#[test]
fn a_folder_for_a_database_is_never_made_but_for_the_workspaces() {
    let dir = TestDir::new();
    let before = tree(&dir);
    for words in [&["jobs"][..], &RUN[..], &["work", "--until-empty"]] {
        let ran = dir.run_with(&[], &[words, &["--database-url", "sqlite://nope/x.db"]].concat());
        assert!(!dir.path().join("nope").exists(), "{words:?}");
        let is_told = ran.stderr.contains("nope/x.db: its folder isn't there") || words[0] == "jobs";
        assert!(is_told && ran.stderr.lines().count() == 1, "{words:?} {ran:?}");
    }
    let doctor = dir.run_with(&[], &["doctor", "--database-url", "sqlite://nope/x.db"]);
    assert!(doctor.code == 1 && doctor.stdout.contains("nope/x.db: its folder isn't there"), "{doctor:?}");
    assert_eq!(tree(&dir), before);
}

#[test]
fn what_was_done_before_is_known_after_a_reindex() {
    let dir = TestDir::new();
    dir.put("more/rules.md", "A clerk must sign.\n");
    let submit = || {
        let words = ["submit", "extract-requirements", "--documents", "more", "--each", "--dedupe", "--json"];
        let batch: Value = serde_json::from_str(&dir.run_with(&[], &words).stdout).unwrap();
        (batch["queued"].clone(), batch["linked"].clone())
    };
    assert_eq!(submit(), (1.into(), 0.into()));
    assert_eq!(dir.run_with(&[], &["work", "--until-empty"]).code, 0);
    assert_eq!(dir.run_with(&[], &["reindex"]).code, 0);
    assert_eq!(submit(), (0.into(), 1.into()));
}

#[test]
fn how_a_job_ended_is_in_the_log_for_programs() {
    let dir = TestDir::new();
    dir.put("docs/rules.md", "A clerk must sign.\n");
    dir.put("haiku.md", "---\nname: haiku\ndeliverables: [{ path: output/haiku.md }]\n---\n# Write a haiku\n");
    let ran = dir.run_with(&[], &["run", "./haiku.md", "-d", "docs", "--log-format", "json", "--json"]);
    let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
    let said: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    assert_eq!((ran.code, &said["level"], &said["rest"]), (3, &"error".into(), &"blocked".into()));
    assert_eq!((&said["job"], &said["reason"]), (&shown["id"], &shown["reason"]));
}

#[test]
fn a_row_that_is_behind_is_told_and_left_as_it_is() {
    let dir = with_job(&["--turns", "2"]);
    let id = std::fs::read_dir(dir.path().join("workspaces")).unwrap().map(Result::unwrap);
    let id = id.map(|entry| entry.file_name().into_string().unwrap()).find(|name| name.len() == 36).unwrap();
    // As a process that died between the hold and its row leaves it.
    crate::support::wait(async {
        let url = format!("sqlite://{}/workspaces/overnight.db", dir.path().display());
        let store = overnight::store::connect(&url).await.unwrap();
        store.claim(id.parse().unwrap(), uuid::Uuid::now_v7(), 60_000).await.unwrap();
    });
    let told = format!(
        "job {id} is further than the database says: `overnight reindex` brings that up, and `overnight resume {id}` goes on with the job\n"
    );
    for _ in 0..2 {
        for words in [&["jobs", "--json"][..], &["show", "last", "--json"], &["report", "--json"]] {
            let ran = dir.run_with(&[], words);
            assert!(ran.stdout.contains("\"hold_reason\": \"limit\"") && ran.stderr == told, "{words:?} {ran:?}");
        }
    }
    assert_eq!(dir.run_with(&[], &["reindex"]).stdout, "1 job: 1 updated (1 held (limit))\n");
    assert_eq!(dir.run_with(&[], &["jobs", "--json"]).stderr, "");
    // One that has no row at all.
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(dir.path().join(format!("workspaces/overnight.db{end}")));
    }
    dir.run_with(&[], &["migrate"]);
    let unknown =
        "the database doesn't know 1 workspace in workspaces: `overnight reindex` brings in what it doesn't know\n";
    assert_eq!(dir.run_with(&[], &["jobs", "--json"]), ran(0, "[]\n", unknown));
}

#[test]
fn a_name_is_a_name_and_a_path_has_a_slash() {
    let dir = TestDir::new();
    let submit = ["submit", "./task.md", "-d", "docs", "--batch", "docs", "-m", "offline", "-q"];
    assert_eq!(dir.run_with(&[], &submit).code, 0);
    let shown = dir.run_with(&[], &["show", "docs"]);
    assert!(shown.code == 0 && shown.stdout.starts_with("batch 'docs'"), "{shown:?}");
    let path = dir.run_with(&[], &["show", "docs/"]);
    assert!(path.code != 0 && path.stderr.contains("docs/"), "{path:?}");
}

#[test]
fn a_configuration_above_holds_here_with_its_own_paths() {
    let dir = with_job(&[]);
    dir.put("overnight.yaml", "models_file: table.yaml\n");
    dir.put("table.yaml", "version: 1\nmodels: []\n");
    dir.put(
        "instructions/own.md",
        std::fs::read_to_string(dir.path().join("task.md")).unwrap().replacen("---\n", "---\nmodel: offline\n", 1),
    );
    let below = |words: &[&str]| {
        let mut command = assert_cmd::Command::new(crate::cli_run::PROGRAM);
        command.current_dir(dir.path().join("docs")).env_clear().args(words).output().unwrap()
    };
    let jobs: Value = serde_json::from_slice(&below(&["jobs", "--json"]).stdout).unwrap();
    assert_eq!(jobs.as_array().unwrap().len(), 1);
    let doctor: Value = serde_json::from_slice(&below(&["doctor", "--json"]).stdout).unwrap();
    let place = dir.path().display();
    let setting = |name: &str| {
        let settings = doctor["settings"].as_array().unwrap();
        let found = settings.iter().find(|setting| setting["name"] == name).unwrap();
        format!("{} ({})", found["value"].as_str().unwrap(), found["origin"].as_str().unwrap())
    };
    assert_eq!(setting("models_file"), format!("{place}/table.yaml ({place}/overnight.yaml:1)"));
    assert_eq!(setting("workspaces"), format!("{place}/workspaces (default)"));
    assert_eq!(setting("model"), "offline (default)");
    assert_eq!(setting("model of own"), "offline (its instructions)");
    assert!(!dir.path().join("docs/workspaces").exists());
}

#[test]
fn what_is_gone_for_good_is_asked_for() {
    let dir = with_job(&[]);
    let prune = |more: &[&str]| dir.run_with(&[], &[&["prune"], more].concat());
    let refused = prune(&["--older-than", "0s"]);
    assert!(refused.code == 2 && refused.stderr.ends_with("add --yes, or --dry-run to see which\n"), "{refused:?}");
    let dry = prune(&["--older-than", "0s", "--dry-run"]);
    assert!(dry.code == 0 && dry.stdout.lines().count() == 2 && dry.stdout.contains("would free "), "{dry:?}");
    let inputs = || tree(&dir).keys().filter(|path| path.ends_with("documents/a.md")).count();
    assert_eq!(inputs(), 1);
    assert_eq!(prune(&["--older-than", "0s", "--yes"]).code, 0);
    assert_eq!(inputs(), 0);
}

#[test]
fn a_report_is_of_a_kind_that_it_can_be() {
    let dir = with_job(&[]);
    let report = |name: &str| dir.run_with(&[], &["report", "-o", name]);
    let sentence = "error: --output x.pdf: a report is written as .html, .md, .json or .txt: let the file's name end so, or give --format\n";
    assert_eq!(report("x.pdf"), ran(2, "", sentence));
    assert!(!dir.path().join("x.pdf").exists());
    let printed = report("-");
    assert!(printed.code == 0 && printed.stdout.starts_with("Report on 1 job\n") && !dir.path().join("-").exists());
    assert_eq!(report("x.md"), ran(0, "", ""));
}

#[test]
fn a_dry_run_needs_no_key_and_makes_nothing() {
    let dir = TestDir::new();
    let before = tree(&dir);
    for verb in ["run", "submit"] {
        let words = [verb, "./task.md", "-d", "docs", "-m", "openai:gpt-4o", "--dry-run", "-q"];
        let dry = dir.run_with(&[], &words);
        assert_eq!((dry.code, dry.stderr.as_str()), (0, ""), "{verb}");
        assert!(dry.stdout.starts_with("dry run: nothing was written\njobs: 1\ndocuments: 2 ("), "{}", dry.stdout);
        assert!(dry.stdout.contains("\ncost: about 0."), "{}", dry.stdout);
    }
    assert_eq!(tree(&dir), before);
}

#[test]
fn a_schedule_keeps_the_server_that_holds_where_it_is_added() {
    let dir = TestDir::new();
    let add = ["schedule", "add", "nightly", "@daily", "--timezone", "UTC", "--", "./task.md", "-d", "docs"];
    let variables = [("OVERNIGHT_BASE_URL", "http://127.0.0.1:9/v1"), ("OVERNIGHT_API_KEY_ENV", "NIGHT_KEY")];
    assert_eq!(dir.run_with(&variables, &add).code, 0);
    let listed: Value = serde_json::from_str(&dir.run_with(&[], &["schedule", "list", "--json"]).stdout).unwrap();
    let words: Vec<&str> = listed[0]["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(words[3..], ["--base-url", "http://127.0.0.1:9/v1", "--api-key-env", "NIGHT_KEY"]);
}
