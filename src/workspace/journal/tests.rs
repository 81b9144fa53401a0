use super::*;
use serde_json::{Value, json};
use std::{fs, os::unix::fs::FileExt};
use tempfile::TempDir;

fn at() -> Timestamp {
    serde_json::from_str("\"2026-11-21T03:14:07.123Z\"").unwrap()
}

fn workspace() -> (TempDir, Workspace) {
    let folder = TempDir::new().unwrap();
    let workspace = Workspace::create_temporary(folder.path()).unwrap().install("job").unwrap();
    (folder, workspace)
}

fn open(workspace: &Workspace) -> Result<(Journal, Vec<u64>), JournalError> {
    let mut seen = Vec::new();
    let journal = Journal::open(workspace, |decision: JournalLine<Value>| {
        seen.push(decision.seq);
        Ok(())
    })?;
    Ok((journal, seen))
}

fn append(journal: &mut Journal, count: u64) {
    for _ in 0..count {
        journal.append(at(), 3, &[json!({"type": "noted", "text": "é\n"})]).unwrap();
    }
}

/// The effect of archiving on the journal's files, without the rest of the archive.
fn archive(workspace: &Workspace, journal: &mut Journal, folder: &str) {
    workspace.write(&format!("archive/{folder}/{LIVE}"), &workspace.read(LIVE).unwrap()).unwrap();
    journal.after_archive().unwrap();
}

fn error(workspace: &Workspace) -> String {
    open(workspace).unwrap_err().to_string()
}

#[test]
fn lines_are_written_as_the_contract_says() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    let first = journal.append(at(), 3, &[json!({"type": "todo_completed", "id": 1})]).unwrap();
    let second = journal.append::<Value>(at(), 4, &[]).unwrap();
    let sealed = |line: String| format!(r#"{line},"sum":"{}"}}"#, &sha256(line.as_bytes())[..16]);
    let line = sealed(format!(
        r#"{{"seq":1,"at":"2026-11-21T03:14:07.123Z","lease":3,"prev":"{}","events":[{{"type":"todo_completed","id":1}}]"#,
        "0".repeat(64)
    ));
    let next = sealed(format!(
        r#"{{"seq":2,"at":"2026-11-21T03:14:07.123Z","lease":4,"prev":"{}","events":[]"#,
        sha256(line.as_bytes())
    ));
    assert_eq!(workspace.read_text(LIVE).unwrap(), format!("{line}\n{next}\n"));
    assert_eq!(first, AppendedLine { seq: 1, head: sha256(line.as_bytes()) });
    assert_eq!(second, AppendedLine { seq: 2, head: sha256(next.as_bytes()) });
    assert_eq!((journal.seq(), journal.head()), (2, second.head.as_str()));
}

#[test]
fn a_changed_line_is_refused_even_where_no_line_follows() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    append(&mut journal, 2);
    drop(journal);
    let whole = workspace.read_text(LIVE).unwrap();
    workspace.write(LIVE, whole.replace("\"lease\":3,\"prev\":\"0", "\"lease\":2,\"prev\":\"0").as_bytes()).unwrap();
    assert_eq!(
        error(&workspace),
        "the journal is broken at journal.jsonl line 1: this line was changed: its own checksum (sum) is another one"
    );
    let (kept, last) = whole.trim_end().rsplit_once('\n').unwrap();
    workspace.write(LIVE, format!("{kept}\n{}\n", last.replace(",\"events\"", ", \"events\"")).as_bytes()).unwrap();
    assert_eq!(
        error(&workspace),
        "the journal is broken at journal.jsonl line 2: this line was changed: its own checksum (sum) is another one"
    );
    // Lines without a checksum are held by the line after them only.
    let bare = |line: &str| format!("{}}}", line.rsplit_once(",\"sum\"").unwrap().0);
    let first = bare(kept);
    let (_, rest) = last.split_once("\"prev\":\"").unwrap();
    let second = format!(
        "{{\"seq\":2,\"at\":\"2026-11-21T03:14:07.123Z\",\"lease\":3,\"prev\":\"{}{}",
        sha256(first.as_bytes()),
        &rest[64..]
    );
    workspace.write(LIVE, format!("{first}\n{}\n", bare(&second)).as_bytes()).unwrap();
    assert_eq!(open(&workspace).unwrap().1, [1, 2]);
}

#[test]
fn the_chain_runs_on_through_archives_in_their_true_order() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    append(&mut journal, 2);
    archive(&workspace, &mut journal, "phase-01-read.rewound-1");
    append(&mut journal, 3);
    archive(&workspace, &mut journal, "phase-01-read");
    append(&mut journal, 1);
    drop(journal);
    let (journal, seen) = open(&workspace).unwrap();
    assert_eq!(seen, [1, 2, 3, 4, 5, 6]);
    assert_eq!((journal.seq(), journal.base().seq, journal.torn()), (6, 5, None));
}

