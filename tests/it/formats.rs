//! The journal's stored shape: fixtures of each format mean what they meant, nothing unknown is passed over, and texts that
//! are named by their hash come back as they were.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    docs::event_types,
    scenarios::{case, ground::Ground, play},
    support::{copy, wait},
};
use overnight::{
    audit,
    runner::load,
    workspace::{
        Workspace,
        chain::{JournalLine, LIVE},
        journal::{self, Journal, JournalError},
    },
};
use overnight_core::job::{
    digest::sha256,
    event::{CallEnd, Event, ExaminedFiles, PlanEvent, ToolEvent, ToolResult},
    part::Fact,
    time::Timestamp,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/journal")
}

/// Plays the fixture's scenario, and keeps its journal's files.
fn make(fixture: &Path) {
    let scenario =
        case::all().into_iter().map(Result::unwrap).find(|scenario| scenario.name.starts_with("003-")).unwrap();
    wait(async {
        let ground = Ground::new().await;
        let path = ground.begin(&scenario).unwrap();
        play::play(&scenario, 0, &*ground.store, &path, &mut |_| {}).await.unwrap();
        fs::remove_dir_all(fixture).unwrap_or_default();
        for file in walkdir::WalkDir::new(&path).into_iter().map(Result::unwrap) {
            if file.file_name() == LIVE {
                let to = fixture.join(file.path().strip_prefix(&path).unwrap());
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::copy(file.path(), to).unwrap();
            }
        }
    });
}

/// What the journal in `path` means.
fn meaning(path: &Path) -> String {
    let job = load(path).unwrap().job;
    let mut text = String::new();
    let (status, hold, reason) = job.job_status();
    writeln!(text, "status: {status:?} {hold:?} {reason:?}\ntools: {}", job.tools_sha256).unwrap();
    for past in &job.past {
        let phase = &past.phase;
        let (number, attempt, kind) = (phase.number, phase.attempt, phase.kind.name());
        writeln!(text, "phase {number}.{attempt} {kind} '{}': {} in {}", phase.title, past.why.outcome(), past.folder)
            .unwrap();
        for todo in phase.todos.all() {
            writeln!(text, "  {:?} {}: {:?}", todo.status, todo.content, todo.outcome).unwrap();
        }
    }
    writeln!(text, "plan:\n{}", job.plan.as_ref().unwrap().text()).unwrap();
    writeln!(text, "memory:\n{}", job.memory.as_deref().unwrap_or("none")).unwrap();
    writeln!(text, "instructions:\n{}", job.instructions).unwrap();
    for document in &job.spec.documents {
        writeln!(text, "{}: {:.2} read", document.name, job.own.coverage.share(document)).unwrap();
    }
    for turn in 1..=job.totals.spent.turns {
        let prompt = audit::prompt::prompt(path, turn).unwrap();
        assert!(prompt.is_same(), "the prompt of turn {turn} is not the one that was sent");
        writeln!(text, "prompt of turn {turn}: {}", prompt.sha256).unwrap();
    }
    text
}

#[test]
fn fixtures_of_each_format_mean_what_they_meant() {
    let is_update = std::env::var_os("UPDATE").is_some();
    if is_update {
        make(&folder().join("1"));
    }
    let formats: Vec<PathBuf> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    assert_eq!(formats, [folder().join("1")]);
    for fixture in formats {
        // Reading opens a workspace, and a test must not be able to change what is stored.
        let place = TempDir::new().unwrap();
        copy(&fixture, place.path());
        let found = meaning(place.path());
        let expected = fixture.join("expected.txt");
        if is_update {
            fs::write(&expected, &found).unwrap();
        }
        assert_eq!(found, fs::read_to_string(&expected).unwrap(), "UPDATE=1 takes it as it is");
    }
}

fn workspace() -> (TempDir, Workspace) {
    let folder = TempDir::new().unwrap();
    let workspace = Workspace::create_temporary(folder.path()).unwrap().install("job").unwrap();
    (folder, workspace)
}

fn open(workspace: &Workspace) -> Journal {
    Journal::open(workspace, |_: JournalLine<Event>| Ok(())).unwrap()
}

fn append<F: Fact>(journal: &mut Journal, events: &[F]) {
    journal.append(Timestamp::default(), 1, events).unwrap();
}

/// All events, a list for each line.
fn read<F: Fact>(workspace: &Workspace) -> Result<Vec<Vec<F>>, JournalError> {
    let mut lines = Vec::new();
    journal::read(workspace, |line: JournalLine<F>| {
        lines.push(line.events);
        Ok(())
    })?;
    Ok(lines)
}

