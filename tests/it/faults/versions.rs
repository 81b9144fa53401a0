//! A workspace or a database that another version of the program made: named, and left as it is.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    reindex_findings::held,
    test_dir::{RUN, Ran, TestDir, rows, tree},
};
use crate::{databases::foreign, store::postgres_url, support::wait};
use overnight::{
    runner::now,
    workspace::{
        Workspace,
        archive_manifest::MANIFEST,
        journal::{self, Journal},
    },
};
use overnight_core::{job::tool::ToolSet, message::ToolSpec, prompt::tools::ToolList};
use serde_json::{Value, json};
use std::path::Path;

const OWN: &str = env!("CARGO_PKG_VERSION");

/// Lines as a program writes them that has these events.
fn append(path: &Path, decisions: &[Value]) {
    let workspace = Workspace::open(path).unwrap();
    let mut journal = Journal::open::<Value>(&workspace, |_| Ok(())).unwrap();
    for events in decisions {
        journal.append(now(), 2, events.as_array().unwrap()).unwrap();
    }
}

fn opened(version: &str) -> Value {
    json!([{"type": "opened", "version": version, "model": "offline", "tools_sha256": "", "torn_bytes": null}])
}

#[test]
fn a_job_that_a_newer_version_has_worked_on_is_left_to_it() {
    let dir = TestDir::new();
    let id = held(&dir);
    append(&dir.workspace(id), &[opened("9.1.0"), json!([{"type": "todo_delegated", "to": "a sub-agent"}])]);
    let line = dir.read(format!("workspaces/{id}/journal.jsonl")).lines().count();
    let before = tree(&dir.workspaces());
    let row = wait(async { rows(&*dir.store().await, id).await.unwrap() });
    let said = format!(
        "journal.jsonl line {line} can't be read by overnight {OWN}: overnight 9.1.0 has worked on this job since ("
    );
    let end = "); use that version";
    for words in
        [&["resume", "last", "--turns", "100"][..], &["cancel", "last"], &["pause", "last"], &["approve", "last"]]
    {
        let ran = dir.run(words);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (2, "", 1), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(&said) && ran.stderr.trim_end().ends_with(end), "{words:?}: {ran:?}");
    }
    let ran = dir.run(&["reindex"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "1 job: 1 broken\n"));
    assert!(ran.stderr.starts_with(&format!("error: job {id}: {said}")), "{ran:?}");
    assert_eq!(tree(&dir.workspaces()), before);
    assert_eq!(wait(async { rows(&*dir.store().await, id).await.unwrap() }), row);
}

#[test]
fn an_older_or_newer_program_that_wrote_only_what_is_known_is_no_trouble() {
    for version in ["0.0.1", "9.1.0"] {
        let dir = TestDir::new();
        let id = held(&dir);
        append(&dir.workspace(id), &[opened(version)]);
        let (code, result) = dir.json(&["resume", "last", "--turns", "100", "--quiet"]);
        assert_eq!((code, &result["status"]), (0, &json!("completed")));
    }
}

