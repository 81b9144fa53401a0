//! The contract: what is checked in a deliverable before a job may be called completed.
//!
//! Pure: content comes in as bytes, and whether a quote stands in a document is asked of the caller. Each check is a fact
//! for the journal, and its detail is a sentence that a model can act on.

pub mod json_path;
pub mod prose;

#[cfg(test)]
mod tests;

use super::instructions::{Deliverable, Quotes};
use crate::amount::shown;
use json_path::JsonPath;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write;

/// Bytes of a deliverable that are checked. A larger file fails: what can't be checked isn't done.
pub const MAX_BYTES: usize = 32 * 1024 * 1024;
/// Errors of one check that are spelled out; the rest are counted.
const SPELLED_OUT: usize = 5;

/// One check of one deliverable, with its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// `output/requirements.json: schema`
    pub name: String,
    /// Whether it holds.
    pub passed: bool,
    /// What was found, in sentences; where the check failed, what to do about it.
    pub detail: String,
}

/// Whether a quote stands in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuoteResult {
    /// On the page asked for, or anywhere if no page was asked for.
    Found,
    /// In the document, but on another page.
    NotOnPage {
        /// The first page that has it, from 1.
        found_on: u64,
    },
    /// In no page of the document.
    NotFound,
    /// The job has no document of that name.
    NoSuchDocument,
}

/// A quote that is to be found in its document.
#[derive(Clone, Copy, Debug)]
pub struct QuoteQuery<'a> {
    /// The deliverable that it stands in, and where there: `$.requirements[3]`.
    pub deliverable: &'a str,
    /// A path within the JSON.
    pub item: &'a str,
    /// The quote's key there.
    pub key: &'a str,
    /// As the deliverable has them.
    pub document: &'a str,
    /// The words, as they were copied.
    pub quote: &'a str,
    /// From 1; none: any page will do.
    pub page: Option<u64>,
}

/// Looks for a quote.
pub type FindQuote<'f> = &'f mut dyn FnMut(QuoteQuery<'_>) -> QuoteResult;

/// Makes all checks of one deliverable. `content` is the file's bytes, `None` where it doesn't exist. Checks that can't
/// be made because an earlier one failed (a schema on a missing file) fail with it and are not listed.
pub fn check_deliverable(d: &Deliverable, content: Option<&[u8]>, find_quote: FindQuote<'_>) -> Vec<Check> {
    let mut checks = Checks { path: &d.path, made: Vec::new() };
    let Some(bytes) = content else {
        checks.add("exists", Err(format!("{} does not exist. Write it.", d.path)));
        return checks.made;
    };
    checks.add("exists", Ok(format!("{} bytes.", bytes.len())));
    if bytes.len() > MAX_BYTES {
        let what =
            format!("{} has {} bytes; at most {MAX_BYTES} can be checked. Make it smaller.", d.path, bytes.len());
        checks.add("size", Err(what));
        return checks.made;
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let line = bytes.iter().take(error.valid_up_to()).filter(|b| **b == b'\n').count() + 1;
            checks.add("text", Err(format!("{} is not UTF-8 text from line {line} on. Write it as UTF-8.", d.path)));
            return checks.made;
        }
    };
    if text.trim().is_empty() {
        checks.add("not empty", Err(format!("{} is empty. Write its content.", d.path)));
        return checks.made;
    }
    checks.add("not empty", Ok("It has content.".to_owned()));
    if d.schema.is_some() || !d.quotes.is_empty() {
        check_json(d, text, find_quote, &mut checks);
    }
    if let Some(min) = d.min_words {
        checks.add("words", prose::check_words(text, min));
    }
    if !d.forbid.is_empty() {
        checks.add("forbidden text", prose::check_forbidden(text, &d.forbid));
    }
    checks.made
}

struct Checks<'d> {
    path: &'d str,
    made: Vec<Check>,
}

impl Checks<'_> {
    fn add(&mut self, what: &str, outcome: Result<String, String>) {
        let (passed, detail) = match outcome {
            Ok(detail) => (true, detail),
            Err(detail) => (false, detail),
        };
        self.made.push(Check { name: format!("{}: {what}", self.path), passed, detail });
    }
}

/// What is wrong with a JSON Schema, and where in it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct SchemaError(String);

/// Compiles a schema. Nothing is ever fetched for a `$ref`.
pub(crate) fn compile(schema: &Value) -> Result<jsonschema::Validator, SchemaError> {
    jsonschema::validator_for(schema).map_err(|error| {
        let place = error.instance_path().to_string();
        SchemaError(if place.is_empty() { error.to_string() } else { format!("at {place}: {error}") })
    })
}

fn check_json(d: &Deliverable, text: &str, find_quote: FindQuote<'_>, checks: &mut Checks<'_>) {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            let fence = if text.trim_start().starts_with("```") { " Leave out the code fence." } else { "" };
            checks.add("JSON", Err(format!("{} is not JSON: {error}. Write valid JSON.{fence}", d.path)));
            return;
        }
    };
    if let Some(schema) = &d.schema {
        checks.add("schema", check_schema(schema, &value));
    }
    for rule in &d.quotes {
        let name = if d.quotes.len() > 1 { format!("quotes ({})", rule.text) } else { "quotes".to_owned() };
        checks.add(&name, check_quotes(&d.path, rule, &value, find_quote));
    }
}

