//! Paths that lead out, that are spelled to hide what they name, or that no file can have; and links that somebody plants.

use super::trial::{
    PLAN, SECRET, TASK, Trial, blocked, bootstrap, complete, read, reply, text, until_review, work, write,
};
use overnight_core::{
    answer,
    job::{
        event::{CallEnd, ConversationEvent, Event, PhaseEvent},
        state::Status,
    },
    machine::effect::Command,
};
use serde_json::{Value, json};
use std::{fs, os::unix::fs::symlink, path::Path};

/// One call of every tool that takes a path.
fn every_tool(path: &str) -> Vec<Value> {
    vec![
        read(path),
        write(path, "x"),
        json!({"append_file": {"path": path, "content": "x"}}),
        json!({"edit_file": {"path": path, "old": "canary", "new": "x"}}),
        json!({"list_files": {"path": path}}),
        json!({"search_files": {"pattern": "canary", "path": path}}),
    ]
}

#[test]
fn no_tool_takes_a_path_that_leads_out_or_names_nothing() {
    let trial = Trial::new();
    let absolute = trial.outside("secret.md").display().to_string();
    let long = "n".repeat(300);
    let deep = "d/".repeat(600);
    let cases = [
        (absolute.as_str(), "is absolute"),
        ("/etc/passwd", "is absolute"),
        ("~/secret.md", "is absolute"),
        ("../secret.md", "goes up with '..'"),
        ("output/../../secret.md", "goes up with '..'"),
        ("documents/../../secret.md", "goes up with '..'"),
        (r"..\secret.md", "has a backslash"),
        (r"\\server\share", "has a backslash"),
        ("C:secret.md", "has a colon"),
        ("output/a.md:stream", "has a colon"),
        ("output/a\0.md", "has a NUL"),
        ("output/a\n.md", "has a NUL"),
        ("output/\u{202e}dm.a", "has a NUL"),
        ("output/NUL", "reserve"),
        ("con.txt", "reserve"),
        ("output/.overnight-tmp-1", "reserve"),
        ("output/a.", "ends with a dot"),
        ("output./a", "ends with a dot"),
        (long.as_str(), "more than 255 bytes"),
        (deep.as_str(), "more than 1024 bytes"),
    ];
    for (path, rule) in cases {
        let rest = trial.play(&[reply(&every_tool(path)), blocked()]);
        for (end, text) in rest.told(1) {
            assert!(end == CallEnd::Failed && text.contains(rule), "{path}: {end:?} {text}");
        }
        assert_eq!(rest.ends(1).len(), 6);
    }
}

#[test]
fn what_is_protected_is_protected_under_every_spelling() {
    let trial = Trial::new();
    let names = [
        "job.yaml",
        "instructions.md",
        "journal.jsonl",
        ".lock",
        "todos.md",
        "progress.md",
        "workspace_summary.md",
        "documents/a.md",
        "documents/new.md",
        "assets/instructions.md",
        "archive/phase-00-bootstrap/todos.md",
        "tool_results/call_1_1.txt",
        "JOB.YAML",
        "Journal.jsonl",
        "./journal.jsonl",
        "Documents/a.md",
        "ARCHIVE/x",
        "journal.jsonl/",
        "documents//a.md",
        "aſſets/x",
        "job.yaml/x",
    ];
    for name in names {
        let calls = [write(name, "x"), json!({"append_file": {"path": name, "content": "x"}})];
        let rest = trial.play(&[reply(&calls), blocked()]);
        for (end, text) in rest.told(1) {
            assert!(end == CallEnd::Failed, "{name}: {end:?} {text}");
            assert!(text.contains("can't be written: ") || text.contains("is a file, not a folder"), "{name}: {text}");
        }
    }
}

