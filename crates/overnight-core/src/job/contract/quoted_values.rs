//! Whether the values of a record stand in its quote. A value that must and doesn't is a fault; if that is unclear, or
//! the instructions name no values, it is a doubt for a person.

use super::{
    clip,
    sources::{DoubtfulValue, Sources},
};
use crate::job::instructions::Quotes;
use overnight_rules::carried::{ValueInText, carried, is_literal};
use serde_json::Value;

/// The faults and doubts of the values of a record whose quote was found.
#[derive(Debug, Default)]
pub(super) struct QuotedValues {
    /// Values that must stand in the quote and don't: each a sentence that follows the place.
    pub(super) failed: Vec<String>,
    /// Values that may not stand in the quote: each the beginning of a sentence.
    pub(super) doubts: Vec<String>,
}

/// Looks for the values of `record` in its quote, which was just found. `siblings` are all rules for quotes of these
/// records, including `rule`: a value that none of them names may stand in any of their quotes.
pub(super) fn check_values(
    rule: &Quotes,
    siblings: &[&Quotes],
    record: &Value,
    sources: &mut dyn Sources,
) -> QuotedValues {
    let mut values = QuotedValues::default();
    let (Some(fields), Some(quote)) = (record.as_object(), record.get(&rule.text).and_then(Value::as_str)) else {
        return values;
    };
    let is_open = |sibling: &Quotes| sibling.carries.is_none() && sibling.field(record).is_none();
    let first_open = siblings.iter().find(|sibling| is_open(sibling));
    let wanted: Vec<(&String, &Value)> = match (&rule.carries, rule.field(record)) {
        (Some(named), _) => named.iter().filter_map(|field| Some((field, fields.get(field)?))).collect(),
        (None, Some(own)) => {
            let is_wanted = |value: &Value| is_literal(value) || is_short_text(value);
            fields.iter().filter(|(field, value)| *field == own && is_wanted(value)).collect()
        }
        (None, None) if first_open.is_some_and(|first| first.text != rule.text) => return values,
        (None, None) => {
            let is_own = |field: &String| {
                NOT_QUOTED.contains(&field.as_str())
                    || siblings.iter().any(|other| is_named_by(other, field) || other.field(record) == Some(field))
            };
            fields.iter().filter(|(field, value)| !is_own(field) && is_literal(value)).collect()
        }
    };
    if wanted.is_empty() {
        return values;
    }
    let around = Some(rule.context).filter(|lines| *lines > 0).and_then(|lines| sources.around_quote(lines));
    let mut text = around.unwrap_or_else(|| quote.to_owned());
    if is_open(rule) {
        for other in siblings.iter().filter(|sibling| is_open(sibling) && sibling.text != rule.text) {
            text.push('\n');
            text.push_str(record.get(&other.text).and_then(Value::as_str).unwrap_or_default());
        }
    }
    let document = record.get(&rule.document).and_then(Value::as_str).unwrap_or_default();
    let mut order = None;
    let mut doubtful = Vec::new();
    for (field, value) in wanted {
        let mut found = carried(value, &text, &rule.same_as, None);
        if let ValueInText::Unclear(_) = found {
            let order = *order.get_or_insert_with(|| sources.day_order(document));
            found = carried(value, &text, &rule.same_as, order);
        }
        let shown = clip(&value.to_string(), 60);
        let (unclear, is_failed) = match found {
            ValueInText::Yes | ValueInText::NotTried => continue,
            ValueInText::No => (None, rule.carries.is_some()),
            ValueInText::Unclear(why) => (Some(why), false),
        };
        let said = match &unclear {
            None => format!("'{field}' {shown} does not stand in its quote"),
            Some(why) => format!("'{field}' {shown} {why}"),
        };
        if is_failed {
            values.failed.push(said);
        } else {
            values.doubts.push(said);
        }
        doubtful.push(DoubtfulValue { field: field.clone(), unclear });
    }
    if !doubtful.is_empty() {
        sources.keep_values(&doubtful);
    }
    values
}

/// Whether a value that is looked for in the quote of `rule` differs between two states of a record.
pub(super) fn is_other(rule: &Quotes, before: &Value, after: &Value) -> bool {
    let (Some(was), Some(now)) = (before.as_object(), after.as_object()) else { return true };
    now.keys().chain(was.keys()).filter(|field| was.get(*field) != now.get(*field)).any(|field| {
        let is_named = rule.carries.iter().flatten().any(|named| named == field) || rule.field(after) == Some(field);
        is_named || [was, now].into_iter().filter_map(|record| record.get(field)).any(is_literal)
    })
}

/// Characters of a text that is copied from its quote rather than derived from it.
const MOST_COPIED: usize = 60;
/// Fields that a record has by itself, without a source.
const NOT_QUOTED: [&str; 4] = ["id", "page", "line", "confidence"];

/// Whether a text is no longer than a name; such a text with a quote of its own is copied from it.
fn is_short_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| (1..=MOST_COPIED).contains(&text.trim().chars().count()))
}

/// Whether a rule defines a field: as a quote, as the quote's place, or as a value that the quote carries.
fn is_named_by(rule: &Quotes, field: &String) -> bool {
    [&rule.text, &rule.document].contains(&field)
        || [&rule.page, &rule.line].into_iter().flatten().any(|named| named == field)
        || rule.carries.iter().flatten().any(|named| named == field)
}
