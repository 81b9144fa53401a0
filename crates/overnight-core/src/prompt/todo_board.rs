//! Layer 2: the board that the model sees last in each prompt, and a person in the CLI.

use super::layers::share_of;
use crate::{
    job::{
        call::TodoFilter,
        event::{PhaseKind, PlanStep, Why},
        state::{INSTRUCTIONS_FILE, Job, Planning, Progress, TODOS_FILE},
        todo::{Todo, TodoStatus},
        todo_list::{TodoCounts, TodoList},
    },
    tokens::{bounded, estimate, head},
};
use std::fmt::Write;

const HEAVY: &str = "═══════════════════════════════════════════════════════════════════";
const LIGHT: &str = "───────────────────────────────────────────────────────────────────";
/// Tokens of a todo's text on the board, at most and at least; in between in proportion to the budget.
const LINE_TOKENS: (u64, u64) = (16, 40);
/// Tokens of a current todo's context, of its criteria, and of the reason for planning, at the full budget.
const DETAIL_TOKENS: u64 = 400;
/// Cancelled todos on the board, the latest; the rest is counted. Nothing is ever deleted from a list, so that a model that
/// rewrites it again and again would fill its prompt with what it gave up.
const CANCELLED_SHOWN: usize = 8;

/// How much of each todo is shown. The board is never trimmed, so it is bounded by construction.
#[derive(Clone, Copy)]
struct Bounds {
    line: u64,
    detail: u64,
    cancelled: usize,
}

impl Bounds {
    /// `todos.md` holds everything.
    const NONE: Self = Self { line: u64::MAX / 8, detail: u64::MAX / 8, cancelled: usize::MAX };

    fn of(budget: u64) -> Self {
        let (least, most) = LINE_TOKENS;
        Self {
            line: share_of(budget, 200).clamp(least, most),
            detail: share_of(budget, DETAIL_TOKENS),
            cancelled: if budget < 16_000 { CANCELLED_SHOWN / 2 } else { CANCELLED_SHOWN },
        }
    }
}

