//! The lists of both readers, with the place of each record's quote; and the places of the quotes in a verdict.

use super::{RunError, quote_positions::QuoteCheck};
use crate::workspace::Workspace;
use overnight_core::{
    job::{
        arguments::{Fault, GiveVerdict},
        comparison::{ListedRecord, Lists},
        contract::{NamedPlace, NamedUnit},
        instructions::{Deliverable, Quotes},
        json_path::JsonPath,
        part_reading::DoubledRecord,
        read_unit::ReadUnit,
        second_reading::overlaps,
        state::Job,
    },
    machine::{FoundQuote, effect::EffectResult, part_reading::shown_to},
};
use serde_json::Value;

/// Bytes of the largest list that is read.
const MOST_BYTES: u64 = 64 << 20;

/// Both lists, once the second reading is over; none before.
pub(super) fn read(job: &Job, workspace: &Workspace) -> Result<Option<Lists>, RunError> {
    let (Some(wanted), Some(reading)) = (&job.spec.instructions.second_reader, &job.proof.reading) else {
        return Ok(None);
    };
    if !reading.queue.is_empty() {
        return Ok(None);
    }
    let Some(deliverable) = job.spec.instructions.deliverables.iter().find(|known| known.path == wanted.deliverable)
    else {
        return Ok(None);
    };
    let mut quotes = QuoteCheck::new(job, workspace);
    let first = records(workspace, deliverable, (&deliverable.path, None), &mut quotes)?;
    let mut second = Vec::new();
    for (_, file, units) in &reading.files {
        second.extend(records(workspace, deliverable, (file, Some(units)), &mut quotes)?);
    }
    Ok(Some(Lists { first, second }))
}

/// The records of a file whose quotes are found in its reader's parts. A second reader without a record has no file.
fn records(
    workspace: &Workspace,
    deliverable: &Deliverable,
    (path, units): (&str, Option<&[ReadUnit]>),
    quotes: &mut QuoteCheck<'_>,
) -> Result<Vec<ListedRecord>, RunError> {
    let content = match workspace.read_at_most(path, MOST_BYTES) {
        Ok(content) => content,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut listed = Vec::new();
    let (Ok(value), Some(rule)) = (serde_json::from_slice::<Value>(&content), deliverable.quotes.first()) else {
        return Ok(listed);
    };
    let Ok(each) = JsonPath::parse(&rule.each) else { return Ok(listed) };
    each.each(&value, &mut |place, item| listed.extend(record(rule, (place, item), units, quotes)));
    Ok(listed)
}

fn record(
    rule: &Quotes,
    (place, item): (&str, &Value),
    units: Option<&[ReadUnit]>,
    quotes: &mut QuoteCheck<'_>,
) -> Option<ListedRecord> {
    let quote = item.get(&rule.text)?.as_str()?;
    let document = item.get(&rule.document)?.as_str()?;
    // The lists of all second readers are one.
    let list = if units.is_some() { "second" } else { "first" };
    let named = NamedPlace::of(rule, item).unwrap_or_default();
    let (span, at) = quotes.span(list, document, quote, named, units)?;
    let (unit, last_unit, page) = (at.from.unit_number(), at.to.unit_number(), at.from.page);
    Some(ListedRecord {
        item: place.to_owned(),
        span,
        unit,
        last_unit,
        page,
        quote: quote.to_owned(),
        record: item.clone(),
    })
}

/// Records with the same quote after a seam between two parts, where two readers saw the text.
pub(super) fn find_doubled(job: &Job, workspace: &Workspace) -> Result<EffectResult, RunError> {
    let instructions = &job.spec.instructions;
    let path = instructions.readers.as_ref().map(|readers| &readers.deliverable);
    let deliverable = instructions.deliverables.iter().find(|known| Some(&known.path) == path);
    let (Some(deliverable), Some(reading)) = (deliverable, &job.part_reading) else {
        return Ok(EffectResult::Doubled(Vec::new()));
    };
    let mut quotes = QuoteCheck::new(job, workspace);
    let listed = records(workspace, deliverable, (&deliverable.path, None), &mut quotes)?;
    let units: Vec<&ReadUnit> = reading.parts.iter().flat_map(|part| &part.units).collect();
    let is_behind_seam = |record: &ListedRecord| {
        units.iter().any(|unit| {
            let last = shown_to(&job.spec, unit);
            unit.document == record.span.document && record.last_unit > unit.to && record.unit <= last
        })
    };
    let mut behind: Vec<&ListedRecord> = listed.iter().filter(|record| is_behind_seam(record)).collect();
    behind.sort_by_key(|record| (&record.span.document, record.span.start));
    let mut doubled = Vec::new();
    for (at, first) in behind.iter().enumerate() {
        let near = behind[at + 1..]
            .iter()
            .take_while(|next| next.span.document == first.span.document && next.span.start < first.span.end);
        doubled.extend(near.filter(|next| overlaps(&first.span, &next.span)).map(|next| DoubledRecord {
            first: first.item.clone(),
            second: next.item.clone(),
            quote: next.quote.clone(),
        }));
    }
    Ok(EffectResult::Doubled(doubled))
}

/// Searches for the quotes of a verdict's faults: one result for each, none for a fault without a quote.
pub(super) fn find_quotes(job: &Job, workspace: &Workspace, given: &GiveVerdict) -> Vec<Option<FoundQuote>> {
    let mut quotes = QuoteCheck::new(job, workspace);
    let mut find = |fault: &Fault| -> Option<FoundQuote> {
        let quote = fault.quote.as_deref().map(str::trim).filter(|quote| !quote.is_empty())?;
        let Some(document) = fault.document.as_deref() else {
            return Some(Err("it quotes no document by name".to_owned()));
        };
        let page = fault.page.map(|number| NamedUnit { number, is_required: false });
        let at = NamedPlace { page, line: page };
        Some(quotes.span(&fault.text, document, quote, at, None).map(|(span, _)| span).ok_or_else(|| {
            format!(
                "its quote does not stand in {document}{}",
                fault.page.map_or_else(String::new, |page| format!(" on page {page}"))
            )
        }))
    };
    given.findings.iter().map(&mut find).collect()
}
