//! The names that a batch may have. Commands take names of batches and jobs alike, so a name must not look like an id or be `last`.

use overnight_core::amount::shown;

/// The maximum length of a name, in letters.
pub const MOST_LETTERS: usize = 200;
/// Digits of an id.
const ID_DIGITS: usize = 32;
/// The first of them, for a few thousand years: an id begins with its time.
const FIRST_DIGIT: char = '0';

/// The reason why a name is invalid; a fragment that follows the flag's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidName(String);

/// `name` without surrounding blanks, if it is a valid name for a batch.
pub fn checked_name(name: &str) -> Result<&str, InvalidName> {
    let name = name.trim();
    check(name).map(|()| name).map_err(InvalidName)
}

fn check(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("is empty: give a name, or leave it out".to_owned());
    }
    if name.chars().any(|letter| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')) {
        return Err(format!("'{}' has a line break or a control character: write it in one line", shown(name)));
    }
    let letters = name.chars().count();
    if letters > MOST_LETTERS {
        return Err(format!("has {letters} letters, and {MOST_LETTERS} are the most"));
    }
    if name.eq_ignore_ascii_case("last") {
        return Err(format!("'{name}' stands for the newest batch: choose another name"));
    }
    let digits = name.chars().filter(|&letter| letter != '-');
    let is_id = digits.clone().count() <= ID_DIGITS && digits.clone().all(|digit| digit.is_ascii_hexdigit());
    if is_id && digits.clone().next().is_none_or(|first| first == FIRST_DIGIT) {
        return Err(format!("'{name}' could be the beginning of an id: put a word to it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_ids() {
        for name in ["contracts", "night of 2026-11-21", "2026-11-21", "cafe", "a/b", "“x”", "last night", "x"] {
            assert_eq!(checked_name(&format!(" {name} ")), Ok(name));
        }
        let long = "x".repeat(201);
        for (name, why) in [
            (" ", "is empty: give a name, or leave it out"),
            ("a\nb", "'a b' has a line break or a control character: write it in one line"),
            ("a\u{1b}[31mb", "'a [31mb' has a line break or a control character: write it in one line"),
            (&long, "has 201 letters, and 200 are the most"),
            ("Last", "'Last' stands for the newest batch: choose another name"),
            ("0193", "'0193' could be the beginning of an id: put a word to it"),
            ("---", "'---' could be the beginning of an id: put a word to it"),
        ] {
            assert_eq!(checked_name(name), Err(InvalidName(why.to_owned())));
        }
        assert!(checked_name(&"a".repeat(33)).is_ok());
    }
}
