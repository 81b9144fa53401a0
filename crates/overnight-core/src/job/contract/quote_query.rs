//! A query for a quote in its document, and the result.

use crate::job::instructions::Quotes;
use serde_json::Value;

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
    /// The quote is so short that it would stand anywhere.
    TooShort,
    /// In another document of the job.
    InOtherDocument {
        /// Its name.
        document: String,
        /// The page, if that document has pages.
        page: Option<u64>,
    },
    /// In no page of the document.
    NotFound {
        /// The nearest text of the document, if that was requested and anything is similar.
        nearest: Option<NearestText>,
    },
    /// The job has no document of that name.
    NoSuchDocument,
    /// The time of the call was over before the search.
    NotLookedFor,
}

/// The text of a document that is nearest to a quote.
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

/// The place that a record gives for its quote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedPlace {
    /// The page, for a document with pages.
    pub page: Option<NamedUnit>,
    /// The line, for a document without pages.
    pub line: Option<NamedUnit>,
}

/// A page or a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedUnit {
    /// The number, from 1.
    pub number: u64,
    /// Whether the quote must stand there: the instructions name the field. Else it only chooses one of several places.
    pub is_required: bool,
}

impl NamedPlace {
    /// Reads the place from `item`. If the rule names no field for it, fields called `page` and `line` are used. The
    /// error is a fault of the record: a text that follows the record's place directly.
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

    /// The page or line that counts for a document.
    pub fn in_document(&self, has_pages: bool) -> Option<NamedUnit> {
        if has_pages { self.page } else { self.line }
    }
}

/// A quote that is to be found in its document.
#[derive(Clone, Copy, Debug)]
pub struct QuoteQuery<'a> {
    /// The deliverable that contains it.
    pub deliverable: &'a str,
    /// The place of the object in the deliverable: `$.requirements[3]`.
    pub item: &'a str,
    /// The quote's key in that object.
    pub key: &'a str,
    /// The document, as the deliverable names it.
    pub document: &'a str,
    /// The words, as they were copied.
    pub quote: &'a str,
    /// The place where the quote should stand.
    pub at: NamedPlace,
    /// Whether to report the nearest text, or another document that has the quote, if it isn't found.
    pub is_explained: bool,
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
