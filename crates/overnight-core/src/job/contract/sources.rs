//! What the checks of a deliverable ask of whoever calls them: where quotes stand, and what documents and other files say.

use super::{QuoteQuery, QuoteResult};
use overnight_rules::date::DayOrder;
use serde_json::Value;

/// Documents and files, as the checks look at them. Whoever can only look for quotes is a function from a query to its result.
pub trait Sources {
    /// Looks for a quote.
    fn find_quote(&mut self, query: QuoteQuery<'_>) -> QuoteResult;

    /// The text of the quote that was found last, with so many whole lines before and behind it.
    fn around_quote(&mut self, _lines: u64) -> Option<String> {
        None
    }

    /// What is doubtful of the quote that was found last: fragments.
    fn doubts_of_quote(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Keeps which values of the record do not stand in the quote that was found last, or may not: its field, and why.
    fn keep_values(&mut self, _doubtful: &[DoubtfulValue]) {}

    /// Whether day or month comes first in the dates of a document, where they say.
    fn day_order(&mut self, _document: &str) -> Option<DayOrder> {
        None
    }

    /// The text of a document, or of one page of it. The error is a sentence's end, here and below.
    fn text(&mut self, document: &str, _page: Option<u64>) -> Result<String, String> {
        Err(format!("the document '{document}' can't be read here"))
    }

    /// Rows of data of a table document, without its header.
    fn rows(&mut self, document: &str, _sheet: Option<&str>) -> Result<u64, String> {
        Err(format!("the document '{document}' can't be read here"))
    }

    /// Another deliverable.
    fn deliverable(&mut self, path: &str) -> Result<Value, String> {
        Err(format!("the file '{path}' can't be read here"))
    }
}

impl<F: FnMut(QuoteQuery<'_>) -> QuoteResult> Sources for F {
    fn find_quote(&mut self, query: QuoteQuery<'_>) -> QuoteResult {
        self(query)
    }
}

/// A value that does not stand in its quote, or may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubtfulValue {
    /// Its field.
    pub field: String,
    /// None: it doesn't stand there. Else why that can't be told, a fragment that follows the value.
    pub unclear: Option<String>,
}
