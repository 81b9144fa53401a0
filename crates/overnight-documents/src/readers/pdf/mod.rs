//! PDF, read page after page.
//!
//! - `read`: a document and its pages, and their gaps
//! - `repair`: pages found again; `damaged_streams`: pages whose content is damaged where it is packed
//! - `annotations`: content over a page: fields, stamps, comments; `attached`: embedded files; `plausible`: whether
//!   text is in any language
//! - `fonts`, `to_unicode`: facts from fonts that the library drops
//! - `content`, `paint`: running a page's content; `show`: its strings, for the place of each character (`glyphs`);
//!   `ink`: whether text is visible; `pictures`: other visible content
//! - `words`, `accents`: characters → words; `tables`: words → tables; `page_columns`: the columns that a page has; `layout`, `line_spacing`: the other words → blocks of
//!   lines; `rows`: blocks side by side → rows; `scripts`: raised and lowered characters; `direction`, `letters`: lines as they are read; `reading_order`: blocks in reading order;
//!   `write`: their text
//! - `picture`: a page as an image, with the places of quotes on it
//!
//! Objects, packing, encryption and fonts are the library's. Reading order is ours: measured on some 280 real manuals
//! against `pdftotext`, the library's own keeps headers and tables otherwise than they stand, and its text is Markdown.

mod accents;
mod annotations;
mod attached;
mod content;
mod damaged_streams;
mod direction;
mod fonts;
mod glyph_names;
mod glyphs;
mod ink;
mod layout;
mod letters;
mod line_spacing;
mod page_columns;
mod paint;
mod picture;
mod pictures;
mod plausible;
mod read;
mod reading_order;
mod repair;
mod rows;
mod scripts;
mod show;
mod tables;
mod to_unicode;
mod values;
mod words;
mod write;

pub(crate) use picture::{paint_page, quote_boxes};
pub use plausible::is_gibberish;
pub(crate) use read::PdfReader;
pub use read::header;

#[cfg(test)]
mod row_tests;
#[cfg(test)]
mod tests;
