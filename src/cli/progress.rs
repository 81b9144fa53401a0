//! What is told on stderr while a job is worked: bars on a terminal, plain lines elsewhere, JSON lines where they are asked for. A reader of the runner's reports;
//! it decides nothing.

use super::out::{self, Level, Said};
use crate::runner::Report;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use overnight_core::{
    job::{
        event::{Decision, Event, PhaseKind, StepEnd},
        plan::PhaseState,
        state::{Job, Progress as Step},
        time::Timestamp,
    },
    prompt::board,
};
use serde_json::Value;
use std::{fmt::Write, time::Duration};

/// How often the clock on the terminal moves.
const TICK: Duration = Duration::from_millis(250);
/// Characters of a todo's text or outcome in a line.
const MOST_CHARS: usize = 160;

/// How the progress is shown.
#[derive(Debug)]
pub(super) enum Progress {
    /// Not at all.
    Quiet,
    Lines,
    Bars(Box<Bars>),
}

/// The bars of a terminal.
#[derive(Debug)]
pub(super) struct Bars {
    all: MultiProgress,
    phases: ProgressBar,
    todos: ProgressBar,
    /// Turns, tokens, cost; its clock counts the job's time of work.
    spent: ProgressBar,
}

/// One line of talk.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    level: Level,
    /// The fact's name.
    event: &'static str,
    /// It stays worth reading: a phase's end, a hold, a refusal, an early end. Where there are bars, they show the others.
    stays: bool,
    /// Of which todo.
    todo: Option<u32>,
    text: String,
}

impl Line {
    /// A phase begins or a todo is done.
    fn step(event: &'static str, text: String) -> Self {
        Self { level: Level::Info, event, stays: false, todo: None, text }
    }

    fn mark(level: Level, event: &'static str, text: String) -> Self {
        Self { level, event, stays: true, todo: None, text }
    }

    /// Tells it, with where the job stands.
    fn say(&self, job: &Job, at: Option<Timestamp>) {
        let current = if job.is_executing() { job.phase.todos.current() } else { None };
        let spent = &job.totals.spent;
        let mut fields = vec![("phase", job.phase.number.into()), ("attempt", job.phase.attempt.into())];
        if let Some(todo) = self.todo.or(current.map(|todo| todo.id)) {
            fields.push(("todo", todo.into()));
        }
        fields.push(("turn", spent.turns.into()));
        fields.push(("tokens", spent.tokens().into()));
        fields.push(("cost", spent.cost().map_or(Value::Null, Value::from)));
        out::say(&Said { at, level: self.level, event: self.event, text: &self.text, job: None, fields });
    }
}

impl Progress {
    /// Says which job it is, and where it stands.
    pub(super) fn begin(job: &Job) -> Self {
        if out::is_quiet() {
            return Self::Quiet;
        }
        let documents = match job.spec.documents.len() {
            1 => "1 document".to_owned(),
            many => format!("{many} documents"),
        };
        let text =
            format!("job {}: {}, {documents}, model {}", job.spec.id, job.spec.instructions.name, job.spec.model);
        Line::step("taken_up", text).say(job, None);
        let has_bars = console::Term::stderr().is_term() && !out::is_json();
        let shown = if has_bars { Self::Bars(Box::new(Bars::new(job))) } else { Self::Lines };
        if let (Self::Lines, Step::Executing) = (&shown, &job.progress) {
            Line::step("phase_started", phase_begins(job)).say(job, None);
        }
        shown
    }

    /// Tells of one report.
    pub(super) fn show(&mut self, job: &Job, report: &Report<'_>) {
        match self {
            Self::Quiet => {}
            Self::Lines => {
                let at = match report {
                    Report::Decided(decision) => Some(decision.at),
                    Report::Calling | Report::Talk(_) => None,
                };
                for line in lines(job, report) {
                    line.say(job, at);
                }
            }
            Self::Bars(bars) => {
                for line in lines(job, report).iter().filter(|line| line.stays) {
                    // A terminal that is gone is no reason to stop.
                    let _ = bars.all.println(out::plain(&line.text));
                }
                bars.draw(job);
            }
        }
    }

    /// Takes the bars away: what comes next is the result.
    pub(super) fn end(self) {
        if let Self::Bars(bars) = self {
            for bar in [&bars.phases, &bars.todos, &bars.spent] {
                bar.finish_and_clear();
            }
        }
    }
}