/// The places of all objects whose fields the program knows; arguments and what a vendor sent along have any.
fn objects(value: &Value, place: &str, found: &mut Vec<String>) {
    let fields: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            found.push(place.to_owned());
            fields.iter().map(|(key, field)| (key.clone(), field)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(place, item)| (place.to_string(), item)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for (key, field) in
        fields.into_iter().filter(|(key, _)| !["arguments", "carried", "record"].contains(&key.as_str()))
    {
        objects(field, &format!("{place}/{key}"), found);
    }
}

#[test]
fn an_unknown_field_of_any_event_is_refused_with_its_place() {
    let samples = fs::read_to_string(folder().join("events.jsonl")).unwrap();
    let mut samples: Vec<Value> = samples.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = fs::read_to_string(folder().join("1/archive/phase-00-bootstrap").join(LIVE)).unwrap();
    let first: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let created = first["events"][0].clone();
    samples.push(created.clone());
    let types: BTreeSet<String> = samples.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(types, event_types().into_iter().collect());
    for event in samples {
        let kept: Event = serde_json::from_value(event.clone()).unwrap();
        assert_eq!(serde_json::to_value(kept).unwrap(), event, "a field is missing in the sample");
        let mut places = Vec::new();
        objects(&event, "", &mut places);
        for place in places {
            let mut changed = event.clone();
            changed.pointer_mut(&place).unwrap()["unknown_field"] = json!(1);
            let (_folder, workspace) = workspace();
            let mut journal = open(&workspace);
            append(&mut journal, std::slice::from_ref(&created));
            append(&mut journal, &[changed]);
            match read::<Event>(&workspace) {
                Err(JournalError::Broken { file, line, .. }) => assert_eq!((file.as_str(), line), (LIVE, 2)),
                read => panic!("{} {place}: {read:?}", event["type"]),
            }
        }
    }
}

fn large(text: &str) -> String {
    format!("{text} ").repeat(400)
}

fn plan_set(text: &str) -> Event {
    Event::Plan(PlanEvent::PlanSet { text: text.into(), phases: Vec::new(), because: "a test".to_owned() })
}

fn returned(text: String) -> Event {
    Event::Tool(ToolEvent::ToolReturned {
        conversation: 0,
        tokens: 0,
        call: "call_1_1".to_owned(),
        name: "read_file".to_owned(),
        result: ToolResult::plain(CallEnd::Done, text),
    })
}

fn replied() -> Event {
    let samples = fs::read_to_string(folder().join("events.jsonl")).unwrap();
    let line: Value =
        serde_json::from_str(samples.lines().find(|line| line.contains("model_replied")).unwrap()).unwrap();
    serde_json::from_value(line).unwrap()
}

/// What archiving does to the journal's files.
fn archive(workspace: &Workspace, journal: &mut Journal, folder: &str) {
    workspace.write(&format!("archive/{folder}/{LIVE}"), &workspace.read(LIVE).unwrap()).unwrap();
    journal.after_archive().unwrap();
}

/// Lines in three files; the journal is opened anew before some of them.
fn record() -> (TempDir, Workspace, Vec<Vec<Event>>) {
    let (plan, result, late, small) = (large("plan"), large("result"), large("late"), "short".to_owned());
    let lines = vec![
        vec![plan_set(&plan), plan_set(&small)],
        vec![returned(result.clone())],
        vec![returned(late.clone()), plan_set(&small)],
        vec![Event::Plan(PlanEvent::FilesExamined {
            files: ExaminedFiles {
                plan: Some(plan.as_str().into()),
                memory: None,
                instructions: result.as_str().into(),
                summary: small.as_str().into(),
            },
        })],
        vec![replied()],
        // A part of an earlier line is known for good, a result until the next reply.
        vec![plan_set(&result), plan_set(&late)],
        vec![plan_set(&late), plan_set(&plan)],
    ];
    let (folder, workspace) = workspace();
    let mut journal = open(&workspace);
    for (place, events) in lines.iter().enumerate() {
        append(&mut journal, events);
        match place {
            1 | 4 => archive(&workspace, &mut journal, &format!("phase-{place}")),
            3 | 5 => journal = open(&workspace),
            _ => {}
        }
    }
    (folder, workspace, lines)
}

#[test]
fn a_large_text_stands_once_and_comes_back() {
    let (_folder, workspace, lines) = record();
    assert_eq!(read::<Event>(&workspace).unwrap(), lines);
    let written: Vec<Value> = read::<Value>(&workspace).unwrap().into_iter().map(Value::from).collect();
    let text = |text: &str| json!({"text": text});
    let stored = |text: String, seq: u64| json!({"stored": {"sha256": sha256(text.as_bytes()), "seq": seq}});
    let (plan, result, late) = (large("plan"), large("result"), large("late"));
    assert_eq!(
        written[3],
        json!([{"type": "files_examined", "files": {
            "plan": stored(plan.clone(), 1),
            "instructions": stored(result.clone(), 2),
            "summary": text("short"),
        }}])
    );
    let set = |part: Value| json!({"type": "plan_set", "text": part, "phases": [], "because": "a test"});
    assert_eq!(written[5], json!([set(stored(result, 2)), set(text(&late))]));
    assert_eq!(written[6], json!([set(stored(late, 6)), set(stored(plan, 1))]));
}

#[test]
fn a_text_named_by_a_hash_that_no_line_holds_is_a_break() {
    let sha = sha256(large("late").as_bytes());
    for (old, new) in [
        (format!(r#""sha256":"{sha}","seq":6"#), format!(r#""sha256":"{sha}","seq":3"#)),
        (format!(r#""sha256":"{sha}""#), format!(r#""sha256":"{}""#, sha.replace(&sha[..4], "0000"))),
    ] {
        let (_folder, workspace, _) = record();
        let live = workspace.read_text(LIVE).unwrap();
        let (content, _) = live.rsplit_once(",\"sum\":").unwrap();
        assert!(content.contains(&old), "{old}: {content}");
        let content = content.replace(&old, &new);
        let (before, last) = content.rsplit_once('\n').unwrap();
        let sum = &sha256(last.as_bytes())[..16];
        workspace.write(LIVE, format!("{before}\n{last},\"sum\":\"{sum}\"}}\n").as_bytes()).unwrap();
        let error = read::<Event>(&workspace).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("the journal is broken at {LIVE} line 2: it names a text of line ")),
            "{error}"
        );
        let faults = audit::verify::verify(workspace.path(), None).unwrap_err();
        assert!(
            faults.iter().any(|fault| (fault.file.as_str(), fault.line) == (LIVE, Some(2))
                && fault.what.starts_with("it names a text of line ")),
            "{faults:?}"
        );
    }
}
