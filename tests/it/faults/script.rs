//! A job that always goes the same way: a script of replies, with two planned phases, a rewind, and a report.

pub(super) use crate::cli_run::reply;
use crate::cli_run::{done, read, work, write};
use serde_json::{Value, json};

/// The task, with room for more front matter.
pub(super) fn task(more: &str) -> String {
    format!(
        "---\nname: task\ndescription: A report on two documents\n{more}deliverables:\n  - path: output/report.md\n    min_words: 3\n---\n# Task\n\nWrite a report.\n"
    )
}

/// What the job delivers.
pub(super) const REPORT: &str = "The server must answer within two seconds.\n";

const PLAN: &str = "# Execution Plan\n\n## Phase 1: Reading\n\n- [ ] Read both documents\n\n## Phase 2: Writing\n\n- [ ] Write the report\n";

pub(super) fn bootstrap() -> [Value; 2] {
    [reply(&[json!({"read_document": {"name": "a.md"}})]), reply(&[write("main_plan.md", PLAN)])]
}

/// Memory and todos in one reply.
pub(super) fn plan() -> Value {
    let todos: Vec<Value> = ["first", "second", "third", "fourth", "fifth"]
        .iter()
        .map(|which| {
            json!({
                "content": format!("Do the {which} part"),
                "active_form": format!("Doing the {which} part"),
                "context": format!("Of {which}"),
                "completion_criteria": "It is done",
            })
        })
        .collect();
    reply(&[write("workspace.md", "# Memory\n"), json!({"todo_write": {"todos": todos}})])
}

pub(super) fn complete(confidence: f64, status: &str) -> Value {
    let summary = "Both were read.\nOne MUST.";
    let deliverables: &[&str] = if status == "complete" { &["output/report.md"] } else { &[] };
    json!({"job_complete": {"summary": summary, "deliverables": deliverables, "confidence": confidence, "status": status}})
}

/// A whole job with a rewind: ten turns.
pub(super) fn whole(confidence: f64) -> Vec<Value> {
    let mut replies = bootstrap().to_vec();
    replies.extend([
        plan(),
        reply(&[
            json!({"read_document": {"name": "a.md"}}),
            done(),
            json!({"todo_rewind": {"issue": "b.md comes first"}}),
        ]),
        plan(),
        work(json!({"list_documents": {}})),
        plan(),
        work(write("output/report.md", REPORT)),
        reply(&[read("output/report.md"), done()]),
        reply(&[json!({"list_files": {"path": "output"}}), done(), complete(confidence, "complete")]),
    ]);
    replies
}

/// A job that can't come to its end before it is told to: its first todo takes `turns` turns. `task` needs [`ENDLESS`].
pub(super) fn dawdling(turns: u64) -> Vec<Value> {
    let append = json!({"append_file": {"path": "notes/log.md", "content": "again\n"}});
    let mut replies = vec![json!({"calls": [append], "times": turns})];
    replies.extend(whole(0.9));
    replies
}

/// Front matter for [`dawdling`].
pub(super) const ENDLESS: &str = "limits: { turns: 10000000, turns_per_todo: 10000000, turns_per_phase: 10000000 }\n";

/// The script's file.
pub(super) fn file(replies: &[Value]) -> String {
    json!({"version": 1, "replies": replies}).to_string()
}
