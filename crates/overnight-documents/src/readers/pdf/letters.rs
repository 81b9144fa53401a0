//! Properties of a character in its line: read from the right, a mark on another one.

use unicode_bidi::{BidiClass, bidi_class};

/// Whether a letter is read from the right.
pub(super) fn is_letter_from_right(character: char) -> bool {
    matches!(bidi_class(character), BidiClass::R | BidiClass::AL)
}

/// Whether a character is a mark on a letter that may be read from the right. Marks of other scripts are drawn where they are
/// read.
pub(super) fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{8ff}') && bidi_class(character) == BidiClass::NSM
}

/// Whether most letters of `texts` are read from the right; none where there are no letters.
pub(super) fn is_from_right<'a>(texts: impl Iterator<Item = &'a str>) -> Option<bool> {
    let (mut right, mut left) = (0_usize, 0_usize);
    for character in texts.flat_map(str::chars) {
        right += usize::from(is_letter_from_right(character));
        left += usize::from(bidi_class(character) == BidiClass::L);
    }
    (right + left > 0).then_some(right > left)
}
