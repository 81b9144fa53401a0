//! Ligatures of old TeX fonts. Such a font is made of pictures and names nothing; a word's letters stand at the places that
//! they have in ASCII, and its ligatures at those that TeX's own encodings give them: OT1 (octal 013 to 017) and T1 (033 to
//! 037). In a font for formulas the same places have Greek letters, so only what stands in a word counts.

/// Ligatures in the order in which both encodings have them.
const LIGATURES: [&str; 5] = ["ff", "fi", "fl", "ffi", "ffl"];
/// Where the first of them stands in each.
const FIRST: [u32; 2] = [0x0b, 0x1b];
/// Added to a code that may be one: a character that no text has.
const WAITING: u32 = 0xf_0000;
/// So many letters beside it make a word of it.
const LETTERS: usize = 2;

/// `o` and one that waits: "off" has one letter beside it.
const OFF: &str = "o\u{f001b}";

/// What stands for the code until its word is known; none where it can be no ligature.
pub(super) fn waiting(code: u8) -> Option<char> {
    ligature(u32::from(code)).and(char::from_u32(WAITING + u32::from(code)))
}

/// The word with its ligatures. What turned out to be none is left out.
pub(super) fn settled(word: &str) -> Option<String> {
    let waits = |c: char| u32::from(c).checked_sub(WAITING).and_then(ligature);
    word.contains(|c| waits(c).is_some()).then(|| {
        let letters = word.chars().filter(char::is_ascii_lowercase).count();
        let is_off = word.len() == OFF.len() && word.starts_with('o');
        let is_word = letters >= LETTERS || is_off;
        let settle = |c: char| match waits(c) {
            Some(ligature) => (if is_word { ligature } else { "" }).to_owned(),
            None => c.to_string(),
        };
        word.chars().map(settle).collect()
    })
}

fn ligature(code: u32) -> Option<&'static str> {
    FIRST
        .iter()
        .filter_map(|first| code.checked_sub(*first))
        .find_map(|at| LIGATURES.get(usize::try_from(at).ok()?))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::{settled, waiting};

    #[test]
    fn ligatures_stand_in_words_only() {
        let word =
            |codes: &[u8]| -> String { codes.iter().map(|&code| waiting(code).unwrap_or(char::from(code))).collect() };
        for (codes, expected) in [
            (&b"di\x1berent"[..], Some("different")),
            (b"\x1crst,", Some("first,")),
            (b"su\x0ex", Some("suffix")),
            (b"o\x0b", Some("off")),
            (b"O\x1b.", Some("O.")),
            (b"\x1b", Some("")),
            (b"\x1bx", Some("x")),
            (b"plain", None),
        ] {
            assert_eq!(settled(&word(codes)).as_deref(), expected, "{codes:x?}");
        }
        assert_eq!((waiting(0x10), waiting(0x1a), waiting(b'a')), (None, None, None));
    }
}
