//! The contract: the checks of a deliverable before a job may count as completed.
//!
//! Pure: content comes in as bytes, and the caller answers whether a quote stands in a document. Each check is a fact
//! for the journal, and its detail is a sentence that a model can act on.

mod deliverable_state;
pub mod edited_records;
mod kept_fields;
pub mod prose;
mod quote_check;
mod quote_query;
mod quoted_values;
mod record_list;
pub mod records;
mod rule_check;
mod sources;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod value_tests;

use super::instructions::{Deliverable, Quotes};
use super::{
    json_path::{JsonPath, within},
    schema::compile,
};
pub use deliverable_state::{CheckedDeliverable, DeliverableState, QuoteCount, ValueDoubt, doubts_told};
use jsonschema::{
    error::ValidationErrorKind,
    paths::{Location, LocationSegment},
};
pub use kept_fields::check_kept_fields;
pub use quote_check::quotes_changed_at;
pub use quote_query::{NamedPlace, NamedUnit, NearestText, QuoteQuery, QuoteResult};
pub use rule_check::{RuleMemory, each_broken_rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use sources::{DoubtfulValue, Sources};
use std::fmt::Write as _;

/// Characters of what a check found, in short.
const MOST_IN_SHORT: usize = 120;
/// Bytes of a deliverable that are checked. A larger file fails, because unchecked content doesn't count as done.
pub const MAX_BYTES: usize = 32 * 1024 * 1024;
/// Errors of one check that are spelled out; the rest are counted.
pub(crate) const SPELLED_OUT: usize = 10;

/// Places of further errors that are named.
const MOST_PLACES: usize = 200;

/// One check of one deliverable, with its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The name: `output/requirements.json: schema`
    pub name: String,
    /// Whether it holds.
    pub passed: bool,
    /// The result in sentences; if the check failed, what to do about it.
    pub detail: String,
    /// Whether it fails only because a text is too short or a list has too few items: a file that is written piece by
    /// piece fails like this until its last piece is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
}

impl Check {
    /// A check with its outcome.
    pub fn new(name: String, passed: bool, detail: String) -> Self {
        Self { name, passed, detail, unfinished: false }
    }

    /// Its name, with the count if the check counts: `output/terms.json: quotes: 9 of 10 found`.
    pub fn in_short(&self) -> String {
        let first = self.detail.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let is_count = first.starts_with(|letter: char| letter.is_ascii_digit());
        if is_count { format!("{}: {}", self.name, clip(first, MOST_IN_SHORT)) } else { self.name.clone() }
    }
}

/// Makes all checks of one deliverable. `content` is the file's bytes, `None` where it doesn't exist. Checks that can't
/// be made because an earlier one failed (a schema on a missing file) fail with it and are not listed.
///
/// `memory` holds earlier results for the file's records; it is a new one if there are none.
pub fn check_deliverable(
    d: &Deliverable,
    content: Option<&[u8]>,
    sources: &mut dyn Sources,
    memory: &mut RuleMemory,
) -> CheckedDeliverable {
    let mut checked = CheckedDeliverable::new(&d.path);
    make_checks(d, content, sources, memory, &mut checked);
    checked
}

fn make_checks(
    d: &Deliverable,
    content: Option<&[u8]>,
    sources: &mut dyn Sources,
    memory: &mut RuleMemory,
    checks: &mut CheckedDeliverable,
) {
    let Some(bytes) = content else {
        checks.add("exists", Err(format!("{} does not exist. Write it.", d.path)));
        return;
    };
    checks.add("exists", Ok(format!("{} bytes.", bytes.len())));
    if bytes.len() > MAX_BYTES {
        let what =
            format!("{} has {} bytes; at most {MAX_BYTES} can be checked. Make it smaller.", d.path, bytes.len());
        checks.add("size", Err(what));
        return;
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let line = bytes.iter().take(error.valid_up_to()).filter(|b| **b == b'\n').count() + 1;
            checks.add("text", Err(format!("{} is not UTF-8 text from line {line} on. Write it as UTF-8.", d.path)));
            return;
        }
    };
    if text.trim().is_empty() {
        checks.add("not empty", Err(format!("{} is empty. Write its content.", d.path)));
        return;
    }
    checks.add("not empty", Ok("It has content.".to_owned()));
    if d.schema.is_some() || !d.quotes.is_empty() || !d.checks.is_empty() {
        check_json(d, text, sources, memory, checks);
    }
    if let Some(min) = d.min_words {
        checks.add("words", prose::check_words(text, min));
        checks.call_unfinished();
    }
    if !d.forbid.is_empty() {
        checks.add("forbidden text", prose::check_forbidden(text, &d.forbid));
    }
}

