//! Writes a snapshot as a table, or what changed as lines.

use super::snapshot::{BatchLine, JobLine, Snapshot};
use crate::{
    cli::{
        job_or_batch::{batch_name, short_label},
        jobs::{cost, short_id, standing},
        local_time, out,
        progress::{amount, counted},
        queue::STATUSES,
        table::{Align, TextTable, cut},
    },
    runner::now,
};
use overnight_core::job::{id::JobId, record::JobStatus, time::duration};
use std::{collections::BTreeMap, fmt::Write};

/// The jobs as a table, and their batches below it. `room`: the terminal's width, where it is one.
pub(super) fn table(snapshot: &Snapshot, room: Option<usize>) -> String {
    // Ids of jobs that were made together are long; where there is no room, they are what is missed least.
    let mut table = TextTable::new(&[
        ("LABEL", Align::Cut),
        ("PHASE", Align::Cut),
        ("DOING", Align::Cut),
        ("TURNS", Align::Right),
        ("TOKENS", Align::Right),
        ("USD", Align::Right),
        ("WORKED", Align::Right),
        ("LEFT", Align::Right),
        ("JOB", Align::Left),
    ]);
    for job in &snapshot.jobs {
        table.row(vec![
            short_label(job.called()),
            phase(job),
            current_work(job),
            job.turns.to_string(),
            amount(job.tokens_in.saturating_add(job.tokens_out)),
            cost(job.cost_usd.filter(|_| job.turns > 0)),
            duration(job.worked_ms),
            job.left_ms.map_or_else(|| "–".to_owned(), |ms| format!("~{}", duration(ms))),
            short_id(&job.id.to_string(), &snapshot.ids).to_owned(),
        ]);
    }
    let mut text = if snapshot.jobs.is_empty() { String::new() } else { table.render(room) };
    for batch in &snapshot.batches {
        let line = totals(batch);
        text += &room.map_or_else(|| line.clone(), |room| cut(&line, room));
        text.push('\n');
    }
    text
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
        | JobStatus::Held
        | JobStatus::Completed
        | JobStatus::Partial
        | JobStatus::Blocked
        | JobStatus::Failed
        | JobStatus::Cancelled => standing(job.status, job.hold_reason),
    }
}

/// `batch 'night': 12 jobs, 3 running, 9 completed; ~4m 10s left`.
fn totals(batch: &BatchLine) -> String {
    let parts = STATUSES.into_iter().map(|status| (batch.totals.of(status), status));
    let parts = parts.filter(|(number, _)| *number > 0).map(|(number, what)| format!(", {number} {what}"));
    let left = batch.left_ms.map(|ms| format!("; ~{} left", duration(ms))).unwrap_or_default();
    format!(
        "batch {}: {}{}{left}",
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
        let at = local_time::second(now());
        for job in snapshot.rested.iter().chain(&snapshot.jobs) {
            let does = if job.status == JobStatus::Running {
                format!("{}  {}", phase(job), current_work(job))
            } else {
                current_work(job)
            };
            if self.jobs.get(&job.id) == Some(&does) {
                continue;
            }
            let price = job.cost_usd.filter(|usd| *usd > 0.0).map(|usd| format!(", {usd:.2} USD")).unwrap_or_default();
            let line = format!(
                "{at}  {}  {}  {does}  ({}, {} tokens{price}, {})",
                short_id(&job.id.to_string(), &snapshot.ids),
                short_label(job.called()),
                counted(job.turns, "turn"),
                amount(job.tokens_in.saturating_add(job.tokens_out)),
                duration(job.worked_ms)
            );
            text += &(out::plain(&line) + "\n");
            self.jobs.insert(job.id, does);
        }
        for batch in &snapshot.batches {
            // The time that is left changes all the time.
            let line = totals(&BatchLine { left_ms: None, ..batch.clone() });
            if self.batches.get(&batch.batch) != Some(&line) {
                let _ = writeln!(text, "{at}  {}", totals(batch));
                self.batches.insert(batch.batch, line);
            }
        }
        text
    }
}
