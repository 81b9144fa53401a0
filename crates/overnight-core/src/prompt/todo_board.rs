//! Layer 2: the board that the model sees last in each prompt, and a person in the CLI.

use super::beginning;
use crate::{
    amount::percent,
    answer,
    job::{
        call::TodoFilter,
        contract::{Check, DeliverableState},
        event::{PhaseKind, Why},
        state::{INSTRUCTIONS_FILE, Job, LAST_REVIEW_TODO, PLAN_FILE, Planning, Progress, TODOS_FILE},
        todo::{Todo, TodoStatus},
        todo_list::{TodoCounts, TodoList},
    },
    tokens::{bounded, estimate, head},
};
use std::fmt::Write;

const HEAVY: &str = "═══════════════════════════════════════════════════════════════════";
const LIGHT: &str = "───────────────────────────────────────────────────────────────────";
/// Tokens of a todo's text on the board, at least and at most; in between in proportion to the budget.
const LINE_TOKENS: (u64, u64) = (16, 40);
/// Tokens of a current todo's context, of its criteria, and of the reason for planning, at the full budget.
const DETAIL_TOKENS: u64 = 400;
/// Tokens, at the full budget, of the plan and of the next todos on the planning board, and of the failed checks on the
/// review board.
const PLAN_TOKENS: u64 = 3_000;
const CHECKS_TOKENS: u64 = 2_000;
/// The budget to which these bounds belong.
const FULL_BUDGET: u64 = 100_000;
/// Deliverables in the status line of a turn.
const DELIVERABLES_SHOWN: usize = 4;
/// Cancelled todos on the board, the latest ones; the rest are counted. Nothing is ever deleted from a list, so a model
/// that keeps rewriting it would otherwise fill its prompt with abandoned todos.
const CANCELLED_SHOWN: usize = 8;

/// A bound of `tokens` at the full budget, in proportion to `budget`.
pub fn share_of(budget: u64, tokens: u64) -> u64 {
    tokens * budget.min(FULL_BUDGET) / FULL_BUDGET
}

/// How much of each todo is shown. The board is never trimmed, so it is bounded by construction.
#[derive(Clone, Copy)]
struct Bounds {
    line: u64,
    detail: u64,
    cancelled: usize,
}

impl Bounds {
    /// No bounds: `todos.md` holds everything.
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

/// The board of the next prompt, in full.
pub fn render(job: &Job) -> String {
    match &job.progress {
        Progress::Planning(planning) => planning_board(job, planning),
        Progress::Executing
        | Progress::Digesting
        | Progress::Archiving { .. }
        | Progress::Summarising { .. }
        | Progress::Examining { .. }
        | Progress::Closing { .. } => active_board(job),
    }
}

/// The request for a digest of the past, in place of a board.
pub(crate) fn digest_request() -> String {
    let text = include_str!("../../../../instructions/runner/digest.md").trim().replace("{{words}}", "1,000");
    frame("DIGEST", &text, &answer!("board.digest"))
}

/// The status line after the newest result at each turn, and the reminders to the model. It begins with the runner's
/// mark: `[runner 3f9a1b2c · task 3 of 8 · turn 4 · notes.md 320 words · coverage 64 %]`.
pub(crate) fn status_line(job: &Job) -> String {
    let list = &job.phase.todos;
    let place = match &job.progress {
        Progress::Planning(_) => "planning".to_owned(),
        Progress::Digesting
        | Progress::Executing
        | Progress::Archiving { .. }
        | Progress::Summarising { .. }
        | Progress::Examining { .. }
        | Progress::Closing { .. } => {
            let number = list.current().map_or(0, |todo| list.number_of(todo.id));
            format!("task {number} of {}", list.all().len())
        }
    };
    let mut facts = vec![super::opening::runner_mark(job), place, format!("turn {}", job.totals.spent.turns + 1)];
    facts.extend(deliverables(job));
    if !job.spec.documents.is_empty() {
        facts.push(format!("coverage {}", percent(job.coverage_shown().total(&job.spec.documents))));
    }
    let mut text = format!("[{}]", facts.join(" · "));
    for reminder in reminders(job) {
        let _ = write!(text, "\n<reminder>{reminder}</reminder>");
    }
    text
}

/// The state of each deliverable that was written, in a few words.
fn deliverables(job: &Job) -> Vec<String> {
    let is_written =
        |path: &str| job.phase.files.contains(path) || job.past.iter().any(|past| past.phase.files.contains(path));
    let paths = job.spec.instructions.deliverables.iter().map(|deliverable| deliverable.path.as_str());
    paths
        .filter(|path| is_written(path))
        .take(DELIVERABLES_SHOWN)
        .map(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            job.deliverables.get(path).map_or_else(|| format!("{name} written"), |state| told(name, state))
        })
        .collect()
}

