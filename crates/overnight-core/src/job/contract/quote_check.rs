//! The checks of quotes: each must stand in the document that its record names. The caller looks in the documents.

use super::{
    CheckedDeliverable, NamedPlace, NearestText, QuoteCount, QuoteQuery, QuoteResult, SPELLED_OUT, and_more, clip,
    quoted_values::{check_values, is_other},
    sources::Sources,
};
use crate::job::{
    json_path::{JsonPath, within},
    schema::schema_parts,
};
use crate::{
    amount::shown,
    job::{
        finding::CorrectedQuote,
        instructions::{Deliverable, Quotes},
    },
};
use serde_json::Value;
use std::{collections::BTreeMap, fmt::Write as _};

/// Looks for the quotes of one rule, and for the values beside them.
pub(super) fn check_quotes(
    deliverable: &Deliverable,
    rule: &Quotes,
    value: &Value,
    sources: &mut dyn Sources,
    checked: &mut CheckedDeliverable,
) -> (QuoteCount, Result<String, String>) {
    let mut count = QuoteCount::default();
    let mut spelled = Vec::new();
    let siblings: Vec<&Quotes> = deliverable.quotes.iter().filter(|other| other.each == rule.each).collect();
    let mut without = Vec::new();
    let visited =
        each_quote(deliverable, rule, value, &mut |_| true, sources, &mut |place, record, outcome, sources| {
            count.all += 1;
            match outcome {
                Ok(()) => {
                    count.found += 1;
                    sources.doubts_of_quote().into_iter().for_each(|why| checked.doubt(place, why));
                    let values = check_values(rule, &siblings, record, sources);
                    values.doubts.into_iter().for_each(|why| checked.doubt(place, why));
                    without.extend(values.failed.into_iter().map(|what| (clip(place, 100), what)));
                }
                Err(what) if spelled.len() < SPELLED_OUT => spelled.push(format!("{}{what}", clip(place, 100))),
                Err(_) => {}
            }
        });
    if let Err(why) = visited {
        return (count, Err(why));
    }
    if let Some(carries) = rule.carries.as_ref().filter(|carries| !carries.is_empty()) {
        let outcome = if without.is_empty() {
            Ok(format!("{} of {} stand in their quotes, as far as they are there.", carries.join(", "), count.found))
        } else {
            let (spelled, rest) = without.split_at(without.len().min(SPELLED_OUT));
            let spelled: Vec<String> = spelled.iter().map(|(place, what)| format!("{place}: {what}.")).collect();
            let rest: Vec<String> = rest.iter().map(|(place, _)| place.clone()).collect();
            Err(spelled.join(" ") + &and_more(&rest))
        };
        checked.add(&format!("values in quotes ({})", rule.text), outcome);
    }
    let mut detail = format!("{} of {} found.", count.found, count.all);
    let wrong = count.all - count.found;
    if wrong == 0 {
        return (count, Ok(detail));
    }
    let _ = write!(detail, " {}", spelled.join(" "));
    if wrong > SPELLED_OUT as u64 {
        let _ = write!(detail, " And {} more.", wrong - SPELLED_OUT as u64);
    }
    (count, Err(detail))
}

/// A callback for the place of a quote, its record, and what is wrong: a sentence that follows the place directly.
pub(super) type VisitQuote<'v> = &'v mut dyn FnMut(&str, &Value, Result<(), String>, &mut dyn Sources);

/// Looks for each quote of `value` that `is_wanted` accepts, and passes its place, its record and what is wrong (a
/// sentence that follows the place directly) to `visit`. The first ones that are not found are explained.
pub(super) fn each_quote(
    deliverable: &Deliverable,
    rule: &Quotes,
    value: &Value,
    is_wanted: &mut dyn FnMut(&str) -> bool,
    sources: &mut dyn Sources,
    visit: VisitQuote<'_>,
) -> Result<(), String> {
    let path = JsonPath::parse(&rule.each).map_err(|why| format!("The rule's path is '{}', {why}.", rule.each))?;
    let mut explained = 0;
    let is_optional = is_optional(deliverable, rule, &path);
    path.each(value, &mut |place, item| {
        if !is_wanted(place) {
            return;
        }
        let is_explained = explained < SPELLED_OUT;
        let outcome = check_quote((&deliverable.path, rule, is_optional), (place, item), is_explained, sources);
        explained += usize::from(matches!(outcome, Some(Err(_))));
        if let Some(outcome) = outcome {
            visit(place, item, outcome, sources);
        }
    });
    Ok(())
}

