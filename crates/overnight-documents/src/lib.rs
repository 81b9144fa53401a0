//! A job's documents: from the paths that a user gives to text that the model reads, coverage counts and quotes are
//! checked against. All three use the same [`Extracted::text`] and the same [`Units`] of it, so that "page 4" means
//! one thing.
//!
//! - `gather`: which documents the given paths mean, and what they will be called under `documents/`; `source`: one of
//!   them as a text; `container`: documents inside files; `content`: a document's bytes
//! - `format`: what kind of document some bytes are, and who reads it; `zip_or_ole`: what a ZIP archive or an OLE file says
//!   that it is; `unreadable`: the kinds that nobody reads yet
//! - `readers`: one for each kind; `refusal`: why a document isn't read
//! - `encoding`: bytes → characters; `text`: characters → tidy lines; `extracted`: pages → the text that is kept
//! - `units`: pages and lines of a text; `quotes`: where a quote stands in it
//!
//! *Invariants.* Extraction is a pure function of name and bytes: the same document gives the same text on any machine.
//! No line of an extracted text is longer than [`MAX_LINE_CHARS`]. Hostile bytes give a text or an error, never a panic.

#![warn(missing_docs)]

mod container;
mod content;
mod discover;
mod encoding;
mod error;
mod extracted;
mod forbidden_names;
mod format;
mod gaps;
mod headers_footers;
mod quotes;
mod readers;
mod refusal;
mod source_path;
mod text;
mod units;
mod unsupported;
mod zip_or_ole;

pub use container::{Member, Members, members, take, take_all};
pub use content::{ContainerOpener, InProcess, bytes_at, content, file};
pub use discover::{FoundDocument, FoundDocuments, OwnPaths, check_name, discover, survey};
pub use error::DocumentError;
pub use extracted::{CollectedPages, Extracted, MAX_TEXT_BYTES};
pub use forbidden_names::{is_device, is_invisible};
pub use format::{Format, MAX_BYTES, READERS, detect, ending, extract, read};
pub use gaps::{AGAINST_GAPS, Gap, PageSpan};
pub use quotes::{QuoteIndex, QuotePlace, TextPosition};
pub use readers::{PageSink, Stopped, pdf_header};
pub use refusal::Refusal;
pub use source_path::source;
pub use text::MAX_LINE_CHARS;
pub use units::{Offsets, Unit, Units};
