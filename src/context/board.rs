//! Layer 2: the board that the model sees last in each prompt, and a person in the CLI (SPEC: todos).

use crate::job::{
    event::{PhaseKind, PlanStep, Why},
    planning::expected,
    state::{Job, Planning, Progress},
    todo::{Todo, TodoStatus},
    todo_list::{Counts, TodoList},
};
use std::fmt::Write;

const HEAVY: &str = "═══════════════════════════════════════════════════════════════════";
const LIGHT: &str = "───────────────────────────────────────────────────────────────────";
/// Tokens of a todo on the board that isn't the current one.
const LINE_TOKENS: u64 = 40;

/// The board of the next prompt.
pub fn render(job: &Job) -> String {
    match &job.progress {
        Progress::Planning(planning) => planning_board(job, planning),
        Progress::Digesting => digest_board(),
        Progress::Executing
        | Progress::Archiving { .. }
        | Progress::Summarising { .. }
        | Progress::Examining { .. }
        | Progress::Closing => active_board(job),
    }
}

fn frame(heading: &str, body: &str, instruction: &str) -> String {
    let indent = " ".repeat((HEAVY.chars().count() - heading.len()) / 2);
    format!("{HEAVY}\n{indent}{heading}\n{HEAVY}\n\n{body}\n\n{LIGHT}\nINSTRUCTION: {instruction}\n{HEAVY}")
}

fn active_board(job: &Job) -> String {
    let list = &job.phase.todos;
    let instruction = match list.current() {
        None => "No task is open.".to_owned(),
        Some(todo) if job.is_review() && todo.content == crate::job::state::LAST_REVIEW_TODO => {
            "Call job_complete(summary, deliverables, confidence)".to_owned()
        }
        Some(todo) => format!("Complete task {}, then call todo_complete()", list.number_of(todo.id)),
    };
    let body = format!("Phase: {}\n\n{}", place(job), tasks(list, true));
    let board = frame("ACTIVE TODO LIST", &body, &instruction);
    with_reminders(&reminders(job), board)
}

fn with_reminders(reminders: &[String], board: String) -> String {
    reminders.iter().rev().fold(board, |text, reminder| format!("<reminder>{reminder}</reminder>\n{text}"))
}

fn reminders(job: &Job) -> Vec<String> {
    let mut reminders = Vec::new();
    if job.totals.spent.turns == 0 && job.phase.kind == PhaseKind::Bootstrap {
        reminders.push(include_str!("../../instructions/runner/bootstrap.md").trim().to_owned());
    }
    if job.phase.effort.silent {
        let number = job.phase.todos.current().map_or(0, |todo| job.phase.todos.number_of(todo.id));
        reminders.push(format!(
            "Your last reply called no tool. Continue with task {number}, or call todo_complete() if it is done."
        ));
    }
    reminders.extend(job.phase.effort.reminder());
    reminders
}

/// `Requirement Extraction (2 of 4)`.
pub fn place(job: &Job) -> String {
    match (job.phase.kind, job.phase.plan_phase) {
        (PhaseKind::Planned, Some(number)) => {
            let phases = job.plan.as_ref().map_or(&[][..], |plan| plan.phases());
            let place = phases.iter().position(|phase| phase.number == number).map_or(number as usize, |at| at + 1);
            format!("{} ({place} of {})", job.phase.title, job.planned_count())
        }
        (PhaseKind::Bootstrap | PhaseKind::Planned | PhaseKind::Review, _) => job.phase.title.clone(),
    }
}

/// The tasks with their marks and the progress line.
fn tasks(list: &TodoList, with_detail: bool) -> String {
    let mut text = String::new();
    for (number, todo) in (1..).zip(list.all()) {
        let number: usize = number;
        match todo.status {
            TodoStatus::Completed => line(&mut text, 'x', number, todo),
            TodoStatus::Pending => line(&mut text, ' ', number, todo),
            TodoStatus::Cancelled => {
                line(&mut text, '-', number, todo);
                text.push_str(" (cancelled)");
            }
            TodoStatus::InProgress => {
                let _ = write!(text, "[>] {number}. {}      ← CURRENT: {}", todo.content, todo.active_form);
                if with_detail {
                    detail(&mut text, "Context", todo.context.as_deref());
                    detail(&mut text, "Done when", todo.completion_criteria.as_deref());
                }
            }
        }
        text.push('\n');
    }
    let counts = list.counts();
    let percent = if counts.tasks() == 0 { 100 } else { counts.completed * 100 / counts.tasks() };
    let _ = write!(text, "\nProgress: {}/{} tasks complete ({percent}%)", counts.completed, counts.tasks());
    text
}

