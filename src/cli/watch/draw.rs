//! Writes a snapshot as a table, or the changes as lines.

use super::snapshot::{BatchLine, JobLine, Snapshot};
use crate::{
    cli::{
        job_or_batch::{batch_name, short_label},
        jobs::{cost, standing},
        local_time, out,
        progress::{amount, counted, ends_text, rate_text},
        queue::STATUSES,
        table::{Align, TextTable, coloured, cut},
    },
    report::cell::Tone,
};
use overnight_core::amount::{COST_UNKNOWN, cost_of_all};
use overnight_core::job::{
    id::JobId,
    record::JobStatus,
    time::{Timestamp, duration},
};
use std::{collections::BTreeMap, fmt::Write, time::Duration};

/// The letters of a bar.
const BAR: usize = 16;

/// The jobs as a table, and below it their progress, or that of their batches. `room` is the terminal's width and
/// height, if stdout is a terminal; jobs beyond its height are only counted.
pub(super) fn table(snapshot: &Snapshot, room: Option<(usize, usize)>) -> String {
    let below = progress(snapshot, room.map(|(width, _)| width));
    let width = room.map(|(width, _)| width);
    let lines = room.map_or(usize::MAX, |(_, height)| height.saturating_sub(below.lines().count() + 1).max(1));
    // One line is for the number of jobs left out.
    let most = if snapshot.jobs.len() > lines { lines - 1 } else { lines };
    let mut table = TextTable::new(&[
        ("LABEL", Align::Middle),
        ("PHASE", Align::Cut),
        ("DOING", Align::Cut),
        ("TURNS", Align::Right),
        ("TOKENS", Align::Right),
        ("USD", Align::Right),
        ("WORKED", Align::Right),
        ("LEFT", Align::Right),
        ("JOB", Align::Left),
    ])
    .with_minor(&["TOKENS", "WORKED", "TURNS", "USD", "LEFT"]);
    for job in snapshot.jobs.iter().take(most) {
        table.row(vec![
            short_label(job.called()),
            phase(job),
            current_work(job),
            job.turns.to_string(),
            amount(job.tokens_in.saturating_add(job.tokens_out)),
            cost(job.turns, job.cost_usd),
            duration(job.worked_ms),
            job.left_ms.map_or_else(|| "–".to_owned(), |ms| format!("~{}", duration(ms))),
            snapshot.ids.short(&job.id.to_string()).to_owned(),
        ]);
    }
    let mut text = if snapshot.jobs.is_empty() { String::new() } else { table.render(width) };
    if let Some(more) = snapshot.jobs.len().checked_sub(most).filter(|more| *more > 0) {
        let _ = writeln!(text, "{more} more: overnight jobs --status running lists them");
    }
    text + &below
}

/// The progress of each batch, or of the one job that is watched.
fn progress(snapshot: &Snapshot, width: Option<usize>) -> String {
    let mut text = String::new();
    let mut put = |line: &str| {
        text += line;
        text.push('\n');
    };
    for batch in &snapshot.batches {
        let pace = pace(batch, snapshot.at);
        match width {
            None => put(&(totals(batch) + &pace)),
            Some(width) => {
                put(&cut(&totals(batch), width));
                let line = share(batch.totals.ended(), batch.jobs) + &pace;
                put(&bar(batch.totals.ended(), batch.jobs, width, &line));
            }
        }
    }
    if let ([job], Some(width), true) = (&snapshot.jobs[..], width, snapshot.is_one_job) {
        let (done, all) = (u64::from(job.phases_complete), u64::from(job.phases_planned));
        put(&bar(done, all, width, &job_progress(job, snapshot.at)));
    }
    text
}

/// `2 of 4 phases, 3 of 5 todos; 12 turns an hour; …`.
fn job_progress(job: &JobLine, at: Timestamp) -> String {
    let mut text = format!("{} of {} phases", job.phases_complete, job.phases_planned);
    if job.todos > 0 {
        let _ = write!(text, ", {} of {} todos", job.todos_completed, job.todos);
    }
    if let Some(rate) = job.turns.saturating_mul(3_600_000).checked_div(job.worked_ms) {
        let _ = write!(text, "; {rate} turns an hour");
    }
    text + &ends(job.left_ms, at) + &so_far(job.cost_usd.unwrap_or_default(), job.turns == 0 || job.cost_usd.is_some())
}

