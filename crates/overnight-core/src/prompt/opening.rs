//! The opening of an epoch: the state of the work, made by the system from the facts and the files as read and saved.
//! It is bounded by construction, however long the job: at most half of the room, beside results without an answer.

use super::{bounds, compact::FRAME, document_groups::documents, todo_board};
use crate::{
    answer,
    job::{
        digest::sha256,
        event::{ConversationEvent, EpochCause, Event, PhaseKind},
        part::Part,
        plan::Plan,
        state::{INSTRUCTIONS_FILE, Job, MEMORY_FILE, PLAN_FILE, PastPhase},
        todo::TodoStatus,
    },
    message::{Image, Message, ToolCall, image_tokens},
    tokens::{bounded, estimate, head, last_lines},
};
use serde_json::Value;
use std::{fmt::Write, sync::Arc};

/// Percent of the room that an opening may fill, without and with results that the model has not answered.
const OPENING_PERCENT: u64 = 50;
const WHOLE_PERCENT: u64 = 85;
/// Percent of the room for those results: the bound for one reply, and a little for the lines of calls not run.
const UNANSWERED_PERCENT: u64 = bounds::CARRIED_PERCENT + 3;
/// Hundredths of the room for the task with the contract's state, for plan, memory and past each, for the documents,
/// and for lessons.
const TASK_SHARE: u64 = 10;
const FILE_SHARE: u64 = 4;
const DOCUMENTS_SHARE: u64 = 2;
const LESSONS_SHARE: u64 = 2;
const SHARES: u64 = TASK_SHARE + 3 * FILE_SHARE + DOCUMENTS_SHARE + LESSONS_SHARE;
/// Tokens of the headings, and of the references to the whole texts, in an opening with no room for more.
const LEAST_TOKENS: u64 = 240;
/// Results of one reply that the summary of the current todo lists.
const RESULTS_TOLD: usize = 3;

/// The runner's mark in this job: the documents existed before the job was made, so nothing in them can have it.
pub fn runner_mark(job: &Job) -> String {
    let hash = sha256(job.spec.id.to_string().as_bytes());
    format!("runner {}", hash.get(..8).unwrap_or_default())
}

/// The event that opens the next epoch. `digest` is the model's own summary of the past, if it was asked for one. The
/// whole takes at most half of `room`, in tokens, and 85 percent of it with results that wait for an answer.
pub(crate) fn event(job: &Job, cause: EpochCause, digest: Option<&str>, room: u64) -> Event {
    let (event, kept) = composed(job, cause, digest, room);
    if kept == job.own.epoch.unanswered().len() {
        return event;
    }
    // Results without room here count as not read.
    let mut job = job.clone();
    job.own.epoch.hide_results(kept);
    composed(&job, cause, digest, room).0
}

