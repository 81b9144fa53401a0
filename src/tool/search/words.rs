//! Passages that hold most of some words: a few lines of one paragraph. They are ranked by the number of words they
//! hold, then by how rare these are, then by whether they are headings, then in the order of the texts.

use super::{
    hit::{Hit, Keep, PositionCounter, TextHits, line_end, line_start, shown},
    pattern::SearchWords,
};
use overnight_documents::Unit;

/// Lines of a passage.
const MOST_LINES: usize = 8;

/// The key for ranking a passage: its words, a bit each, and whether it is a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PassageRank {
    pub(super) words: u16,
    pub(super) is_heading: bool,
}

/// All passages of `text` that hold two of the words or more; those with one are counted.
pub(super) fn find(words: &SearchWords, text: &str, unit: Unit, keep: Keep<'_, PassageRank>) -> TextHits<PassageRank> {
    let bytes = text.as_bytes();
    let mut places: Vec<(usize, u16)> = Vec::new();
    for (number, word) in words.each.iter().enumerate() {
        let mut at = 0;
        while let Some(hit) = word.find_at(bytes, at) {
            if begins_word(text, hit.start()) {
                places.push((hit.start(), 1 << number));
                at = line_end(bytes, hit.end(), unit);
            } else {
                at = hit.end();
            }
        }
    }
    places.sort_unstable();
    let mut passages = TextHits::default();
    let mut counter = PositionCounter::new(text, unit);
    let mut rest = places.as_slice();
    while let Some(&(first, _)) = rest.first() {
        let (start, end) = passage(bytes, first, unit);
        let inside = rest.partition_point(|&(at, _)| at < end).max(1);
        let kind = PassageRank {
            words: rest[..inside].iter().fold(0, |all, (_, word)| all | word),
            is_heading: bytes[start] == b'#',
        };
        let keep = if kind.words.count_ones() > 1 { keep } else { Keep::First(0) };
        keep.add(&mut passages, kind, || {
            let (page, line) = counter.place(first);
            let last = line_end(bytes, rest[inside - 1].0, unit);
            Hit { page, line, text: shown(text, start..last, first..first) }
        });
        rest = &rest[inside..];
    }
    passages
}

/// The lines from that of byte `at` on, to the paragraph's end; a heading is a paragraph of its own.
fn passage(text: &[u8], at: usize, unit: Unit) -> (usize, usize) {
    let start = line_start(text, at, unit);
    let mut end = line_end(text, at, unit);
    for _ in 1..MOST_LINES {
        if text[start] == b'#' || text.get(end) != Some(&b'\n') {
            break;
        }
        let next = line_end(text, end + 1, unit);
        let line = &text[end + 1..next];
        if line.trim_ascii().is_empty() || line[0] == b'#' {
            break;
        }
        end = next;
    }
    (start, end)
}

/// Whether no letter precedes byte `at`: `art` is not found in `part`. Scripts without spaces have no such boundaries.
fn begins_word(text: &str, at: usize) -> bool {
    let is_spaced = |found: char| found.is_alphanumeric() && found < '\u{e00}';
    !text[..at].chars().next_back().is_some_and(is_spaced)
}
