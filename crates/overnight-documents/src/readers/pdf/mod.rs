//! PDF, read page after page.
//!
//! - `read`: a document and its pages, and what is missing of them
//! - `repair`: pages found again; `damaged_streams`: pages whose content is damaged where it is packed
//! - `annotations`: what lies over a page: fields, stamps, comments
//! - `fonts`, `to_unicode`: what fonts say of themselves that the library drops
//! - `content`, `paint`: a page's content is run; `show`: its strings are, for the place of each character (`glyphs`)
//! - `words`, `accents`: characters → words; `tables`: words → tables; `layout`, `line_spacing`: the other words → blocks of
//!   lines; `direction`: lines as they are read; `reading_order`: blocks in reading order; `write`: their text
//! - `picture`: a page as an image, with the places of quotes on it
//!
//! Objects, packing, encryption and fonts are the library's. Reading order is ours: measured on some 280 real manuals
//! against `pdftotext`, the library's own keeps headers and tables otherwise than they stand, and its text is Markdown.

mod accents;
mod annotations;
mod content;
mod damaged_streams;
mod direction;
mod fonts;
mod glyphs;
mod layout;
mod line_spacing;
mod paint;
mod picture;
mod read;
mod reading_order;
mod repair;
mod show;
mod tables;
mod to_unicode;
mod words;
mod write;

pub use picture::{MarkedBox, PagePicture, QuoteOnPage, page_picture};
pub(crate) use read::PdfReader;
pub use read::header;

#[cfg(test)]
mod tests;
