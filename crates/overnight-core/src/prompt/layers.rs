//! Layer 4: where things stand, made by the system at each compaction, bounded by construction however long the job.

use crate::{
    job::{
        event::ExaminedFiles,
        plan::Plan,
        spec::JobSpec,
        state::{INSTRUCTIONS_FILE, Job, MEMORY_FILE, PLAN_FILE, PastPhase, SUMMARY_FILE},
    },
    tokens::{bounded, estimate, last_lines},
};
use std::fmt::Write;

/// Tokens of each of the four parts at the full budget; less in proportion for smaller windows.
const PART_TOKENS: u64 = 2_000;
/// The budget to which the bounds above belong.
const FULL_BUDGET: u64 = 100_000;
/// The heading of what was folded out of the running phase's conversation.
const FOLDED: &str = "\n\n## Earlier in this phase\n";
/// The same heading where a file has it; no longer, so that the bounds hold.
const NOT_FOLDED: &str = "\n\n## Earlier in that phase\n";

/// A bound of `tokens` at the full budget, in proportion to `budget`.
pub fn share_of(budget: u64, tokens: u64) -> u64 {
    tokens * budget.min(FULL_BUDGET) / FULL_BUDGET
}

fn part(text: &str, budget: u64, file: &str) -> String {
    bounded(text.trim(), share_of(budget, PART_TOKENS), file)
}

/// Layer 4 before anything has happened.
pub(crate) fn at_the_start(spec: &JobSpec) -> String {
    let tokens: u64 = spec.documents.iter().map(|document| document.tokens).sum();
    format!(
        "# Where things stand\n\nThe job '{}' has just begun. There are {} documents, about {tokens} tokens in all; the task is in {INSTRUCTIONS_FILE}.",
        spec.instructions.name,
        spec.documents.len()
    )
}

/// What the examine step read, as planning is shown it.
pub fn examined(files: &ExaminedFiles, budget: u64) -> String {
    let mut text = "The system has read these files from the disk just now.".to_owned();
    let named = [
        (PLAN_FILE, files.plan.as_ref()),
        (MEMORY_FILE, files.memory.as_ref()),
        (INSTRUCTIONS_FILE, Some(&files.instructions)),
        (SUMMARY_FILE, Some(&files.summary)),
    ];
    for (name, content) in named {
        match content {
            Some(content) => {
                let _ = write!(text, "\n\n<file name=\"{name}\">\n{}\n</file>", part(content.text(), budget, name));
            }
            None => {
                let _ = write!(text, "\n\n{name} does not exist yet.");
            }
        }
    }
    text
}

/// Layer 4 after a compaction: task, plan, memory, and the past. `plan` is the plan as it will be, `digest` the model's
/// own words on the past where it was asked for them.
pub fn compacted(job: &Job, plan: Option<&Plan>, digest: Option<&str>) -> String {
    let budget = job.spec.budget_tokens;
    let plan = plan.map_or("There is no plan.", Plan::text);
    let memory = job.memory.as_deref().unwrap_or("workspace.md does not exist yet.");
    let past = match digest {
        Some(words) => bounded(words, share_of(budget, PART_TOKENS), "archive/"),
        None => past(job, share_of(budget, PART_TOKENS)),
    };
    let text = format!(
        "# Where things stand\n\n## The task (instructions.md)\n{}\n\n## The plan (main_plan.md)\n{}\n\n## The memory (workspace.md)\n{}\n\n## The past\n{past}",
        task(job, share_of(budget, PART_TOKENS)),
        part(plan, budget, PLAN_FILE),
        part(memory, budget, MEMORY_FILE),
    );
    // A file may have a section of that name; taken for the system's own, it would be cut as that is.
    text.replace(FOLDED, NOT_FOLDED)
}

/// The task. Where it doesn't fit, its prose is cut first, then the deliverables; the feedback stays as whole as it can.
fn task(job: &Job, tokens: u64) -> String {
    let text = job.instructions.trim();
    if estimate(text) <= tokens {
        return text.to_owned();
    }
    let (text, feedback) = text.split_at(text.len() - feedback(job, text).len());
    let (prose, deliverables) = text.split_at(text.rfind("\n## Deliverables\n").unwrap_or(text.len()));
    let feedback = bounded(feedback, tokens / 2, INSTRUCTIONS_FILE);
    let left = tokens.saturating_sub(estimate(&feedback));
    let deliverables = bounded(deliverables, left * 3 / 4, INSTRUCTIONS_FILE);
    let left = left.saturating_sub(estimate(&deliverables) + 2);
    format!("{}{deliverables}{feedback}", bounded(prose, left, INSTRUCTIONS_FILE))
}