/// A bar over documents that are read before there is a job; to be cleared. Nobody sees it who has no terminal.
pub(super) fn reading(documents: usize) -> ProgressBar {
    if out::is_json() || out::is_quiet() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("  reading the documents {wide_bar} {pos}/{len}");
    let bar = ProgressBar::with_draw_target(Some(documents as u64), ProgressDrawTarget::stderr());
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Bars {
    fn new(job: &Job) -> Self {
        let worked = Duration::from_millis(job.totals.worked_ms);
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let style = |template: &str| {
            ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("━╸─")
        };
        let phases = all.add(ProgressBar::new(0).with_style(style("phases {bar:20.cyan} {wide_msg}")));
        let todos = all.add(ProgressBar::new(0).with_style(style("todos  {bar:20.green} {wide_msg}")));
        let spent = all.add(
            ProgressBar::new_spinner().with_elapsed(worked).with_style(style("{spinner} {elapsed_precise} {wide_msg}")),
        );
        spent.enable_steady_tick(TICK);
        let bars = Self { all, phases, todos, spent };
        bars.draw(job);
        bars
    }

    fn draw(&self, job: &Job) {
        let phases = job.plan.as_ref().map_or(&[][..], |plan| plan.phases());
        let complete = phases.iter().filter(|phase| phase.state == PhaseState::Complete).count();
        let counts = job.phase.todos.counts();
        fill(&self.phases, complete as u64, u64::from(job.planned_count()), &out::one_line(&board::place(job)));
        fill(&self.todos, counts.completed as u64, counts.tasks() as u64, &doing(job));
        self.spent.set_message(spent(job));
    }
}

/// Sets a bar to `done` of `all`. Before there is a plan, nothing is done of an unknown number.
fn fill(bar: &ProgressBar, done: u64, all: u64, text: &str) {
    bar.set_length(all.max(1));
    bar.set_position(done.min(all));
    bar.set_message(if all == 0 { text.to_owned() } else { format!("{done}/{all} {text}") });
}

/// What is being done now, in the words of the todo or of the planning step.
fn doing(job: &Job) -> String {
    match &job.progress {
        Step::Executing => out::one_line(job.phase.todos.current().map_or("", |todo| todo.active_form.as_str())),
        Step::Planning(planning) => format!("Planning: {} ({} of 3)", planning.step, planning.step.place()),
        Step::Archiving { .. } => "Archiving the phase".to_owned(),
        Step::Summarising { .. } => "Writing the workspace summary".to_owned(),
        Step::Examining { .. } => "Reading the workspace again".to_owned(),
        Step::Digesting => "Writing the digest of the past".to_owned(),
        Step::Closing => "Closing the job".to_owned(),
    }
}

/// `12 turns, 34.5k tokens, 0.12 USD`.
pub(super) fn spent(job: &Job) -> String {
    let spent = &job.totals.spent;
    let mut text = format!("{}, {} tokens", counted(spent.turns, "turn"), amount(spent.tokens()));
    if let Some(cost) = spent.cost().filter(|cost| *cost > 0.0) {
        let _ = write!(text, ", {cost:.2} USD");
    }
    text
}

/// `1 turn`, `2 turns`.
pub(super) fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// A count to three digits: `950`, `34.5k`, `1.2M`.
pub(super) fn amount(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        1_000_000.. => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

fn lines(job: &Job, report: &Report<'_>) -> Vec<Line> {
    match report {
        Report::Calling => Vec::new(),
        Report::Talk(text) => vec![Line::mark(Level::Warn, "note", out::one_line(text))],
        Report::Decided(decision) => of_decision(job, decision),
    }
}

/// What a decision is worth telling; `job` is the state after it.
fn of_decision(job: &Job, decision: &Decision) -> Vec<Line> {
    let mut lines = Vec::new();
    for event in &decision.events {
        match event {
            Event::PhaseStarted { .. } => lines.push(Line::step("phase_started", phase_begins(job))),
            Event::PhaseEnded { why, .. } => {
                let Some(past) = job.past.last() else { continue };
                let counts = past.phase.todos.counts();
                // An early end cancels what was open; it was to be done all the same.
                let tasks = if why.issue().is_some() { past.phase.todos.all().len() } else { counts.tasks() };
                let done = format!("{} of {tasks} todos", counts.completed);
                let turns = counted(past.phase.spent.turns, "turn");
                let title = out::one_line(&past.phase.title);
                let end = match why.issue() {
                    None => "done".to_owned(),
                    Some(issue) => format!("ended early ({}: {})", why.outcome(), short(issue)),
                };
                let level = if why.issue().is_some() { Level::Warn } else { Level::Info };
                let text = format!("phase {} {end}: {title}, {done}, {turns}", past.phase.number);
                lines.push(Line::mark(level, "phase_ended", text));
            }
            Event::TodoCompleted { id, outcome, unevidenced } => {
                let all = job.phase.todos.all();
                let Some(todo) = all.iter().find(|todo| todo.id == *id) else { continue };
                let mark = if *unevidenced { " (unevidenced)" } else { "" };
                let outcome = outcome.as_ref().map(|text| format!(": {}", short(text))).unwrap_or_default();
                let (number, tasks) = (job.phase.todos.number_of(*id), job.phase.todos.counts().tasks());
                let text = format!("  [{number}/{tasks}] {}{mark}{outcome}", short(&todo.content));
                lines.push(Line { todo: Some(*id), ..Line::step("todo_completed", text) });
            }
            Event::TodoCompletionRefused { id, reason } => lines.push(Line {
                todo: Some(*id),
                ..Line::mark(Level::Warn, "todo_completion_refused", format!("  refused: {}", short(reason)))
            }),
            Event::TodosRefused { reason } => {
                lines.push(Line::mark(Level::Warn, "todos_refused", format!("  refused: {}", short(reason))));
            }
            Event::CompletionRefused { checks } => {
                let names: Vec<String> = checks.iter().map(|check| out::one_line(&check.name)).collect();
                let text = format!("  job_complete refused, not met: {}", names.join("; "));
                lines.push(Line::mark(Level::Warn, "completion_refused", text));
            }
            Event::StepEnded { step, end } => match end {
                StepEnd::FellBack => {
                    let text = format!("  {step}: not done by the model within its tries, done by the system");
                    lines.push(Line::mark(Level::Warn, "step_ended", text));
                }
                StepEnd::Saved | StepEnd::NoChange { .. } => {}
            },
            Event::TodosWarned { warning } => {
                lines.push(Line::mark(Level::Warn, "todos_warned", format!("  warning: {}", short(warning))));
            }
            Event::Held { reason, detail } => {
                lines.push(Line::mark(Level::Warn, "held", format!("held ({reason}): {}", short(detail))));
            }
            Event::Opened { torn_bytes: Some(bytes), .. } => {
                let text = format!("{bytes} bytes of an unfinished journal line were cut off");
                lines.push(Line::mark(Level::Warn, "opened", text));
            }
            Event::AttemptFailed { attempt, wait_ms, reason, .. } => {
                let wait = Duration::from_millis(*wait_ms);
                let then =
                    if wait.is_zero() { String::new() } else { format!("; again in {:.1} s", wait.as_secs_f64()) };
                let text = format!("  attempt {attempt} failed: {}{then}", short(reason));
                lines.push(Line::mark(Level::Warn, "attempt_failed", text));
            }
            Event::JobCreated { .. }
            | Event::Opened { .. }
            | Event::ArchiveStored { .. }
            | Event::SummaryWritten { .. }
            | Event::FilesExamined { .. }
            | Event::PlanSet { .. }
            | Event::FileWritten { .. }
            | Event::TodosWritten { .. }
            | Event::ContextMasked { .. }
            | Event::TurnsFolded { .. }
            | Event::ContextCompacted { .. }
            | Event::ModelReplied { .. }
            | Event::ToolStarted { .. }
            | Event::ToolReturned { .. }
            | Event::AccomplishmentAdded { .. }
            | Event::NoteAdded { .. }
            | Event::EndingDecided { .. }
            | Event::Resumed { .. }
            | Event::FeedbackGiven { .. }
            | Event::ModelChosen { .. }
            | Event::Approved
            | Event::JobEnded { .. } => {}
        }
    }
    lines
}

fn phase_begins(job: &Job) -> String {
    let phase = &job.phase;
    let title = match phase.kind {
        PhaseKind::Bootstrap | PhaseKind::Review => phase.title.clone(),
        PhaseKind::Planned => board::place(job),
    };
    let attempt = if phase.attempt > 1 { format!(", attempt {}", phase.attempt) } else { String::new() };
    let counts = phase.todos.counts();
    format!("phase {}: {}, {}{attempt}", phase.number, out::one_line(&title), counted(counts.tasks() as u64, "todo"))
}

fn short(text: &str) -> String {
    let line = out::one_line(text);
    match line.char_indices().nth(MOST_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