#[test]
fn a_line_that_this_version_can_not_have_written_is_a_break() {
    let dir = TestDir::new();
    let id = held(&dir);
    append(&dir.workspace(id), &[json!([{"type": "todo_delegated", "to": "a sub-agent"}])]);
    let line = dir.read(format!("workspaces/{id}/journal.jsonl")).lines().count();
    let ran = dir.run(&["resume", "last"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (1, 1));
    assert!(
        ran.stderr.starts_with(&format!("error: job {id}: the journal is broken at journal.jsonl line {line}: ")),
        "{ran:?}"
    );
}

/// All that look at the workspace refuse it in one sentence; none of them ends the job or changes anything.
fn refused(dir: &TestDir, made: &Path, said: &str) {
    let ran = dir.run(&["reindex"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (1, "1 job: 1 broken\n", 1), "{ran:?}");
    assert!(ran.stderr.contains(said), "{ran:?}");
    let folder = made.to_str().unwrap();
    for words in [&["show", folder][..], &["audit", folder], &["audit", "prompt", folder, "--turn", "1"]] {
        let ran = dir.run(words);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{words:?}: {ran:?}");
        assert_eq!(ran.stderr, format!("error: {said}\n"), "{words:?}");
    }
    let ran = dir.run(&["audit", "verify", folder]);
    assert_eq!((ran.code, ran.stdout.matches(said).count()), (1, 1), "{ran:?}");
    assert!(ran.stdout.contains("journal.jsonl line 1: "), "{ran:?}");
}

/// The first line's events, changed by `change`, as the only line of the workspace.
fn with_first_line(dir: &TestDir, made: &Path, change: impl Fn(&mut Value)) {
    let mut events = Vec::new();
    journal::read::<Value>(&Workspace::open(made).unwrap(), |line| {
        events = line.events;
        Ok(())
    })
    .unwrap();
    change(&mut events[0]);
    dir.put(made.join("journal.jsonl"), "");
    append(made, &[Value::Array(events)]);
}

#[test]
fn a_workspace_of_an_earlier_development_version_is_named_and_resuming_leaves_it() {
    let dir = TestDir::new();
    let made = dir.make();
    let id = made.file_name().unwrap().to_str().unwrap();
    let ran = dir.run(&["reindex"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    with_first_line(&dir, &made, |created| {
        created.as_object_mut().unwrap().remove("tools_sha256").unwrap();
    });
    let before = tree(&made);
    let said = format!(
        "the workspace {} has format 1 as it was in another development version (the journal's line 1: missing field `tools_sha256`), from overnight {OWN}, and overnight {OWN} reads format 1: work on it with the program that made it, or submit the job anew",
        made.display()
    );
    refused(&dir, &made, &said);
    for words in [&["resume", id][..], &["cancel", id], &["show", id]] {
        let ran = dir.run(words);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (2, "", 1), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(&said), "{words:?}: {ran:?}");
    }
    assert_eq!(tree(&made), before);
}

#[test]
fn a_job_of_another_format_is_named() {
    for (format, more) in [(2, Value::Null), (2, json!({"sandbox": "bwrap"})), (0, Value::Null)] {
        let dir = TestDir::new();
        let made = dir.make();
        with_first_line(&dir, &made, |created| {
            let spec = created["spec"].as_object_mut().unwrap();
            spec["format"] = json!(format);
            spec["version"] = json!("9.1.0");
            spec.extend(more.as_object().cloned().unwrap_or_default());
        });
        let before = tree(&dir.workspaces());
        let said = format!(
            "the workspace {} has format {format}, from overnight 9.1.0, and overnight {OWN} reads format 1: work on it with the program that made it, or submit the job anew",
            made.display()
        );
        refused(&dir, &made, &said);
        assert_eq!(tree(&dir.workspaces()), before);
    }
    // `job.yaml` alone is not what a job goes by; one that says something else was changed.
    let dir = TestDir::new();
    let id = held(&dir);
    let file = format!("workspaces/{id}/job.yaml");
    dir.put(&file, dir.read(&file).replacen("format: 1", "format: 2", 1));
    let ran = dir.run(&["resume", "last", "--turns", "100"]);
    assert!(
        ran.code == 1 && ran.stderr.contains("job.yaml in the workspace of job ") && ran.stderr.contains("was changed"),
        "{ran:?}"
    );
}

#[test]
fn an_archive_of_another_format_is_named() {
    let dir = TestDir::new();
    let id = held(&dir);
    let file = format!("workspaces/{id}/archive/phase-00-bootstrap/{MANIFEST}");
    dir.put(&file, dir.read(&file).replacen("\"format\": 1", "\"format\": 2", 1));
    let ran = dir.run(&["audit", "verify", "last"]);
    assert!(ran.code == 1 && ran.stdout.contains(&format!("archive/phase-00-bootstrap/{MANIFEST}")), "{ran:?}");
}

/// The number of the newest migration.
fn schema() -> u32 {
    let migrations = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite")).unwrap();
    let names = migrations.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.split('_').next()?.parse().ok()).max().unwrap()
}

fn a_newer_database_is_left_as_it_is(dir: &TestDir, meddle: impl Fn(&'static str)) {
    held(dir);
    meddle("update _sqlx_migrations set version = version + 1000");
    let known = schema();
    let before = tree(&dir.workspaces());
    for words in [&RUN[..], &["resume", "last"], &["cancel", "last"], &["jobs"], &["reindex"], &["migrate"]] {
        let Ran { code, stdout, stderr } = dir.run(words);
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (2, "", 1), "{words:?}: {stderr}");
        let expected = format!(
            " was made by a newer overnight (its schema is {}, this program knows up to {known}): update this program",
            known + 1000
        );
        assert!(stderr.contains(&expected), "{words:?}: {stderr}");
    }
    assert_eq!(tree(&dir.workspaces()), before);
    meddle("update _sqlx_migrations set version = version - 1000");
    assert_eq!(dir.run(&["resume", "last", "--turns", "100", "--quiet"]).code, 0);
}

#[test]
fn a_newer_database_is_left_as_it_is_in_sqlite() {
    let dir = TestDir::new();
    let file = dir.workspaces().join("overnight.db");
    a_newer_database_is_left_as_it_is(&dir, |sql| wait(foreign::sqlite(&file, sql)));
}

#[test]
fn a_newer_database_is_left_as_it_is_in_postgres() {
    let url = wait(postgres_url());
    a_newer_database_is_left_as_it_is(&TestDir::on(url.clone()), |sql| wait(foreign::postgres(&url, sql)));
}

/// The tools of a turn are those that the model was given then, also where this version describes them differently.
#[test]
fn tools_are_told_as_the_job_has_them() {
    let dir = TestDir::new();
    let id = held(&dir);
    let asset = format!("workspaces/{id}/assets/tools.json");
    let mut catalogue: Vec<ToolSpec> = serde_json::from_str(&dir.read(&asset)).unwrap();
    catalogue.iter_mut().find(|tool| tool.name == "read_file").unwrap().description = "As it was once.".to_owned();
    dir.put(&asset, serde_json::to_string(&catalogue).unwrap());
    let list = ToolList::of_catalogue(&catalogue, ToolSet::of_job(&[]));
    let (mut replied, mut turns) = (Value::Null, 0);
    journal::read::<Value>(&Workspace::open(&dir.workspace(id)).unwrap(), |line| {
        for event in line.events.into_iter().filter(|event| event["type"] == "model_replied") {
            turns = event["turn"].as_u64().unwrap();
            replied = event;
        }
        Ok(())
    })
    .unwrap();
    replied["turn"] = json!(turns + 1);
    let mut begun = opened("0.0.1");
    begun[0]["tools_sha256"] = json!(list.sha256);
    append(&dir.workspace(id), &[begun, json!([replied])]);
    let told = |turn: u64| {
        let ran = dir.run(&["audit", "prompt", "last", "--tools", "--turn", &turn.to_string()]);
        assert_eq!(ran.code, 0, "{ran:?}");
        (ran.stdout.contains("\nAs it was once.\n"), ran.stderr.contains("the tools are described as this version"))
    };
    assert_eq!([told(turns), told(turns + 1)], [(false, false), (true, false)]);
    std::fs::remove_file(dir.workspace(id).join("assets/tools.json")).unwrap();
    assert_eq!([told(turns), told(turns + 1)], [(false, false), (false, true)]);
}
