use super::*;
use crate::workspace::{
    archive,
    archive_manifest::ArchiveMeta,
    chain::{JournalLine, seal},
    journal::Journal,
};
use overnight_core::job::{
    digest::sha256,
    event::{CallEnd, ChangedFile, Event, LifeEvent, SpilledResult, ToolEvent, ToolResult},
    id::JobId,
    instructions,
    left_out::LeftOut,
    spec::{Asset, DocumentEntry, FORMAT, JobSpec},
    time::Timestamp,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{fs, os::unix::fs::FileExt};
use tempfile::TempDir;

struct Job {
    _folder: TempDir,
    workspace: Workspace,
    journal: Journal,
}

fn at() -> Timestamp {
    serde_json::from_str("\"2026-11-21T03:14:07.123Z\"").unwrap()
}

impl Job {
    fn note(&mut self, event: Value) {
        self.journal.append(at(), 1, &[json!({"type": "turn_started", "folder": 7}), event]).unwrap();
    }

    fn write(&mut self, path: &str, content: &str) {
        let hash = self.workspace.write(path, content.as_bytes()).unwrap();
        let changed = ChangedFile { path: path.into(), sha256: hash.sha256, bytes: hash.bytes };
        self.returned(ToolResult { changed: Some(changed), ..ToolResult::plain(CallEnd::Done, "") });
    }

    fn returned(&mut self, result: ToolResult) {
        let event = Event::Tool(ToolEvent::ToolReturned {
            conversation: 0,
            call: "c1".into(),
            name: "write_file".into(),
            result,
            tokens: 0,
        });
        self.note(serde_json::to_value(event).unwrap());
    }

    fn archive(&mut self, folder: &str) {
        let meta = ArchiveMeta {
            folder: folder.into(),
            phase: 1,
            kind: "planned".into(),
            title: "Read".into(),
            attempt: 1,
            outcome: "done".into(),
            issue: None,
            ended: at(),
        };
        self.note(json!({"type": "phase_ended"}));
        let stored = archive::build(&self.workspace, &mut self.journal, meta, "todos").unwrap();
        self.note(json!({"type": "archive_stored", "folder": folder, "manifest_sha256": stored.manifest_sha256}));
    }

    fn verify(&self) -> Result<Verified, Vec<RecordFault>> {
        verify(self.workspace.path(), Some((self.journal.seq(), self.journal.head())))
    }

    /// The text of the first fault.
    fn first(&self) -> String {
        self.verify().unwrap_err()[0].to_string()
    }

    /// Replaces a file without the flush to disk that overwriting causes on some file systems.
    fn put(&self, path: &str, content: &[u8]) {
        fs::remove_file(self.file(path)).unwrap();
        fs::write(self.file(path), content).unwrap();
    }

    /// Changes one bit in place; a second call undoes it.
    fn flip(&self, path: &str, place: usize) {
        let file = fs::OpenOptions::new().read(true).write(true).open(self.file(path)).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, place as u64).unwrap();
        file.write_all_at(&[byte[0] ^ 1], place as u64).unwrap();
    }

    fn file(&self, path: &str) -> std::path::PathBuf {
        self.workspace.path().join(path)
    }
}

