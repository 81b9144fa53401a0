//! DOCX.
//!
//! - `read`: the whole document; `survey`: what it is cut into pages by
//! - `story`: its text, paragraph by paragraph; `frame`: what is open at a place; `paragraph`, `table`: one of each;
//!   `pages`: where one ends
//! - `styles`, `numbering`: which paragraphs are headings, and the numbers before them

mod frame;
mod numbering;
mod pages;
mod paragraph;
mod read;
mod story;
mod styles;
mod survey;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use read::Word;
