//! Where a quote stands in a document.
//!
//! - `fold`: a text as its reader sees it, without what differs from one extraction, or one keyboard, to the next
//! - `index`: a whole text folded, searched for quotes, and the way back from there to page, line and character
//! - `line_cursor`: going through a text line by line
//! - `nearest`: the passage that is most like a quote that stands nowhere
//! - `needle`: a quote folded, and where it stands in a folded text
//! - `place`: places in a text, as a reader counts them
//! - `too_short`: what would stand in any text
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