/// The board of the next prompt.
pub fn render(job: &Job) -> String {
    match &job.progress {
        Progress::Planning(planning) => planning_board(job, planning),
        Progress::Digesting => digest_board(),
        Progress::Executing
        | Progress::Archiving { .. }
        | Progress::Summarising { .. }
        | Progress::Examining { .. }
        | Progress::Closing { .. } => active_board(job),
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
    let body = format!("Phase: {}\n\n{}", place(job), tasks(list, Bounds::of(job.spec.budget_tokens)));
    let board = frame("ACTIVE TODO LIST", &body, &instruction);
    with_reminders(&reminders(job), board)
}

fn with_reminders(reminders: &[String], board: String) -> String {
    reminders.iter().rev().fold(board, |text, reminder| format!("<reminder>{reminder}</reminder>\n{text}"))
}

fn reminders(job: &Job) -> Vec<String> {
    let mut reminders = Vec::new();
    if job.totals.spent.turns == 0 && job.phase.kind == PhaseKind::Bootstrap {
        reminders.push(include_str!("../../../../instructions/runner/bootstrap.md").trim().to_owned());
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
fn tasks(list: &TodoList, bounds: Bounds) -> String {
    let mut text = String::new();
    let mut hidden = list.counts().cancelled.saturating_sub(bounds.cancelled);
    if hidden > 0 {
        let _ = writeln!(text, "[-] {hidden} tasks that were cancelled earlier: see {TODOS_FILE}");
    }
    for (number, todo) in (1..).zip(list.all()) {
        let number: usize = number;
        match todo.status {
            TodoStatus::Completed => line(&mut text, 'x', number, todo, bounds),
            TodoStatus::Pending => line(&mut text, ' ', number, todo, bounds),
            TodoStatus::Cancelled if hidden > 0 => {
                hidden -= 1;
                continue;
            }
            TodoStatus::Cancelled => {
                line(&mut text, '-', number, todo, bounds);
                text.push_str(" (cancelled)");
            }
            TodoStatus::InProgress => {
                // The current task is shown whole, as far as the window allows.
                let most = bounds.line.max(bounds.detail);
                let _ = write!(
                    text,
                    "[>] {number}. {}      ← CURRENT: {}",
                    bounded(&todo.content, most, TODOS_FILE),
                    cut(&todo.active_form, bounds.line.max(bounds.detail / 2))
                );
                detail(&mut text, "Context", todo.context.as_deref(), bounds);
                detail(&mut text, "Done when", todo.completion_criteria.as_deref(), bounds);
            }
        }
        text.push('\n');
    }
    let counts = list.counts();
    let percent = if counts.tasks() == 0 { 100 } else { counts.completed * 100 / counts.tasks() };
    let _ = write!(text, "\nProgress: {}/{} tasks complete ({percent}%)", counts.completed, counts.tasks());
    text
}

fn line(text: &mut String, mark: char, number: usize, todo: &Todo, bounds: Bounds) {
    let _ = write!(text, "[{mark}] {number}. {}", cut(&todo.content, bounds.line));
}

fn cut(text: &str, tokens: u64) -> String {
    let shown = head(text, tokens);
    if shown.len() < text.len() { format!("{shown}…") } else { shown.to_owned() }
}

fn detail(text: &mut String, name: &str, value: Option<&str>, bounds: Bounds) {
    if let Some(value) = value {
        let _ = write!(text, "\n       {name}: {}", bounded(value, bounds.detail, TODOS_FILE).replace('\n', " "));
    }
}

/// The whole board for a person: without frame, instruction and reminders.
pub fn plain(list: &TodoList) -> String {
    tasks(list, Bounds::NONE)
}

/// The board as tools answer with it, within a window's bounds.
pub fn answer(list: &TodoList, budget: u64) -> String {
    tasks(list, Bounds::of(budget))
}

/// `todos.md`.
pub fn file(job: &Job) -> String {
    format!("# Todos\n\nPhase: {}\n\n{}\n", place(job), tasks(&job.phase.todos, Bounds::NONE))
}

/// `1 in progress, 2 pending, 3 completed, 0 cancelled`.
pub(crate) fn counts_line(counts: TodoCounts) -> String {
    format!(
        "{} in progress, {} pending, {} completed, {} cancelled",
        counts.in_progress, counts.pending, counts.completed, counts.cancelled
    )
}

/// What `todo_list` answers, in at most about `most` tokens.
pub fn listing(list: &TodoList, filter: TodoFilter, most: u64) -> String {
    let fits = |todo: &&Todo| match filter {
        TodoFilter::All => true,
        TodoFilter::Remaining => todo.status.is_open(),
        TodoFilter::Only(status) => todo.status == status,
    };
    let mut text = String::new();
    for todo in list.all().iter().filter(fits) {
        let _ = write!(text, "{}. {} [{}]", list.number_of(todo.id), todo.content, todo.status);
        if let Some(outcome) = &todo.outcome {
            let _ = write!(text, ": {outcome}");
        }
        text.push('\n');
    }
    let counts = counts_line(list.counts());
    let shown = bounded(text.trim_end(), most.saturating_sub(estimate(&counts) + 1), TODOS_FILE);
    if shown.is_empty() { counts } else { format!("{shown}\n{counts}") }
}

/// What a planning step waits for, in words for the model.
pub fn expected(step: PlanStep) -> &'static str {
    match step {
        PlanStep::UpdateMemory => "save workspace.md (write_file, append_file or edit_file), or call no_change(reason)",
        PlanStep::UpdatePlan => "save main_plan.md (write_file or edit_file), or call no_change(reason)",
        PlanStep::CreateTodos => "call todo_write(todos) with the next phase's todos",
    }
}

fn planning_board(job: &Job, planning: &Planning) -> String {
    let text = match planning.step {
        PlanStep::UpdateMemory => include_str!("../../../../instructions/runner/update_memory.md").trim().to_owned(),
        PlanStep::UpdatePlan => include_str!("../../../../instructions/runner/update_plan.md").trim().to_owned(),
        PlanStep::CreateTodos => {
            let bounds = job.spec.instructions.phase;
            let title = job
                .next_planned()
                .map_or_else(String::new, |phase| format!("\"Phase {}: {}\"", phase.number, phase.title));
            include_str!("../../../../instructions/runner/create_todos.md")
                .trim()
                .replace("{{title}}", &title)
                .replace("{{min}}", &job.fewest_todos().to_string())
                .replace("{{max}}", &bounds.max_todos.to_string())
        }
    };
    let mut body = format!("Step: {} ({} of 3)\n\n", planning.step, planning.step.place());
    if let Some(because) = because(&planning.why, share_of(job.spec.budget_tokens, DETAIL_TOKENS)) {
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
fn because(why: &Why, most: u64) -> Option<String> {
    let text = |text: &str| bounded(text, most, "the archive of the phase");
    match why {
        Why::PhaseDone | Why::Abandoned { .. } => None,
        Why::Rewound { issue } => Some(format!("The phase was rewound. The issue: {}", text(issue))),
        Why::Stuck { detail } => Some(format!("The phase was stuck ({detail}). Plan it differently.")),
        Why::LimitReached { detail } => Some(format!("The phase ran into its limit ({detail}). Plan smaller steps.")),
        Why::Reset { reason } => Some(format!("The phase was reset. The reason: {}", text(reason))),
        Why::Feedback { number, text } => Some(format!(
            "A person has reviewed the result and sent it back. Feedback {number}: {}\nThe plan needs a new phase for it.",
            bounded(text, most, INSTRUCTIONS_FILE)
        )),
    }
}

fn digest_board() -> String {
    let text = include_str!("../../../../instructions/runner/digest.md").trim().replace("{{words}}", "1,000");
    frame("DIGEST", &text, "Answer with the digest as text; call no tool")
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
