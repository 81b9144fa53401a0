//! RTF. The library at hand (`rtf-parser`) gives the words of `LibreOffice`'s text for 34 of 126 files of public test suites,
//! because it knows neither code pages, tables, notes nor fields; so the control words are read here.
//!
//! - `tokens`: bytes → control words, groups and text
//! - `fonts`: the characters for a font's bytes; `styles`: which paragraphs are headings
//! - `story`: the meaning of control words for the text; `blocks`: where paragraphs, rows and notes end
//! - `words`: which groups hold no text; `fields`: the results of fields; `read`: the whole document

mod blocks;
mod fields;
mod fonts;
mod read;
mod story;
mod styles;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

pub(crate) use read::RtfReader;
