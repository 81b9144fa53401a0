use super::*;
use crate::{workspace::chain::JournalLine, workspace::files::TEMPORARY, workspace::lock::Lock};
use overnight_core::job::time::Timestamp;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

fn at() -> Timestamp {
    serde_json::from_str("\"2026-11-21T03:14:07.123Z\"").unwrap()
}

fn meta(folder: &str, attempt: u32) -> ArchiveMeta {
    ArchiveMeta {
        folder: folder.into(),
        phase: 1,
        kind: "planned".into(),
        title: "Read".into(),
        attempt,
        outcome: "done".into(),
        issue: None,
        ended: at(),
    }
}

fn open(workspace: &Workspace) -> Journal {
    Journal::open(workspace, |_: JournalLine<Value>| Ok(())).unwrap()
}

fn note(journal: &mut Journal) {
    journal.append(at(), 1, &[json!({"type": "noted"})]).unwrap();
}

fn workspace() -> (TempDir, Workspace, Journal) {
    let folder = TempDir::new().unwrap();
    let workspace = Workspace::create_temporary(folder.path()).unwrap().install("job").unwrap();
    workspace.write("main_plan.md", b"# Execution Plan\n").unwrap();
    workspace.write("output/deep/r.json", b"{}").unwrap();
    workspace.write("tool_results/1.txt", b"long").unwrap();
    let mut journal = open(&workspace);
    note(&mut journal);
    note(&mut journal);
    (folder, workspace, journal)
}

/// Every file with its content.
fn tree(workspace: &Workspace) -> Vec<(String, String)> {
    let files = workspace.list(".").unwrap();
    files.into_iter().map(|file| (file.path.clone(), workspace.read_text(&file.path).unwrap())).collect()
}

#[test]
fn an_archive_holds_what_the_phase_left() {
    let (_folder, workspace, mut journal) = workspace();
    let live = workspace.read(LIVE).unwrap();
    let stored = build(&workspace, &mut journal, meta("phase-01-read", 1), "[x] 1. Read\n").unwrap();
    let names: Vec<_> = workspace.list("archive").unwrap().into_iter().map(|file| file.path).collect();
    assert_eq!(
        names,
        ["journal.jsonl", "main_plan.md", "manifest.json", "todos.md"]
            .map(|name| format!("archive/phase-01-read/{name}"))
    );
    let text = workspace.read("archive/phase-01-read/manifest.json").unwrap();
    assert_eq!(stored.manifest_sha256, sha256(&text));
    let file = |name: &str, content: &[u8]| (name.to_owned(), FileHash::of(content));
    assert_eq!(
        ArchiveManifest::parse(&text).unwrap(),
        ArchiveManifest {
            format: 1,
            meta: meta("phase-01-read", 1),
            files: [file("todos.md", b"[x] 1. Read\n"), file("main_plan.md", b"# Execution Plan\n"), file(LIVE, &live)]
                .into(),
            outputs: [file("output/deep/r.json", b"{}")].into(),
            tool_results: [file("tool_results/1.txt", b"long")].into(),
            journal: JournalSpan { first_seq: 1, last_seq: 2, head: journal.head().into() },
        }
    );
    assert_eq!(workspace.read(LIVE).unwrap(), b"");
    note(&mut journal);
    let second = build(&workspace, &mut journal, meta("phase-01-read.rewound-2", 2), "").unwrap();
    assert_ne!(second, stored);
    let span = ArchiveManifest::parse(&workspace.read("archive/phase-01-read.rewound-2/manifest.json").unwrap())
        .unwrap()
        .journal;
    assert_eq!((span.first_seq, span.last_seq), (3, 3));
}

#[test]
fn from_every_half_state_the_same_call_comes_to_the_same_end() {
    let (_folder, workspace, mut journal) = workspace();
    let live = workspace.read(LIVE).unwrap();
    let half = format!("archive/{TEMPORARY}half");
    let make = |journal: &mut Journal| build(&workspace, journal, meta("phase-01-read", 1), "todos").unwrap();
    let stored = make(&mut journal);
    drop(journal);
    let expected = tree(&workspace);
    let archive = workspace.path().join("archive/phase-01-read");
    let files: Vec<_> = workspace.list("archive").unwrap().into_iter().map(|file| file.path).collect();
    // Before the rename: any number of files are in the temporary folder, the last one cut short.
    for count in 0..=files.len() {
        workspace.make_folder(&half).unwrap();
        for file in &files[..count] {
            let name = file.rsplit_once('/').unwrap().1;
            fs::write(workspace.path().join(&half).join(name), &workspace.read(file).unwrap()[1..]).unwrap();
        }
        fs::remove_dir_all(&archive).unwrap();
        fs::write(workspace.path().join(LIVE), &live).unwrap();
        let lock = Lock::acquire(&workspace, at()).unwrap();
        assert_eq!(lock.swept, 1);
        assert_eq!(make(&mut open(&workspace)), stored);
        fs::remove_file(workspace.path().join(".lock")).unwrap();
        assert_eq!(tree(&workspace), expected, "{count} files");
    }
    // After it: the live journal is still whole, half emptied, or empty.
    for left in [live.len(), live.len() / 3, 0] {
        fs::write(workspace.path().join(LIVE), &live[..left]).unwrap();
        let mut journal = open(&workspace);
        assert_eq!(make(&mut journal), stored);
        assert_eq!(make(&mut journal), stored);
        assert_eq!(tree(&workspace), expected, "{left} bytes");
    }
    // And with a decision noted after the crash, before the archive was asked for again.
    let mut journal = open(&workspace);
    note(&mut journal);
    assert_eq!(make(&mut journal), stored);
    assert_eq!(journal.seq(), 3);
}

#[test]
fn an_archive_of_something_else_is_never_touched() {
    let (_folder, workspace, mut journal) = workspace();
    build(&workspace, &mut journal, meta("phase-01-read", 1), "").unwrap();
    let refused = build(&workspace, &mut journal, meta("phase-01-other", 1), "").unwrap_err();
    assert!(matches!(refused, ArchiveError::Empty { .. }));
    note(&mut journal);
    build(&workspace, &mut journal, meta("phase-02-next", 1), "").unwrap();
    note(&mut journal);
    let before = tree(&workspace);
    let refused = build(&workspace, &mut journal, meta("phase-01-read", 1), "").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "archive/phase-01-read exists already and is not of this phase: it ends at line 2, and the live journal begins after 3"
    );
    let refused = build(&workspace, &mut journal, meta("phase-02-next", 2), "").unwrap_err();
    assert!(refused.to_string().ends_with("it is of phase 1 attempt 1, done"));
    assert!(build(&workspace, &mut journal, meta("../x", 1), "").is_err());
    assert_eq!(tree(&workspace), before);
}
