//! A report page's section on jobs that ended without a record: either there was none, or the model missed it.

use super::{Column, ReportTable, Section, Style, called, job_id, named, section};
use crate::report::{count::Report, facts::JobFacts};

/// Each of these jobs by name.
pub(super) fn without_records(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[(called(report), Column::Name), ("STATUS", Column::Words), ("JOB", Column::Words)]);
    let all = report.page.without_records;
    let empty = report.jobs.iter().take_while(|_| all > 0).filter(JobFacts::is_told_without_records);
    let rows = empty.map(|job| vec![named(&job, style), job.standing().to_string().into(), job_id(&job, style)]);
    section("Without any record", table.with_first_of(all, rows))
}
