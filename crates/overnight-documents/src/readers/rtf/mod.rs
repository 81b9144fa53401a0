//! RTF. The library at hand (`rtf-parser`) gives the words of `LibreOffice`'s text for 34 of 126 files of public test suites,
//! because it knows neither code pages, tables, notes nor fields; so the control words are read here.
//!
//! - `tokens`: bytes → control words, groups and text
//! - `fonts`: which characters a font's bytes are; `styles`: which paragraphs are headings
//! - `story`: what words mean for the text; `blocks`: where paragraphs, rows and notes end
//! - `words`: which groups hold no text; `fields`: what fields show; `read`: the whole document

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
