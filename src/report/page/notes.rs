//! What a report's page says of what the models noted under their results. A note is for the reader, and asks for nothing.

use super::{Column, ReportTable, Section, Style, called, job_id, named, section};
use crate::report::{count::Report, facts::JobFacts, words::short};
use std::collections::BTreeMap;

/// Each note once, with the first job that has it.
pub(super) fn notes(report: &Report, style: &Style<'_>) -> Option<Section> {
    let mut times: BTreeMap<String, u64> = BTreeMap::new();
    let mut first: Vec<(&JobFacts, String)> = Vec::new();
    for job in report.jobs.iter().filter(|job| job.same_as.is_none()) {
        let Some(note) = job.notes.as_deref().filter(|notes| says_something(notes)).map(short) else { continue };
        let number = times.entry(note.clone()).or_default();
        *number += 1;
        if *number == 1 {
            first.push((job, note));
        }
    }
    let table = ReportTable::new(&[
        ("JOBS", Column::Number),
        ("NOTE", Column::Sentence),
        (called(report), Column::Name),
        ("JOB", Column::Words),
    ]);
    let rows = first.into_iter().map(|(job, note)| {
        let number = times.get(&note).copied().unwrap_or_default();
        vec![number.to_string().into(), note.into(), named(job, style), job_id(job, style)]
    });
    section("Notes of the models", table.with(rows))
}

/// Whether the notes hold anything: models often write that there are none.
fn says_something(notes: &str) -> bool {
    let said = notes.trim().trim_end_matches('.').to_lowercase();
    !["", "none", "no", "no notes", "n/a", "-"].contains(&said.as_str())
}
