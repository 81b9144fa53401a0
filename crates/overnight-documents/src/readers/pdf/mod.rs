//! PDF, read page after page.
//!
//! - `read`: a document and its pages, and what is missing of them
//! - `repair`: pages found again; `torn`: pages whose content is damaged where it is packed
//! - `notes`: what lies over a page: fields, stamps, comments
//! - `fonts`, `characters`: what fonts say of themselves that the library drops
//! - `content`, `paint`: a page's content is run; `show`: its strings are, for the place of each character (`glyphs`)
//! - `words`, `accents`: characters → words; `tables`: words → tables; `layout`, `pitch`: the other words → blocks of
//!   lines; `direction`: lines as they are read; `order`: blocks in reading order; `write`: their text
//!
//! Objects, packing, encryption and fonts are the library's. Reading order is ours: measured on some 280 real manuals
//! against `pdftotext`, the library's own keeps headers and tables otherwise than they stand, and its text is Markdown.

mod accents;
mod characters;
mod content;
mod direction;
mod fonts;
mod glyphs;
mod layout;
mod notes;
mod order;
mod paint;
mod pitch;
mod read;
mod repair;
mod show;
mod tables;
mod torn;
mod words;
mod write;

pub(crate) use read::Pdf;
pub use read::header;

#[cfg(test)]
mod tests;
