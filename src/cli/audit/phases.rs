//! `overnight audit JOB`: the phases, and `--phase N`: one of them with all its attempts.

use crate::{
    audit::{
        people::PersonAct,
        plan_diff::plan_diff,
        timeline::{PhaseRecord, Spending, Timeline, timeline},
    },
    cli::{
        CliError, exit,
        job_location::JobLocation,
        jobs::{cost, standing},
        local_time, out,
        progress::counted,
        table::{self, Align, TextTable},
    },
};
use overnight_core::amount;
use overnight_core::job::{
    answered::{ModelTurns, list_models},
    event::ShownPart,
    id::JobId,
    record::{HoldReason, JobStatus},
    state::Job,
    time::duration,
    todo::Todo,
};
use serde::Serialize;
use std::fmt::Write;

/// `--json`. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize)]
struct PhaseListView<'t> {
    id: JobId,
    status: JobStatus,
    hold_reason: Option<HoldReason>,
    reason: Option<String>,
    instructions: &'t str,
    /// The model that the job began with.
    model: &'t str,
    /// The models that answered, with their numbers of turns.
    models: &'t [ModelTurns],
    /// The lessons of earlier jobs, approved by a person, that this job was shown.
    lessons: &'t [String],
    lessons_sha256: Option<&'t str>,
    journal_seq: u64,
    journal_head: &'t str,
    phases: &'t [PhaseRecord],
    /// The actions of people, the oldest first.
    people: &'t [PersonAct],
    /// The damage at the journal's end, in a sentence.
    damage: Option<String>,
    /// Spending on planning that has not led to a phase yet.
    since: Spending,
}

/// One attempt in `--phase N --json`.
#[derive(Debug, Serialize)]
struct AttemptView<'t> {
    phase: &'t PhaseRecord,
    /// A unified diff; empty if the plan did not change.
    plan_diff: String,
}

/// Lists the phases.
pub(super) fn list(location: &JobLocation, as_json: bool) -> Result<u8, CliError> {
    let timeline = timeline(&location.path)?;
    let job = &timeline.job;
    let (status, hold_reason, reason) = job.job_status();
    let damage = location.damage(timeline.journal_end());
    let shown = PhaseListView {
        id: job.spec.id,
        status,
        hold_reason,
        reason,
        instructions: &job.spec.instructions.name,
        model: &job.spec.model,
        models: &job.answered.models,
        lessons: &job.spec.instructions.lessons.lines,
        lessons_sha256: Some(job.spec.instructions.lessons.sha256.as_str()).filter(|hash| !hash.is_empty()),
        journal_seq: timeline.seq,
        journal_head: &timeline.head,
        phases: &timeline.phases,
        people: &timeline.people,
        damage,
        since: timeline.since,
    };
    out::answer(as_json, &shown, || {
        let mut text = heading(job);
        text.push_str(&table(&timeline).render(table::room()));
        for phase in &timeline.phases {
            if let Some(issue) = &phase.issue {
                let _ = writeln!(text, "{} {}: {}", name(phase), phase.outcome, out::one_line(issue));
            }
        }
        for act in &timeline.people {
            let _ = writeln!(text, "{}  {}", local_time::second(act.at), out::one_line(&act.told()));
        }
        if let Some(damage) = &shown.damage {
            let _ = writeln!(text, "{damage}");
        }
        text
    })?;
    Ok(exit::COMPLETED)
}

fn heading(job: &Job) -> String {
    let (status, hold, reason) = job.job_status();
    let reason = reason.map(|reason| format!(": {}", out::one_line(&reason))).unwrap_or_default();
    let lessons = &job.spec.instructions.lessons;
    let lessons = match lessons.lines.len() {
        0 => String::new(),
        number => format!("shown {} of earlier jobs (sha256 {})\n", counted(number as u64, "lesson"), lessons.sha256),
    };
    format!(
        "job {}: {}, model {}, {}{reason}\n{lessons}\n",
        job.spec.id,
        out::one_line(&job.spec.instructions.name),
        out::one_line(&list_models(&job.answered.models, &job.spec.model)),
        standing(status, hold)
    )
}

