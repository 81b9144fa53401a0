//! Pages and lines: the addresses of places in a document.

use super::quotes::TextPosition;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The note for a text that was divided at its headings.
pub const PAGES_ARE_CHAPTERS: &str = "no page breaks are recorded in it: its pages are its chapters";

/// The unit in which a document is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// The document has pages of its own; in the text they are separated by form feeds.
    Page,
    /// The document has no pages: lines of the text, each at most [`super::MAX_LINE_CHARS`] long.
    Line,
}

impl Unit {
    /// The separator between two units in a text.
    pub(super) const fn separator(self) -> u8 {
        match self {
            Self::Page => b'\x0c',
            Self::Line => b'\n',
        }
    }
}

/// The pages or lines of a text, numbered from 1. Borrows the text; keeps one offset per unit.
///
/// ```
/// use overnight_documents::{Unit, Units};
///
/// let pages = Units::new(Unit::Page, "one\x0ctwo\x0cthree");
/// assert_eq!((pages.count(), pages.get(2), pages.range(2, 9)), (3, Some("two"), "two\x0cthree"));
/// ```
#[derive(Debug, Clone)]
pub struct Units<'a> {
    text: &'a str,
    offsets: Offsets,
}

/// The starts of the units of a text, for a caller that keeps the text itself elsewhere.
#[derive(Debug, Clone)]
pub struct Offsets {
    /// The start of each unit, in bytes.
    starts: Vec<usize>,
    /// The end of the last unit: a separator at the end of the text begins no unit.
    end: usize,
}

impl Offsets {
    /// Counts the units of `text`. An empty text has none.
    pub fn new(unit: Unit, text: &str) -> Self {
        let separator = unit.separator();
        let end = text.len() - usize::from(text.as_bytes().last() == Some(&separator));
        let mut starts = Vec::new();
        if !text.is_empty() {
            starts.push(0);
            starts.extend(memchr::memchr_iter(separator, &text.as_bytes()[..end]).map(|at| at + 1));
        }
        Self { starts, end }
    }

    /// The number of units.
    pub fn count(&self) -> u64 {
        self.starts.len() as u64
    }

    /// Units `from` to `to` of the same `text`, both included, with the separators between them. Units outside of the
    /// text are left out; the result is empty if `from` is after `to`.
    pub fn range<'a>(&self, text: &'a str, from: u64, to: u64) -> &'a str {
        text.get(self.bytes(from, to)).unwrap_or_default()
    }

    /// The bytes of [`range`](Self::range) in the text.
    pub fn bytes(&self, from: u64, to: u64) -> Range<usize> {
        let (from, to) = (from.max(1), to.min(self.count()));
        if from > to {
            return 0..0;
        }
        let (Ok(first), Ok(next)) = (usize::try_from(from - 1), usize::try_from(to)) else {
            return 0..0;
        };
        let end = self.starts.get(next).map_or(self.end, |start| start - 1);
        self.starts.get(first).map_or(0..0, |&start| start..end)
    }

    /// The byte at which the character at position `at` begins; `None` if there is none.
    pub fn byte_of(&self, text: &str, at: TextPosition) -> Option<usize> {
        let mut span = self.bytes(at.unit_number(), at.unit_number());
        if at.page.is_some() {
            let before = usize::try_from(at.line.checked_sub(1)?).ok()?;
            let line = text.get(span.clone())?.split('\n').take(before).map(|line| line.len() + 1).sum::<usize>();
            span.start += line;
        }
        let character = usize::try_from(at.character.checked_sub(1)?).ok()?;
        let (byte, _) = text.get(span.clone())?.char_indices().nth(character)?;
        Some(span.start + byte)
    }
}

impl<'a> Units<'a> {
    /// Counts the units of `text`. An empty text has none.
    pub fn new(unit: Unit, text: &'a str) -> Self {
        Self { text, offsets: Offsets::new(unit, text) }
    }

    /// The number of units.
    pub fn count(&self) -> u64 {
        self.offsets.count()
    }

    /// The unit numbered `n`, without its separator; `None` outside 1 to [`count`](Self::count).
    pub fn get(&self, n: u64) -> Option<&'a str> {
        (1..=self.count()).contains(&n).then(|| self.range(n, n))
    }

    /// See [`Offsets::range`].
    pub fn range(&self, from: u64, to: u64) -> &'a str {
        self.offsets.range(self.text, from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_an_editor_counts_them() {
        let lines = |text| {
            let units = Units::new(Unit::Line, text);
            (1..=units.count()).filter_map(|n| units.get(n)).collect::<Vec<_>>()
        };
        assert_eq!(lines(""), Vec::<&str>::new());
        assert_eq!(lines("\n"), [""]);
        assert_eq!(lines("a"), ["a"]);
        assert_eq!(lines("a\n\nb\n"), ["a", "", "b"]);
    }

    #[test]
    fn pages_are_what_lies_between_form_feeds() {
        let units = Units::new(Unit::Page, "one\nmore\n\x0c\x0cthree");
        assert_eq!(units.count(), 3);
        assert_eq!([units.get(1), units.get(2), units.get(3)], [Some("one\nmore\n"), Some(""), Some("three")]);
        assert_eq!(units.range(1, 2), "one\nmore\n\x0c");
        assert_eq!(units.range(3, 9), "three");
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let units = Units::new(Unit::Line, "a\nb\nc\n");
        assert_eq!([units.get(0), units.get(4), units.get(u64::MAX)], [None, None, None]);
        assert_eq!(units.range(0, u64::MAX), "a\nb\nc");
        assert_eq!(units.range(2, 3), "b\nc");
        assert_eq!(units.range(3, 2), "");
        assert_eq!(units.range(4, 9), "");
    }
}