fn line(text: &mut String, mark: char, number: usize, todo: &Todo) {
    let shown = super::tokens::head(&todo.content, LINE_TOKENS);
    let more = if shown.len() < todo.content.len() { "…" } else { "" };
    let _ = write!(text, "[{mark}] {number}. {shown}{more}");
}

fn detail(text: &mut String, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        let _ = write!(text, "\n       {name}: {value}");
    }
}

/// The board as `todos.md` holds it, and as tools answer with it: without instruction and reminders.
pub fn plain(list: &TodoList) -> String {
    tasks(list, true)
}

/// `todos.md`.
pub fn file(job: &Job) -> String {
    format!("# Todos\n\nPhase: {}\n\n{}\n", place(job), tasks(&job.phase.todos, true))
}

/// `1 in progress, 2 pending, 3 completed, 0 cancelled`.
pub fn counts_line(counts: Counts) -> String {
    format!(
        "{} in progress, {} pending, {} completed, {} cancelled",
        counts.in_progress, counts.pending, counts.completed, counts.cancelled
    )
}

/// What `todo_list` answers: the todos of a status, by default what remains.
pub fn listing(list: &TodoList, status: Option<&str>) -> Result<String, String> {
    let wanted = status.unwrap_or("remaining").trim().to_lowercase().replace([' ', '-'], "_");
    let fits = |todo: &&Todo| match wanted.as_str() {
        "all" => true,
        "remaining" => todo.status.is_open(),
        other => todo.status.name() == other,
    };
    if !["all", "remaining", "pending", "in_progress", "completed", "cancelled"].contains(&wanted.as_str()) {
        return Err(format!("status '{wanted}' is not known; use pending, in_progress, completed, cancelled or all"));
    }
    let mut text = String::new();
    for todo in list.all().iter().filter(fits) {
        let _ = write!(text, "{}. {} [{}]", list.number_of(todo.id), todo.content, todo.status);
        if let Some(outcome) = &todo.outcome {
            let _ = write!(text, ": {outcome}");
        }
        text.push('\n');
    }
    text.push_str(&counts_line(list.counts()));
    Ok(text)
}

fn planning_board(job: &Job, planning: &Planning) -> String {
    let text = match planning.step {
        PlanStep::UpdateMemory => include_str!("../../instructions/runner/update_memory.md").trim().to_owned(),
        PlanStep::UpdatePlan => include_str!("../../instructions/runner/update_plan.md").trim().to_owned(),
        PlanStep::CreateTodos => {
            let bounds = job.spec.instructions.phase;
            let title = job
                .next_planned()
                .map_or_else(String::new, |phase| format!("\"Phase {}: {}\"", phase.number, phase.title));
            include_str!("../../instructions/runner/create_todos.md")
                .trim()
                .replace("{{title}}", &title)
                .replace("{{min}}", &bounds.min_todos.to_string())
                .replace("{{max}}", &bounds.max_todos.to_string())
        }
    };
    let mut body = format!("Step: {} ({} of 3)\n\n", planning.step, planning.step.place());
    if let Some(because) = because(&planning.why) {
        let _ = write!(body, "{because}\n\n");
    }
    body.push_str(&text);
    let instruction = sentence(expected(planning.step));
    let mut reminders = Vec::new();
    if planning.tries > 0 {
        reminders.push(format!("The step {} is not done yet: {}.", planning.step, expected(planning.step)));
    }
    with_reminders(&reminders, frame("PLANNING", &body, &instruction))
}

/// Why there is planning, where it isn't simply that a phase is done.
fn because(why: &Why) -> Option<String> {
    match why {
        Why::PhaseDone | Why::Abandoned { .. } => None,
        Why::Rewound { issue } => Some(format!("The phase was rewound. The issue: {issue}")),
        Why::Stuck { detail } => Some(format!("The phase was stuck ({detail}). Plan it differently.")),
        Why::LimitReached { detail } => Some(format!("The phase ran into its limit ({detail}). Plan smaller steps.")),
        Why::Reset { reason } => Some(format!("The phase was reset. The reason: {reason}")),
        Why::Feedback { number, text } => Some(format!(
            "A person has reviewed the result and sent it back. Feedback {number}: {text}\nThe plan needs a new phase for it."
        )),
    }
}

fn digest_board() -> String {
    let text = include_str!("../../instructions/runner/digest.md").trim().replace("{{words}}", "1,000");
    frame("DIGEST", &text, "Answer with the digest as text; call no tool")
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