/// `phase 2, attempt 3`.
fn name(phase: &PhaseRecord) -> String {
    format!("phase {}, attempt {}", phase.number, phase.attempt)
}

fn table(timeline: &Timeline) -> TextTable {
    let mut table = TextTable::new(&[
        ("PHASE", Align::Right),
        ("ATTEMPT", Align::Right),
        ("TITLE", Align::Cut),
        ("KIND", Align::Left),
        ("OUTCOME", Align::Left),
        ("TODOS", Align::Right),
        ("TURNS", Align::Right),
        ("TOKENS", Align::Right),
        ("USD", Align::Right),
        ("TIME", Align::Right),
    ]);
    let row = |location: [String; 2], words: [&str; 3], todos: String, spent: &Spending| {
        let mut cells = location.to_vec();
        cells.extend(words.map(str::to_owned));
        cells.extend([
            todos,
            spent.turns.to_string(),
            (spent.tokens_in + spent.tokens_out).to_string(),
            cost(spent.turns, spent.cost_usd),
            duration(spent.worked_ms),
        ]);
        cells
    };
    for phase in &timeline.phases {
        table.row(row(
            [phase.number.to_string(), phase.attempt.to_string()],
            [&phase.title, &phase.kind, phase.outcome_told()],
            format!("{}/{}", phase.todos_completed, phase.todos.len()),
            &phase.spent,
        ));
    }
    if timeline.since.turns > 0 {
        table.row(row([String::new(), String::new()], ["planning", "", ""], String::new(), &timeline.since));
    }
    let totals = &timeline.job.totals;
    let all = Spending {
        turns: totals.spent.turns,
        tokens_in: totals.spent.usage.input,
        tokens_out: totals.spent.usage.output,
        cost_usd: totals.spent.cost(),
        worked_ms: totals.worked_ms,
        ..Spending::default()
    };
    table.row(row([String::new(), String::new()], ["all", "", ""], String::new(), &all));
    table
}

/// Shows all attempts of phase `number`.
pub(super) fn one(location: &JobLocation, number: u32, as_json: bool) -> Result<u8, CliError> {
    let timeline = timeline(&location.path)?;
    let mut attempts = Vec::new();
    for (at, phase) in timeline.attempts(number)? {
        attempts.push(AttemptView { phase, plan_diff: plan_diff(&location.path, &timeline, at)? });
    }
    out::answer(as_json, &attempts, || {
        let room = table::room();
        let texts: Vec<String> = attempts.iter().map(|attempt| attempt.text(&timeline.job, room)).collect();
        texts.join("\n")
    })?;
    Ok(exit::COMPLETED)
}

impl AttemptView<'_> {
    fn text(&self, job: &Job, room: Option<usize>) -> String {
        let phase = self.phase;
        let mut text = format!("{}: {} ({})\n", name(phase), out::one_line(&phase.title), phase.kind);
        let mut fact = |name: &str, value: &str| {
            let _ = writeln!(text, "  {name:<9}{value}");
        };
        let issue = phase.issue.as_deref().map(|issue| format!(": {}", out::one_line(issue))).unwrap_or_default();
        fact("outcome", &format!("{}{issue}", phase.outcome_told()));
        let ended = phase.ended.map(|at| format!(" to {}", local_time::second(at))).unwrap_or_default();
        fact(
            "time",
            &format!("{}{ended}, {} of work", local_time::second(phase.started), duration(phase.spent.worked_ms)),
        );
        fact("turns", &turns(&phase.spent));
        fact("model", &out::one_line(&list_models(&phase.models, "–")));
        fact("tokens", &tokens(&phase.spent));
        if let Some(archive) = &phase.archive {
            fact("archive", &format!("archive/{archive}"));
        }
        text.push_str("\nTodos\n");
        for (number, todo) in (1_usize..).zip(&phase.todos) {
            text.push_str(&todo_lines(number, todo));
        }
        text.push_str("\nPlan\n");
        if self.plan_diff.is_empty() {
            text.push_str("  unchanged\n");
        } else {
            text.push_str(&out::plain(&self.plan_diff));
        }
        text.push_str(&section("\nFiles written", &files(phase, room), phase.files.is_empty()));
        text.push_str(&section("\nFirst shown to the model", &parts(job, &phase.shown), phase.shown.is_empty()));
        if !phase.shown_to_sub_agents.is_empty() {
            text.push_str(&section("\nShown to sub-agents", &parts(job, &phase.shown_to_sub_agents), false));
        }
        for (heading, lines) in [("\nNotes", &phase.notes), ("\nWarnings", &phase.warnings)] {
            if !lines.is_empty() {
                let lines = lines.iter().fold(String::new(), |text, line| text + "  " + &out::one_line(line) + "\n");
                text.push_str(&section(heading, &lines, false));
            }
        }
        text
    }
}