fn job() -> Job {
    let folder = TempDir::new().unwrap();
    let workspace = Workspace::create_temporary(folder.path()).unwrap();
    let text = "---\nname: read\ndescription: A test\ndeliverables:\n  - path: output/r.json\n---\n\nRead.\n";
    let instructions =
        instructions::parse("read.md", text, &|_| Err(instructions::UnreadFile("nothing is there".into()))).unwrap();
    let document = |name: &str| DocumentEntry {
        name: name.into(),
        sha256: sha256(b"x"),
        bytes: 1,
        dated: None,
        format: "text".into(),
        paged: false,
        units: 1,
        tokens: 1,
        text_sha256: sha256(b"x"),
        reader: String::new(),
        gaps: Vec::new(),
        unreadable: Vec::new(),
        recognised: Vec::new(),
        notes: Vec::new(),
        scan_sha256: None,
    };
    let spec = JobSpec {
        format: FORMAT,
        id: JobId(uuid::Uuid::nil()),
        created: at(),
        version: "0.1.0".into(),
        model: "offline".into(),
        base_url: None,
        api_key_env: None,
        budget_tokens: 8000,
        instructions_sha256: sha256(b""),
        instructions,
        system_prompt: String::new(),
        documents: vec![document("in/a.pdf"), document("b.bin")],
        left_out: LeftOut::default(),
        assets: vec![Asset { path: "assets/s.json".into(), sha256: sha256(b"x") }],
        sees: false,
        scans: Vec::new(),
        has_tables: false,
        earlier: None,
    };
    // Only its hash counts.
    workspace.write("job.yaml", b"what was asked").unwrap();
    for path in ["in/a.pdf", ".text/in/a.pdf.txt", "b.bin", ".text/b.bin.txt"] {
        workspace.write(&format!("documents/{path}"), b"x").unwrap();
    }
    workspace.write("assets/s.json", b"x").unwrap();
    workspace.write("instructions.md", spec.task_text().as_bytes()).unwrap();
    workspace.write("main_plan.md", b"# Execution Plan\n").unwrap();
    let journal = Journal::open(&workspace, |_: JournalLine<Value>| Ok(())).unwrap();
    let mut job = Job { _folder: folder, workspace: workspace.install("job").unwrap(), journal };
    let created = Event::Life(LifeEvent::JobCreated {
        spec_sha256: sha256(b"what was asked"),
        spec: Box::new(spec),
        tools_sha256: String::new(),
    });
    job.note(serde_json::to_value(created).unwrap());
    job.write("output/r.json", "{}");
    job.archive("phase-01-read.rewound-1");
    job.write("output/r.json", "{\"a\":1}");
    job.workspace.write("tool_results/1.txt", b"long").unwrap();
    let spilled = SpilledResult { path: "tool_results/1.txt".into(), sha256: sha256(b"long") };
    job.returned(ToolResult { spilled: Some(spilled), ..ToolResult::plain(CallEnd::Done, "") });
    job.archive("phase-01-read");
    job.write("notes.md", "mine");
    job.write("output/s.md", "s");
    job.note(json!({"type": "noted"}));
    job
}

