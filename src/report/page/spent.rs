//! What a report's page says of what was spent, and which jobs took most of it.

use super::{Column, ReportTable, Section, Style, called, job_id, named, section};
use crate::report::{
    count::{Report, tokens},
    facts::JobFacts,
    words::{counted, usd},
};
use overnight_core::{
    amount::percent,
    job::{id::JobId, time::duration},
};

pub(super) fn spent(report: &Report) -> Option<Section> {
    let spent = &report.spent;
    let table = ReportTable::new(&[("WHAT", Column::Words), ("SUM", Column::Number)]);
    let cached = spent.cached_share.map(|share| format!(" ({})", percent(share))).unwrap_or_default();
    let mut rows = vec![
        vec!["turns".to_owned(), spent.turns.to_string()],
        vec!["tokens in".to_owned(), spent.tokens_in.to_string()],
        vec!["of these cached".to_owned(), format!("{}{cached}", spent.tokens_cached)],
        vec!["tokens out".to_owned(), spent.tokens_out.to_string()],
        vec!["time of work".to_owned(), duration(spent.worked_ms)],
    ];
    let mut lines = Vec::new();
    if let Some(cost) = spent.cost_usd {
        rows.push(vec!["USD".to_owned(), usd(cost)]);
    } else {
        rows.push(vec!["USD, where known".to_owned(), usd(spent.priced_usd)]);
        let turns = spent.unpriced_turns.map(|turns| format!(" ({})", counted(turns, "turn"))).unwrap_or_default();
        lines.push(format!(
            "The price is not known in {}{turns}: the cost is more than the sum says.",
            counted(spent.unpriced_jobs, "job")
        ));
    }
    (report.counts.jobs > 0).then(|| Section { title: "Spent", lines, table: Some(table.with(rows)) })
}

/// What a job cost; a lower bound says so.
pub(super) fn cost(job: &JobFacts) -> String {
    match job.cost_usd {
        _ if job.turns == 0 => "–".to_owned(),
        Some(cost) => usd(cost),
        None if job.priced_usd > 0.0 => format!("more than {}", usd(job.priced_usd)),
        None => "not known".to_owned(),
    }
}

pub(super) fn ranked(report: &Report, style: &Style<'_>, title: &'static str, ids: &[JobId]) -> Option<Section> {
    let table = ReportTable::new(&[
        (called(report), Column::Name),
        ("WORKED", Column::Number),
        ("TURNS", Column::Number),
        ("TOKENS", Column::Number),
        ("USD", Column::Number),
        ("JOB", Column::Words),
    ])
    .with_minor(&["TOKENS", "TURNS"]);
    let rows = ids.iter().filter_map(|id| report.job(*id)).map(|job| {
        vec![
            named(&job, style),
            duration(job.worked_ms).into(),
            job.turns.to_string().into(),
            tokens(&job).to_string().into(),
            cost(&job).into(),
            job_id(&job, style),
        ]
    });
    section(title, table.with(rows))
}