/// Parts of documents, one a line.
fn parts(job: &Job, parts: &[ShownPart]) -> String {
    let mut text = String::new();
    for part in parts {
        let unit = job.spec.document(&part.document).map_or("line", |document| document.unit_name());
        let range = if part.from == part.to {
            format!("{unit} {}", part.from)
        } else {
            format!("{unit}s {}-{}", part.from, part.to)
        };
        let _ = writeln!(text, "  {} {range}", out::one_line(&part.document));
    }
    text
}

fn section(heading: &str, lines: &str, is_empty: bool) -> String {
    format!("{heading}\n{}", if is_empty { "  none\n" } else { lines })
}

/// `12 (2 of planning), 31 to 42`.
fn turns(spent: &Spending) -> String {
    let planning = match spent.planning_turns {
        0 => String::new(),
        turns => format!(" ({turns} of planning)"),
    };
    let range = match (spent.first_turn, spent.last_turn) {
        (Some(first), Some(last)) if first < last => format!(": {first} to {last}"),
        (Some(first), _) => format!(": {first}"),
        (None, _) => String::new(),
    };
    format!("{}{planning}{range}", spent.turns)
}

/// `12345 in (81 % cached), 678 out, 0.12 USD`.
pub(in crate::cli) fn tokens(spent: &Spending) -> String {
    let cached = (spent.tokens_cached * 100)
        .checked_div(spent.tokens_in)
        .filter(|percent| *percent > 0)
        .map(|percent| format!(" ({percent} % cached)"))
        .unwrap_or_default();
    format!("{} in{cached}, {} out, {}", spent.tokens_in, spent.tokens_out, amount::cost(spent.cost_usd))
}

/// The text of a todo, its status, and the time.
fn todo_lines(number: usize, todo: &Todo) -> String {
    let mark = if todo.unevidenced { ", unevidenced" } else { "" };
    let time = match (todo.started, todo.completed) {
        (Some(started), Some(completed)) => {
            // A todo that was completed with others in one reply has no time of its own.
            let took = Some(completed.millis_since(started)).filter(|took| *took >= 1_000);
            let took = took.map(|took| format!(" in {}", duration(took))).unwrap_or_default();
            format!(", {}{took}", local_time::second(completed))
        }
        (Some(started), None) => format!(", begun {}", local_time::second(started)),
        (None, _) => String::new(),
    };
    let mut text = format!("  {number}. {} [{}{mark}{time}]\n", out::one_line(&todo.content), todo.status);
    if let Some(outcome) = &todo.outcome {
        let _ = writeln!(text, "     {}", out::one_line(outcome));
    }
    text
}

fn files(phase: &PhaseRecord, room: Option<usize>) -> String {
    let mut table = TextTable::new(&[("SHA-256", Align::Left), ("SIZE", Align::Right), ("FILE", Align::Left)]);
    for file in &phase.files {
        table.row(vec![file.sha256.clone(), counted(file.bytes, "byte"), file.path.clone()]);
    }
    let text = table.render(room.map(|room| room.saturating_sub(2)));
    text.lines().fold(String::new(), |text, line| text + "  " + line + "\n")
}
