//! Characters that nobody sees.

/// Whether a character is not seen, or turns the direction of what stands behind it. Controls are told apart by `char`.
pub fn is_invisible(found: char) -> bool {
    matches!(found, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
