//! Places in a text, as a reader counts them.

use serde::{Deserialize, Serialize};

/// Where a character stands, each from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextPosition {
    /// None where the document has no pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// On its page, where there are pages.
    pub line: u64,
    /// In its line.
    pub character: u64,
}

impl TextPosition {
    /// The page, or the line where there are no pages.
    pub fn unit_number(self) -> u64 {
        self.page.unwrap_or(self.line)
    }
}

/// Where a quote stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotePlace {
    /// Its first character.
    pub from: TextPosition,
    /// Its last.
    pub to: TextPosition,
}
