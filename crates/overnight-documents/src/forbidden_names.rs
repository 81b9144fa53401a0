//! Characters and names that no file name may have: invisible characters, and names with a special meaning.

/// Whether a character is invisible or changes the direction of what follows. `char` itself recognises controls.
pub fn is_invisible(found: char) -> bool {
    matches!(found, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether Windows takes a name for a device, in any case and with any ending.
pub fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let number = stem.strip_prefix("com").or(stem.strip_prefix("lpt")).unwrap_or_default();
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || matches!(number, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
}
