//! Shows on stderr the progress of a job: bars on a terminal, lines elsewhere, JSON on request. It only reads reports.
//!
//! - `rate`: how fast the jobs of a queue end, for `watch` and `work`

mod rate;

use super::out::{self, LogLevel, LogMessage};
use crate::runner::RunReport;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use overnight_core::amount::cost_of_all;
pub(super) use overnight_core::amount::counted;
use overnight_core::{
    job::{
        event::{
            ConversationEvent, Decision, Event, LifeEvent, PhaseEvent, PhaseKind, PlanEvent, PlanningEnd, ProofEvent,
        },
        plan::PhaseState,
        state::{Job, Progress as Step},
        sub_agent_role::SubAgentEnd,
        time::Timestamp,
    },
    prompt::todo_board,
};
pub(super) use rate::{MOST_ENDS, RecentEnds, ends_text, rate_text};
use serde_json::Value;
use std::{fmt::Write, time::Duration};

/// The interval at which the clock on the terminal is updated.
const TICK: Duration = Duration::from_millis(250);
/// Characters of a todo's text or outcome in a line.
const MOST_CHARS: usize = 160;

/// For a review in which no model was asked.
pub(super) const BY_CHECKS: &str = "by the program's checks, without a turn of a model";

/// How the progress is shown.
#[derive(Debug)]
pub(super) enum ProgressDisplay {
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

/// One line of progress.
#[derive(Debug, PartialEq, Eq)]
struct LogLine {
    level: LogLevel,
    /// The name of the event.
    event: &'static str,
    /// It is printed above the bars too, such as a hold or a refusal; the bars already show the content of other lines.
    stays: bool,
    /// The todo that it is about.
    todo: Option<u32>,
    text: String,
}

impl LogLine {
    /// A phase begins or a todo is done.
    fn step(event: &'static str, text: String) -> Self {
        Self { level: LogLevel::Info, event, stays: false, todo: None, text }
    }

    fn mark(level: LogLevel, event: &'static str, text: String) -> Self {
        Self { level, event, stays: true, todo: None, text }
    }

    /// Writes the line, with the state of the job.
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
        out::log(&LogMessage { at, level: self.level, event: self.event, text: &self.text, job: None, fields });
    }
}

impl ProgressDisplay {
    /// Begins the display with the job's name and its progress so far.
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
        LogLine::step("taken_up", text).say(job, None);
        let has_bars = console::Term::stderr().is_term() && !out::is_json();
        let shown = if has_bars { Self::Bars(Box::new(Bars::new(job))) } else { Self::Lines };
        // The bootstrap begins with steps of the system itself.
        let is_begun =
            matches!(job.progress, Step::Executing | Step::Summarising { why: None } | Step::Examining { why: None });
        if is_begun && matches!(shown, Self::Lines) {
            LogLine::step("phase_started", phase_begins(job)).say(job, None);
        }
        shown
    }

    /// Shows one report.
    pub(super) fn show(&mut self, job: &Job, report: &RunReport<'_>) {
        match self {
            Self::Quiet => {}
            Self::Lines => {
                let at = match report {
                    RunReport::Decided(decision) => Some(decision.at),
                    RunReport::Calling(_) | RunReport::Note(_) => None,
                };
                for line in lines(job, report) {
                    line.say(job, at);
                }
            }
            Self::Bars(bars) => {
                for line in lines(job, report).iter().filter(|line| line.stays) {
                    // A closed terminal is no reason to stop.
                    let _ = bars.all.println(out::plain(&line.text));
                }
                bars.draw(job);
            }
        }
    }

    /// Removes the bars before the result is printed.
    pub(super) fn end(self) {
        if let Self::Bars(bars) = self {
            for bar in [&bars.phases, &bars.todos, &bars.spent] {
                bar.finish_and_clear();
            }
        }
    }
}

/// A bar for the documents that are read before there is a job. The caller clears it; without a terminal it is not shown.
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
        fill(&self.phases, complete as u64, u64::from(job.planned_count()), &out::one_line(&todo_board::place(job)));
        fill(&self.todos, counts.completed as u64, counts.tasks() as u64, &current_work(job));
        self.spent.set_message(spent(job));
    }
}

