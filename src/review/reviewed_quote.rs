//! A quote of a record, and its place.

use crate::runner::{OneReading, QuoteBox, QuoteStatus};
use overnight_core::job::contract::records::field_name;
use overnight_documents::QuotePlace;

/// A quote of a record, and its place.
#[derive(Clone, Debug)]
pub struct ReviewedQuote {
    /// The key of the object that has it.
    pub key: String,
    /// The place of that object in the deliverable, `$.requirements[3].due`, and in its record: `due`; empty for the record itself.
    pub object: String,
    pub within: String,
    /// The field that it is for, `due`; none: for the record as a whole.
    pub field: Option<String>,
    pub text: String,
    /// The places in the deliverable of its document's name, and of its page or line.
    pub document_place: String,
    pub unit_place: Option<String>,
    /// The page or line that the record names.
    pub named_unit: Option<u64>,
    /// The document's name in the job, else the one that the record gives.
    pub document: String,
    /// Whether the job has such a document.
    pub is_known: bool,
    /// The page or line at which it begins, else the one that the record gives.
    pub unit: Option<u64>,
    /// `page`, `chapter` or `line`.
    pub unit_name: &'static str,
    /// `None` if the quote was not checked yet.
    pub check: Option<QuoteStatus>,
    /// Its first and last character, if it is found.
    pub place: Option<QuotePlace>,
    /// The first byte in the document's text, if it is found.
    pub start: Option<u64>,
    /// Bytes of the document's text.
    pub range: Option<std::ops::Range<usize>>,
    /// It continues over the end of a page.
    pub is_over_break: bool,
    /// The characters were recognised in an image.
    pub is_recognised: bool,
    /// The parts that only one of two readings of a scanned page has.
    pub one_reading: Vec<OneReading>,
    /// Its places on the image of its page, if the image's words have places.
    pub boxes: Vec<QuoteBox>,
    /// The reason why no text was extracted from the page that the record gives.
    pub gap: Option<String>,
    /// The nearest passage if it is not found, also after a person's correction.
    pub wrong: Option<String>,
    /// The values beside it that are not in it, or possibly not.
    pub values: Vec<QuotedValue>,
    /// Number of its mark in the sources; `None` if it has no mark.
    pub mark: Option<usize>,
    /// The target of its link: the mark, else the page, else the document; `None` if the source is not shown.
    pub target: Option<String>,
}

/// A value that is not in its quote, or possibly not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotedValue {
    /// Its field: `rent`.
    pub field: String,
    /// A sentence's beginning.
    pub told: String,
    /// A person has put it there.
    pub is_corrected: bool,
}

impl ReviewedQuote {
    /// `licence.pdf, page 4`, `book.epub, chapter 3`.
    pub fn located(&self) -> String {
        match self.unit {
            Some(number) => format!("{}, {} {number}", self.document, self.unit_name),
            None => self.document.clone(),
        }
    }

    /// The name in the record of the object's field `name`: `due` for the value of the object `due`.
    pub(super) fn name_of(&self, name: &str) -> String {
        field_name(&self.within, name)
    }

    /// `its quote`, `the quote of due`.
    pub(super) fn its(&self) -> String {
        self.field.as_ref().map_or_else(|| "its quote".to_owned(), |field| format!("the quote of {field}"))
    }

    /// The place of its text in the deliverable.
    pub fn text_place(&self) -> String {
        format!("{}.{}", self.object, self.key)
    }

    /// The result of the check, in a few words.
    pub(super) fn checked(&self) -> &'static str {
        match self.check {
            Some(QuoteStatus::Found) => "found",
            Some(QuoteStatus::OnAnotherPage) => "on another page",
            Some(QuoteStatus::OnAnotherLine) => "on another line",
            Some(QuoteStatus::TooShort) => "too short",
            Some(QuoteStatus::NotFound) => "not found",
            Some(QuoteStatus::NoSuchDocument) => "no such document",
            None => "not looked for yet",
        }
    }

    pub(super) fn check_key(&self) -> &'static str {
        match self.check {
            Some(QuoteStatus::Found) => "good",
            Some(
                QuoteStatus::OnAnotherPage
                | QuoteStatus::OnAnotherLine
                | QuoteStatus::TooShort
                | QuoteStatus::NotFound
                | QuoteStatus::NoSuchDocument,
            ) => "bad",
            None => "open",
        }
    }
}
