//! The documents as an opening lists them, in three groups: those to be read, those shown with nothing recorded yet,
//! and those with records. If there is no room for all, those to be read are the last to be left out.

use super::opening::count_fitting;
use crate::{
    amount::{counted, grouped, percent},
    answer,
    job::{coverage::Coverage, spec::DocumentEntry, state::Job},
    tokens::estimate,
};
use std::{collections::BTreeMap, fmt::Write};

/// Percent of the tokens that the list of documents to be read may take, if there are other groups to list.
const TO_READ_PERCENT: u64 = 70;
/// Tokens of a group's heading and of the line that counts the rest.
const HEADING_TOKENS: u64 = 24;

/// The list of the documents, in at most `tokens` tokens.
pub(super) fn documents(job: &Job, tokens: u64) -> String {
    // Documents that are given with the first opening are still to be worked on, and are listed in full.
    let is_given = job.own.epoch.number == 0 && !job.own.epoch.unanswered().is_empty();
    let coverage = if is_given { job.own.coverage.clone() } else { job.coverage_shown() };
    let recorded = records_by_document(job);
    let (mut to_read, mut shown, mut done, mut unread) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for document in &job.spec.documents {
        let records = recorded.get(document.name.as_str()).copied().unwrap_or_default();
        if !coverage.gaps(document).is_empty() {
            to_read.push((document, records));
        } else if records > 0 {
            done.push((document, records));
        } else if document.tokens == 0 && !document.gaps.is_empty() {
            unread.push(document.name.clone());
        } else {
            shown.push(document);
        }
    }
    let has_more = !shown.is_empty() || !done.is_empty() || !unread.is_empty();
    let most = if has_more { tokens * TO_READ_PERCENT / 100 } else { tokens };
    let mut groups = Vec::new();
    if !to_read.is_empty() {
        let all: u64 = to_read.iter().map(|(document, _)| left_to_read(&coverage, document)).sum();
        let lines: Vec<String> =
            to_read.iter().map(|(document, records)| line(&coverage, document, *records)).collect();
        let fitting = count_fitting(lines.iter(), most.saturating_sub(HEADING_TOKENS));
        let what = if is_given { "Given below" } else { "To read" };
        let mut text =
            format!("{what} ({}, about {} tokens):", counted(to_read.len() as u64, "document"), grouped(all));
        for line in &lines[..fitting] {
            text.extend(["\n", line]);
        }
        if fitting < lines.len() {
            let _ = write!(text, "\n- {}", answer!("opening.more_documents", number = lines.len() - fitting));
        }
        groups.push(text);
    }
    let takes_records = job.spec.instructions.deliverables.iter().any(|deliverable| !deliverable.quotes.is_empty());
    if !shown.is_empty() {
        let heading = if takes_records { "Shown, nothing recorded yet" } else { "Read" };
        let names: Vec<String> = shown.iter().map(|document| document.name.clone()).collect();
        groups.push(names_told(heading, &names, left(tokens, &groups)));
    }
    if !done.is_empty() {
        let records: u64 = done.iter().map(|(_, records)| records).sum();
        let heading = format!("Read and recorded ({} records)", grouped(records));
        let names: Vec<String> =
            done.iter().map(|(document, records)| format!("{} {records}", document.name)).collect();
        groups.push(names_told(&heading, &names, left(tokens, &groups)));
    }
    if !unread.is_empty() {
        groups.push(names_told("No text could be got from", &unread, left(tokens, &groups)));
    }
    groups.join("\n")
}

/// `- a.pdf (PDF, 12 pages, about 3,400 tokens, 40 % shown, the rest from page 5, 2 recorded)`.
fn line(coverage: &Coverage, document: &DocumentEntry, records: u64) -> String {
    let units = if document.units == 1 { document.unit().to_owned() } else { format!("{}s", document.unit()) };
    let read = coverage.share(document);
    let mut text = format!(
        "- {} ({}, {} {units}, about {} tokens",
        document.name,
        document.format,
        document.units,
        grouped(document.read_tokens())
    );
    if let Some(day) = document.dated {
        let _ = write!(text, ", dated {day}");
    }
    if let Some((from, _)) = coverage.gaps(document).first().filter(|_| read > 0.0) {
        let _ = write!(text, ", {} shown, the rest from {} {from}", percent(read), document.unit());
    }
    if records > 0 {
        let _ = write!(text, ", {records} recorded");
    }
    match document.gaps.len() {
        0 => {}
        1 => text.push_str(", 1 part unreadable"),
        more => {
            let _ = write!(text, ", {more} parts unreadable");
        }
    }
    text.push(')');
    text
}

/// Estimated tokens of the part that was not shown yet.
fn left_to_read(coverage: &Coverage, document: &DocumentEntry) -> u64 {
    let whole = document.read_tokens();
    let shown = coverage.units(document).min(document.units);
    whole - whole * shown / document.units.max(1)
}

/// `Read: a.md, b.md and 12 more`: as many names as there is room for.
fn names_told(heading: &str, names: &[String], tokens: u64) -> String {
    let fitting = count_fitting(names.iter(), tokens.saturating_sub(HEADING_TOKENS));
    match (fitting, names.len()) {
        (0, all) => format!("{heading}: {}", counted(all as u64, "document")),
        (fitting, all) if fitting < all => {
            format!("{heading}: {} and {} more", names[..fitting].join(", "), all - fitting)
        }
        (_, _) => format!("{heading}: {}", names.join(", ")),
    }
}

/// The rest of `tokens` after the groups written so far.
fn left(tokens: u64, groups: &[String]) -> u64 {
    tokens.saturating_sub(groups.iter().map(|group| estimate(group)).sum())
}

/// The number of records in all deliverables that name each document, by its name in the job.
pub(crate) fn records_by_document(job: &Job) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for (named, count) in job.deliverables.values().flat_map(|state| &state.documents) {
        if let Some(document) = job.spec.named(named) {
            *counts.entry(document.name.as_str()).or_insert(0) += count;
        }
    }
    counts
}