/// `; 41 an hour; ends ~06:40 +01:00 (in 4h 35m); 12.31 USD`.
fn pace(batch: &BatchLine, at: Timestamp) -> String {
    let rate = batch.ended_an_hour.map(|rate| format!("; {}", rate_text(rate))).unwrap_or_default();
    rate + &ends(batch.left_ms, at) + &so_far(batch.spent_usd, batch.unpriced_jobs == 0)
}

fn ends(left_ms: Option<u64>, at: Timestamp) -> String {
    left_ms.map(|ms| format!("; {}", ends_text(at, Duration::from_millis(ms)))).unwrap_or_default()
}

fn so_far(usd: f64, is_known: bool) -> String {
    if usd > 0.0 || !is_known { format!("; {}", cost_of_all(usd, is_known)) } else { String::new() }
}

/// `62 %`.
fn share(done: u64, all: u64) -> String {
    format!("{} %", (done * 100).checked_div(all).unwrap_or_default())
}

/// A bar with its text, in `width` columns.
fn bar(done: u64, all: u64, width: usize, text: &str) -> String {
    let length = BAR.min(width / 5);
    let full = usize::try_from((done * length as u64).checked_div(all).unwrap_or_default()).unwrap_or(length);
    let text = cut(text, width.saturating_sub(length + 2));
    format!("{}{}  {text}", coloured("━".repeat(full.min(length)), Tone::Good), "─".repeat(length.saturating_sub(full)))
}

/// `2 of 4: Extraction`.
fn phase(job: &JobLine) -> String {
    let title = short_label(&job.phase_title);
    if title.is_empty() || job.phase == title.to_lowercase() {
        job.phase.clone()
    } else {
        format!("{}: {title}", job.phase)
    }
}

fn current_work(job: &JobLine) -> String {
    match job.status {
        JobStatus::Running => job.todo.as_deref().map_or_else(|| "–".to_owned(), short_label),
        JobStatus::Queued
        | JobStatus::Waiting
        | JobStatus::Held
        | JobStatus::Completed
        | JobStatus::Partial
        | JobStatus::Blocked
        | JobStatus::Failed
        | JobStatus::Cancelled => standing(job.status, job.hold_reason),
    }
}

/// `batch 'night': 12 jobs, 3 running, 9 completed`.
fn totals(batch: &BatchLine) -> String {
    let parts = STATUSES.into_iter().map(|status| (batch.totals.of(status), status));
    let parts = parts.filter(|(number, _)| *number > 0).map(|(number, what)| format!(", {number} {what}"));
    format!(
        "batch {}: {}{}",
        batch_name(batch.batch, batch.name.as_deref()),
        counted(batch.jobs, "job"),
        parts.collect::<String>()
    )
}

/// The lines that were written last, to find what changed.
#[derive(Default)]
pub(super) struct ChangedLines {
    jobs: BTreeMap<JobId, String>,
    batches: BTreeMap<uuid::Uuid, String>,
}

impl ChangedLines {
    /// A line for each job that rests, that goes on to another phase or todo, and for each batch whose numbers changed.
    pub(super) fn changed(&mut self, snapshot: &Snapshot) -> String {
        let mut text = String::new();
        let at = local_time::second(snapshot.at);
        for job in snapshot.rested.iter().chain(&snapshot.jobs) {
            let does = if job.status == JobStatus::Running {
                format!("{}  {}", phase(job), current_work(job))
            } else {
                current_work(job)
            };
            if self.jobs.get(&job.id) == Some(&does) {
                continue;
            }
            let price = match job.cost_usd {
                Some(usd) if usd > 0.0 => format!(", {usd:.2} USD"),
                None if job.turns > 0 => format!(", {COST_UNKNOWN}"),
                Some(_) | None => String::new(),
            };
            let line = format!(
                "{at}  {}  {}  {does}  ({}, {} tokens{price}, {})",
                snapshot.ids.short(&job.id.to_string()),
                short_label(job.called()),
                counted(job.turns, "turn"),
                amount(job.tokens_in.saturating_add(job.tokens_out)),
                duration(job.worked_ms)
            );
            text += &(out::plain(&line) + "\n");
            self.jobs.insert(job.id, does);
        }
        for batch in &snapshot.batches {
            // The remaining time is left out of the comparison, because it changes all the time.
            let line = totals(batch);
            if self.batches.get(&batch.batch) != Some(&line) {
                let _ = writeln!(text, "{at}  {line}{}", pace(batch, snapshot.at));
                self.batches.insert(batch.batch, line);
            }
        }
        text
    }
}
