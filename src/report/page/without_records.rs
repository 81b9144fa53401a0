//! What a report's page says of jobs that came to an end without one record: nothing was there, or nothing was seen.

use super::{Column, ReportTable, Section, Style, called, job_id, named, section};
use crate::report::count::Report;

/// Each of them by name.
pub(super) fn without_records(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[(called(report), Column::Name), ("STATUS", Column::Words), ("JOB", Column::Words)]);
    let empty = report.jobs.iter().filter(|job| job.without_records && job.same_as.is_none());
    let rows = empty.map(|job| vec![named(job, style), job.standing().to_string().into(), job_id(job, style)]);
    section("Without any record", table.with(rows))
}