#[test]
fn a_sound_workspace_is_verified_also_as_a_copy_and_without_anchor() {
    let mut job = job();
    let expected = Verified {
        lines: 11,
        archives: 2,
        // Two manifests, three files each; job.yaml, five inputs; the task, a note; three results.
        files: 2 + 6 + 6 + 2 + 3,
        head: job.journal.head().into(),
        seq: 11,
        pruned: None,
    };
    assert_eq!(job.verify(), Ok(expected.clone()));
    let copy = TempDir::new().unwrap();
    for entry in job.workspace.list(".").unwrap() {
        let to = copy.path().join(&entry.path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(job.file(&entry.path), to).unwrap();
    }
    assert_eq!(verify(copy.path(), None), Ok(expected));
    // A person's edits and leftovers of a crash are no faults.
    job.workspace.write("main_plan.md", b"edited").unwrap();
    job.workspace.write("archive/.overnight-tmp-1/todos.md", b"half").unwrap();
    assert_eq!(job.verify().map(|verified| verified.seq), Ok(11));
    // Nor is a crash between the archive and its journal entry, whether the live journal is still there or not.
    let live = job.workspace.read("journal.jsonl").unwrap();
    job.note(json!({"type": "phase_ended"}));
    let whole = job.workspace.read("journal.jsonl").unwrap();
    assert!(whole.len() > live.len());
    let meta = archive_meta("phase-02-next");
    archive::build(&job.workspace, &mut job.journal, meta, "").unwrap();
    assert_eq!(job.verify().map(|verified| (verified.seq, verified.archives)), Ok((12, 3)));
    fs::write(job.file("journal.jsonl"), &whole).unwrap();
    assert_eq!(job.verify().map(|verified| (verified.seq, verified.lines)), Ok((12, 12)));
}

fn archive_meta(folder: &str) -> ArchiveMeta {
    ArchiveMeta {
        folder: folder.into(),
        phase: 2,
        kind: "planned".into(),
        title: "Next".into(),
        attempt: 1,
        outcome: "done".into(),
        issue: None,
        ended: at(),
    }
}

#[test]
fn any_flipped_byte_is_found_and_named() {
    let job = job();
    let mut files: Vec<String> = job.workspace.list("archive").unwrap().into_iter().map(|entry| entry.path).collect();
    files.extend(["journal.jsonl", "job.yaml", "documents/in/a.pdf", "documents/.text/in/a.pdf.txt"].map(String::from));
    files.extend(
        ["instructions.md", "notes.md", "assets/s.json", "output/r.json", "output/s.md", "tool_results/1.txt"]
            .map(String::from),
    );
    for file in files {
        let whole = fs::read(job.file(&file)).unwrap();
        let is_journal = file.ends_with("journal.jsonl");
        let mut line = 1;
        for (place, byte) in whole.iter().enumerate() {
            job.flip(&file, place);
            let faults = job.verify().unwrap_err();
            job.flip(&file, place);
            let found = (faults[0].file.as_str(), faults[0].line);
            assert_eq!(found, (file.as_str(), is_journal.then_some(line)), "byte {place} of {file}: {faults:#?}");
            line += u64::from(*byte == b'\n');
        }
    }
    assert!(job.verify().is_ok());
}

#[test]
fn what_is_written_anew_so_that_it_fits_is_seen_with_the_anchor_only() {
    let job = job();
    let path = job.file("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    // Any other change of it is detected without the anchor.
    for place in (0..text.len()).step_by(3) {
        job.flip("journal.jsonl", place);
        let faults = verify(job.workspace.path(), None).unwrap_err();
        let line = text[..place].matches('\n').count() as u64 + 1;
        assert_eq!((faults[0].file.as_str(), faults[0].line), ("journal.jsonl", Some(line)), "byte {place}");
        job.flip("journal.jsonl", place);
    }
    let (kept, last) = text.trim_end().rsplit_once('\n').unwrap();
    let mut line = last.replace("\"noted\"", "\"other\"").into_bytes();
    line.truncate(line.len() - r#","sum":"0123456789abcdef"}"#.len());
    line.push(b'}');
    seal(&mut line);
    fs::write(&path, format!("{kept}\n{}\n", String::from_utf8(line).unwrap())).unwrap();
    assert!(verify(job.workspace.path(), None).is_ok());
    assert_eq!(
        job.first(),
        format!(
            "journal.jsonl line 4: the database's last checkpoint holds another line 11 ({}): the journal was written anew",
            job.journal.head()
        )
    );
}

#[test]
fn what_is_missing_added_or_swapped_is_named() {
    let check = |change: &dyn Fn(&Job), expected: &str| {
        let job = job();
        change(&job);
        assert_eq!(job.first(), expected);
    };
    let rename = |job: &Job, from: &str, to: &str| fs::rename(job.file(from), job.file(to)).unwrap();
    check(
        &|job| job.workspace.remove("archive/phase-01-read/main_plan.md").unwrap(),
        "archive/phase-01-read/main_plan.md: missing: its manifest has it",
    );
    check(
        &|job| fs::write(job.file("archive/phase-01-read/extra"), "x").unwrap(),
        "archive/phase-01-read/extra: added: its manifest doesn't know it",
    );
    check(&|job| fs::write(job.file("archive/extra"), "x").unwrap(), "archive/extra: added: it belongs to no archive");
    check(
        &|job| fs::create_dir(job.file("archive/phase-09-x")).unwrap(),
        "archive/phase-09-x/manifest.json: 'archive/phase-09-x/manifest.json' does not exist in the workspace",
    );
    check(
        &|job| fs::remove_dir_all(job.file("archive/phase-01-read.rewound-1")).unwrap(),
        "archive/phase-01-read.rewound-1: missing: the journal says that it was stored (archive/phase-01-read/journal.jsonl line 1)",
    );
    check(
        &|job| {
            rename(job, "archive/phase-01-read", "archive/t");
            rename(job, "archive/phase-01-read.rewound-1", "archive/phase-01-read");
            rename(job, "archive/t", "archive/phase-01-read.rewound-1");
        },
        "archive/phase-01-read/manifest.json: changed: the journal holds another SHA-256 of it (journal.jsonl line 1)",
    );
    check(
        &|job| fs::write(job.file("documents/new"), "x").unwrap(),
        "documents/new: added: the journal doesn't know it",
    );
    check(&|job| job.workspace.remove("assets/s.json").unwrap(), "assets/s.json: missing: the journal has it");
    check(&|job| job.workspace.remove("output/s.md").unwrap(), "output/s.md: missing: the journal has it");
    check(&|job| fs::write(job.file("output/new"), "x").unwrap(), "output/new: added: the journal doesn't know it");
    check(&|job| job.workspace.remove("job.yaml").unwrap(), "job.yaml: missing: the journal has it");
    check(&|job| job.workspace.remove("journal.jsonl").unwrap(), "journal.jsonl: missing");
}

#[test]
fn a_journal_cut_anywhere_is_found() {
    let job = job();
    for file in ["journal.jsonl", "archive/phase-01-read/journal.jsonl"] {
        let whole = fs::read(job.file(file)).unwrap();
        for end in (0..whole.len()).rev().step_by(5) {
            job.put(file, &whole[..end]);
            assert!(job.verify().is_err(), "{file} cut at {end}");
        }
        fs::write(job.file(file), &whole).unwrap();
    }
    let text = fs::read_to_string(job.file("journal.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(job.file("journal.jsonl"), format!("{}\n{}\n{}\n", lines[0], lines[2], lines[3])).unwrap();
    assert_eq!(job.first(), "journal.jsonl line 2: seq is 10, expected 9: lines are missing, added or out of order");
    fs::write(job.file("journal.jsonl"), format!("{}\n{}\n", lines[0], lines[1])).unwrap();
    let faults = job.verify().unwrap_err();
    assert_eq!(
        faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "journal.jsonl: the database's last checkpoint is at line 11 of the chain, and the journal ends at 9: its end was cut off",
            "output/s.md: added: the journal doesn't know it"
        ]
    );
}

#[test]
fn whatever_stands_in_the_files_there_is_an_answer() {
    let job = job();
    let files: Vec<String> = job.workspace.list(".").unwrap().into_iter().map(|entry| entry.path).collect();
    let content = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..60),
        r#"\{"(seq|format)":(0|1|4|18446744073709551615)(,"(events|prev|at)":(\[\]|""|[a-z]))*\}?\n?"#
            .prop_map(String::into_bytes),
        Just(b"[[[[[[[[".repeat(1000)),
    ];
    proptest!(ProptestConfig::with_cases(300), |(
        file in prop::sample::select(files), content in content, place in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>()
    )| {
        let whole = fs::read(job.file(&file)).unwrap();
        let from = place.index(whole.len() + 1);
        let to = from + cut.index(whole.len() - from + 1);
        let changed = [&whole[..from], &content, &whole[to..]].concat();
        job.put(&file, &changed);
        let found = job.verify();
        job.put(&file, &whole);
        let is_free = matches!(file.as_str(), "main_plan.md");
        prop_assert_eq!(found.is_ok(), is_free || changed == whole, "{}", file);
    });
}

#[test]
fn numbers_at_their_limit_are_faults() {
    let job = job();
    for (file, from, to) in [
        ("journal.jsonl", "{\"seq\":10,", "{\"seq\":18446744073709551615,"),
        ("archive/phase-01-read/journal.jsonl", "{\"seq\":7,", "{\"seq\":18446744073709551615,"),
        ("archive/phase-01-read/manifest.json", "\"last_seq\": 7", "\"last_seq\": 18446744073709551615"),
        ("archive/phase-01-read/manifest.json", "\"first_seq\": 4", "\"first_seq\": 0"),
    ] {
        let whole = fs::read_to_string(job.file(file)).unwrap();
        assert!(whole.contains(from), "{whole}");
        fs::write(job.file(file), whole.replace(from, to)).unwrap();
        assert_eq!(job.verify().unwrap_err()[0].file, file);
        fs::write(job.file(file), whole).unwrap();
    }
}
