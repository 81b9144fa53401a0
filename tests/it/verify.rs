//! Verifying true jobs at every point of their work: nothing that the runner itself leaves behind is a fault, wherever it
//! stops, and what someone else changes is one.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::support::{Place, approve, copy, drive, made, samples, shipped, wait};
use overnight::{audit::verify::verify, model::rules::Offline, runner::RunReport};
use overnight_core::{
    job::{
        event::{Decision, Event, PlanEvent, ToolEvent},
        instructions::Review,
        state::Job,
    },
    machine::effect::Command,
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A job of the offline model that a person reviews, worked until it rests; `each` is called after every decision.
fn worked(place: &Place, each: &mut (dyn FnMut(&Path, &Decision) + Send)) -> PathBuf {
    let (mut instructions, text) = shipped("extract-requirements");
    instructions.review = Review::Required;
    let documents = [samples().join("standards")];
    let path = made(&place.workspaces(), instructions, &text, &documents, &Offline(None));
    goes_on(place, &path, None, each);
    path
}

/// Opens the job at `path`, gives it `word`, and works it until it rests.
fn goes_on(place: &Place, path: &Path, word: Option<Command>, each: &mut (dyn FnMut(&Path, &Decision) + Send)) {
    let mut watch = |_: &Job, report: RunReport<'_>| {
        if let RunReport::Decided(decision) = report {
            each(path, decision);
        }
    };
    wait(drive(&*place.store, path, Arc::new(Offline(None)), word, &mut watch)).1.unwrap();
}

/// What verifying finds, one fault a line.
fn faults(path: &Path) -> String {
    match verify(path, None) {
        Ok(_) => String::new(),
        Err(faults) => faults.iter().fold(String::new(), |text, fault| text + &fault.to_string() + "\n"),
    }
}

fn feedback(path: &Path, text: &str) -> Command {
    let present = fs::read_to_string(path.join("instructions.md")).unwrap();
    let instructions = format!("{}\n\n## Feedback 1\n\n{text}\n", present.trim_end());
    Command::Feedback { text: text.to_owned(), instructions, by: "Anna".to_owned() }
}

#[test]
fn wherever_a_job_stops_nothing_is_wrong() {
    let place = wait(Place::new());
    let (mut decisions, mut cut) = (0, 0);
    let mut each = |path: &Path, decision: &Decision| {
        decisions += 1;
        assert_eq!(faults(path), "", "after {decision:?}");
        let has_changed = |event: &Event| {
            matches!(event, Event::Tool(ToolEvent::ToolReturned { result, .. }) if result.changed.is_some() || result.spilled.is_some())
                || matches!(event, Event::Plan(PlanEvent::FileWritten { .. }))
        };
        if decision.events.iter().any(has_changed) {
            // As a crash leaves it between the file and the line that tells of it.
            cut += 1;
            let crashed = tempfile::tempdir().unwrap();
            copy(path, crashed.path());
            let journal = crashed.path().join("journal.jsonl");
            let text = fs::read_to_string(&journal).unwrap();
            let kept = text.trim_end().rsplit_once('\n').map_or(String::new(), |(kept, _)| format!("{kept}\n"));
            fs::write(&journal, kept).unwrap();
            assert_eq!(faults(crashed.path()), "", "before {decision:?}");
        }
    };
    let path = worked(&place, &mut each);
    goes_on(&place, &path, Some(feedback(&path, "Say more.")), &mut each);
    goes_on(&place, &path, Some(approve()), &mut each);
    assert!(decisions > 100 && cut > 10, "{decisions} decisions, {cut} cut");
}

