//! The open elements at a place in a document, and counts of omissions.

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
    /// Several forms of one object, and whether one was read.
    Forms(bool),
}

/// The kind of a page break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    /// A break that Word recorded when it last showed the document; also the record of a manual break.
    Recorded,
    ByHand,
}

/// Counts of a document's content other than its text, for notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OmittedCounts {
    pub(super) images: u64,
    pub(super) objects: u64,
    pub(super) deletions: u64,
    pub(super) hidden: u64,
}