/// Sets a bar to `done` of `all`. Before there is a plan, `all` is 0, and no numbers are shown.
fn fill(bar: &ProgressBar, done: u64, all: u64, text: &str) {
    bar.set_length(all.max(1));
    bar.set_position(done.min(all));
    bar.set_message(if all == 0 { text.to_owned() } else { format!("{done}/{all} {text}") });
}

/// The text of the current todo or planning step.
fn current_work(job: &Job) -> String {
    match &job.progress {
        Step::Executing => out::one_line(job.phase.todos.current().map_or("", |todo| todo.active_form.as_str())),
        Step::Planning(_) => "Planning".to_owned(),
        Step::Archiving { .. } => "Archiving the phase".to_owned(),
        Step::Summarising { .. } => "Writing the workspace summary".to_owned(),
        Step::Examining { .. } => "Reading the workspace again".to_owned(),
        Step::Digesting => "Writing the digest of the past".to_owned(),
        Step::Closing { .. } => "Closing the job".to_owned(),
    }
}

/// `12 turns, 34.5k tokens, 0.12 USD`.
pub(super) fn spent(job: &Job) -> String {
    let spent = &job.totals.spent;
    let mut text = format!("{}, {} tokens", counted(spent.turns, "turn"), amount(spent.tokens()));
    if spent.cost().is_none_or(|cost| cost > 0.0) {
        let _ = write!(text, ", {}", cost_of_all(spent.cost_usd, spent.cost().is_some()));
    }
    text
}