fn check_json(
    d: &Deliverable,
    text: &str,
    sources: &mut dyn Sources,
    memory: &mut RuleMemory,
    checks: &mut CheckedDeliverable,
) {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            let fence = if text.trim_start().starts_with("```") { " Leave out the code fence." } else { "" };
            checks.add("JSON", Err(format!("{} is not JSON: {error}. Write valid JSON.{fence}", d.path)));
            return;
        }
    };
    checks.records = record_list::count(d, &value);
    if let Some(schema) = &d.schema {
        let (outcome, lacks_only_items) = check_schema(schema, &value);
        checks.add("schema", outcome);
        if lacks_only_items {
            checks.call_unfinished();
        }
    }
    let mut lists: Vec<String> = Vec::new();
    for rule in &d.quotes {
        let list = record_list::records_of(rule);
        if !lists.contains(&list) {
            lists.push(list);
            count_by_document(rule, &value, checks);
        }
        let name = if d.quotes.len() > 1 { format!("quotes ({})", rule.text) } else { "quotes".to_owned() };
        let (count, outcome) = quote_check::check_quotes(d, rule, &value, sources, checks);
        checks.count(count);
        checks.add(&name, outcome);
    }
    rule_check::check_rules(d, &value, sources, memory, checks);
}

fn count_by_document(rule: &Quotes, value: &Value, checks: &mut CheckedDeliverable) {
    if let Ok(path) = JsonPath::parse(&rule.each) {
        path.each(value, &mut |_, record| {
            if let Some(document) = record.get(&rule.document).and_then(Value::as_str) {
                checks.count_of(document);
            }
        });
    }
}

/// The outcome, and whether lists with too few items are the only errors.
fn check_schema(schema: &Value, value: &Value) -> (Result<String, String>, bool) {
    let validator = match compile(schema) {
        Ok(validator) => validator,
        Err(why) => return (Err(format!("The schema itself can't be used: {why}.")), false),
    };
    let mut lacks_only_items = true;
    let mut errors = validator.iter_errors(value).inspect(|error| {
        lacks_only_items &= matches!(error.kind(), ValidationErrorKind::MinItems { .. });
    });
    let mut spelled: Vec<String> = errors.by_ref().take(SPELLED_OUT).map(|error| spelled_out(schema, &error)).collect();
    if spelled.is_empty() {
        return (Ok("ok.".to_owned()), false);
    }
    // The count is bounded: a hostile file could have millions of errors.
    match errors.take(10_000).count() {
        0 => {}
        10_000 => spelled.push("And more than 10000 others.".to_owned()),
        rest => spelled.push(format!("And {rest} more.")),
    }
    (Err(spelled.join(" ")), lacks_only_items)
}

/// The first error by the schema at the place `at` of `value` (`$.records[3]`), or within that place.
pub fn fault_at(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let validator = compile(schema).ok()?;
    let error = validator.iter_errors(value).find(|error| within(&place(error.instance_path()), at).is_some())?;
    Some(spelled_out(schema, &error))
}

/// An error as a sentence: its place, and what is wrong.
fn spelled_out(schema: &Value, error: &jsonschema::ValidationError<'_>) -> String {
    format!("{}: {}.", clip(&place(error.instance_path()), 200), what_is_wrong(schema, error))
}

