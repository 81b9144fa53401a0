//! One hit, and the counting of its page and line from the previous hit on.

use overnight_core::tokens::{estimate, head, tail};
use overnight_documents::Unit;
use std::{collections::BTreeMap, ops::Range};

/// Tokens of one hit that are shown.
const LINE_TOKENS: u64 = 120;
/// Bytes over which lines are not counted, because they can't be so few tokens.
const LONGEST_WHOLE: usize = 1_000;

/// A place in a text, and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// None where the text has no pages.
    pub(super) page: Option<u64>,
    /// On its page, where there are pages.
    pub(super) line: u64,
    pub(super) text: String,
}

/// The hits of one kind in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HitGroup {
    pub(super) total: u64,
    /// The number of the first stored hit, from 0.
    pub(super) first: u64,
    /// The stored hits, without a gap.
    pub(super) hits: Vec<Hit>,
}

/// The hits in one text, by kind.
pub(super) type TextHits<K> = BTreeMap<K, HitGroup>;

/// The hits to store; the others are only counted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keep<'k, K> {
    /// The first of each kind.
    First(u64),
    /// The hits of each kind with these numbers, from 0.
    These(&'k BTreeMap<K, Range<u64>>),
}

impl<K: Copy + Ord> Keep<'_, K> {
    /// Counts a hit of this kind, and keeps it where it is wanted.
    pub(super) fn add(&self, found: &mut TextHits<K>, kind: K, hit: impl FnOnce() -> Hit) {
        let group = found.entry(kind).or_default();
        let is_wanted = match self {
            Self::First(most) => group.total < *most,
            Self::These(ranges) => ranges.get(&kind).is_some_and(|range| range.contains(&group.total)),
        };
        if is_wanted {
            if group.hits.is_empty() {
                group.first = group.total;
            }
            group.hits.push(hit());
        }
        group.total += 1;
    }
}

/// When a matching line is shown: a few of each text come first, so that a text with many hits doesn't hide the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Round {
    First,
    Rest,
}

impl Round {
    /// Hits of each text in the first round.
    pub(super) const FIRST: u64 = 5;

    /// The round of the hit with this number in its text, from 0.
    pub(super) fn of(number: u64) -> Self {
        if number < Self::FIRST { Self::First } else { Self::Rest }
    }
}

/// Goes through a text from place to place, counting pages and lines.
#[derive(Debug)]
pub(super) struct PositionCounter<'t> {
    text: &'t [u8],
    unit: Unit,
    at: usize,
    page: u64,
    line: u64,
}

impl<'t> PositionCounter<'t> {
    pub(super) fn new(text: &'t str, unit: Unit) -> Self {
        Self { text: text.as_bytes(), unit, at: 0, page: 1, line: 1 }
    }

    /// Page and line of byte `to`, which lies after those of earlier calls.
    pub(super) fn place(&mut self, to: usize) -> (Option<u64>, u64) {
        let between = self.text.get(self.at..to).unwrap_or_default();
        let lines = |part: &[u8]| memchr::memchr_iter(b'\n', part).count() as u64;
        match self.unit {
            Unit::Line => self.line += lines(between),
            Unit::Page => {
                self.page += memchr::memchr_iter(b'\x0c', between).count() as u64;
                match memchr::memrchr(b'\x0c', between) {
                    Some(last) => self.line = 1 + lines(&between[last..]),
                    None => self.line += lines(between),
                }
            }
        }
        self.at = self.at.max(to);
        match self.unit {
            Unit::Line => (None, self.line),
            Unit::Page => (Some(self.page), self.line),
        }
    }
}

/// The beginning of the line that contains byte `at`.
pub(super) fn line_start(text: &[u8], at: usize, unit: Unit) -> usize {
    let found = match unit {
        Unit::Line => memchr::memrchr(b'\n', &text[..at]),
        Unit::Page => memchr::memrchr2(b'\n', b'\x0c', &text[..at]),
    };
    found.map_or(0, |found| found + 1)
}

/// The end of that line.
pub(super) fn line_end(text: &[u8], at: usize, unit: Unit) -> usize {
    let found = match unit {
        Unit::Line => memchr::memchr(b'\n', &text[at..]),
        Unit::Page => memchr::memchr2(b'\n', b'\x0c', &text[at..]),
    };
    found.map_or(text.len(), |found| at + found)
}

/// The lines that contain a hit, as one; of long ones the text around the hit.
pub(super) fn shown(text: &str, lines: Range<usize>, hit: Range<usize>) -> String {
    let whole = text.get(lines.clone()).unwrap_or_default().trim();
    if whole.len() <= LONGEST_WHOLE && estimate(whole) <= LINE_TOKENS {
        return one_line(whole);
    }
    // An expression may match a part of a letter.
    let start = text.floor_char_boundary(hit.start).max(lines.start);
    let end = text.ceil_char_boundary(hit.end).clamp(start, lines.end.max(start));
    let found = head(&text[start..end], LINE_TOKENS / 2);
    let (before, after) = (&text[lines.start..start], &text[start + found.len()..lines.end.max(end)]);
    let room = LINE_TOKENS - estimate(found);
    // Room that one side does not need goes to the other.
    let half = estimate(head(after, room / 2));
    let mut left = tail(before, room.saturating_sub(half));
    let mut right = head(after, room.saturating_sub(estimate(left)));
    let (is_cut_left, is_cut_right) = (left.len() < before.len(), right.len() < after.len());
    if is_cut_left {
        left = left.split_once(char::is_whitespace).map_or(left, |(_, words)| words);
    }
    if is_cut_right {
        right = right.rsplit_once(char::is_whitespace).map_or(right, |(words, _)| words);
    }
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{}{}", cut(is_cut_left), one_line(&format!("{left}{found}{right}")), cut(is_cut_right))
}

fn one_line(text: &str) -> String {
    if text.contains(['\n', '\x0c']) {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        text.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_clipped_around_the_hit() {
        let words: Vec<String> = (0..1_000).map(|n| format!("word{n}")).collect();
        let line = words.join(" ");
        let of = |word: &str| {
            let at = line.find(word).unwrap();
            shown(&line, 0..line.len(), at..at + word.len())
        };
        let (begin, middle, end) = (of("word0 "), of("word500"), of("word999"));
        assert!(begin.starts_with("word0 word1 ") && begin.ends_with(" word68…"), "{begin}");
        assert!(middle.starts_with("…word471 ") && middle.ends_with(" word529…"), "{middle}");
        assert!(end.starts_with("…word941 ") && end.ends_with(" word998 word999"), "{end}");
        assert_eq!(shown("a\nsecond line \n", 2..14, 2..8), "second line");
        assert_eq!(shown("a\nb", 0..3, 0..3), "a b");
        let long = "ü".repeat(2_000);
        assert_eq!(shown(&long, 0..4_000, 0..4_000), format!("{}…", "ü".repeat(240)));
    }
}