/// The event, and the number of waiting results that it contains.
fn composed(job: &Job, cause: EpochCause, digest: Option<&str>, room: u64) -> (Event, usize) {
    let board = todo_board::render(job);
    let line = todo_board::status_line(job);
    let mut parts =
        vec![include_str!("../../../../instructions/runner/opening.md").trim().replace("{{mark}}", &runner_mark(job))];
    let most = room * OPENING_PERCENT / 100;
    let of_last = estimate(&format!("{line}\n{board}"));
    let own = estimate(&parts[0]) + of_last;
    let whole = room * WHOLE_PERCENT / 100;
    let for_results = whole.saturating_sub(own + LEAST_TOKENS).min(room * UNANSWERED_PERCENT / 100);
    let Carried { parts: results, images, kept } = carried(job, cause, for_results);
    let of_results = image_tokens(&images) + results.iter().map(|part| estimate(part)).sum::<u64>();
    let most = most.min(whole.saturating_sub(of_results));
    let left = most.saturating_sub(own + LEAST_TOKENS);
    let unit = (room / 100).min(left / SHARES);
    let (no_plan, no_memory) = (answer!("opening.no_plan"), answer!("opening.no_memory"));
    let plan = job.plan.as_ref().map_or(&*no_plan, Plan::text).trim();
    let memory = job.memory.as_deref().unwrap_or(&no_memory).trim();
    let past = match digest {
        Some(words) => bounded(words, FILE_SHARE * unit, "archive/"),
        None => past(job, FILE_SHARE * unit),
    };
    let contract = todo_board::contract(job, TASK_SHARE * unit / 3);
    parts.push(format!("\n\n## The task ({INSTRUCTIONS_FILE})\n"));
    parts.push(task(job, (TASK_SHARE * unit).saturating_sub(estimate(&contract))));
    let lessons = &job.spec.instructions.lessons.lines;
    if !lessons.is_empty() {
        let lines: Vec<String> = lessons.iter().map(|line| format!("- {line}")).collect();
        parts.push(format!("\n\n## Lessons of earlier jobs\n{}", newest_lines(&lines, LESSONS_SHARE * unit)));
    }
    parts.push(format!("\n\n## The contract so far\n{contract}\n\n## The documents\n"));
    parts.push(documents(job, DOCUMENTS_SHARE * unit));
    parts.push(format!("\n\n## The plan ({PLAN_FILE})\n"));
    parts.push(bounded(plan, FILE_SHARE * unit, PLAN_FILE));
    parts.push(format!("\n\n## The memory ({MEMORY_FILE})\n"));
    parts.push(bounded(memory, FILE_SHARE * unit, MEMORY_FILE));
    if !job.past.is_empty() || digest.is_some() {
        parts.push(format!("\n\n## The past\n{past}"));
    }
    let done = done_in_phase(job);
    if !done.is_empty() {
        parts.push(format!("\n\n## This phase so far\n{}", newest_lines(&done, FILE_SHARE * unit)));
    }
    let used: u64 = parts.iter().map(|part| estimate(part)).sum();
    let so_far = words_on(job.own.epoch.messages());
    if !so_far.is_empty() && !matches!(cause, EpochCause::PhaseEnded | EpochCause::TodoEnded | EpochCause::Begun) {
        let left = most.saturating_sub(used + of_last + 40);
        parts.push(format!("\n\n## This task so far\n{}", last_lines(&so_far, left.min(unit * SHARES))));
    }
    parts.extend(results);
    let tokens = FRAME + image_tokens(&images) + parts.iter().map(|part| estimate(part)).sum::<u64>() + 1 + of_last;
    parts.extend([format!("\n\n{line}\n"), board]);
    let opening = parts.into_iter().map(Part::from).collect();
    (
        Event::Conversation(ConversationEvent::EpochOpened {
            conversation: 0,
            number: job.own.epoch.number + 1,
            cause,
            opening,
            images,
            tokens,
        }),
        kept,
    )
}

/// The completed todos of the phase that is being worked on, with their outcomes.
fn done_in_phase(job: &Job) -> Vec<String> {
    let completed = job.phase.todos.all().iter().filter(|todo| todo.status == TodoStatus::Completed);
    let is_worked = job.is_phase_open() && !job.is_bootstrap();
    completed
        .filter(|_| is_worked)
        .map(|todo| format!("- {}: {}", todo.content, todo.outcome.as_deref().unwrap_or("done")))
        .collect()
}

/// Results that the model has not answered to.
struct Carried {
    parts: Vec<String>,
    images: Vec<Image>,
    /// The number of results that are included, from the first.
    kept: usize,
}

/// The results in full, each in a part of its own; those beyond `tokens` are only counted.
fn carried(job: &Job, cause: EpochCause, tokens: u64) -> Carried {
    let (mut parts, mut images, mut left, mut kept) = (Vec::new(), Vec::new(), tokens, 0);
    let results = job.own.epoch.unanswered();
    for result in results {
        let arguments = bounded(&result.arguments.to_string(), 60, "the journal").replace('\n', " ");
        let head = format!("\n\n### {}({arguments})\n", result.name);
        match left.checked_sub(estimate(&head) + estimate(&result.text) + image_tokens(&result.images)) {
            Some(rest) => {
                left = rest;
                parts.extend([head, result.text.clone()]);
                images.extend_from_slice(&result.images);
                kept += 1;
            }
            None => break,
        }
    }
    let hidden = results.len() - kept;
    if hidden > 0 {
        parts.push(format!("\n\n{}", answer!("opening.more_results", number = hidden)));
    }
    if !parts.is_empty() {
        let heading = match cause {
            EpochCause::Begun => "The text of the documents",
            _ => "Results of your last reply, which you have not answered to yet",
        };
        parts.insert(0, format!("\n\n## {heading}"));
    }
    Carried { parts, images, kept }
}