#[test]
fn a_torn_last_line_is_cut_off_wherever_it_was_cut() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    append(&mut journal, 2);
    let whole = workspace.read(LIVE).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for end in first..=whole.len() {
        fs::write(workspace.path().join(LIVE), &whole[..end]).unwrap();
        let (mut journal, seen) = open(&workspace).unwrap();
        let expected = if end == whole.len() { vec![1, 2] } else { vec![1] };
        assert_eq!(seen, expected, "cut at {end}");
        let torn = (end > first && end < whole.len()).then_some((end - first) as u64);
        assert_eq!(journal.torn(), torn, "cut at {end}");
        append(&mut journal, 1);
        assert_eq!(open(&workspace).unwrap().1.len(), expected.len() + 1);
    }
}

#[test]
fn a_hole_in_the_last_lines_is_torn_and_anywhere_else_a_break() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    append(&mut journal, 6);
    let whole = workspace.read(LIVE).unwrap();
    let line = whole.len() / 6;
    for number in (1_u16..=6).rev() {
        let mut holed = whole.clone();
        let end = usize::from(number) * line;
        holed[end - 20..end - 10].fill(0);
        workspace.write(LIVE, &holed).unwrap();
        if u64::from(number) > 6 - MOST_UNSYNCED {
            let (journal, seen) = open(&workspace).unwrap();
            let kept = end - line;
            assert_eq!((seen.len(), journal.torn()), (kept / line, Some((whole.len() - kept) as u64)));
            assert_eq!(workspace.read(LIVE).unwrap(), whole[..kept]);
        } else {
            let said = error(&workspace);
            let named = format!("the journal is broken at journal.jsonl line {number}: not a decision: ");
            assert!(said.starts_with(&named), "{said}");
        }
    }
}

/// Written lines are readable immediately, and on the disk after the next sync, or after the most that may wait.
#[test]
fn lines_wait_for_the_next_sync_and_few_at_a_time() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    append(&mut journal, MOST_UNSYNCED - 1);
    assert_eq!((journal.written.position.seq, journal.synced.position.seq), (MOST_UNSYNCED - 1, 0));
    assert_eq!(open(&workspace).unwrap().1.len() as u64, MOST_UNSYNCED - 1);
    append(&mut journal, 2);
    assert_eq!((journal.written.position.seq, journal.synced.position.seq), (MOST_UNSYNCED + 1, MOST_UNSYNCED));
    journal.sync().unwrap();
    assert_eq!(journal.synced.position, journal.written.position);
    assert_eq!(journal.synced.len, journal.live.metadata().unwrap().len());
}

/// A device that accepts lines but can't be synced: lines since the last sync are gone, and the journal is in the state
/// of the disk.
#[test]
#[cfg(target_os = "linux")]
fn after_a_failed_sync_the_journal_stands_where_the_disk_does() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    append(&mut journal, 1);
    journal.sync().unwrap();
    let head = journal.head().to_owned();
    let (reader, writer) = std::io::pipe().unwrap();
    journal.live = File::from(std::os::fd::OwnedFd::from(writer));
    // A pipe reports a length of 0.
    journal.written.len = 0;
    journal.synced.len = 0;
    append(&mut journal, 1);
    assert!(matches!(journal.sync(), Err(JournalError::Append { .. })));
    assert_eq!((journal.seq(), journal.head()), (1, head.as_str()));
    assert!(matches!(journal.append::<Value>(at(), 1, &[]), Err(JournalError::Poisoned)));
    assert!(matches!(journal.sync(), Err(JournalError::Poisoned)));
    drop(reader);
    assert_eq!(open(&workspace).unwrap().1, [1]);
}

#[test]
fn any_changed_byte_but_in_the_last_line_is_a_break_with_file_and_line() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    append(&mut journal, 2);
    archive(&workspace, &mut journal, "phase-00-bootstrap");
    append(&mut journal, 2);
    for file in ["archive/phase-00-bootstrap/journal.jsonl", LIVE] {
        let whole = workspace.read(file).unwrap();
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
        let end = if file == LIVE { first + 1 } else { whole.len() };
        for place in 0..end {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            fs::OpenOptions::new()
                .write(true)
                .open(workspace.path().join(file))
                .unwrap()
                .write_all_at(&changed, 0)
                .unwrap();
            let said = error(&workspace);
            assert!(said.starts_with("the journal is broken at "), "byte {place} of {file}: {said}");
        }
        workspace.write(file, &whole).unwrap();
    }
    assert_eq!(open(&workspace).unwrap().1, [1, 2, 3, 4]);
}

