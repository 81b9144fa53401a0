//! A report page's sections on parts of documents without extracted text, or with text recognised in images.

use super::{Column, ReportTable, Section, Style, batches::called, job_id, section};
use crate::report::{
    count::Report,
    facts::{JobFacts, NotRead, Recognised},
    words::counted,
};
use overnight_documents::AGAINST_GAPS;

pub(super) fn not_read(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[
        ("DOCUMENT", Column::Name),
        ("PART", Column::Words),
        ("WHY", Column::Sentence),
        ("JOB", Column::Words),
    ]);
    let row = |job: &JobFacts, part: &NotRead| {
        vec![part.document.clone().into(), part.part().into(), part.why.clone().into(), job_id(job, style)]
    };
    let page = &report.page;
    let jobs = report.jobs.iter().take_while(|_| page.parts_not_read > 0);
    let rows = jobs.flat_map(|job| job.not_read.iter().map(|part| row(&job, part)).collect::<Vec<_>>());
    let mut section = section("Not read", table.with_first_of(page.parts_not_read, rows))?;
    let of = counted(page.not_read, "job");
    section
        .lines
        .push(format!("Of these parts of the documents of {of} not all was read, and WHY says what is missing; what was read on the same pages may be in a result."));
    section.lines.push(format!("To have a document read: {AGAINST_GAPS}."));
    Some(section)
}

pub(super) fn recognised(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[("DOCUMENT", Column::Name), ("PART", Column::Words), ("JOB", Column::Words)]);
    let row =
        |job: &JobFacts, part: &Recognised| vec![part.document.clone().into(), part.part().into(), job_id(job, style)];
    let all = report.page.parts_recognised;
    let jobs = report.jobs.iter().take_while(|_| all > 0);
    let rows = jobs.flat_map(|job| job.recognised.iter().map(|part| row(&job, part)).collect::<Vec<_>>());
    let mut section = section("Recognised by OCR", table.with_first_of(all, rows))?;
    section.lines.push("These parts are images, and their characters were recognised: some may be wrong.".to_owned());
    Some(section)
}

pub(super) fn left_out(report: &Report) -> Option<Section> {
    let table = ReportTable::new(&[("BATCH", Column::Name), ("FILE", Column::Name), ("WHY", Column::Sentence)]);
    let rows = report
        .batches
        .iter()
        .flat_map(|batch| batch.left_out.iter().map(|file| vec![called(batch), file.path.clone(), file.why.clone()]));
    let mut section = section("Left out when submitted", table.with(rows))?;
    for batch in &report.batches {
        let (all, kept) = (batch.left_out_files, batch.left_out.len());
        if all > kept as u64 {
            section.lines.push(format!("Of batch {}, the first {kept} of {all}: more are not kept.", called(batch)));
        }
    }
    Some(section)
}
