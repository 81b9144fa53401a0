//! A local estimate of tokens, for texts that no provider has counted yet.
//!
//! Written by hand on purpose: the exact count differs from vendor to vendor, a real vocabulary costs 20 MB and half a
//! millisecond for a tool result, and the provider's own count replaces the estimate with every reply. The estimate is
//! the usual rule of four bytes a token for ASCII; letters outside ASCII count by how vocabularies cut them: about two
//! letters a token in alphabets, one a token in scripts without blanks.

/// The estimated number of tokens of `text`; 0 only for the empty text.
pub fn estimate(text: &str) -> u64 {
    quarters(text).div_ceil(4)
}

/// The estimate in quarters of a token; the estimate of a text is the sum over its parts.
pub fn quarters(text: &str) -> u64 {
    // Nearly every text is ASCII, and the check costs next to nothing.
    if text.is_ascii() {
        return text.len() as u64;
    }
    // A letter of two bytes (Latin, Greek, Cyrillic …) counts as two quarters, a longer one as a whole token: as many
    // quarters as bytes, plus one for each letter of three bytes, which its first byte identifies.
    let of_three: usize = text.as_bytes().chunks(64).map(letters_of_three_bytes).sum();
    (text.len() + of_three) as u64
}

/// The number of three-byte letters that begin in `piece` (at most 255 bytes): it fits a byte, so many count at once.
fn letters_of_three_bytes(piece: &[u8]) -> usize {
    if piece.is_ascii() {
        return 0;
    }
    usize::from(piece.iter().map(|byte| u8::from(byte & 0xf0 == 0xe0)).sum::<u8>())
}

/// The longest beginning of `text` of at most `tokens` estimated tokens, cut at a character.
pub fn head(text: &str, tokens: u64) -> &str {
    let mut quarters = 0_u64;
    for (offset, letter) in text.char_indices() {
        quarters += quarters_of(letter);
        if quarters > tokens * 4 {
            return &text[..offset];
        }
    }
    text
}

/// The longest end of `text` of at most `tokens` estimated tokens, cut at a character.
pub fn tail(text: &str, tokens: u64) -> &str {
    let mut quarters = 0_u64;
    for (offset, letter) in text.char_indices().rev() {
        quarters += quarters_of(letter);
        if quarters > tokens * 4 {
            return &text[offset + letter.len_utf8()..];
        }
    }
    text
}

/// The last whole lines of `text` with at most `tokens` estimated tokens; if the last line alone is longer, its end.
pub(crate) fn last_lines(text: &str, tokens: u64) -> &str {
    let kept = tail(text, tokens);
    if kept.len() == text.len() {
        return text;
    }
    kept.split_once('\n').map_or(kept, |(_, lines)| lines)
}

fn quarters_of(letter: char) -> u64 {
    match letter.len_utf8() {
        1 => 1,
        2 => 2,
        _ => 4,
    }
}

/// `text`, or its beginning (cut at a line end if one is near) and a line that states where the whole text is.
pub fn bounded(text: &str, tokens: u64, whole: &str) -> String {
    if estimate(text) <= tokens {
        return text.to_owned();
    }
    let note = format!("\n[cut here; the whole is in {whole}]");
    let kept = head(text, tokens.saturating_sub(estimate(&note)));
    let kept = match kept.rfind('\n') {
        Some(end) if end > kept.len() / 2 => &kept[..end],
        Some(_) | None => kept,
    };
    format!("{kept}{note}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_by_script() {
        assert_eq!(
            [estimate(""), estimate("a"), estimate("four"), estimate("fours"), estimate("äöü"), estimate("計画")],
            [0, 1, 1, 2, 2, 2]
        );
    }

    #[test]
    fn what_is_cut_begins_with_a_whole_line() {
        assert_eq!(last_lines("- one\n- two\n- three", 4), "- two\n- three");
        assert_eq!(last_lines("- one\n- two", 4), "- one\n- two");
        assert_eq!(last_lines("one long line", 1), "line");
    }

    proptest! {
        #[test]
        fn a_text_counts_as_its_letters_do(text in "(?s).{0,300}") {
            prop_assert_eq!(quarters(&text), text.chars().map(quarters_of).sum::<u64>());
        }

        #[test]
        fn parts_keep_their_bound(text in ".{0,200}", tokens in 0_u64..30) {
            prop_assert!(estimate(head(&text, tokens)) <= tokens);
            prop_assert!(estimate(tail(&text, tokens)) <= tokens);
            prop_assert!(text.starts_with(head(&text, tokens)) && text.ends_with(tail(&text, tokens)));
        }

        #[test]
        fn bounded_text_is_bounded(text in "(?s).{0,400}", tokens in 12_u64..60) {
            prop_assert!(estimate(&bounded(&text, tokens, "x.md")) <= tokens);
        }
    }
}