/// An error as a sentence without a full stop, and without the value itself, which may be the whole file.
fn what_is_wrong(schema: &Value, error: &jsonschema::ValidationError<'_>) -> String {
    let branches = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => &context[..],
        _ => &[],
    };
    if let Some(told) = nearest_branch(schema, error, branches) {
        return told;
    }
    let mut what = clip(&error.masked_with("this value").to_string(), 300);
    if error.instance().is_null() && is_optional(schema, error) == Some(true) {
        what.push_str("; it is null: leave the key out");
    }
    what
}

/// The error in the nearest branch of an `anyOf` or `oneOf`: the one whose type fits, with the fewest errors.
fn nearest_branch(
    schema: &Value,
    error: &jsonschema::ValidationError<'_>,
    branches: &[Vec<jsonschema::ValidationError<'static>>],
) -> Option<String> {
    let depth = error.instance_path().segments().count();
    let is_other_kind = |errors: &Vec<jsonschema::ValidationError<'static>>| {
        errors.iter().any(|error| {
            matches!(error.kind(), ValidationErrorKind::Type { .. } | ValidationErrorKind::Constant { .. })
                && error.instance_path().segments().count() <= depth
        })
    };
    // A branch that fails further inside is nearer.
    let outer = |errors: &Vec<jsonschema::ValidationError<'static>>| {
        errors.iter().filter(|error| error.instance_path().segments().count() <= depth).count()
    };
    let (number, errors) =
        (1..).zip(branches).min_by_key(|(_, errors)| (is_other_kind(errors), outer(errors), errors.len()))?;
    let first = errors.first().filter(|_| !is_other_kind(errors))?;
    let place = place(first.instance_path());
    let (count, what) = (branches.len(), what_is_wrong(schema, first));
    Some(format!("none of its {count} forms fits; the nearest is form {number}, where {}: {what}", clip(&place, 100)))
}

/// Whether the key with the wrong value may be left out; `None` if that can't be determined. `schema` is walked along
/// the keywords that lead to the error: `…/properties/line/type`.
fn is_optional(schema: &Value, error: &jsonschema::ValidationError<'_>) -> Option<bool> {
    let path = error.schema_path().to_string();
    let mut keywords: Vec<String> =
        path.split('/').skip(1).map(|keyword| keyword.replace("~1", "/").replace("~0", "~")).collect();
    let (_, key) = (keywords.pop()?, keywords.pop()?);
    if keywords.pop()? != "properties" {
        return None;
    }
    let mut parent = schema;
    for keyword in &keywords {
        // Requirements in such branches are not visible from here.
        if matches!(keyword.as_str(), "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas")
        {
            return None;
        }
        parent = match (parent, keyword.as_str()) {
            (Value::Object(fields), "$ref") => schema.pointer(fields.get("$ref")?.as_str()?.strip_prefix('#')?)?,
            (Value::Object(fields), keyword) => fields.get(keyword)?,
            (Value::Array(items), place) => items.get(place.parse::<usize>().ok()?)?,
            (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), _) => return None,
        };
    }
    let required = parent.get("required").and_then(Value::as_array);
    Some(required.is_none_or(|required| required.iter().all(|name| name.as_str() != Some(key.as_str()))))
}

/// A place, written as in the paths of `quotes.each`: `$.items[3].name`.
fn place(location: &Location) -> String {
    let mut place = "$".to_owned();
    for segment in location {
        let _ = match segment {
            LocationSegment::Property(key) => write!(place, ".{key}"),
            LocationSegment::Index(index) => write!(place, "[{index}]"),
        };
    }
    place
}

/// The places of the errors that are not spelled out: ` And 2 more: $.items[11], $.items[12].` Empty if there are none.
fn and_more(places: &[String]) -> String {
    if places.is_empty() {
        return String::new();
    }
    let more = if places.len() > MOST_PLACES { ", …" } else { "" };
    format!(" And {} more: {}{more}.", places.len(), places[..places.len().min(MOST_PLACES)].join(", "))
}

/// At most `max` characters of `text`, on one line.
fn clip(text: &str, max: usize) -> String {
    let mut clipped: String = text.chars().take(max).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(max).is_some() {
        clipped.push('…');
    }
    clipped.trim_end_matches('.').to_owned()
}
