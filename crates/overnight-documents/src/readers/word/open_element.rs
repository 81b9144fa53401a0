//! The elements that are open at a place in a document, and counts of what is left out.

use super::paragraph::Paragraph;
use super::table::{WordCell, WordTable};
use crate::readers::package::Blocks;

/// An element that is open at a place in the document.
pub(super) enum OpenElement {
    Paragraph(Box<Paragraph>),
    Table(Box<WordTable>),
    Cell(Box<WordCell>),
    /// A text box.
    Box(Blocks),
    /// Several forms of one thing, and whether one was read.
    Forms(bool),
}

/// What breaks a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    /// As Word saw it when it last showed the document; also behind a break by hand.
    Recorded,
    ByHand,
}

/// Counts of what a document has beside its text, for notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OmittedCounts {
    pub(super) images: u64,
    pub(super) objects: u64,
    pub(super) deletions: u64,
    pub(super) hidden: u64,
}