/// What people sent the job back with, at the end of `text`: told by the facts, because a task may have such a heading too.
fn feedback<'t>(job: &Job, text: &'t str) -> &'t str {
    let headed =
        (1..).zip(&job.feedback).map(|(number, said): (usize, _)| format!("\n\n## Feedback {number}\n\n{said}"));
    let added: String = headed.collect();
    if text.ends_with(&added) { &text[text.len() - added.len()..] } else { "" }
}

/// A digest of the past from the journal: the issues of all early ends, the last phase in full, older ones in a line or two.
fn past(job: &Job, tokens: u64) -> String {
    let Some((last, older)) = job.past.split_last() else {
        return "Nothing has been done yet.".to_owned();
    };
    let issues: Vec<String> = job
        .past
        .iter()
        .filter(|past| past.why.is_early_end())
        .filter_map(|past| {
            let issue = past.why.issue()?;
            Some(format!("- phase {} '{}' {}: {issue}", past.phase.number, past.phase.title, past.why.outcome()))
        })
        .collect();
    let mut text = String::new();
    if !issues.is_empty() {
        text.push_str("Issues so far:\n");
        text.push_str(&newest_lines(&issues, tokens / 5));
        text.push('\n');
    }
    text.push_str(&bounded(&full(last), tokens / 2, &format!("archive/{}/", last.folder)));
    let older: Vec<String> = older.iter().map(short).collect();
    if !older.is_empty() {
        text.push_str("\n\nBefore that:\n");
        let left = tokens.saturating_sub(estimate(&text) + 1);
        text.push_str(&newest_lines(&older, left));
    }
    text
}

/// The newest of `lines` that fit, oldest first, with a word on how many are left out.
fn newest_lines(lines: &[String], tokens: u64) -> String {
    let mut left = tokens.saturating_sub(16);
    let fitting = lines
        .iter()
        .rev()
        .take_while(|line| {
            let size = estimate(line) + 1;
            let fits = size <= left;
            left = left.saturating_sub(size);
            fits
        })
        .count();
    let cut = lines.len() - fitting;
    let mut text = if cut > 0 { format!("- {cut} older ones: see archive/\n") } else { String::new() };
    text.push_str(&lines[cut..].join("\n"));
    text
}

fn full(past: &PastPhase) -> String {
    let mut text = format!("Phase {} '{}' ({}):", past.phase.number, past.phase.title, past.why.outcome());
    if let Some(issue) = past.why.issue() {
        let _ = write!(text, " {issue}");
    }
    for todo in past.phase.todos.all() {
        let _ = write!(text, "\n- {} [{}]", todo.content, todo.status);
        if let Some(outcome) = &todo.outcome {
            let _ = write!(text, ": {outcome}");
        }
    }
    if !past.phase.files.is_empty() {
        let files: Vec<&str> = past.phase.files.iter().map(String::as_str).take(30).collect();
        let _ = write!(text, "\nFiles written: {}", files.join(", "));
    }
    for note in &past.phase.notes {
        let _ = write!(text, "\nNote: {note}");
    }
    text
}

fn short(past: &PastPhase) -> String {
    let counts = past.phase.todos.counts();
    let last = past.phase.todos.all().iter().rev().find_map(|todo| todo.outcome.as_deref()).unwrap_or_default();
    let line = format!(
        "- phase {} '{}' {}: {} todos completed; {last}",
        past.phase.number,
        past.phase.title,
        past.why.outcome(),
        counts.completed
    );
    crate::tokens::head(&line, 60).to_owned()
}

/// Layer 4 with the oldest turns of the running phase folded in; the newest words on them are kept.
pub(crate) fn with_folded_turns(layer4: &str, digest: &str, budget: u64) -> String {
    let (head, earlier) = layer4.rsplit_once(FOLDED).unwrap_or((layer4, ""));
    let all = if earlier.is_empty() { digest.to_owned() } else { format!("{earlier}\n{digest}") };
    let most = share_of(budget, PART_TOKENS);
    format!("{head}{FOLDED}{}", last_lines(&all, most))
}
