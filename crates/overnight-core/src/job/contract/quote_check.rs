//! The checks of quotes: each must stand in the document that its record names. What a document has is asked of the caller.

use super::{
    QuoteCount, SPELLED_OUT, clip,
    json_path::{JsonPath, within},
};
use crate::{
    amount::shown,
    job::{
        finding::CorrectedQuote,
        instructions::{Deliverable, Quotes},
    },
};
use serde_json::Value;
use std::fmt::Write as _;

/// Whether a quote stands in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuoteResult {
    /// On the page asked for, or anywhere if no page was asked for.
    Found,
    /// In the document, but on another page or line.
    Elsewhere {
        /// `page`, or `line` where there are no pages.
        unit: &'static str,
        /// The first one that has it, from 1.
        found_on: u64,
    },
    /// It would stand anywhere.
    TooShort,
    /// In another document of the job.
    InOtherDocument {
        /// Its name.
        document: String,
        /// The page, where that document has pages.
        page: Option<u64>,
    },
    /// In no page of the document.
    NotFound {
        /// What the document has instead, if that was asked for and anything is like it.
        nearest: Option<NearestText>,
    },
    /// The job has no document of that name.
    NoSuchDocument,
    /// The time of the call was over before.
    NotLookedFor,
}

/// What a document has instead of a quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestText {
    /// `page 21`, or `line 300` where there are no pages.
    pub place: String,
    /// The document's text around the first difference, clipped.
    pub passage: String,
    /// The quote around it, clipped.
    pub quoted: String,
    /// The quote's first word, or other sign, that differs.
    pub word: String,
}

/// Where a record says that its quote stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedPlace {
    /// Of a document with pages.
    pub page: Option<NamedUnit>,
    /// Of a document without pages.
    pub line: Option<NamedUnit>,
}

/// A page or a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedUnit {
    /// From 1.
    pub number: u64,
    /// The instructions name the field: the quote must stand there. Else it only says which of several places is meant.
    pub is_required: bool,
}

impl NamedPlace {
    /// What `item` says. Where the rule names no field for it, fields called `page` and `line` are looked at. The error is a fault
    /// of the record: what follows its place directly.
    pub fn of(rule: &Quotes, item: &Value) -> Result<Self, String> {
        let unit = |key: Option<&String>, unit: &str| match key {
            None => {
                let number = item.get(unit).and_then(whole);
                Ok(number.map(|number| NamedUnit { number, is_required: false }))
            }
            Some(key) => match item.get(key) {
                None | Some(Value::Null) => Ok(None),
                Some(value) => match whole(value) {
                    Some(number) => Ok(Some(NamedUnit { number, is_required: true })),
                    None => Err(format!(": '{key}' is not a {unit} number.")),
                },
            },
        };
        Ok(Self { page: unit(rule.page.as_ref(), "page")?, line: unit(rule.line.as_ref(), "line")? })
    }

    /// The one that counts for a document.
    pub fn in_document(&self, has_pages: bool) -> Option<NamedUnit> {
        if has_pages { self.page } else { self.line }
    }
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
    /// Where it should stand there.
    pub at: NamedPlace,
    /// Whether to say what comes nearest, or which other document has it, where the quote isn't found.
    pub is_explained: bool,
}

/// Looks for a quote.
pub type FindQuote<'f> = &'f mut dyn FnMut(QuoteQuery<'_>) -> QuoteResult;

pub(super) fn check_quotes(
    deliverable: &str,
    rule: &Quotes,
    value: &Value,
    find_quote: FindQuote<'_>,
) -> (QuoteCount, Result<String, String>) {
    let mut count = QuoteCount::default();
    let mut spelled = Vec::new();
    let visited = each_quote(deliverable, rule, value, &mut |_| true, find_quote, &mut |place, outcome| {
        count.all += 1;
        match outcome {
            Ok(()) => count.found += 1,
            Err(what) if spelled.len() < SPELLED_OUT => spelled.push(format!("{}{what}", clip(place, 100))),
            Err(_) => {}
        }
    });
    if let Err(why) = visited {
        return (count, Err(why));
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

/// Looks for each quote of `value` that there is, and tells `visit` its place and what is wrong: a sentence that follows the
/// place directly. The first ones that `is_wanted` takes and that are not found are explained.
pub(super) fn each_quote(
    deliverable: &str,
    rule: &Quotes,
    value: &Value,
    is_wanted: &mut dyn FnMut(&str) -> bool,
    find_quote: FindQuote<'_>,
    visit: &mut dyn FnMut(&str, Result<(), String>),
) -> Result<(), String> {
    let path = JsonPath::parse(&rule.each).map_err(|why| format!("The rule's path is '{}', {why}.", rule.each))?;
    let mut explained = 0;
    path.each(value, &mut |place, item| {
        if !is_wanted(place) {
            return;
        }
        let is_explained = explained < SPELLED_OUT;
        let outcome = check_quote(deliverable, rule, (place, item), is_explained, find_quote);
        explained += usize::from(matches!(outcome, Some(Err(_))));
        if let Some(outcome) = outcome {
            visit(place, outcome);
        }
    });
    Ok(())
}

/// Looks anew for the quotes that a change at `place` made others of: their text, document or page differs between the value
/// `before` and the one `after`. `find` gives with each result what `quotes.jsonl` would have of it.
pub fn quotes_changed_at(
    deliverable: &Deliverable,
    place: &str,
    (before, after): (&Value, &Value),
    find: &mut dyn FnMut(QuoteQuery<'_>) -> (QuoteResult, Option<String>),
) -> Vec<CorrectedQuote> {
    let mut changed = Vec::new();
    for rule in &deliverable.quotes {
        let Ok(path) = JsonPath::parse(&rule.each) else { continue };
        let mut was = None;
        path.each(before, &mut |item, value| {
            if within(place, item).is_some() {
                was = Some(value);
            }
        });
        path.each(after, &mut |item, value| {
            let named = [rule.page.as_deref().unwrap_or("page"), rule.line.as_deref().unwrap_or("line")];
            let keys = [&[rule.text.as_str(), rule.document.as_str()][..], &named[..]].concat();
            let is_other = |key: &str| was.and_then(|was| was.get(key)) != value.get(key);
            if within(place, item).is_none() || !keys.into_iter().any(is_other) {
                return;
            }
            let mut line = None;
            let outcome = check_quote(&deliverable.path, rule, (item, value), true, &mut |asked| {
                let (result, found) = find(asked);
                line = found;
                result
            });
            let wrong = outcome.and_then(Result::err).map(|why| why.trim_start_matches([' ', ':']).to_owned());
            changed.push(CorrectedQuote { item: item.to_owned(), key: rule.text.clone(), line, wrong });
        });
    }
    changed
}

/// `None` where there is no quote to check.
fn check_quote(
    deliverable: &str,
    rule: &Quotes,
    (place, record): (&str, &Value),
    is_explained: bool,
    find_quote: FindQuote<'_>,
) -> Option<Result<(), String>> {
    let Value::Object(item) = record else {
        return Some(Err(" is not an object with a quote.".to_owned()));
    };
    let quote = match item.get(&rule.text) {
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
    Some(match find_quote(query) {
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
