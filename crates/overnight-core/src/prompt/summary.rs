//! Files that the system writes from the state: `workspace_summary.md` and `progress.md`.

use super::todo_board;
use crate::amount::percent;
use crate::job::{
    state::{
        INSTRUCTIONS_FILE, Job, MEMORY_FILE, PLAN_FILE, PROGRESS_FILE, QUOTES_FILE, SUMMARY_FILE, Status, TODOS_FILE,
    },
    time::Timestamp,
    time::moment,
    todo::TodoStatus,
};
use std::fmt::Write;

/// Rows of the table of files; the rest is counted.
const MOST_FILES: usize = 40;
/// Lines of accomplishments and of notes; older ones are counted.
const MOST_LINES: usize = 30;

/// A file of the workspace as its summary lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Relative to the workspace.
    pub path: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The time of the last change, according to the file system.
    pub modified: Timestamp,
}

/// `workspace_summary.md` at the moment `at`, for the workspace's `files`. It does not list itself: it would show size
/// and time of its predecessor, and a summary that a crash cut off could not be reproduced.
pub fn workspace_summary(job: &Job, at: Timestamp, files: &[FileEntry]) -> String {
    let mut text = format!(
        "# Workspace Summary\n\nGenerated: {at}\n\n## Files\n\n| file | purpose | last modified |\n|---|---|---|\n"
    );
    let mut ranked: Vec<&FileEntry> = files.iter().filter(|file| file.path != SUMMARY_FILE).collect();
    // Largest and newest first: the size counts by its order of magnitude, then the time.
    ranked.sort_by_key(|file| {
        (std::cmp::Reverse(file.bytes.max(1).ilog2() / 4), std::cmp::Reverse(file.modified), file.path.clone())
    });
    for file in ranked.iter().take(MOST_FILES) {
        let _ = writeln!(
            text,
            "| {} ({} bytes) | {} | {} |",
            file.path.replace('|', "\\|"),
            file.bytes,
            purpose(&file.path),
            moment(file.modified)
        );
    }
    if let Some(rest) = ranked.get(MOST_FILES..).filter(|rest| !rest.is_empty()) {
        let bytes: u64 = rest.iter().map(|file| file.bytes).sum();
        let _ = writeln!(text, "\nand {} more files, {bytes} bytes", rest.len());
    }
    let _ = write!(text, "\n## Accomplishments\n\n{}", lines(&job.accomplishments));
    let _ = write!(text, "\n## Current State\n\n{}", current_state(job));
    let _ = write!(text, "\n## Notes\n\n{}", lines(&job.notes));
    text
}

fn purpose(path: &str) -> &'static str {
    match path {
        PLAN_FILE => "the plan",
        MEMORY_FILE => "the memory",
        INSTRUCTIONS_FILE => "the task",
        PROGRESS_FILE => "finished todos with their outcomes",
        TODOS_FILE => "the active todo list",
        QUOTES_FILE => "where each quote was found when it was last checked",
        _ if path.starts_with("documents/") => "input document",
        _ if path.starts_with("output/") => "deliverable",
        _ if path.starts_with("tool_results/") => "a large tool result",
        _ if path.starts_with("archive/") => "record of a past phase",
        _ if path.starts_with("assets/") => "what the job depends on",
        _ => "working file",
    }
}

fn lines(entries: &[String]) -> String {
    if entries.is_empty() {
        return "None yet.\n".to_owned();
    }
    let skipped = entries.len().saturating_sub(MOST_LINES);
    let mut text = if skipped > 0 { format!("- {skipped} older ones: see archive/\n") } else { String::new() };
    for entry in &entries[skipped..] {
        let _ = writeln!(text, "- {entry}");
    }
    text
}

fn current_state(job: &Job) -> String {
    let done: usize = job.past.iter().map(|past| past.phase.todos.counts().completed).sum();
    let mut text = format!("- phase: {} (number {})\n", todo_board::place(job), job.phase.number);
    if job.is_phase_open() {
        let counts = job.phase.todos.counts();
        let _ = writeln!(text, "- todos of this phase: {} of {} done", counts.completed, counts.tasks());
    }
    let _ = writeln!(text, "- todos done in earlier phases: {done}");
    let _ = writeln!(
        text,
        "- documents: {}, {} of their text shown",
        job.spec.documents.len(),
        percent(job.own.coverage.total(&job.spec.documents))
    );
    let issues: Vec<String> = job
        .past
        .iter()
        .filter(|past| past.why.is_early_end())
        .filter_map(|past| past.why.issue().map(|issue| format!("phase {}: {issue}", past.phase.number)))
        .collect();
    let _ = writeln!(text, "- issues: {}", if issues.is_empty() { "none".to_owned() } else { issues.join("; ") });
    if let Status::Held { reason, detail } = &job.status {
        let _ = writeln!(text, "- held ({reason}): {detail}");
    }
    text
}

/// `progress.md`: one line per finished todo, with its outcome.
pub fn progress(job: &Job) -> String {
    let mut text = "# Progress\n\n".to_owned();
    let current = job.is_phase_open().then_some(&job.phase);
    for phase in job.past.iter().map(|past| &past.phase).chain(current) {
        for todo in phase.todos.all().iter().filter(|todo| todo.status == TodoStatus::Completed) {
            let when = todo.completed.map(moment).unwrap_or_default();
            let outcome = todo.outcome.as_deref().unwrap_or("done");
            let mark = if todo.unevidenced { " (unevidenced)" } else { "" };
            let _ =
                writeln!(text, "- {when} phase {} '{}', {}: {outcome}{mark}", phase.number, phase.title, todo.content);
        }
    }
    text
}
