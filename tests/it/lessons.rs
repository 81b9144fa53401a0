//! Lessons: what a job proposes, a person approves or drops, and later jobs are shown.

use crate::cli_run::{TestDir, whole_job};
use serde_json::{Value, json};

#[test]
fn an_approved_lesson_is_in_later_jobs_and_another_is_not() {
    let dir = TestDir::new();
    dir.put("instructions/task.md", std::fs::read(dir.path().join("task.md")).unwrap());
    let mut replies = whole_job();
    let lesson = |text: &str| json!({"add_lesson": {"text": text, "evidence": "phase 1"}});
    let calls = replies.last_mut().unwrap()["calls"].as_array_mut().unwrap();
    calls.splice(0..0, ["Read b.md first.", "Skip a.md.", "Be brief.", "A fourth."].map(lesson));
    dir.script("script.json", &replies);
    let ran = |words: &[&str]| dir.run_with(&[], words);
    let run = || ran(&["run", "task", "-d", "docs", "-m", "scripted:script.json", "-q"]).code;
    let states = || -> Vec<Value> {
        let listed: Vec<Value> = serde_json::from_str(&ran(&["lessons", "list", "--json"]).stdout).unwrap();
        listed.iter().map(|it| json!([it["text"], it["evidence"], it["state"]])).collect()
    };
    let state = |text: &str, state: &str| json!([text, "phase 1", state]);
    assert_eq!(run(), 0);
    let proposed = ["Read b.md first.", "Skip a.md.", "Be brief."].map(|text| state(text, "proposed"));
    assert_eq!(states(), proposed);
    assert_eq!(ran(&["lessons", "approve", "last.1", "--as", "anna"]).code, 0);
    assert_eq!(ran(&["lessons", "drop", "last.2", "--as", "anna"]).code, 0);
    let decided =
        [state("Read b.md first.", "approved"), state("Skip a.md.", "dropped"), state("Be brief.", "proposed")];
    assert_eq!(states(), decided);
    assert_eq!(run(), 0);
    let prompt = ran(&["audit", "prompt", "last", "--turn", "1"]).stdout;
    let shown =
        ["Read b.md first. (evidence: phase 1; job ", "Skip a.md.", "Be brief."].map(|text| prompt.contains(text));
    assert_eq!(shown, [true, false, false], "{prompt}");
    let workspace: Value = serde_json::from_str(&ran(&["show", "last", "--json"]).stdout).unwrap();
    let spec =
        std::fs::read_to_string(dir.path().join(workspace["workspace"].as_str().unwrap()).join("job.yaml")).unwrap();
    assert!(spec.contains("lessons:\n    sha256: ") && spec.contains("Read b.md first. (evidence"), "{spec}");
    // A person's own lines stay, and a word can be changed.
    let file = dir.path().join("instructions/experiences.md");
    let mine = std::fs::read_to_string(&file).unwrap().replace("## task\n", "## task\n\nOurs since May.\n");
    std::fs::write(&file, mine).unwrap();
    let first: Vec<Value> = serde_json::from_str(&ran(&["jobs", "--json"]).stdout).unwrap();
    let first = first.iter().map(|job| job["id"].as_str().unwrap()).min().unwrap();
    assert_eq!(ran(&["lessons", "drop", &format!("{first}.1"), "--as", "ben"]).code, 0);
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        (text.matches("- [x] ").count(), text.matches("- [ ] ").count(), text.contains("Ours since May.")),
        (0, 2, true)
    );
    let wrong = ran(&["lessons", "approve", "last.9"]);
    assert_eq!(
        (wrong.code, wrong.stderr.contains("has proposed 3 lessons, and no number 9")),
        (2, true),
        "{}",
        wrong.stderr
    );
}
