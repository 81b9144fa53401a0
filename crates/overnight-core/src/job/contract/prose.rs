//! The checks of running text: the number of words, and texts that must not occur.

use crate::amount::shown;

pub(super) fn check_words(text: &str, min: u64) -> Result<String, String> {
    let found = words(text);
    if found < min {
        return Err(format!("{found} (at least {min}). Write {} more.", min - found));
    }
    Ok(format!("{found} (at least {min})."))
}

/// Words as a person counts them: runs of letters and digits, joined by an apostrophe or hyphen, or within a number by
/// a point or comma; in scripts written without blanks each character counts as one.
pub fn words(text: &str) -> u64 {
    let mut count = 0;
    // The last character of the current word, and a character that may join the next one to it.
    let (mut inside, mut glue) = (None, None);
    for c in text.chars() {
        if without_blanks(c) {
            count += 1;
            (inside, glue) = (None, None);
        } else if c.is_alphanumeric() {
            let joined = match glue {
                Some('.' | ',') => c.is_numeric(),
                Some(_) => true,
                None => inside.is_some(),
            };
            count += u64::from(!joined);
            (inside, glue) = (Some(c), None);
        } else if is_mark(c) {
            // A combining mark belongs to the letter before it.
        } else {
            glue = match (inside, c) {
                (Some(_), '\'' | '’' | '-' | '\u{2010}' | '\u{2011}' | '\u{ad}') => Some(c),
                (Some(before), '.' | ',') if before.is_numeric() => Some(c),
                (Some(_) | None, _) => None,
            };
            inside = None;
        }
    }
    count
}

fn without_blanks(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0EFF | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
        && c.is_alphanumeric()
}

fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x0300..=0x036F | 0x0483..=0x0489 | 0x0591..=0x05BD | 0x064B..=0x065F | 0x0900..=0x0903 | 0x093A..=0x094F | 0x200C..=0x200D)
}

pub(super) fn check_forbidden(text: &str, forbid: &[String]) -> Result<String, String> {
    let mut found = Vec::new();
    for forbidden in forbid {
        let pattern = pattern(forbidden)
            .map_err(|_| format!("The forbidden text \"{}\" can't be looked for; shorten it.", shown(forbidden)))?;
        if let Some(hit) = pattern.find(text) {
            let line = text.bytes().take(hit.start()).filter(|b| *b == b'\n').count() + 1;
            found.push(format!(
                "Line {line} has \"{}\", which must not occur. Replace it.",
                shown(&one_line(hit.as_str()))
            ));
        }
    }
    if found.is_empty() { Ok("none.".to_owned()) } else { Err(found.join(" ")) }
}

/// A pattern that ignores case, takes any white space for a blank, and has word boundaries at letters and digits.
fn pattern(forbidden: &str) -> Result<regex::Regex, regex::Error> {
    let parts: Vec<String> = forbidden.split_whitespace().map(regex::escape).collect();
    let edge = |c: Option<char>| {
        if c.is_some_and(char::is_alphanumeric) { r"\b" } else { "" }
    };
    let trimmed = forbidden.trim();
    let (before, after) = (edge(trimmed.chars().next()), edge(trimmed.chars().last()));
    regex::RegexBuilder::new(&format!("{before}{}{after}", parts.join(r"\s+"))).case_insensitive(true).build()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