#[test]
fn odd_names_and_deep_folders_are_files_like_others() {
    let trial = Trial::new();
    let deep = format!("output/{}file.md", "d/".repeat(400));
    let names = [
        "output/計画.md",
        "output/План 1.md",
        "output/🌙.md",
        "output/é.md",
        "output/e\u{301}.md",
        "output/a;rm -rf *.md",
        "output/$(reboot)",
        "output/-rf",
        "output/%2e%2e",
        deep.as_str(),
    ];
    let writes: Vec<Value> = names.iter().map(|name| write(name, "one")).collect();
    let reads: Vec<Value> = names.iter().map(|name| read(name)).collect();
    let list = json!({"list_files": {"path": "output"}});
    let rest = trial.play(&[reply(&writes), reply(&reads), reply(&[list]), blocked()]);
    assert_eq!(rest.end(), "blocked after 4 turns: It can't be done.");
    assert_eq!((rest.ends(1), rest.ends(2)), (vec![CallEnd::Done; 10], vec![CallEnd::Done; 10]));
    assert!(rest.told(3)[0].1.starts_with("10 files:\n"), "{:?}", rest.told(3));
}

#[test]
fn what_is_no_text_is_told_so() {
    let mut trial = Trial::new();
    trial.documents.push(("page.html".to_owned(), "<p>One</p>".into()));
    trial.documents.push(("huge.txt".to_owned(), "ü".repeat(3_000_000).into_bytes()));
    let calls = [
        read("output"),
        write("output", "x"),
        read("nowhere.md"),
        json!({"read_file": {"path": "documents/.text/huge.txt.txt", "offset": u64::MAX, "limit": u64::MAX}}),
        json!({"read_file": {"path": "documents/.text/huge.txt.txt", "offset": 0, "limit": 0}}),
        json!({"read_document": {"name": "huge.txt", "from": u64::MAX, "to": 0}}),
        json!({"read_document": {"name": "huge.txt", "from": 5, "to": 4}}),
        json!({"search_files": {"pattern": "(ü+)+(ü+)+x"}}),
        json!({"search_files": {"pattern": "((a{0,1000}){0,1000}){0,1000}"}}),
    ];
    let rest = trial.play(&[reply(&[write("output/a.md", "x")]), reply(&calls), blocked()]);
    let cut = |(end, text): (CallEnd, String)| format!("{end:?} {}", text.chars().take(60).collect::<String>());
    let told: Vec<String> = rest.told(2).into_iter().map(cut).collect();
    let failed = |text: String| cut((CallEnd::Failed, text));
    let lines = answer!("file.ends", path = "documents/.text/huge.txt.txt", lines = 1500);
    let error = "compiled regex exceeds size limit of 1048576";
    assert_eq!(
        told,
        [
            "Failed 'output' is a folder, not a file: name a file in it".to_owned(),
            "Failed 'output' is a folder, not a file: name a file in it".to_owned(),
            "Failed 'nowhere.md' does not exist in the workspace".to_owned(),
            failed(lines),
            "Done documents/.text/huge.txt.txt (lines 1-1 of 1500):\n<document ".to_owned(),
            failed(answer!("document.ends", name = "huge.txt", unit = "line", units = 1500)),
            failed(answer!("document.from_after_to", from = 5, to = 4)),
            cut((CallEnd::Done, answer!("search.no_matches_in_documents"))),
            failed(answer!("search.pattern_unreadable", error)),
        ]
    );
}

/// Puts a link at `name` in the place of whatever is there, after the first reply, and lets every tool meet it.
fn meet(trial: &Trial, name: &str, target: &Path) -> super::trial::Rest {
    let mut calls = every_tool(name);
    calls.extend(every_tool(&format!("{name}/deep.md")));
    calls.extend([
        write(&format!("{name}/new.md"), "x"),
        json!({"list_files": {}}),
        json!({"search_files": {"pattern": "canary"}}),
        json!({"generate_workspace_summary": {}}),
        json!({"todo_rewind": {"issue": "a link"}}),
    ]);
    let mut is_planted = false;
    trial.play_with(&[text("Wait."), reply(&calls), blocked()], "stop", &mut |path, decision| {
        let is_reply = decision
            .events
            .iter()
            .any(|event| matches!(event, Event::Conversation(ConversationEvent::ModelReplied { .. })));
        if is_reply && !std::mem::replace(&mut is_planted, true) {
            let at = path.join(name);
            match at.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&at).unwrap(),
                Ok(_) => fs::remove_file(&at).unwrap(),
                Err(_) => fs::create_dir_all(at.parent().unwrap()).unwrap(),
            }
            symlink(target, at).unwrap();
        }
    })
}

