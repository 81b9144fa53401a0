//! A journal as a person reads it: its facts with the fields that matter, as many in a line as it holds; a part begins
//! with each reply and each word of a person.

use super::mask::{Decisions, Mask};
use crate::machine::world;
use overnight_core::{
    job::{
        ending::Ending,
        event::{ConversationEvent, Event, LifeEvent, PersonEvent, PhaseEvent, PlanEvent, ProofEvent, ToolEvent},
        todo::{Todo, TodoStatus},
    },
    message::{Stop, ToolCall},
};
use std::{fmt::Write, path::Path};

/// Under which it stands among the files.
pub(crate) const NAME: &str = "story";
/// Letters of a tool's result that are told.
const MOST: usize = 200;
/// Letters of a line that holds more than one fact.
const WIDTH: usize = 120;

/// The start, what follows from a reply, or from a person's word.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// 0 where it begins with no reply.
    pub(crate) turn: u64,
    pub(crate) label: String,
    /// What the model replied.
    pub(crate) reply: String,
    pub(crate) text: String,
}

/// Decisions as parts. Facts of one decision are joined by `; `, and ` · ` stands before the first of the next.
pub(crate) fn parts(decisions: &Decisions) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut decided = String::new();
    for (_, events) in decisions {
        let begin = match &events[..] {
            [Event::Life(LifeEvent::JobCreated { .. }), ..] => Some((0, "start".to_owned())),
            [Event::Conversation(ConversationEvent::ModelReplied { turn, .. }), ..] => {
                Some((*turn, format!("turn {turn}")))
            }
            [
                Event::Life(LifeEvent::Resumed { .. })
                | Event::Person(PersonEvent::FeedbackGiven { .. } | PersonEvent::Approved { .. }),
                ..,
            ] => Some((0, "then".to_owned())),
            _ => None,
        };
        parts.extend(begin.map(|(turn, label)| Part { turn, label, reply: String::new(), text: String::new() }));
        let Some(part) = parts.last_mut() else { continue };
        for (place, event) in events.iter().enumerate() {
            let mut told = line(event).replace('\n', "\n    ").replace(&format!("call_{}_", part.turn), "call ");
            match event {
                Event::Life(LifeEvent::EndingDecided { ending: it }) => decided = ending(it),
                Event::Life(LifeEvent::JobEnded { ending: it }) if ending(it) == decided => {
                    told = format!("JOB ENDED {}, as decided", it.status);
                }
                Event::Conversation(ConversationEvent::ModelReplied { .. }) => {
                    part.reply = format!("  {told}\n");
                    continue;
                }
                _ => {}
            }
            part.add(event, place == 0, &told);
        }
    }
    parts
}

impl Part {
    /// A call begins a line, and so does a phase.
    fn add(&mut self, event: &Event, is_first: bool, told: &str) {
        let last = self.text.lines().last().unwrap_or_default();
        let has_begun = last.ends_with("begins") && matches!(event, Event::Tool(ToolEvent::ToolReturned { .. }));
        let is_head = matches!(
            event,
            Event::Tool(ToolEvent::ToolStarted { .. } | ToolEvent::ToolReturned { .. })
                | Event::Phase(PhaseEvent::PhaseStarted { .. })
        );
        let fits = !is_head && !told.contains('\n') && last.chars().count() + told.chars().count() < WIDTH;
        if !last.is_empty() && (has_begun || fits) {
            self.text.pop();
            self.text.push_str(if is_first { " · " } else { "; " });
        } else {
            self.text.push_str(if is_first { "  " } else { "    " });
        }
        self.text.extend([told, "\n"]);
    }
}

