//! Text from documents, for programs that must state where in a document something stands, and what was unreadable.
//!
//! A document is a name and bytes, in any of [these formats](READERS). [`extract`] makes one text of it, with pages if
//! the format has pages. Nothing is dropped silently: unreadable parts are [`Gap`]s, with pages and the reason.
//! [`Units`] cuts the text into pages or lines, and a [`QuoteIndex`] finds a quote in it, even if extraction changed
//! its blanks, hyphens and quotation marks.
//!
//! ```
//! use overnight_documents::{QuoteIndex, Unit, extract};
//!
//! let log = extract("log.txt", b"Pump 1 ran.\x0cPump 2 failed\nat three.")?;
//! assert_eq!((log.unit, log.gaps.len()), (Unit::Page, 0));
//! let place = QuoteIndex::new(log.unit, log.text).find("failed at three", None);
//! assert_eq!(place.and_then(|place| place.from.page), Some(2));
//! # Ok::<(), overnight_documents::DocumentError>(())
//! ```
//!
//! [`discover`] finds documents at paths: in folders, in archives, and attached to mails. [`members`] lists the
//! documents in one file. Documents may be hostile. [`extract`] has no limit on time and memory; a program that reads
//! strangers' files calls [`read`] page by page in a separate process, and keeps the pages read before it ended.
//!
//! # Map
//!
//! - `discover`: which documents the given paths mean, and their names; `source_path`: one of them as a text;
//!   `container`: documents inside files; `content`: the bytes of files
//! - `format`: the formats; `extract`: recognises documents and calls readers; `zip_or_ole`: which formats ZIP archives
//!   or OLE files are; `ole`: OLE files with errors; `file_kind`: formats by first bytes, and those without a reader
//! - `readers`: one for each kind; `paint_page`, `page_picture`: pages as pictures; `refusal`: why some aren't read
//! - `encoding`: bytes → characters; `text`: characters → tidy lines; `extracted`: pages → the text that is kept
//! - `links`: where links lead; `raised`: text above and below its line; `sign_fonts`: fonts whose letters are signs
//! - `recognised`: words in pictures of pages, and how far two readings agree
//! - `units`: pages and lines; `quotes`: quotes in a text; `tables`: its tables; `headers_footers`: running lines
//!
//! # Invariants
//!
//! Extraction is a pure function of name and bytes: the same document gives the same text on any machine. No line of an
//! extracted text is longer than [`MAX_LINE_CHARS`]. Hostile bytes give a text or an error, never a panic.

#![warn(missing_docs)]

mod container;
mod content;
mod discover;
mod document_name;
mod encoding;
mod error;
mod extract;
mod extracted;
mod file_kind;
mod forbidden_names;
mod format;
mod gaps;
mod headers_footers;
mod links;
mod member_names;
mod ole;
mod page_picture;
mod paint_page;
mod quotes;
mod raised;
mod readers;
mod recognised;
mod refusal;
mod sign_fonts;
mod source_path;
mod tables;
mod text;
mod units;
mod zip_or_ole;

pub use container::{Member, Members, members, take_all};
pub use content::{ContainerOpener, InProcess, PagePainter, bytes_at};
pub use discover::{FoundDocument, FoundDocuments, OwnPaths, discover, given_folder, holders, survey};
pub use document_name::check_name;
pub use error::DocumentError;
pub use extract::{detect, extract, read};
pub use extracted::{CollectedPages, Extracted};
pub use forbidden_names::{is_device, is_invisible};
pub use format::{Format, MAX_BYTES, READERS, ending};
pub use gaps::{AGAINST_GAPS, Gap, PageSpan, SCAN_BEHIND_TEXT};
pub use page_picture::{Colours, MarkedBox, PagePicture, PaintedPlace, PictureOptions, QuoteOnPage};
pub use paint_page::{is_painted, names_pictures, page_picture, picture_of, quote_boxes};
pub use quotes::{NearestPassage, QuoteIndex, QuotePlace, TextPosition, proves_nothing};
pub use readers::{
    EmbeddedPicture, PageSink, Stopped, embedded_picture, embedded_pictures, is_gibberish, is_pictures_only, pdf_header,
};
pub use recognised::{ComparedWord, RecognisedPage, RecognisedWord, compare, quarter_turns};
pub use refusal::Refusal;
pub use source_path::source;
pub use tables::{TableHeader, TableSink, tables};
pub use text::MAX_LINE_CHARS;
pub use units::{Offsets, PAGES_ARE_CHAPTERS, Unit, Units};
