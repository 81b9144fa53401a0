//! A part of a document, as it is given to one reader.

use serde::{Deserialize, Serialize};

/// A part of a document: pages, or lines where there are no pages, both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadUnit {
    /// The document's name.
    pub document: String,
    /// The first page or line, from 1.
    pub from: u64,
    /// The last page or line.
    pub to: u64,
    /// Its even share of the document's estimated tokens.
    pub tokens: u64,
}
