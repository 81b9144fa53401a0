//! A report page's section on the models' notes on their results. A note is information, and asks for no action.

use super::{Column, ReportTable, Section, Style, called, job_id, named, section};
use crate::report::count::Report;

/// Each different note once, with the first job that has it.
pub(super) fn notes(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[
        ("JOBS", Column::Number),
        ("NOTE", Column::Sentence),
        (called(report), Column::Name),
        ("JOB", Column::Words),
    ]);
    let notes = &report.page.notes;
    let rows = notes.iter().filter_map(|(note, times, first)| {
        let job = report.job(*first)?;
        Some(vec![times.to_string().into(), note.clone().into(), named(&job, style), job_id(&job, style)])
    });
    section("Notes of the models", table.with_first_of(notes.len() as u64, rows))
}
