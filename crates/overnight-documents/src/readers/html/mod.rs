//! HTML → text with Markdown's block structure and no inline marks.
//!
//! Parsed by `html5ever`, as a browser would; the rest is our own, because converters to Markdown don't fit: they
//! escape (`\_`, `\*`, `\[`), mark emphasis and links, so a quote of the visible text isn't found in their output
//! (`htmd` has no option against that); and the common tree (`rcdom`) is made for tests, with searches through all
//! siblings.
//!
//! - `tree`: a flat tree with bounds that the parser lacks
//! - `prune`: removes parts that a reader wouldn't call text
//! - `write`: the text; `blocks`: what elements make of it; `table`: rows; `list_counter`: numbers of items;
//!   `mathml`: formulas; `controls`: what forms have
//! - `read`: the four put together

mod blocks;
mod controls;
mod list_counter;
mod mathml;
mod prune;
mod read;
mod table;
mod tree;
mod write;

pub(crate) use read::{HtmlOmissions, HtmlReader, of_chapter, of_part};

#[cfg(test)]
mod tests;