/// Parts one after another.
pub(crate) fn whole(parts: &[Part]) -> String {
    parts.iter().flat_map(|part| [&part.label, "\n", &part.reply, &part.text]).collect()
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

/// A reply, with each of its calls.
pub(crate) fn reply(text: &str, calls: impl Iterator<Item = String>, stop: Stop) -> String {
    let cut = match stop {
        Stop::Done => "",
        Stop::Length => " (cut)",
        Stop::Refused => " (refused)",
    };
    let said = if text.is_empty() { String::new() } else { format!(" \"{}\"", short(text)) };
    calls.fold(format!("replied{cut}:{said}"), |line, call| format!("{line}\n{call}"))
}

fn short(text: &str) -> String {
    let text = text.replace('\n', "⏎");
    let cut: String = text.chars().take(MOST).collect();
    if cut.len() < text.len() { format!("{cut}… ({} letters)", text.chars().count()) } else { cut }
}

/// In one line where that holds them.
fn todos(todos: &[Todo]) -> String {
    let items: Vec<String> = todos.iter().map(todo).collect();
    let line = format!(": {}", items.join(", "));
    if line.chars().count() < WIDTH { line } else { format!("\n{}", items.join("\n")) }
}

fn todo(todo: &Todo) -> String {
    let mark = match todo.status {
        TodoStatus::Pending => " ",
        TodoStatus::InProgress => ">",
        TodoStatus::Completed => "x",
        TodoStatus::Cancelled => "-",
    };
    format!("[{mark}] {}. {}", todo.order, todo.content)
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
    if let Some(refused) = &ending.refused_records {
        let _ = write!(text, "\n{}", refused.told());
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
        Event::Life(LifeEvent::JobCreated { spec, .. }) => {
            let documents: Vec<&str> = spec.documents.iter().map(|document| document.name.as_str()).collect();
            format!(
                "job created: {}, {}, budget {}, documents: {}",
                spec.instructions.name,
                spec.model,
                spec.budget_tokens,
                documents.join(", ")
            )
        }
        Event::Life(LifeEvent::Opened { model, .. }) => format!("opened with {model}"),
        Event::Phase(PhaseEvent::PhaseStarted { number, attempt, kind, title, plan_phase, todos: list }) => format!(
            "PHASE {number}.{attempt} {} '{title}'{}{}",
            kind.name(),
            plan_phase.map_or(String::new(), |number| format!(" (phase {number} of the plan)")),
            todos(list)
        ),
        Event::Phase(PhaseEvent::PhaseEnded { why, folder }) => {
            let issue = why.issue().map_or(String::new(), |issue| format!(" ({issue})"));
            format!("phase ended: {}{issue} → archive/{folder}", why.outcome())
        }
        Event::Phase(PhaseEvent::ArchiveStored { folder, .. }) => format!("archived: {folder}"),
        Event::Plan(PlanEvent::FilesExamined { files }) => format!(
            "examined: plan {}, memory {}, instructions {}",
            size(files.plan.as_ref().map(overnight_core::job::part::Part::text)),
            size(files.memory.as_ref().map(overnight_core::job::part::Part::text)),
            size(Some(files.instructions.text()))
        ),
        Event::Plan(PlanEvent::PlanSet { text, because, .. }) => {
            format!("plan set: {because} ({})", size(Some(text.text())))
        }
        Event::Plan(PlanEvent::FileWritten { path }) => format!("written: {path}"),
        Event::Phase(PhaseEvent::TodosWritten { todos: list }) => format!("todos written{}", todos(list)),
        Event::Phase(PhaseEvent::TodoCompleted { id, outcome, unevidenced }) => {
            let mark = if *unevidenced { " UNEVIDENCED" } else { "" };
            format!("todo {id} completed{mark}: {}", outcome.as_deref().unwrap_or("-"))
        }
        Event::Phase(PhaseEvent::TodoCompletionRefused { id, reason }) => {
            format!("todo {id} not completed: {}", short(reason))
        }
        Event::Conversation(ConversationEvent::ModelReplied { text, calls, stop, .. }) => {
            reply(text, calls.iter().map(|made| call(&made.said)), *stop)
        }
        Event::Tool(ToolEvent::ToolStarted { call, prepared, .. }) => {
            let mended = prepared.mended.iter().map(|mended| format!(" mends refused record {},", mended.number));
            format!("{call}{} begins", mended.collect::<String>())
        }
        Event::Tool(ToolEvent::ToolReturned { call, name, result, .. }) => {
            let mut text = format!("{call} {name} {:?}", result.end);
            if let Some(shown) = &result.shown {
                let _ = write!(text, ", shown {} {}-{}", shown.document, shown.from, shown.to);
            }
            if let Some(changed) = &result.changed {
                let _ = write!(text, ", changed {} ({} bytes)", changed.path, changed.bytes);
            }
            if let Some(spilled) = &result.spilled {
                let _ = write!(text, ", kept whole in {}", spilled.path);
            }
            for record in &result.refused {
                let _ = write!(text, ", record {} refused", record.number);
            }
            format!("{text}: {}", short(&result.text))
        }
        Event::Proof(ProofEvent::CompletionRefused { checks }) => {
            let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
            format!("completion refused: {}", names.join("; "))
        }
        Event::Life(LifeEvent::EndingDecided { ending: decided }) => format!("ending decided: {}", ending(decided)),
        Event::Life(LifeEvent::Held { reason, detail }) => format!("HELD {reason}: {detail}"),
        Event::Life(LifeEvent::Resumed { limits }) => format!(
            "resumed: turns {}, tokens {:?}, cost {:?}, wall clock {:?} ms",
            limits.turns, limits.tokens, limits.cost_usd, limits.wall_clock_ms
        ),
        Event::Life(LifeEvent::JobEnded { ending: decided }) => format!("JOB ENDED {}", ending(decided)),
        plain => world::line(plain),
    }
}
