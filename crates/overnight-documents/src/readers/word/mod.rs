//! DOCX.
//!
//! - `read`: the whole document; `page_breaks`: what it is cut into pages by
//! - `story`: its text, paragraph by paragraph; `open_element`: what is open at a place; `paragraph`, `table`: one of each;
//!   `run`: how a run of text is shown; `fields`: what fields show; `inserted`: links, notes and charts in it; `pages`: where one ends
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