/// The work since the epoch began, with a line for each reply and for each of its first results.
fn words_on(messages: &[Arc<Message>]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut told = 0;
    for message in messages {
        match &**message {
            Message::Assistant { text, calls, .. } => {
                let calls: Vec<String> = calls.iter().map(call_told).collect();
                let said = head(text.trim(), 24).replace('\n', " ");
                lines.push(format!("- {said} {}", calls.join("; ")));
                told = 0;
            }
            Message::Tool { name, text, .. } if told < RESULTS_TOLD => {
                let result = head(text.trim(), 24).replace('\n', " ");
                lines.push(format!("  - {name}: {result}"));
                told += 1;
            }
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => {}
        }
    }
    lines.join("\n")
}

/// `add_records(path: output/list.json, records: 4 items)`: a call in a few words.
fn call_told(call: &ToolCall) -> String {
    let value = |value: &Value| match value {
        Value::String(text) => head(text.trim(), 12).replace('\n', " "),
        Value::Array(items) => format!("{} items", items.len()),
        Value::Object(fields) => format!("{} fields", fields.len()),
        other => other.to_string(),
    };
    let arguments = call.arguments.as_object().into_iter().flatten();
    let told: Vec<String> = arguments.map(|(name, given)| format!("{name}: {}", value(given))).collect();
    format!("{}({})", call.name, head(&told.join(", "), 32))
}

/// The task. If it doesn't fit, its prose is cut first, then the deliverables; feedback is kept whole if possible.
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

/// People's feedback at the end of `text`. The facts identify it, because a task may have such a heading too.
fn feedback<'t>(job: &Job, text: &'t str) -> &'t str {
    let headed =
        (1..).zip(&job.feedback).map(|(number, said): (usize, _)| format!("\n\n## Feedback {number}\n\n{said}"));
    let added: String = headed.collect();
    if text.ends_with(&added) { &text[text.len() - added.len()..] } else { "" }
}

/// A digest of the past from the journal: issues of early ends, the last phase in full, older ones in a line or two.
fn past(job: &Job, tokens: u64) -> String {
    let Some((last, older)) = job.past.split_last() else {
        return answer!("opening.nothing_done");
    };
    // The issue of the last phase is listed with that phase; an issue that a later attempt has resolved is settled.
    let is_settled = |past: &PastPhase| {
        job.past.iter().any(|later| later.phase.number == past.phase.number && !later.why.is_early_end())
    };
    let issues: Vec<String> = older
        .iter()
        .filter(|past| past.why.is_early_end() && !is_settled(past))
        .filter_map(|past| {
            let issue = past.why.issue()?;
            Some(format!("- phase {} '{}' {}: {issue}", past.phase.number, past.phase.title, past.why.outcome()))
        })
        .collect();
    let mut text = String::new();
    if !issues.is_empty() {
        text.push_str("Issues that are not settled:\n");
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

/// The newest of `lines` that fit, oldest first, with the number of lines left out.
fn newest_lines(lines: &[String], tokens: u64) -> String {
    let cut = lines.len() - count_fitting(lines.iter().rev(), tokens.saturating_sub(16));
    let mut text = if cut > 0 { format!("- {}\n", answer!("opening.older", number = cut)) } else { String::new() };
    text.push_str(&lines[cut..].join("\n"));
    text
}

/// The number of lines, from the first, that fit in `tokens`, each with its line end.
pub(super) fn count_fitting<'l>(lines: impl Iterator<Item = &'l String>, tokens: u64) -> usize {
    let mut left = tokens;
    let fits = |line: &&String| match left.checked_sub(estimate(line) + 1) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    lines.take_while(fits).count()
}

fn full(past: &PastPhase) -> String {
    // The only result of the bootstrap is the plan, which stands above.
    if past.phase.kind == PhaseKind::Bootstrap && !past.why.is_early_end() {
        return short(past);
    }
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
    let mut completed = past.phase.todos.all().iter().rev().filter(|todo| todo.status == TodoStatus::Completed);
    let last = completed.find_map(|todo| todo.outcome.as_deref()).unwrap_or_default();
    let line = format!(
        "- phase {} '{}' {}: {} todos completed; {last}",
        past.phase.number,
        past.phase.title,
        past.why.outcome(),
        counts.completed
    );
    let shown = head(&line, 60);
    if shown.len() < line.len() { format!("{shown}…") } else { line }
}
