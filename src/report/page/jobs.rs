//! A report page's sections on each job, and on each job's deliverables.

use super::{Column, ReportTable, Section, Style, called, job_id, named, section, spent::cost, state};
use crate::report::{
    cell::{PageCell, Tone},
    count::Report,
    facts::{FileFacts, FileState, JobFacts},
    words::{counted, one_line},
};
use overnight_core::{
    amount::percent,
    job::{answered, record::JobStatus, time::duration},
};

pub(super) fn deliverables(report: &Report, style: &Style<'_>) -> Option<Section> {
    let sums = &report.deliverables;
    let table = ReportTable::new(&[
        (called(report), Column::Name),
        ("STATUS", Column::Words),
        ("STATE", Column::Words),
        ("FILE", Column::Name),
        ("BYTES", Column::Number),
        ("JOB", Column::Words),
    ])
    .with_minor(&["BYTES", "STATUS", "STATE"]);
    let rows = report.jobs.iter().take_while(|_| sums.files > 0).flat_map(|job| {
        let row = |file: &FileFacts| {
            let record = if job.packed { ".zip" } else { "" };
            let path = format!("{}{record}/{}", job.workspace, file.path);
            vec![
                named(&job, style),
                state(&job),
                PageCell::toned(file.state.name().to_owned(), as_delivered(file.state)),
                PageCell::linked(path, style.links.file(&job, file)),
                file.bytes.to_string().into(),
                job_id(&job, style),
            ]
        };
        job.deliverables.iter().map(row).collect::<Vec<_>>()
    });
    let mut section = section("Deliverables", table.with_first_of(sums.files, rows))?;
    section.lines.push(format!(
        "{} of {}, {}.",
        counted(sums.files, "file"),
        counted(sums.jobs, "job"),
        counted(sums.bytes, "byte")
    ));
    let lost = [
        (sums.changed, "changed since"),
        (sums.missing, "missing"),
        (sums.unreadable, "unreadable"),
        (sums.elsewhere, "on other machines, and not looked at"),
        (sums.stored, "in the workspace store, and not looked at"),
    ];
    let lost: Vec<String> =
        lost.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
    if !lost.is_empty() {
        section.lines.push(format!("Not as delivered: {}.", lost.join(", ")));
    }
    if let Some(collected) = &report.collected {
        section.lines.push(format!(
            "Collected: {}, {}, in {}; index.csv and index.json there list them.",
            counted(collected.files, "file"),
            counted(collected.bytes, "byte"),
            one_line(&collected.folder)
        ));
        section.lines.extend(collected.faults.iter().map(|fault| format!("Not as delivered: {}.", one_line(fault))));
    }
    Some(section)
}

pub(super) fn jobs(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[
        (called(report), Column::Name),
        ("STATUS", Column::Words),
        ("MODEL", Column::Name),
        ("DOCUMENTS", Column::Number),
        ("CREATED", Column::Words),
        ("WORKED", Column::Number),
        ("TURNS", Column::Number),
        ("USD", Column::Number),
        ("COVERAGE", Column::Number),
        ("CONFIDENCE", Column::Number),
        ("JOB", Column::Words),
    ])
    .with_minor(&["MODEL", "DOCUMENTS", "CREATED", "TURNS", "COVERAGE", "WORKED", "CONFIDENCE"]);
    let rows = report.jobs.iter().map(|job| {
        vec![
            named(&job, style),
            state(&job),
            answered::list_models(&job.models, &job.model).into(),
            job.documents.to_string().into(),
            (style.minute)(job.created).into(),
            worked(&job).into(),
            job.summary.turns.to_string().into(),
            cost(&job).into(),
            if job.summary.turns > 0 || job.same_as.is_some() {
                percent(job.summary.coverage)
            } else {
                "–".to_owned()
            }
            .into(),
            job.summary.confidence.map_or_else(|| "–".to_owned(), |confidence| confidence.to_string()).into(),
            job_id(&job, style),
        ]
    });
    section("All jobs", table.with_first_of(report.counts.jobs, rows))
}

fn worked(job: &JobFacts) -> String {
    if job.summary.worked_ms == 0 && job.summary.status != JobStatus::Running {
        "–".to_owned()
    } else {
        duration(job.summary.worked_ms)
    }
}

fn as_delivered(state: FileState) -> Tone {
    match state {
        FileState::AsDelivered => Tone::Good,
        FileState::Changed | FileState::Missing | FileState::Unreadable => Tone::Bad,
        FileState::Elsewhere | FileState::Stored => Tone::Plain,
    }
}
