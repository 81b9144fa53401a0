//! Quotes that are so short that they prove nothing.

/// The letters and digits that a quote needs to prove anything; a sign of a script without spaces counts as two.
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
