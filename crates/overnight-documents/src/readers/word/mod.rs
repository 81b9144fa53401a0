//! DOCX.
//!
//! - `read`: the whole document; `page_breaks`: how it is divided into pages
//! - `story`: its text, paragraph by paragraph; `open_element`: the open elements; `paragraph`, `table`: one of each;
//!   `run`: the format of a run; `fields`: fields; `inserted`: links, notes and charts; `pages`: ends of pages
//! - `styles`, `numbering`: which paragraphs are headings, and the numbers before them

mod fields;
mod inserted;
mod numbering;
mod open_element;
mod page_breaks;
mod pages;
mod paragraph;
mod read;
mod run;
mod story;
mod styles;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use read::{WordReader, is_single_file, read_single_file};
