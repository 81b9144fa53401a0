//! A report page's sections on the cost, and on the jobs with the largest share of it.

use super::{Column, ReportTable, Section, Style, called, job_id, named, section};
use crate::report::{
    count::{Report, tokens},
    facts::JobFacts,
    words::{counted, usd},
};
use overnight_core::{
    amount::{COST_UNKNOWN, percent},
    job::{answered::PaidRole, id::JobId, time::duration},
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
    if PaidRole::is_telling(&report.paid) {
        rows.extend(report.paid.iter().map(|paid| {
            let (turns, tokens) = (counted(paid.turns, "turn"), paid.tokens_in + paid.tokens_out);
            let cost = known_cost(paid.priced_usd, paid.unpriced_turns == 0);
            vec![format!("of all that, {}", paid.told()), format!("{turns}, {tokens} tokens, {cost} USD")]
        }));
    }
    let savings = PaidRole::savings(&report.paid);
    let mut lines: Vec<String> = savings.into_iter().map(|told| format!("{told}.")).collect();
    if let Some(cost) = spent.cost_usd {
        rows.push(vec!["USD".to_owned(), usd(cost)]);
    } else {
        rows.push(vec!["USD, where known".to_owned(), usd(spent.priced_usd)]);
        let turns = spent.unpriced_turns.map(|turns| format!(" ({})", counted(turns, "turn"))).unwrap_or_default();
        let jobs = counted(spent.unpriced_jobs, "job");
        lines.push(format!("Cost unknown in {jobs}{turns}: no price is known there, and the sum is a lower bound."));
    }
    (report.counts.jobs > 0).then(|| Section { title: "Spent", lines, table: Some(table.with(rows)) })
}

/// The cost of a job; a lower bound is marked as such.
pub(super) fn cost(job: &JobFacts) -> String {
    if job.summary.turns == 0 { "–".to_owned() } else { known_cost(job.priced_usd, job.summary.cost_usd.is_some()) }
}

/// A cost in USD, of which `known_usd` is known.
pub(super) fn known_cost(known_usd: f64, is_all_known: bool) -> String {
    match (is_all_known, known_usd > 0.0) {
        (true, _) => usd(known_usd),
        (false, true) => format!("more than {}", usd(known_usd)),
        (false, false) => COST_UNKNOWN.to_owned(),
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
            duration(job.summary.worked_ms).into(),
            job.summary.turns.to_string().into(),
            tokens(&job).to_string().into(),
            cost(&job).into(),
            job_id(&job, style),
        ]
    });
    section(title, table.with(rows))
}
