//! Words that a line's end cut. Whether the hyphen was put there by the typesetter ("require-ment") or belongs to the
//! word ("long-term") no line says by itself; how the words stand elsewhere in the text does.

use std::collections::HashMap;

use super::statements::Line;

/// How two lines of one sentence are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seam {
    Blank,
    /// Nothing between them: "long-" and "term", "/usr/" and "share".
    Nothing,
    /// The hyphen goes: "require-" and "ment".
    Whole,
}

/// How often words stand in a text, small letters, line ends left out.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    words: HashMap<String, u32>,
    /// Cut words that stand whole elsewhere, against those that stand with their hyphen.
    whole: u32,
    hyphenated: u32,
}

impl Vocabulary {
    /// Reads the words of `lines`; empty where no line ends with a hyphen.
    pub(super) fn of(lines: &[Line<'_>]) -> Self {
        let mut found = Self::default();
        if !lines.iter().any(|line| cut(line.text).is_some() || line.text.contains("- ")) {
            return found;
        }
        for line in lines {
            for word in line.text.split_whitespace() {
                let word = bare(word);
                if !word.is_empty() && !word.ends_with('-') {
                    *found.words.entry(word.to_lowercase()).or_default() += 1;
                }
            }
        }
        for pair in lines.windows(2) {
            let (Some(head), Some(tail)) = (cut(pair[0].text), continued(pair[1].text)) else { continue };
            let (whole, hyphenated) = found.forms(head, tail);
            found.whole += u32::from(whole > hyphenated);
            found.hyphenated += u32::from(hyphenated > whole);
        }
        found
    }

    fn count(&self, word: &str) -> u32 {
        self.words.get(word).copied().unwrap_or(0)
    }

    /// How often both ways of writing it stand elsewhere.
    fn forms(&self, head: &str, tail: &str) -> (u32, u32) {
        let (head, tail) = (head.to_lowercase(), tail.to_lowercase());
        (self.count(&format!("{head}{tail}")), self.count(&format!("{head}-{tail}")))
    }

    /// How a line that ends with `before` goes on with `after`.
    pub(super) fn seam(&self, before: &str, after: &str) -> Seam {
        if before.ends_with('\u{ad}') {
            return Seam::Whole;
        }
        let path = before.ends_with('/') && before.trim_end_matches('/').ends_with(|c: char| !c.is_whitespace());
        if path && after.starts_with(|c: char| c.is_alphanumeric()) {
            return Seam::Nothing;
        }
        if after.starts_with(|c: char| c.is_lowercase() || c == '{') && ends_in_name(before) {
            return Seam::Nothing;
        }
        let (Some(head), Some(tail)) = (cut(before), continued(after)) else { return Seam::Blank };
        // "pre- and post-": a word that is left out
        if matches!(tail, "and" | "or" | "to" | "nor") {
            return Seam::Blank;
        }
        // a name or a path: its hyphen is its own
        if !head.chars().all(char::is_alphabetic) || !tail.starts_with(char::is_lowercase) {
            return Seam::Nothing;
        }
        let (whole, hyphenated) = self.forms(head, tail);
        if whole != hyphenated {
            return if whole > hyphenated { Seam::Whole } else { Seam::Nothing };
        }
        let known = |part: &str| part.len() >= 3 && self.count(&part.to_lowercase()) > 0;
        if PREFIXES.contains(&head.to_lowercase().as_str()) || known(head) && known(tail) {
            return Seam::Nothing;
        }
        if self.whole >= self.hyphenated { Seam::Whole } else { Seam::Nothing }
    }
}

/// Whether a line ends within a path or a file's name, behind one of its dots: "/etc/cron.".
pub(super) fn ends_in_name(line: &str) -> bool {
    let word = line.trim_end().rsplit(char::is_whitespace).next().unwrap_or("");
    let Some(name) = word.strip_suffix('.') else { return false };
    let inner = name.trim_start_matches(['(', '"', '“']);
    inner.ends_with(char::is_alphanumeric)
        && (inner.starts_with('/')
            || inner.contains("so.")
            || inner.contains("://")
            || inner.contains('@')
            || inner.ends_with("-rc"))
}

/// Parts of a word that keep their hyphen.
const PREFIXES: &[&str] =
    &["non", "self", "well", "half", "cross", "anti", "ex", "quasi", "all", "high", "low", "long", "short", "e"];

/// A word without the marks around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-').trim_start_matches('-')
}

/// The word that the end of a line cuts, without its hyphen.
fn cut(line: &str) -> Option<&str> {
    let text = line.trim_end();
    let word = text.rsplit(char::is_whitespace).next()?;
    let head = word.strip_suffix(['-', '\u{2010}'])?;
    if !head.ends_with(char::is_alphanumeric) {
        return None;
    }
    Some(head.trim_start_matches(|c: char| !c.is_alphanumeric()))
}

/// The rest of a cut word at the beginning of a line.
fn continued(line: &str) -> Option<&str> {
    let word = line.split_whitespace().next()?;
    let end = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
    (end > 0).then(|| &word[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(text: &str) -> Vocabulary {
        let lines: Vec<Line<'_>> =
            (1..).zip(text.lines()).map(|(number, text)| Line { number, page: None, text }).collect();
        Vocabulary::of(&lines)
    }

    #[test]
    fn the_hyphen_stays_where_the_text_writes_it_elsewhere() {
        let known = vocabulary(
            "A requirement is long-term.\nThe require-\nment is long-\nterm and non-\nfree.\nsee /usr/\nshare",
        );
        for (before, after, expected) in [
            ("The require-", "ment is", Seam::Whole),
            ("is long-", "term and", Seam::Nothing),
            ("and non-", "free.", Seam::Nothing),
            ("see /usr/", "share", Seam::Nothing),
            ("the pre-", "and postinst", Seam::Blank),
            ("a dash -", "and more", Seam::Blank),
            ("configu-", "ration", Seam::Whole),
            ("lib1-", "dev", Seam::Nothing),
            ("in /etc/cron.", "{daily,weekly}", Seam::Nothing),
            ("The fee is due.", "iPhones too", Seam::Blank),
            ("The fee", "is due", Seam::Blank),
            ("", "", Seam::Blank),
        ] {
            assert_eq!(known.seam(before, after), expected, "{before}|{after}");
        }
    }
}