#[test]
fn what_someone_else_changes_is_named() {
    let place = wait(Place::new());
    let path = worked(&place, &mut |_, _| {});
    let edit = |name: &str| fs::write(path.join(name), "edited").unwrap();
    let whole = tempfile::tempdir().unwrap();
    copy(&path, whole.path());
    let mend = |name: &str| {
        fs::copy(whole.path().join(name), path.join(name)).unwrap();
    };
    // While a job isn't ended a person may edit these.
    for name in ["main_plan.md", "workspace.md"] {
        edit(name);
        assert_eq!(faults(&path), "", "{name}");
        mend(name);
    }
    goes_on(&place, &path, Some(feedback(&path, "Say more.")), &mut |_, _| {});
    goes_on(&place, &path, Some(approve()), &mut |_, _| {});
    assert_eq!(faults(&path), "");
    copy(&path, whole.path());
    for name in ["instructions.md", "output/summary.md", "output/requirements.json"] {
        edit(name);
        assert_eq!(faults(&path), format!("{name}: changed: the journal holds another SHA-256 of it\n"));
        fs::remove_file(path.join(name)).unwrap();
        assert_eq!(faults(&path), format!("{name}: missing: the journal has it\n"));
        mend(name);
    }
    for name in ["main_plan.md", "workspace.md"] {
        edit(name);
        assert_eq!(
            faults(&path),
            format!("{name}: changed since the job last read or wrote it: the journal holds another SHA-256 of it\n")
        );
        mend(name);
    }
    for name in ["extra.md", "work/extra.md", "more/extra.md", "output/extra.md"] {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        edit(name);
        assert_eq!(faults(&path), format!("{name}: added: the journal doesn't know it\n"));
        fs::remove_file(path.join(name)).unwrap();
    }
    assert_eq!(faults(&path), "");
}

#[test]
fn what_is_gone_is_named_once_and_nothing_untrue_follows() {
    let place = wait(Place::new());
    let path = worked(&place, &mut |_, _| {});
    goes_on(&place, &path, Some(approve()), &mut |_, _| {});
    let gone = |name: &str| {
        let copied = tempfile::tempdir().unwrap();
        copy(&path, copied.path());
        let at = copied.path().join(name);
        if at.is_dir() { fs::remove_dir_all(at) } else { fs::remove_file(at) }.unwrap();
        faults(copied.path())
    };
    let mut archives: Vec<_> = fs::read_dir(path.join("archive"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    archives.sort();
    assert!(archives.len() >= 3, "{archives:?}");
    for (place, name) in archives.iter().enumerate() {
        let next =
            archives.get(place + 1).map_or("journal.jsonl".to_owned(), |next| format!("archive/{next}/journal.jsonl"));
        let found = gone(&format!("archive/{name}"));
        let lines: Vec<&str> = found.lines().collect();
        assert!(lines[0].starts_with(&format!("archive/{name}: missing: ")), "{found}");
        assert!(lines[1].starts_with(&format!("{next} line 1: ")), "{found}");
        let told = |line: &&&str| line.starts_with(&next) || line.starts_with(&format!("archive/{name}: missing: "));
        let rest: Vec<_> = lines.iter().filter(|line| !told(line)).collect();
        let expected: &[&str] = if place == 0 {
            &["journal.jsonl: no job_created is in the journal: the task and the inputs can't be checked"]
        } else {
            &[]
        };
        assert_eq!(rest.into_iter().copied().collect::<Vec<_>>(), expected, "{found}");
    }
    assert_eq!(gone("journal.jsonl"), "journal.jsonl: missing\n");
    assert_eq!(gone("job.yaml"), "job.yaml: missing: the journal has it\n");
    // Junk: the documents are still checked, against what the journal tells.
    fs::write(path.join("job.yaml"), "junk").unwrap();
    let document =
        fs::read_dir(path.join("documents")).unwrap().map(|entry| entry.unwrap().path()).find(|at| at.is_file());
    let document = document.unwrap();
    fs::write(&document, "junk").unwrap();
    assert_eq!(
        faults(&path),
        format!(
            "job.yaml: changed: the journal holds another SHA-256 of it\ndocuments/{}: changed: the journal holds another SHA-256 of it\n",
            document.file_name().unwrap().to_str().unwrap()
        )
    );
}
