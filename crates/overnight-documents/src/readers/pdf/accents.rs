//! Accents drawn apart from their letters, as older TeX fonts have them: one character again.

use unicode_normalization::UnicodeNormalization;

use super::glyphs::Glyph;

/// The combining form of an accent that stands alone.
pub(super) fn combining(text: &str) -> Option<char> {
    let mut characters = text.chars();
    let (Some(only), None) = (characters.next(), characters.next()) else { return None };
    Some(match only {
        '`' | '\u{2cb}' => '\u{300}',
        '\u{b4}' | '\u{2ca}' => '\u{301}',
        '^' | '\u{2c6}' => '\u{302}',
        '~' | '\u{2dc}' => '\u{303}',
        '\u{af}' | '\u{2c9}' => '\u{304}',
        '\u{2d8}' => '\u{306}',
        '\u{2d9}' => '\u{307}',
        '\u{a8}' => '\u{308}',
        '\u{2da}' | '\u{b0}' => '\u{30a}',
        '\u{2dd}' => '\u{30b}',
        '\u{2c7}' => '\u{30c}',
        '\u{b8}' => '\u{327}',
        '\u{2db}' => '\u{328}',
        '\u{300}'..='\u{36f}' => only,
        _ => return None,
    })
}

/// Whether `accent` stands over or under `letter`.
pub(super) fn is_of(accent: &Glyph, letter: &Glyph) -> bool {
    let middle = f32::midpoint(accent.start, accent.end);
    let near = 0.05 * letter.size;
    accent.turn == letter.turn
        && (letter.start - near..=letter.end + near).contains(&middle)
        && (accent.base - letter.base).abs() < 0.5 * letter.size
        && accent.start < letter.end - near
        && letter.start < accent.end - near
}

/// `letter` with `accent`: one character if it exists, else a letter with a combining mark, as in mathematics.
pub(super) fn composed(letter: char, accent: char) -> Option<String> {
    let bare = match letter {
        '\u{131}' => 'i',
        '\u{237}' => 'j',
        letter => letter,
    };
    let both: String = [bare, accent].into_iter().nfc().collect();
    (bare.is_alphabetic() || both.chars().nth(1).is_none()).then_some(both)
}