/// `obligations.json 43 records, 42 of 43 quotes found, 1 check fails`. A file that is written piece by piece counts as
/// not finished until it has its required length.
fn told(name: &str, state: &DeliverableState) -> String {
    let mut facts = Vec::new();
    facts.extend(state.records.map(|records| format!("{records} records")));
    facts.extend(state.quotes.as_ref().map(|quotes| format!("{} of {} quotes found", quotes.found, quotes.all)));
    let unfinished = state.failed.iter().filter(|check| check.unfinished).count();
    facts.push(match state.failed.len() - unfinished {
        0 if unfinished > 0 => "not finished".to_owned(),
        0 => "all its checks pass".to_owned(),
        1 => "1 check fails".to_owned(),
        more => format!("{more} checks fail"),
    });
    if state.doubts > 0 {
        facts.push(format!("{} in doubt", state.doubts));
    }
    format!("{name} {}", facts.join(", "))
}

/// The state of the contract: which deliverables are written, and the result of their last check.
pub(crate) fn contract(job: &Job, tokens: u64) -> String {
    let written = deliverables(job);
    let missing = job.spec.instructions.deliverables.len().saturating_sub(written.len());
    let mut text = if written.is_empty() { answer!("opening.nothing_written") } else { written.join("; ") };
    if missing > 0 && !written.is_empty() {
        let _ = write!(text, "; {missing} to be written");
    }
    bounded(&text, tokens, "check_deliverables()")
}

fn frame(heading: &str, body: &str, instruction: &str) -> String {
    let indent = " ".repeat((HEAVY.chars().count() - heading.len()) / 2);
    format!("{HEAVY}\n{indent}{heading}\n{HEAVY}\n\n{body}\n\n{LIGHT}\nINSTRUCTION: {instruction}\n{HEAVY}")
}

fn active_board(job: &Job) -> String {
    let list = &job.phase.todos;
    let instruction = match list.current() {
        None => answer!("board.no_task"),
        Some(_) if job.is_review() && job.proof.open().next().is_some() => answer!("board.settle_findings"),
        Some(todo) if job.is_review() && is_to_be_mended(job, todo) => answer!("board.mend_checks"),
        Some(todo) if job.is_review() && todo.content == LAST_REVIEW_TODO => answer!("board.complete_job"),
        Some(_) if job.is_bootstrap() => answer!("board.save_plan", then = beginning::behind_plan(&job.spec)),
        Some(todo) => {
            if let Some(agent) = agent_of(job, todo) {
                answer!("board.delegate_task", number = list.number_of(todo.id), agent)
            } else {
                answer!("board.complete_task", number = list.number_of(todo.id))
            }
        }
    };
    let mut body = format!("Phase: {}\n\n{}", place(job), tasks(list, Bounds::of(job.spec.budget_tokens)));
    if !job.phase.is_oriented
        && let Some(plan) = &job.plan
    {
        let plan = bounded(plan.text().trim(), share_of(job.spec.budget_tokens, PLAN_TOKENS), PLAN_FILE);
        let _ = write!(body, "\n\n{}\n\n{plan}", include_str!("../../../../instructions/runner/next_phase.md").trim());
    }
    if let Some(checks) = &job.phase.checks {
        let _ = write!(body, "\n\n{}", checks_told(checks, share_of(job.spec.budget_tokens, CHECKS_TOKENS)));
    }
    frame("ACTIVE TODO LIST", &body, &instruction)
}

/// Whether checks fail that would make a completion be refused, and nothing else is to be done first.
fn is_to_be_mended(job: &Job, todo: &Todo) -> bool {
    let fails = job.phase.checks.iter().flatten().any(|check| !check.passed);
    fails && (job.refusals.counted > 0 || todo.content == LAST_REVIEW_TODO)
}

/// The agent of the instructions that a todo is for.
fn agent_of<'t>(job: &Job, todo: &'t Todo) -> Option<&'t str> {
    todo.agent_type.as_deref().filter(|agent| job.spec.instructions.agents.contains_key(*agent))
}

/// The state of the contract's checks: those that fail, each with its reason.
pub(crate) fn checks_told(checks: &[Check], tokens: u64) -> String {
    let failed: Vec<String> = checks
        .iter()
        .filter(|check| !check.passed)
        .map(|check| format!("- {}: {}", check.name, check.detail))
        .collect();
    let passed = checks.len() - failed.len();
    if failed.is_empty() {
        return answer!("board.checks_pass", passed);
    }
    let text = answer!("board.checks_fail", passed, all = checks.len(), failed = failed.join("\n"));
    bounded(&text, tokens, "check_deliverables()")
}

