//! A report page's section on jobs that need a person.

use super::{Column, MOST_ROWS, ReportTable, Section, Style, called, named, section, standing};
use crate::report::{
    cell::{PageCell, Tone},
    count::Report,
    needs::{Need, NeedKind, commands},
    words::{counted, short},
};
use overnight_core::job::record::HoldReason;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The common key of needs that are shown as one: kind, batch, hold reason, and sentence.
type Alike<'n> = (NeedKind, Option<Uuid>, Option<&'static str>, &'n str);

fn alike(need: &Need) -> Option<Alike<'_>> {
    match need.why {
        NeedKind::Held if need.batch.is_some() => {
            Some((need.why, need.batch, need.hold_reason.map(HoldReason::name), need.detail.as_str()))
        }
        NeedKind::Review
        | NeedKind::Held
        | NeedKind::Interrupted
        | NeedKind::Failed
        | NeedKind::Blocked
        | NeedKind::Partial
        | NeedKind::Gone
        | NeedKind::Broken
        | NeedKind::Deliverable
        | NeedKind::Records
        | NeedKind::Confidence => None,
    }
}

pub(super) fn needs(report: &Report, style: &Style<'_>) -> Option<Section> {
    if report.needs_person.is_empty() {
        let line = "Nothing needs a person.".to_owned();
        return Some(Section { title: "What needs a person", lines: vec![line], table: None });
    }
    let table = ReportTable::new(&[
        (called(report), Column::Name),
        ("WHY", Column::Words),
        ("WHAT", Column::Sentence),
        ("JOB", Column::Words),
        ("TYPE", Column::Command),
    ]);
    let (mut rows, mut more) = (Vec::new(), 0);
    // The reason for a batch's hold is shown once.
    let mut times_alike: BTreeMap<Alike<'_>, u64> = BTreeMap::new();
    for key in report.needs_person.iter().filter_map(alike) {
        *times_alike.entry(key).or_default() += 1;
    }
    for need in &report.needs_person {
        let times = alike(need).map_or(Some(1), |key| times_alike.remove(&key));
        let Some(times) = times else { continue };
        if rows.len() >= MOST_ROWS {
            more += 1;
            continue;
        }
        let alike = if times > 1 { format!("{}: ", counted(times, "job")) } else { String::new() };
        let id = (style.id)(need.job);
        let job = report.job(need.job);
        let batch = need.batch.map(|batch| batch.to_string());
        let why = standing(need.why.name(), need.hold_reason.filter(|_| need.why == NeedKind::Held));
        let mut cells: Vec<PageCell> = vec![
            job.map(|job| named(&job, style)).unwrap_or_default(),
            PageCell::toned(why, Tone::of_need(need.why)),
            (alike + &short(&need.detail)).into(),
            id.clone().into(),
        ];
        // Further alternatives are shown by `show`.
        for command in commands(need.why, need.hold_reason, &id, batch.as_deref()).into_iter().take(2) {
            rows.push([cells.clone(), vec![command.into()]].concat());
            cells = vec![PageCell::default(); cells.len()];
        }
    }
    section("What needs a person", ReportTable { more, ..table.with(rows) })
}