/// Looks again for quotes that a change at `place` affects: their text, document or page, or a value beside them,
/// differs between `before` and `after`. `take_line` returns the line that `quotes.jsonl` would have for the last one.
pub fn quotes_changed_at<S: Sources>(
    deliverable: &Deliverable,
    place: &str,
    (before, after): (&Value, &Value),
    sources: &mut S,
    take_line: &mut dyn FnMut(&mut S) -> Option<String>,
) -> Vec<CorrectedQuote> {
    let mut changed = Vec::new();
    for rule in &deliverable.quotes {
        let Ok(path) = JsonPath::parse(&rule.each) else { continue };
        let siblings: Vec<&Quotes> = deliverable.quotes.iter().filter(|other| other.each == rule.each).collect();
        let is_optional = is_optional(deliverable, rule, &path);
        let is_at = |item: &str| within(place, item).is_some() || within(item, place).is_some();
        let mut was: BTreeMap<String, &Value> = BTreeMap::new();
        path.each(before, &mut |item, value| {
            if is_at(item) {
                was.insert(item.to_owned(), value);
            }
        });
        path.each(after, &mut |item, value| {
            let named = [rule.page.as_deref().unwrap_or("page"), rule.line.as_deref().unwrap_or("line")];
            let keys = [&[rule.text.as_str(), rule.document.as_str()][..], &named[..]].concat();
            let is_other = was.get(item).is_none_or(|was| {
                keys.into_iter().any(|key| was.get(key) != value.get(key)) || is_other(rule, was, value)
            });
            if !(is_at(item) && is_other) {
                return;
            }
            // A deleted record has no quote any more.
            let outcome = if value.is_null() {
                None
            } else {
                check_quote((&deliverable.path, rule, is_optional), (item, value), true, sources)
            };
            if matches!(outcome, Some(Ok(()))) {
                check_values(rule, &siblings, value, sources);
            }
            let line = outcome.as_ref().and_then(|_| take_line(sources));
            let wrong = outcome.and_then(Result::err).map(|why| why.trim_start_matches([' ', ':']).to_owned());
            changed.push(CorrectedQuote { item: item.to_owned(), key: rule.text.clone(), line, wrong });
        });
    }
    changed
}

/// Whether the schema knows the key of a rule's quotes, and lets it be left out.
fn is_optional(deliverable: &Deliverable, rule: &Quotes, path: &JsonPath) -> bool {
    let parts = deliverable.schema.as_ref().map(|schema| schema_parts(schema, path)).unwrap_or_default();
    let is_named =
        |part: &Value| part["required"].as_array().is_some_and(|keys| keys.iter().any(|key| *key == rule.text));
    parts.iter().any(|part| !part["properties"][&rule.text].is_null()) && !parts.iter().any(|part| is_named(part))
}

/// Checks the quote of one record; `None` if it has no quote to check.
fn check_quote(
    (deliverable, rule, is_optional): (&str, &Quotes, bool),
    (place, record): (&str, &Value),
    is_explained: bool,
    sources: &mut dyn Sources,
) -> Option<Result<(), String>> {
    // A field of a record, `$.contracts[*].amount`, has no quote if it has no value.
    if record.is_null() && rule.each.contains('.') && !rule.each.ends_with(']') {
        return None;
    }
    let Value::Object(item) = record else {
        return Some(Err(" is not an object with a quote.".to_owned()));
    };
    let quote = match item.get(&rule.text) {
        None if is_optional => return None,
        None => return Some(Err(format!(" has no '{}'.", rule.text))),
        Some(Value::Null) => return None,
        Some(Value::String(quote)) => quote,
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            return Some(Err(format!(": '{}' is not text.", rule.text)));
        }
    };
    if quote.trim().is_empty() {
        return Some(Err(format!(": '{}' is empty.", rule.text)));
    }
    let Some(Value::String(document)) = item.get(&rule.document) else {
        return Some(Err(format!(": '{}' does not name a document.", rule.document)));
    };
    let at = match NamedPlace::of(rule, record) {
        Ok(at) => at,
        Err(what) => return Some(Err(what)),
    };
    let query = QuoteQuery { deliverable, item: place, key: &rule.text, document, quote, at, is_explained };
    Some(match sources.find_quote(query) {
        QuoteResult::Found => Ok(()),
        wrong => Err(said(&wrong, quote, document, at)),
    })
}

fn said(result: &QuoteResult, quote: &str, document: &str, at: NamedPlace) -> String {
    let words = first_words(quote);
    let name = shown(document);
    match result {
        QuoteResult::Found => String::new(),
        QuoteResult::Elsewhere { unit, found_on } => {
            let named = if *unit == "page" { at.page } else { at.line };
            let named = named.map_or_else(|| format!("the {unit} given"), |named| format!("{unit} {}", named.number));
            format!(" \"{words}\" is not on {named} of {name} but on {unit} {found_on}.")
        }
        QuoteResult::TooShort => {
            format!(" \"{words}\" is too short to prove anything. Quote the words around it too.")
        }
        QuoteResult::InOtherDocument { document, page } => {
            let page = page.map_or_else(String::new, |page| format!(" (page {page})"));
            format!(" \"{words}\" does not stand in {name} but in {}{page}.", shown(document))
        }
        QuoteResult::NotFound { nearest: Some(NearestText { place, passage, quoted, word }) } => {
            format!(" \"{quoted}\": nearest on {place} of {name}: \"{passage}\", differs at \"{}\".", shown(word))
        }
        QuoteResult::NotFound { nearest: None } => format!(" \"{words}\": nothing like it stands in {name}."),
        QuoteResult::NotLookedFor => {
            format!(" \"{words}\" was not looked for, the time of this call being over. Call check_deliverables().")
        }
        QuoteResult::NoSuchDocument => format!(": there is no document '{name}'. Use a name from list_documents."),
    }
}

fn first_words(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut first = words.by_ref().take(8).collect::<Vec<_>>().join(" ");
    if words.next().is_some() {
        first.push('…');
    }
    shown(&first)
}