#[test]
fn breaks_are_named() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    append(&mut journal, 3);
    let text = workspace.read_text(LIVE).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    workspace.write(LIVE, format!("{}\n{}\n", lines[0], lines[2]).as_bytes()).unwrap();
    assert_eq!(error(&workspace), "the journal is broken at journal.jsonl line 2: seq is 3, expected 2");
    workspace.write(LIVE, format!("{}\nhello\n", lines[0]).as_bytes()).unwrap();
    assert_eq!(
        error(&workspace),
        "the journal is broken at journal.jsonl line 2: not a decision: expected value (column 1)"
    );
    workspace.write(LIVE, text.as_bytes()).unwrap();
    let refused = Journal::open(&workspace, |_: JournalLine<Value>| Err("no such todo".to_owned())).unwrap_err();
    assert_eq!(refused.to_string(), "the journal is broken at journal.jsonl line 1: no such todo");
    archive(&workspace, &mut open(&workspace).unwrap().0, "phase-00-bootstrap");
    workspace.remove(LIVE).unwrap();
    assert_eq!(error(&workspace), "the journal is broken at journal.jsonl: the file is missing");
}

#[test]
fn the_archive_wins_over_the_live_journal_that_it_contains() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    append(&mut journal, 1);
    archive(&workspace, &mut journal, "phase-00-bootstrap");
    append(&mut journal, 3);
    let live = workspace.read(LIVE).unwrap();
    workspace.write(&format!("archive/phase-01-read/{LIVE}"), &live).unwrap();
    let half = live.len() / 2;
    for left in [live.len(), half, 1, 0] {
        workspace.write(LIVE, &live[..left]).unwrap();
        let mut seen = 0;
        let found = read(&workspace, |_: JournalLine<Value>| {
            seen += 1;
            Ok(())
        });
        assert_eq!((found.unwrap().position.seq, seen), (4, 4));
        assert_eq!(workspace.read(LIVE).unwrap().len(), left, "reading changes nothing");
        let (mut journal, seen) = open(&workspace).unwrap();
        assert_eq!((seen, journal.base().seq, journal.torn()), (vec![1, 2, 3, 4], 4, None));
        assert_eq!(workspace.read(LIVE).unwrap(), b"");
        append(&mut journal, 1);
        assert_eq!(open(&workspace).unwrap().1, [1, 2, 3, 4, 5]);
    }
}

#[test]
fn a_reader_beside_the_writer_never_sees_a_break() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    append(&mut journal, 2);
    let live = workspace.stream(LIVE).unwrap().0;
    archive(&workspace, &mut journal, "phase-00-bootstrap");
    append(&mut journal, 1);
    let found = read_all(&workspace, Some(live), |_: JournalLine<Value>| Ok(())).unwrap();
    assert_eq!(found.position.seq, 2);
}

/// A device that refuses every write and can't be truncated either: its state is unknown afterwards.
#[test]
#[cfg(target_os = "linux")]
fn after_a_failed_append_of_unknown_outcome_none_is_possible() {
    let (_folder, workspace) = workspace();
    let (mut journal, _) = open(&workspace).unwrap();
    append(&mut journal, 1);
    journal.live = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    // It always reports that it is empty.
    journal.written.len = 0;
    assert!(journal.append::<Value>(at(), 1, &[]).unwrap_err().is_disk_full());
    assert!(matches!(journal.append::<Value>(at(), 1, &[]), Err(JournalError::Poisoned)));
    assert!(matches!(journal.after_archive(), Err(JournalError::Poisoned)));
    assert_eq!(open(&workspace).unwrap().1, [1]);
}

/// A full disk, as the kernel gives it: this test runs itself again under a limit for file sizes, so that the third
/// line is written in part.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_whole_lines_and_the_journal_goes_on_when_there_is_room() {
    const WHERE: &str = "OVERNIGHT_TEST_FULL_DISK";
    let event = json!("x".repeat(700));
    if let Some(path) = std::env::var_os(WHERE) {
        let workspace = Workspace::open(path.as_ref()).unwrap();
        let (mut journal, _) = open(&workspace).unwrap();
        let mut append = |event: &Value| journal.append(at(), 1, std::slice::from_ref(event));
        append(&event).unwrap();
        append(&event).unwrap();
        let whole = workspace.read(LIVE).unwrap();
        assert!(append(&event).unwrap_err().is_disk_full());
        assert_eq!(workspace.read(LIVE).unwrap(), whole);
        assert!(append(&event).unwrap_err().is_disk_full());
        assert_eq!(append(&json!(1)).unwrap().seq, 3);
        assert!(workspace.write("output/large", &[0; 4096]).unwrap_err().is_disk_full());
        assert_eq!(workspace.list("output").unwrap(), []);
        return;
    }
    let (_folder, workspace) = workspace();
    let child = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" --exact \"$1\""])
        .arg(std::env::current_exe().unwrap())
        .arg("workspace::journal::tests::a_full_disk_leaves_whole_lines_and_the_journal_goes_on_when_there_is_room")
        .env(WHERE, workspace.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(open(&workspace).unwrap().1, [1, 2, 3]);
}