fn reminders(job: &Job) -> Vec<String> {
    let mut reminders: Vec<String> = job.warnings.iter().map(|warning| sentence(warning)).collect();
    if job.totals.spent.turns == 0 && job.is_bootstrap() {
        reminders.push(beginning::begun(job));
    }
    if let Some(planning) = job.planning().filter(|planning| planning.asked > 0)
        && let Some(owed) = owed(planning)
    {
        reminders.push(answer!("reminder.next_phase", owed));
    }
    if job.own.effort.silent && job.progress == Progress::Executing {
        let number = job.phase.todos.current().map_or(0, |todo| job.phase.todos.number_of(todo.id));
        reminders.push(answer!("reminder.called_no_tool", number));
    }
    // In a phase that has ended, nothing is to be corrected.
    reminders.extend(job.own.effort.reminder().filter(|_| job.progress == Progress::Executing));
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
        let _ = writeln!(text, "[-] {}", answer!("board.cancelled_earlier", number = hidden, file = TODOS_FILE));
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
                let _ = write!(text, "[>] {number}. {}      ← CURRENT", bounded(&todo.content, most, TODOS_FILE));
                // An active form that the system made from the content adds nothing.
                if !todo.active_form.ends_with(&todo.content) {
                    let _ = write!(text, ": {}", cut(&todo.active_form, bounds.line.max(bounds.detail / 2)));
                }
                detail(&mut text, "Context", todo.context.as_deref(), bounds);
                detail(&mut text, "Agent", todo.agent_type.as_deref(), bounds);
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

/// The board in the answer of a tool, within the bounds of a window.
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

/// The answer of `todo_list`, in at most about `most` tokens.
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

/// The steps that planning waits for, in words for the model; `None` means that nothing is owed.
pub fn owed(planning: &Planning) -> Option<String> {
    match (planning.owes_memory, planning.owes_plan) {
        (true, true) => Some(answer!("owed.memory_and_plan")),
        (true, false) => Some(answer!("owed.memory")),
        (false, true) => Some(answer!("owed.plan")),
        (false, false) => None,
    }
}

fn planning_board(job: &Job, planning: &Planning) -> String {
    let budget = job.spec.budget_tokens;
    let no_plan = answer!("opening.no_plan");
    let plan = job.plan.as_ref().map_or(&*no_plan, |plan| plan.text().trim());
    let next =
        job.next_planned().map_or_else(String::new, |phase| format!(" of phase {} ({})", phase.number, phase.title));
    let bounds = Bounds::of(budget);
    let steps = job.next_steps();
    let (todos, file): (Vec<&str>, &str) = match &planning.todos {
        Some(todos) => (todos.iter().map(|todo| todo.content.as_str()).collect(), TODOS_FILE),
        None => (steps.iter().map(String::as_str).collect(), PLAN_FILE),
    };
    // The first todo begins in the same reply, and is shown in the same detail as a phase's current todo.
    let todos = todos.into_iter().enumerate().map(|(at, todo)| match at {
        0 => format!("- {}", bounded(todo, bounds.line.max(bounds.detail), file)),
        _ => format!("- {}", cut(todo, bounds.line)),
    });
    let todos: Vec<String> = todos.collect();
    let because =
        because(&planning.why, share_of(budget, DETAIL_TOKENS)).map_or_else(String::new, |text| text + "\n\n");
    let body = include_str!("../../../../instructions/runner/planning.md")
        .trim()
        .replace("{{because}}", &because)
        .replace("{{next}}", &next)
        .replace("{{todos}}", &bounded(&todos.join("\n"), share_of(budget, PLAN_TOKENS), PLAN_FILE))
        .replace("{{owed}}", owed(planning).as_deref().unwrap_or("nothing"))
        // Replaced last, so that nothing in the plan is mistaken for a placeholder.
        .replace("{{plan}}", &bounded(plan, share_of(budget, PLAN_TOKENS), PLAN_FILE));
    let instruction = if let Some(owed) = owed(planning) {
        answer!("board.plan_first", owed = sentence(&owed))
    } else {
        answer!("board.plan_stands")
    };
    frame("PLANNING", &body, &instruction)
}

/// The reason for planning, unless a phase is simply done.
fn because(why: &Why, most: u64) -> Option<String> {
    let text = |text: &str| bounded(text, most, "the archive of the phase");
    match why {
        Why::PhaseDone | Why::Abandoned { .. } => None,
        Why::Rewound { issue } => Some(answer!("because.rewound", issue = text(issue))),
        Why::Stuck { detail } => Some(answer!("because.stuck", detail)),
        Why::LimitReached { detail } => Some(answer!("because.limit_reached", detail)),
        Why::Reset { reason } => Some(answer!("because.reset", reason = text(reason))),
        Why::Feedback { number, text } => {
            Some(answer!("because.feedback", number, text = bounded(text, most, INSTRUCTIONS_FILE)))
        }
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
