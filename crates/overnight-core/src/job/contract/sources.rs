//! What the checks of a deliverable request from their caller: places of quotes, texts of documents, other files.

use super::{QuoteQuery, QuoteResult};
use overnight_rules::date::DayOrder;
use serde_json::Value;

/// Documents and files for the checks. A caller that can only find quotes passes a function from query to result.
pub trait Sources {
    /// Looks for a quote.
    fn find_quote(&mut self, query: QuoteQuery<'_>) -> QuoteResult;

    /// The text of the quote that was found last, with this many whole lines before and after it.
    fn around_quote(&mut self, _lines: u64) -> Option<String> {
        None
    }

    /// The doubts about the quote that was found last, as phrases.
    fn doubts_of_quote(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Keeps the values of the record that do not, or may not, stand in the quote found last: field and reason.
    fn keep_values(&mut self, _doubtful: &[DoubtfulValue]) {}

    /// Whether day or month comes first in the dates of a document, if its dates show it.
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
    /// The field.
    pub field: String,
    /// Why that is unclear, a phrase that follows the value; `None` if the value doesn't stand in the quote.
    pub unclear: Option<String>,
}