/// A pipe, which would wait for ever for its other end.
fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Names and contents of what the workspace holds: nothing of it came from outside.
fn assert_nothing_came_in(path: &Path) {
    let mut open = vec![path.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                let content = fs::read(entry.path()).unwrap();
                assert!(
                    !String::from_utf8_lossy(&content).contains(SECRET),
                    "{} was copied in",
                    entry.path().display()
                );
            }
        }
    }
}

#[test]
fn links_planted_while_the_job_runs_lead_nowhere() {
    let ended = "blocked after 3 turns: It can't be done.";
    let link = "is a symbolic link, or leads over one, out of the workspace: put what belongs there in its place";
    let stopped = |name: &str| format!("error after 2 turns: '{name}' {link}");
    let cases = [
        ("output/link.md", "secret.md", ended.to_owned()),
        ("output/report.md", "secret.md", ended.to_owned()),
        ("output/folder", "folder", ended.to_owned()),
        ("notes", "folder", ended.to_owned()),
        ("documents/link.md", "secret.md", ended.to_owned()),
        ("documents/folder", "folder", ended.to_owned()),
        ("documents/a.md", "secret.md", ended.to_owned()),
        ("documents", "folder", ended.to_owned()),
        // What the system generates takes its place back.
        ("workspace_summary.md", "secret.md", ended.to_owned()),
        ("todos.md", "secret.md", ended.to_owned()),
        ("progress.md", "secret.md", ended.to_owned()),
        // What it needs and can't make again stops the work: a person must mend it.
        ("main_plan.md", "secret.md", stopped("main_plan.md")),
        ("workspace.md", "secret.md", stopped("workspace.md")),
        ("instructions.md", "secret.md", stopped("instructions.md")),
        ("output", "folder", stopped("output")),
        ("tool_results", "folder", stopped("tool_results")),
        ("archive", "folder", stopped("archive/phase-00-bootstrap.rewound-1")),
        ("journal.jsonl", "secret.md", stopped("journal.jsonl")),
    ];
    for (name, target, expected) in cases {
        let trial = Trial::planted();
        let rest = meet(&trial, name, &trial.outside(target));
        assert_eq!(rest.end(), expected, "{name}");
        // What the system has put back in its place meanwhile is read as any file.
        let own = ["todos.md", "progress.md", "workspace_summary.md"].map(|own| format!("{own} (lines 1-"));
        let is_own = |text: &str| own.iter().any(|own| text.starts_with(own));
        let told = rest.told(2).into_iter().take(13);
        let opened: Vec<(CallEnd, String)> =
            told.filter(|(end, text)| *end != CallEnd::Failed && !is_own(text)).collect();
        let nothing = vec![(CallEnd::Done, answer!("search.no_matches")); opened.len()];
        assert_eq!(opened, nothing, "{name}");
        assert_nothing_came_in(&rest.path);
    }
}

