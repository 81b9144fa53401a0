//! Where a quote stands in a document.
//!
//! - `fold`: a text as its reader sees it, without the differences between extractions or keyboards
//! - `index`: a folded text that is searched for quotes, and the way back to page, line and character
//! - `line_cursor`: going through a text line by line
//! - `nearest`: the passage that is most like a quote that isn't found
//! - `needle`: a folded quote, and the search for it in a folded text
//! - `place`: places in a text, as a reader counts them
//! - `too_short`: quotes that would stand in any text
//! - `word_boundary`: whether a match cuts a word or a number at its ends

mod bits;
mod fold;
mod index;
mod line_cursor;
mod nearest;
mod needle;
mod place;
mod too_short;
mod word_boundary;

#[cfg(test)]
mod tests;

pub use index::QuoteIndex;
pub use nearest::NearestPassage;
pub use place::{QuotePlace, TextPosition};
pub use too_short::proves_nothing;
