//! All that a job leaves behind: its files, what its journal tells, its rows. Times, hashes and ids are taken out, and so is
//! what tells of a crash itself.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::test_dir::TestDir;
use crate::support::wait;
use overnight::{
    store,
    workspace::{Workspace, journal},
};
use overnight_core::job::{
    event::{Event, LifeEvent},
    id::JobId,
};
use regex::Regex;
use std::{fmt::Write, fs, path::Path, sync::LazyLock};

static VARIABLE: LazyLock<[(Regex, &str); 9]> = LazyLock::new(|| {
    [
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?( UTC|Z)?", "TIME"),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
        (r"\b[0-9a-f]{64}\b", "HASH"),
        // The beginning of a prompt's hash in the name of a call that was handed in.
        (r"(ID-\d+-\d+-\d+)-[0-9a-f]{12}\b", "$1-HASH"),
        (r"runner [0-9a-f]{8}\b", "runner MARK"),
        // The summary's table: the newest first, within a millisecond too; itself where it is written a second time.
        (r"\| [^|]+ \(\d+ bytes\) \| [^|]+ \| TIME \|(\n|\\n)", ""),
        // Prompts hold times and paths, of which some digits are dearer than others; clocks differ.
        (r"(tokens_in|worked_ms|input|journal_seq): \d+", "$1: N"),
        (r"\b\d+(\.\d+)?(ms|s)\b", "DURATION"),
        (r"summary\.md \(\d+ bytes\)", "summary.md (N bytes)"),
    ]
    .map(|(pattern, name)| (Regex::new(pattern).unwrap(), name))
});

fn masked(text: &str) -> String {
    VARIABLE.iter().fold(text.to_owned(), |text, (pattern, name)| pattern.replace_all(&text, *name).into_owned())
}

/// What the one job of `dir` left.
pub(super) fn left(dir: &TestDir, workspace: &Path) -> String {
    let mut text = String::new();
    files(workspace, &mut text);
    story(workspace, &mut text);
    let id: JobId = workspace.file_name().unwrap().to_str().unwrap().parse().unwrap();
    rows(dir, id, &mut text);
    text.replace(dir.path().to_str().unwrap(), "DESK")
}

/// Every file with its content. The journal is told of elsewhere, and a manifest holds hashes alone.
fn files(workspace: &Path, text: &mut String) {
    for entry in walkdir::WalkDir::new(workspace).sort_by_file_name() {
        let entry = entry.unwrap();
        let path = entry.path().strip_prefix(workspace).unwrap().display().to_string();
        if !entry.file_type().is_file() || path == ".lock" {
            continue;
        }
        let name = entry.file_name().to_string_lossy();
        let is_told = matches!(&*name, "journal.jsonl" | "manifest.json") || path.starts_with("documents/");
        let bytes = fs::read(entry.path()).unwrap();
        let content = if is_told { String::new() } else { String::from_utf8(bytes).unwrap() };
        // What the job makes has no times in it: byte for byte.
        let is_made = ["output/", "notes/", "main_plan.md", "workspace.md"].iter().any(|made| path.starts_with(made));
        writeln!(text, "── {path}\n{}", if is_made { content } else { masked(&content) }).unwrap();
    }
}

/// The journal's events, but for those that tell of a process that came, was stopped, and came again.
fn story(workspace: &Path, text: &mut String) {
    let workspace = Workspace::open(workspace).unwrap();
    let read = journal::read::<Event>(&workspace, |decision| {
        for event in decision.events {
            match event {
                Event::Life(LifeEvent::Opened { .. } | LifeEvent::Resumed { .. }) => {}
                Event::Life(LifeEvent::Held { ref detail, .. }) if detail.contains("stopped by a person") => {}
                event => writeln!(text, "{}", masked(&format!("{event:?}"))).unwrap(),
            }
        }
        Ok(())
    });
    writeln!(text, "torn: {:?}", read.map(|read| read.torn)).unwrap();
}

fn rows(dir: &TestDir, id: JobId, text: &mut String) {
    let (job, phases, todos) = wait(async {
        let store = store::connect(&dir.database_url()).await.unwrap();
        (store.job(id).await.unwrap().unwrap(), store.phases(id).await.unwrap(), store.todos(id).await.unwrap())
    });
    writeln!(text, "{}\nworker {:?} wants {:?}", masked(&format!("{:#?}", job.state)), job.worker, job.wants).unwrap();
    for phase in phases {
        writeln!(text, "{}", masked(&format!("{phase:?}"))).unwrap();
    }
    for todo in todos {
        writeln!(text, "{}", masked(&format!("{todo:?}"))).unwrap();
    }
}
