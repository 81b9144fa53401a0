//! A report page's sections on batches, on jobs waiting in the queue, and on jobs that were given up.

use super::{Column, ReportTable, Section, Style, job_id, named, section, spent::known_cost, standing};
use crate::report::{
    batch::BatchFacts,
    cell::{PageCell, Tone},
    count::Report,
    words::{counted, short, usd},
};
use overnight_core::job::digest;

/// `of batch 'night'`, if all jobs are of one batch.
pub(super) fn of_one(report: &Report) -> String {
    match &report.batches[..] {
        [batch] if report.page.of_batches == report.counts.jobs => format!(" of batch {}", called(batch)),
        _ => String::new(),
    }
}

/// A batch's name, or its id.
pub(super) fn called(batch: &BatchFacts) -> String {
    match batch.name.as_deref().map(short).filter(|name| !name.is_empty()) {
        Some(name) => format!("'{name}'"),
        None => batch.id.to_string(),
    }
}

pub(super) fn batches(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[
        ("BATCH", Column::Name),
        ("INSTRUCTIONS", Column::Name),
        ("SHA-256", Column::Words),
        ("SUBMITTED", Column::Words),
        ("JOBS", Column::Number),
        ("ENDED", Column::Number),
        ("LINKED", Column::Number),
        ("USD", Column::Number),
        ("BUDGET", Column::Number),
        ("WINDOW", Column::Words),
    ])
    .with_minor(&["LINKED", "SHA-256", "WINDOW", "INSTRUCTIONS", "SUBMITTED"]);
    let rows = report.batches.iter().map(|batch| {
        let ended = batch.totals.ended();
        vec![
            called(batch),
            short(&batch.instructions),
            digest::short(&batch.instructions_sha256).to_owned(),
            (style.minute)(batch.created),
            batch.jobs.to_string(),
            ended.to_string(),
            batch.totals.linked.to_string(),
            known_cost(batch.spent_usd, batch.unpriced_jobs == 0),
            batch.budget_usd.map_or_else(|| "–".to_owned(), usd),
            batch.time_window.as_deref().map_or_else(|| "–".to_owned(), short),
        ]
    });
    let mut section = section("Batches", table.with(rows))?;
    let in_report = report.page.of_batches;
    let all: u64 = report.batches.iter().map(|batch| batch.jobs).sum();
    if in_report < all {
        let rest = counted(all - in_report, "job");
        section.lines.push(format!("The numbers are of whole batches: {rest} of them not in this report."));
    }
    for batch in &report.batches {
        if batch.budget_usd.is_some_and(|budget| batch.spent_usd >= budget) {
            section.lines.push(format!("The budget of batch {} is spent.", called(batch)));
        }
    }
    for batch in &report.batches {
        if let Some(told) = &batch.cascade {
            section.lines.push(format!("Cascade of {}: {told}.", called(batch)));
        }
    }
    Some(section)
}

pub(super) fn waiting(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[("STATUS", Column::Words), ("JOBS", Column::Number), ("WAITS", Column::Sentence)]);
    let rows = report.waiting.iter().map(|sum| {
        let status = standing(sum.status.name(), sum.hold_reason);
        let status = PageCell::toned(status, Tone::of_status(sum.status));
        vec![status, sum.jobs.to_string().into(), sum.words(style.minute).into()]
    });
    section("Waiting", table.with(rows))
}

pub(super) fn given_up(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[
        ("LABEL", Column::Name),
        ("ATTEMPTS", Column::Words),
        ("REASON", Column::Sentence),
        ("JOB", Column::Words),
    ]);
    let rows = report.given_up.iter().filter_map(|id| report.job(*id)).map(|job| {
        vec![
            named(&job, style),
            format!("{} of {}", job.attempts.unwrap_or_default(), job.max_attempts.unwrap_or_default()).into(),
            short(job.summary.reason.as_deref().unwrap_or_default()).into(),
            job_id(&job, style),
        ]
    });
    section("Given up", table.with_first_of(report.given_up.len() as u64, rows))
}