/// A count to three digits: `950`, `34.5k`, `1.2M`.
pub(super) fn amount(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        1_000_000.. => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

fn lines(job: &Job, report: &RunReport<'_>) -> Vec<LogLine> {
    match report {
        RunReport::Calling(_) => Vec::new(),
        RunReport::Note(text) => vec![LogLine::mark(LogLevel::Warn, "note", out::one_line(text))],
        RunReport::Decided(decision) => of_decision(job, decision),
    }
}

/// The lines about a decision; `job` is the state after it.
fn of_decision(job: &Job, decision: &Decision) -> Vec<LogLine> {
    let mut lines = Vec::new();
    for event in &decision.events {
        match event {
            Event::Phase(PhaseEvent::PhaseStarted { .. }) => {
                lines.push(LogLine::step("phase_started", phase_begins(job)));
            }
            Event::Phase(PhaseEvent::PhaseEnded { why, .. }) => {
                let Some(past) = job.past.last() else { continue };
                let counts = past.phase.todos.counts();
                // An early end cancels the open todos; they count as tasks all the same.
                let tasks = if why.issue().is_some() { past.phase.todos.all().len() } else { counts.tasks() };
                let done = format!("{} of {tasks} todos", counts.completed);
                let turns = counted(past.phase.spent.turns, "turn");
                let title = out::one_line(&past.phase.title);
                let end = match why.issue() {
                    None => "done".to_owned(),
                    Some(issue) => format!("ended early ({}: {})", why.outcome(), short(issue)),
                };
                let level = if why.issue().is_some() { LogLevel::Warn } else { LogLevel::Info };
                let is_checked_only = past.phase.kind == PhaseKind::Review && past.phase.spent.turns == 0;
                let text = if is_checked_only && why.issue().is_none() {
                    format!("phase {} done: {title}, {BY_CHECKS}", past.phase.number)
                } else {
                    format!("phase {} {end}: {title}, {done}, {turns}", past.phase.number)
                };
                lines.push(LogLine::mark(level, "phase_ended", text));
            }
            Event::Phase(PhaseEvent::TodoCompleted { id, outcome, unevidenced }) => {
                let all = job.phase.todos.all();
                let Some(todo) = all.iter().find(|todo| todo.id == *id) else { continue };
                let mark = if *unevidenced { " (unevidenced)" } else { "" };
                let outcome = outcome.as_ref().map(|text| format!(": {}", short(text))).unwrap_or_default();
                let (number, tasks) = (job.phase.todos.number_of(*id), job.phase.todos.counts().tasks());
                let text = format!("  [{number}/{tasks}] {}{mark}{outcome}", short(&todo.content));
                lines.push(LogLine { todo: Some(*id), ..LogLine::step("todo_completed", text) });
            }
            Event::Phase(PhaseEvent::TodoCompletionRefused { id, reason }) => lines.push(LogLine {
                todo: Some(*id),
                ..LogLine::mark(LogLevel::Warn, "todo_completion_refused", format!("  refused: {}", short(reason)))
            }),
            Event::Plan(PlanEvent::PlanningRefused { reason }) => {
                let text = format!("  not taken: {}", short(reason));
                lines.push(LogLine::mark(LogLevel::Warn, "planning_refused", text));
            }
            Event::Proof(ProofEvent::CompletionRefused { checks }) => {
                let names: Vec<String> = checks.iter().map(|check| out::one_line(&check.name)).collect();
                let text = format!("  job_complete refused, not met: {}", names.join("; "));
                lines.push(LogLine::mark(LogLevel::Warn, "completion_refused", text));
            }
            Event::Plan(PlanEvent::PlanningEnded { end: PlanningEnd::FellBack, .. }) => {
                let text = "  planning: not done by the model within its tries; the job goes on with the plan there is";
                lines.push(LogLine::mark(LogLevel::Warn, "planning_ended", text.to_owned()));
            }
            Event::Plan(PlanEvent::TodosWarned { warning }) => {
                lines.push(LogLine::mark(LogLevel::Warn, "todos_warned", format!("  warning: {}", short(warning))));
            }
            Event::Life(LifeEvent::Held { reason, detail }) => {
                lines.push(LogLine::mark(LogLevel::Warn, "held", format!("held ({reason}): {}", short(detail))));
            }
            Event::Life(LifeEvent::Opened { torn_bytes: Some(bytes), .. }) => {
                let text = format!("{bytes} bytes of an unfinished journal line were cut off");
                lines.push(LogLine::mark(LogLevel::Warn, "opened", text));
            }
            Event::Conversation(ConversationEvent::AttemptFailed { attempt, wait_ms, reason, .. }) => {
                let wait = Duration::from_millis(*wait_ms);
                let then =
                    if wait.is_zero() { String::new() } else { format!("; again in {:.1} s", wait.as_secs_f64()) };
                let text = format!("  attempt {attempt} failed: {}{then}", short(reason));
                lines.push(LogLine::mark(LogLevel::Warn, "attempt_failed", text));
            }
            Event::Conversation(ConversationEvent::CallSubmitted { call, .. }) => {
                lines.push(LogLine::step(
                    "call_submitted",
                    format!("  handed in to {}; its answer comes later", call.model),
                ));
            }
            Event::Conversation(ConversationEvent::SubAgentStarted { conversation, role, .. }) => {
                lines.push(LogLine::step("helper_started", format!("  sub-agent {conversation}: {}", role.told())));
            }
            Event::Conversation(ConversationEvent::SubAgentEnded {
                conversation, end: SubAgentEnd::Reported, ..
            }) => {
                lines.push(LogLine::step("helper_ended", format!("  sub-agent {conversation} has reported")));
            }
            Event::Conversation(ConversationEvent::SubAgentEnded { conversation, end, .. }) => {
                let text = format!("  sub-agent {conversation} {}", end.told());
                lines.push(LogLine::mark(LogLevel::Warn, "helper_ended", text));
            }
            Event::Proof(ProofEvent::ListsCompared { comparison, findings }) => {
                let text = format!(
                    "  read twice: {} in both lists, {} only in the first, {} only in the second; {}",
                    counted(comparison.both, "record"),
                    comparison.first - comparison.both,
                    comparison.second - comparison.both,
                    counted(findings.len() as u64, "finding")
                );
                lines.push(LogLine::step("lists_compared", text));
            }
            Event::Proof(ProofEvent::VerdictGiven { verdict, findings, .. }) => {
                let text = format!("  verifier: {}, {}", verdict.told(), counted(findings.len() as u64, "finding"));
                lines.push(LogLine::step("verdict_given", text));
            }
            Event::Life(LifeEvent::TierChanged { tier, reason }) => {
                let text = format!("  the {} tier from here on: {}", tier.name(), short(reason));
                lines.push(LogLine::mark(LogLevel::Info, "tier_changed", text));
            }
            _ => {}
        }
    }
    lines
}

fn phase_begins(job: &Job) -> String {
    let phase = &job.phase;
    let title = match phase.kind {
        PhaseKind::Bootstrap | PhaseKind::Review => phase.title.clone(),
        PhaseKind::Planned => todo_board::place(job),
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
