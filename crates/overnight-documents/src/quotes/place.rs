//! Places in a text, as a reader counts them.

use serde::{Deserialize, Serialize};

/// The position of a character; all numbers count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextPosition {
    /// None if the document has no pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// The line on its page, if there are pages.
    pub line: u64,
    /// The character in its line.
    pub character: u64,
}

impl TextPosition {
    /// The page, or the line where there are no pages.
    pub fn unit_number(self) -> u64 {
        self.page.unwrap_or(self.line)
    }
}

/// The place of a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotePlace {
    /// The first character.
    pub from: TextPosition,
    /// The last character.
    pub to: TextPosition,
}
