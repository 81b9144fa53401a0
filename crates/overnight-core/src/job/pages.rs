//! Ranges of a document's pages, and parts without text, as lists for people show them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Pages (or lines, where a document has no pages) from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageRange {
    /// The first.
    pub from: u64,
    /// The last.
    pub to: u64,
}

impl PageRange {
    /// Whether `page` is one of them.
    pub fn has(&self, page: u64) -> bool {
        (self.from..=self.to).contains(&page)
    }
}

/// `page 3`, `pages 3-7`.
impl fmt::Display for PageRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        if from == to { write!(f, "page {from}") } else { write!(f, "pages {from}-{to}") }
    }
}

/// Lines of one page, from 1, both ends included, and how many the page has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageLines {
    /// The first.
    pub from: u64,
    /// The last.
    pub to: u64,
    /// Lines of the whole page.
    pub of: u64,
}

/// `lines 1-140 of 420`.
impl fmt::Display for PageLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, of } = self;
        if from == to { write!(f, "line {from} of {of}") } else { write!(f, "lines {from}-{to} of {of}") }
    }
}

/// A part of a document from which no text was extracted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnreadPart {
    /// The pages; `None` if their place in the document isn't known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageRange>,
    /// The reason, a phrase: `no text on it, probably a scan`.
    pub why: String,
}

/// `pages 3-7: no text on them, probably a scan`.
impl fmt::Display for UnreadPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pages {
            Some(pages) => write!(f, "{pages}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}
