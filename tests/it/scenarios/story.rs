//! A journal as a person reads it: a line a fact, with the fields that matter; a part begins with each reply and each word of a
//! person.

use super::mask::{Decisions, Mask};
use crate::machine::world;
use overnight_core::{
    job::{
        ending::Ending,
        event::Event,
        todo::{Todo, TodoStatus},
    },
    message::{Stop, ToolCall},
};
use std::{fmt::Write, path::Path};

/// Under which it stands among the files.
pub(crate) const NAME: &str = "story";
/// Letters of a tool's result that are told.
const MOST: usize = 160;

/// The start, what follows from a reply, or from a person's word.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// 0 where it begins with no reply.
    pub(crate) turn: u64,
    pub(crate) label: String,
    pub(crate) text: String,
}

/// Decisions as parts, the first facts of each at the margin.
pub(crate) fn parts(decisions: &Decisions) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (_, events) in decisions {
        let begin = match &events[..] {
            [Event::JobCreated { .. }, ..] => Some((0, "start".to_owned())),
            [Event::ModelReplied { turn, .. }, ..] => Some((*turn, format!("turn {turn}"))),
            [Event::Resumed { .. } | Event::FeedbackGiven { .. } | Event::Approved, ..] => Some((0, "then".to_owned())),
            _ => None,
        };
        parts.extend(begin.map(|(turn, label)| Part { turn, label, text: String::new() }));
        let Some(part) = parts.last_mut() else { continue };
        for (place, event) in events.iter().enumerate() {
            let lines = line(event).replace('\n', "\n    ").replace(&format!("call_{}_", part.turn), "call ");
            let _ = writeln!(part.text, "{}{lines}", if place == 0 { "  " } else { "    " });
        }
    }
    parts
}

/// Parts one after another.
pub(crate) fn whole(parts: &[Part]) -> String {
    parts.iter().flat_map(|part| [&part.label, "\n", &part.text]).collect()
}

/// The last lines of the story of the workspace at `path`, for who looks for what went wrong.
pub(crate) fn end(path: &Path) -> String {
    let story = Mask::of(path).map(|(_, decisions)| whole(&parts(&decisions))).unwrap_or_default();
    let lines: Vec<&str> = story.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

/// A call with its arguments, long texts cut.
pub(crate) fn call(call: &ToolCall) -> String {
    format!("{}{}", call.name, short(&call.arguments.to_string()))
}

fn short(text: &str) -> String {
    let text = text.replace('\n', "⏎");
    let cut: String = text.chars().take(MOST).collect();
    if cut.len() < text.len() { format!("{cut}… ({} letters)", text.chars().count()) } else { cut }
}

fn todos(todos: &[Todo]) -> String {
    todos.iter().fold(String::new(), |text, todo| {
        let mark = match todo.status {
            TodoStatus::Pending => " ",
            TodoStatus::InProgress => ">",
            TodoStatus::Completed => "x",
            TodoStatus::Cancelled => "-",
        };
        format!("{text}\n[{mark}] {}. {}", todo.order, todo.content)
    })
}

fn ending(ending: &Ending) -> String {
    let mut text = ending.status.to_string();
    if let Some(reason) = &ending.reason {
        let _ = write!(text, ": {reason}");
    }
    if let Some(claim) = &ending.completion {
        let _ = write!(text, "\nclaimed: {} (confidence {})", claim.summary, claim.confidence);
    }
    for check in &ending.checks {
        let _ = write!(text, "\n{} {}: {}", if check.passed { "ok    " } else { "FAILED" }, check.name, check.detail);
    }
    for file in &ending.deliverables {
        let _ = write!(text, "\ndelivered: {} ({} bytes)", file.path, file.bytes);
    }
    for todo in &ending.open_todos {
        let _ = write!(text, "\nopen: {todo}");
    }
    text
}

fn size(text: Option<&str>) -> String {
    text.map_or("none".to_owned(), |text| format!("{} lines", text.lines().count()))
}

fn line(event: &Event) -> String {
    match event {
        Event::JobCreated { spec, .. } => {
            let documents: Vec<&str> = spec.documents.iter().map(|document| document.name.as_str()).collect();
            format!(
                "job created: {}, {}, budget {}, documents: {}",
                spec.instructions.name,
                spec.model,
                spec.budget_tokens,
                documents.join(", ")
            )
        }
        Event::Opened { model, .. } => format!("opened with {model}"),
        Event::PhaseStarted { number, attempt, kind, title, plan_phase, todos: list } => format!(
            "PHASE {number}.{attempt} {} '{title}'{}{}",
            kind.name(),
            plan_phase.map_or(String::new(), |number| format!(" (phase {number} of the plan)")),
            todos(list)
        ),
        Event::PhaseEnded { why, folder } => {
            let issue = why.issue().map_or(String::new(), |issue| format!(" ({issue})"));
            format!("phase ended: {}{issue} → archive/{folder}", why.outcome())
        }
        Event::ArchiveStored { folder, .. } => format!("archived: {folder}"),
        Event::FilesExamined { files } => format!(
            "examined: plan {}, memory {}, instructions {}",
            size(files.plan.as_ref().map(overnight_core::job::part::Part::text)),
            size(files.memory.as_ref().map(overnight_core::job::part::Part::text)),
            size(Some(files.instructions.text()))
        ),
        Event::PlanSet { text, because, .. } => format!("plan set: {because} ({})", size(Some(text.text()))),
        Event::FileWritten { path } => format!("written: {path}"),
        Event::TodosWritten { todos: list } => format!("todos written{}", todos(list)),
        Event::TodoCompleted { id, outcome, unevidenced } => {
            let mark = if *unevidenced { " UNEVIDENCED" } else { "" };
            format!("todo {id} completed{mark}: {}", outcome.as_deref().unwrap_or("-"))
        }
        Event::TodoCompletionRefused { id, reason } => format!("todo {id} not completed: {}", short(reason)),
        Event::ModelReplied { text, calls, stop, .. } => {
            let cut = match stop {
                Stop::Done => "",
                Stop::Length => " (cut)",
                Stop::Refused => " (refused)",
            };
            let said = if text.is_empty() { String::new() } else { format!(" \"{}\"", short(text)) };
            calls.iter().fold(format!("replied{cut}:{said}"), |line, made| format!("{line}\n{}", call(&made.said)))
        }
        Event::ToolStarted { call, .. } => format!("{call} begins"),
        Event::ToolReturned { call, name, result, .. } => {
            let mut text = format!("{call} {name} {:?}: {}", result.end, short(&result.text));
            if let Some(shown) = &result.shown {
                let _ = write!(text, "\nshown: {} {}-{}", shown.document, shown.from, shown.to);
            }
            if let Some(changed) = &result.changed {
                let _ = write!(text, "\nchanged: {} ({} bytes)", changed.path, changed.bytes);
            }
            if let Some(spilled) = &result.spilled {
                let _ = write!(text, "\nkept whole: {}", spilled.path);
            }
            text
        }
        Event::CompletionRefused { checks } => {
            let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
            format!("completion refused: {}", names.join("; "))
        }
        Event::EndingDecided { ending: decided } => format!("ending decided: {}", ending(decided)),
        Event::Held { reason, detail } => format!("HELD {reason}: {detail}"),
        Event::Resumed { limits } => format!(
            "resumed: turns {}, tokens {:?}, cost {:?}, wall clock {:?} ms",
            limits.turns, limits.tokens, limits.cost_usd, limits.wall_clock_ms
        ),
        Event::JobEnded { ending: decided } => format!("JOB ENDED {}", ending(decided)),
        plain => world::line(plain),
    }
}