#[test]
fn links_within_the_workspace_hide_nothing_that_is_protected() {
    let trial = Trial::planted();
    let mut is_planted = false;
    let calls = [
        write("output/journal", "x"),
        write("output/docs/a.md", "x"),
        write("output/hard.md", "x"),
        json!({"append_file": {"path": "output/hard.md", "content": "x"}}),
        read("output/lock"),
        read("output/journal"),
        read("output/loop"),
        read("output/binary"),
        json!({"append_file": {"path": "output/binary", "content": "x"}}),
        json!({"search_files": {"pattern": "x", "path": "output/binary"}}),
        read("output/pipe"),
        write("output/pipe", "x"),
    ];
    let rest = trial.play_with(&[text("Wait."), reply(&calls), blocked()], "stop", &mut |path, _| {
        if !std::mem::replace(&mut is_planted, true) {
            fs::create_dir_all(path.join("output")).unwrap();
            symlink("../journal.jsonl", path.join("output/journal")).unwrap();
            symlink("../documents", path.join("output/docs")).unwrap();
            symlink("../.lock", path.join("output/lock")).unwrap();
            symlink("loop", path.join("output/loop")).unwrap();
            fs::write(path.join("output/binary"), [0, 159, 146, 150, 255]).unwrap();
            make_pipe(&path.join("output/pipe"));
            fs::hard_link(path.join("documents/a.md"), path.join("output/hard.md")).unwrap();
        }
    });
    assert_eq!(rest.end(), "blocked after 3 turns: It can't be done.");
    let cut = |text: &str| text.chars().take(50).collect::<String>();
    let told: Vec<String> = rest.told(2).into_iter().map(|(end, text)| format!("{end:?} {}", cut(&text))).collect();
    let not_text = format!("Failed {}", cut(&answer!("write.not_text", path = "output/binary")));
    let none = format!("Done {}", cut(&answer!("search.no_matches")));
    assert_eq!(
        told,
        [
            "Failed the path 'output/journal' leads over a symbolic li",
            "Failed the path 'output/docs/a.md' leads over a symbolic ",
            "Failed 'output/hard.md' can't be written: documents/ hold",
            "Failed 'output/hard.md' can't be written: documents/ hold",
            "Failed 'output/lock' is the runner's own and can't be rea",
            "Done journal.jsonl (lines 1-13 of 13):\n1\t{\"seq\":1,\"at\":",
            "Failed failed to follow 'output/loop': Too many levels of",
            "Failed 'output/binary' is not UTF-8 text",
            not_text.as_str(),
            none.as_str(),
            "Failed 'output/pipe' is neither a file nor a folder and c",
            "Failed 'output/pipe' is neither a file nor a folder and c",
        ]
    );
}

#[test]
fn deliverables_that_are_links_or_folders_are_not_delivered() {
    for kind in ["secret.md", "folder", "a folder", "a pipe"] {
        let trial = Trial::planted();
        let mut replies = until_review();
        let claim = || reply(&[complete(&json!(1), &json!(["output/report.md"]))]);
        replies.extend([claim(), claim(), claim(), claim()]);
        let rest = trial.play_with(&replies, "stop", &mut |path, decision| {
            let is_review = decision.events.iter().any(
                |event| matches!(event, Event::Phase(PhaseEvent::PhaseStarted { title, .. }) if title == "Review"),
            );
            if is_review {
                let at = path.join("output/report.md");
                fs::remove_file(&at).unwrap();
                match kind {
                    "a folder" => fs::create_dir(at).unwrap(),
                    "a pipe" => make_pipe(&at),
                    target => symlink(trial.outside(target), at).unwrap(),
                }
            }
        });
        assert_eq!(
            rest.end(),
            "partial after 7 turns: not met after 3 refusals: output/report.md: readable; output/report.md: named as a deliverable"
        );
        assert_nothing_came_in(&rest.path);
    }
}

#[test]
fn what_a_person_plants_while_the_job_is_held_leads_nowhere_either() {
    let trial = Trial::with_task(&TASK.replace("coverage: 0.0", "coverage: 0.0\nlimits: { turns: 2 }"));
    let list = || json!({"list_documents": {}});
    let rest = trial.play(&[bootstrap(PLAN), reply(&[list()])]);
    assert!(matches!(rest.job.status, Status::Held { .. }), "{}", rest.end());
    fs::create_dir_all(rest.path.join("output")).unwrap();
    symlink(trial.outside("folder"), rest.path.join("output/folder")).unwrap();
    let limits = overnight_core::job::limits::Limits { turns: 100, ..rest.job.limits };
    // A script goes on behind the turns that were played.
    let replies = [text(""), text(""), reply(&every_tool("output/folder/deep.md")), work(list()), blocked()];
    let trial = Trial { is_planted: true, ..trial };
    let rest = trial.resume(&rest.path, &replies, Some(Command::Resume { limits }));
    assert_eq!(rest.end(), "blocked after 5 turns: It can't be done.");
    assert_eq!(rest.ends(3), [CallEnd::Failed; 6]);
    assert_eq!(rest.faults, ["output/folder: added: the journal doesn't know it"]);
    assert_nothing_came_in(&rest.path);
}