fn check_schema(schema: &Value, value: &Value) -> Result<String, String> {
    let validator = compile(schema).map_err(|why| format!("The schema itself can't be used: {why}."))?;
    let mut errors = validator.iter_errors(value);
    let mut spelled: Vec<String> = errors
        .by_ref()
        .take(SPELLED_OUT)
        .map(|error| {
            let place = clip(&error.instance_path().to_string(), 200);
            // The masked form leaves the value out, which may be the whole file.
            let what = error.masked_with("this value").to_string();
            format!("At {}: {}.", if place.is_empty() { "the top" } else { &place }, clip(&what, 300))
        })
        .collect();
    if spelled.is_empty() {
        return Ok("It matches its schema.".to_owned());
    }
    // Counting goes on a while and then stops: a hostile file could have millions.
    match errors.take(10_000).count() {
        0 => {}
        10_000 => spelled.push("And more than 10000 others.".to_owned()),
        rest => spelled.push(format!("And {rest} more.")),
    }
    Err(spelled.join(" "))
}

fn check_quotes(deliverable: &str, rule: &Quotes, value: &Value, find_quote: FindQuote<'_>) -> Result<String, String> {
    let path = JsonPath::parse(&rule.each).map_err(|why| format!("The rule's path is '{}', {why}.", rule.each))?;
    let (mut checked, mut wrong, mut spelled) = (0_u64, 0_usize, Vec::new());
    path.each(value, &mut |place, item| match check_quote(deliverable, rule, (place, item), find_quote) {
        None => {}
        Some(Ok(())) => checked += 1,
        Some(Err(what)) => {
            checked += 1;
            wrong += 1;
            if wrong <= SPELLED_OUT {
                spelled.push(format!("{}: {what}", clip(place, 100)));
            }
        }
    });
    if wrong == 0 {
        return Ok(format!("{checked} quotes, each found where it should stand."));
    }
    let mut detail = format!("{wrong} of {checked} quotes failed. {}", spelled.join(" "));
    if wrong > SPELLED_OUT {
        let _ = write!(detail, " And {} more.", wrong - SPELLED_OUT);
    }
    Err(detail)
}

/// `None` where there is no quote to check; the error is a sentence that follows the place.
fn check_quote(
    deliverable: &str,
    rule: &Quotes,
    (place, item): (&str, &Value),
    find_quote: FindQuote<'_>,
) -> Option<Result<(), String>> {
    let Value::Object(item) = item else {
        return Some(Err("is not an object with a quote.".to_owned()));
    };
    let quote = match item.get(&rule.text) {
        None => return Some(Err(format!("has no '{}'.", rule.text))),
        Some(Value::Null) => return None,
        Some(Value::String(quote)) => quote,
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            return Some(Err(format!("'{}' is not text.", rule.text)));
        }
    };
    if quote.trim().is_empty() {
        return Some(Err(format!("'{}' is empty.", rule.text)));
    }
    let Some(Value::String(document)) = item.get(&rule.document) else {
        return Some(Err(format!("'{}' does not name a document.", rule.document)));
    };
    let page = match rule.page.as_ref().and_then(|key| item.get(key)) {
        None | Some(Value::Null) => None,
        Some(page) => {
            let Some(page) = whole(page) else {
                let key = rule.page.as_deref().unwrap_or("page");
                return Some(Err(format!("'{key}' is not a page number.")));
            };
            Some(page)
        }
    };
    let words = || first_words(quote);
    Some(match find_quote(QuoteQuery { deliverable, item: place, key: &rule.text, document, quote, page }) {
        QuoteResult::Found => Ok(()),
        QuoteResult::NotOnPage { found_on } => {
            let page = page.map_or_else(|| "the page given".to_owned(), |page| format!("page {page}"));
            Err(format!("\"{}\" is not on {page} of {} but on page {found_on}.", words(), shown(document)))
        }
        QuoteResult::NotFound => Err(format!(
            "\"{}\" does not stand in {}. Copy the words exactly as the document has them.",
            words(),
            shown(document)
        )),
        QuoteResult::NoSuchDocument => {
            Err(format!("there is no document '{}'. Use a name from list_documents.", shown(document)))
        }
    })
}

/// A page number; `4.0` is one too, for a model may write it so.
fn whole(value: &Value) -> Option<u64> {
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let number = value.as_f64()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
    ((0.0..1e15).contains(&number) && number.fract() == 0.0).then_some(number as u64)
}

fn first_words(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut first = words.by_ref().take(8).collect::<Vec<_>>().join(" ");
    if words.next().is_some() {
        first.push('…');
    }
    shown(&first)
}

/// At most `max` characters of `text`, on one line.
fn clip(text: &str, max: usize) -> String {
    let mut clipped: String = text.chars().take(max).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(max).is_some() {
        clipped.push('…');
    }
    clipped.trim_end_matches('.').to_owned()
}
