//! Where a quote stands in a document.
//!
//! - `fold`: a text as its reader sees it, without what differs from one extraction, or one keyboard, to the next
//! - `index`: a whole text folded, searched for quotes, and the way back from there to page, line and character
//! - `line_cursor`: going through a text line by line
//! - `nearest`: the passage that is most like a quote that stands nowhere
//! - `needle`: a quote folded, and where it stands in a folded text
//! - `place`: places in a text, as a reader counts them
//! - `word_boundary`: whether a match cuts a word or a number at its ends

mod bits;
mod fold;
mod index;
mod line_cursor;
mod nearest;
mod needle;
mod place;
mod word_boundary;

#[cfg(test)]
mod tests;

pub use index::QuoteIndex;
pub use nearest::NearestPassage;
pub use place::{QuotePlace, TextPosition};

/// Letters and digits that a quote needs to prove anything; a sign of a script without spaces counts as two.
const FEWEST_LETTERS: usize = 3;

/// Whether a quote is so short that it proves nothing: it stands in any text.
///
/// ```
/// use overnight_documents::proves_nothing;
///
/// assert_eq!([".", "a", "§ 5", "no"].map(proves_nothing), [true; 4]);
/// assert_eq!(["yes", "§ 12.5", "同意"].map(proves_nothing), [false; 3]);
/// ```
pub fn proves_nothing(quote: &str) -> bool {
    let signs = quote.chars().filter(|letter| letter.is_alphanumeric());
    signs.map(|sign| if sign >= '\u{2e80}' { 2 } else { 1 }).sum::<usize>() < FEWEST_LETTERS
}
