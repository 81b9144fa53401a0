//! The passage that is most like a quote that does not stand in a text, and the first difference between the two.
//!
//! Both are compared in folded form (`fold`). Short runs of the quote's bytes are its anchors; the candidate is the
//! stretch of text with most of them, and an alignment of the quote's beginning shows where in it the quote would
//! begin. From there both are compared up to the first difference. The text is read once, whatever its length.

use super::{bits::Bits, fold::Fold, index::QuoteIndex, place::TextPosition};
use std::collections::{HashMap, VecDeque};

/// The bytes of a folded quote that are searched for anchors, and the bytes that are aligned.
const MOST_ANCHORED: usize = 4 << 10;
const MOST_ALIGNED: usize = 1 << 10;
/// The least share of anchors in the passage, in percent, and the largest share of aligned bytes that differ.
const LEAST_ANCHORS: usize = 30;
const MOST_DIFFERENT: usize = 60;
/// The characters shown before and behind the first difference.
const SHOWN_BEFORE: usize = 40;
const SHOWN_BEHIND: usize = 60;

/// The passage that a text has instead of a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearestPassage {
    /// The position in the text of the first difference.
    pub at: TextPosition,
    /// The text around that place, on one line, clipped.
    pub passage: String,
    /// The quote around that place, on one line, clipped.
    pub quoted: String,
    /// The first word of the quote, or other sign, that differs.
    pub word: String,
}

/// A folded quote, with the way back.
struct FoldedQuote {
    folded: Vec<u8>,
    /// The origin of each byte in the quote.
    origins: Vec<usize>,
    /// The bytes before which a hyphen at a line's end was left out.
    hyphens: Bits,
}

impl FoldedQuote {
    fn new(quote: &str) -> Self {
        let mut made = Self { folded: Vec::with_capacity(quote.len()), origins: Vec::new(), hyphens: Bits::default() };
        let mut fold = Fold::new(quote);
        while let Some(piece) = fold.next(quote.len(), &mut made.folded) {
            made.origins.resize(piece.start, piece.from);
            let bytes = made.folded.len() - piece.start;
            made.origins.extend((0..bytes).map(|byte| piece.from + if piece.is_plain { byte } else { 0 }));
            if piece.has_hyphen {
                made.hyphens.set(piece.start);
            }
        }
        made
    }
}

/// The passage of `index` that is most like `quote`; none if no passage is like it.
pub(super) fn nearest(index: &QuoteIndex, quote: &str) -> Option<NearestPassage> {
    let folded = FoldedQuote::new(quote);
    let (from, to) = window(&folded.folded[..folded.folded.len().min(MOST_ANCHORED)], index.folded())?;
    let (in_quote, in_text) = first_difference(&folded, index, (from, to))?;
    let origin = *folded.origins.get(in_quote)?;
    let (at, offset) = index.place_of(in_text.min(index.folded().len().checked_sub(1)?));
    Some(NearestPassage {
        at,
        passage: excerpt(index.text(), offset),
        quoted: excerpt(quote, origin),
        word: word_at(quote, origin).to_owned(),
    })
}

/// The stretch of `text` with most anchors of `quote`, with room on both sides for its beginning and its end.
fn window(quote: &[u8], text: &[u8]) -> Option<(usize, usize)> {
    let length = (quote.len() / 4).clamp(4, 12);
    if quote.len() < length {
        return None;
    }
    let mut numbers: HashMap<u64, usize> = HashMap::new();
    // Most bytes of a text begin no anchor, which a bit shows faster than the table.
    let mut is_known = Bits::default();
    each_hash(quote, length, &mut |_, hash| {
        let next = numbers.len();
        numbers.entry(hash).or_insert(next);
        is_known.set(short(hash));
    });
    let span = quote.len() + quote.len() / 2 + 32;
    let mut inside: VecDeque<(usize, usize)> = VecDeque::new();
    let mut times = vec![0_u32; numbers.len()];
    let (mut distinct, mut best) = (0, (0, 0, 0));
    each_hash(text, length, &mut |at, hash| {
        if !is_known.has(short(hash)) {
            return;
        }
        let Some(&number) = numbers.get(&hash) else { return };
        while let Some(&(_, gone)) = inside.front().filter(|(first, _)| first + span < at) {
            inside.pop_front();
            times[gone] -= 1;
            distinct -= usize::from(times[gone] == 0);
        }
        inside.push_back((at, number));
        distinct += usize::from(times[number] == 0);
        times[number] += 1;
        if distinct > best.0 {
            best = (distinct, inside.front().map_or(at, |(first, _)| *first), at + length);
        }
    });
    let (found, from, to) = best;
    let room = quote.len() / 2 + 32;
    (found * 100 >= numbers.len() * LEAST_ANCHORS && found > 0)
        .then(|| (from.saturating_sub(room), (to + room).min(text.len())))
}

/// The hash of each run of `length` bytes, upper and lower case alike.
fn each_hash(bytes: &[u8], length: usize, each: &mut dyn FnMut(usize, u64)) {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let value = |byte: &u8| u64::from(byte.to_ascii_lowercase()) + 1;
    let leaving = (0..length).fold(1_u64, |power, _| power.wrapping_mul(FACTOR));
    let mut hash = 0_u64;
    for (at, byte) in bytes.iter().enumerate() {
        hash = hash.wrapping_mul(FACTOR).wrapping_add(value(byte));
        if at >= length {
            hash = hash.wrapping_sub(value(&bytes[at - length]).wrapping_mul(leaving));
        }
        if at + 1 >= length {
            each(at + 1 - length, hash);
        }
    }
}

fn short(hash: u64) -> usize {
    usize::try_from(hash >> 46).unwrap_or_default()
}

/// Where quote and text differ first: a byte of the folded quote, and one of the folded text.
fn first_difference(quote: &FoldedQuote, index: &QuoteIndex, (from, to): (usize, usize)) -> Option<(usize, usize)> {
    let head = &quote.folded[..quote.folded.len().min(MOST_ALIGNED)];
    let text = index.folded().get(from..to)?;
    let costs = costs(head, text);
    let least = *costs.iter().min()?;
    if least as usize * 100 > head.len() * MOST_DIFFERENT {
        return None;
    }
    // Equal bytes always match in some best alignment, so reading on from its beginning finds the difference.
    let starts = costs.iter().enumerate().filter(|(_, cost)| **cost == least).map(|(start, _)| from + start);
    let (start, (in_quote, in_text)) = starts
        .map(|start| (start, read_on(quote, index, start)))
        .max_by_key(|(start, (read, _))| (*read, to - start))?;
    if in_quote < quote.folded.len() {
        return Some((in_quote, in_text));
    }
    // The whole quote stands there, as a part of longer words.
    let end = quote.folded.len().checked_sub(1)?;
    Some(if index.begins_word(start) { (end, in_text.saturating_sub(1)) } else { (0, start) })
}

/// For each place of `text`: how many bytes must be changed, inserted or left out for `quote` to begin there.
fn costs(quote: &[u8], text: &[u8]) -> Vec<u32> {
    // The costs of the rest of the quote against the rest of the text, from the quote's end on.
    let mut below = vec![0_u32; text.len() + 1];
    let mut row = below.clone();
    for (left, byte) in (1..).zip(quote.iter().rev()) {
        row[text.len()] = left;
        for at in (0..text.len()).rev() {
            let replaced = below[at + 1] + u32::from(text[at] != *byte);
            row[at] = replaced.min(below[at] + 1).min(row[at + 1] + 1);
        }
        std::mem::swap(&mut row, &mut below);
    }
    below
}

/// How far quote and text are equal from `start` on; hyphens at lines' ends count as in a search.
fn read_on(quote: &FoldedQuote, index: &QuoteIndex, start: usize) -> (usize, usize) {
    let text = index.folded();
    let (mut in_quote, mut in_text) = (0, start);
    while let Some(&said) = quote.folded.get(in_quote) {
        match text.get(in_text) {
            Some(&found) if found == said => {
                in_quote += 1;
                in_text += 1;
            }
            _ if said == b'-' && index.has_hyphen(in_text) => in_quote += 1,
            Some(b'-') if quote.hyphens.has(in_quote) => in_text += 1,
            Some(_) | None => break,
        }
    }
    (in_quote, in_text)
}

/// The word around byte `at` of `text`, or the single sign there.
fn word_at(text: &str, at: usize) -> &str {
    let at = text.floor_char_boundary(at);
    let (before, behind) = text.split_at(at);
    let in_word = |found: char| found.is_alphanumeric();
    if !behind.starts_with(in_word) {
        return &behind[..behind.chars().next().map_or(0, char::len_utf8)];
    }
    let start = before.trim_end_matches(in_word).len();
    let end = at + behind.find(|found| !in_word(found)).unwrap_or(behind.len());
    &text[start..end]
}

/// The text around byte `at`, on one line, cut between words where it is cut.
fn excerpt(text: &str, at: usize) -> String {
    let at = text.floor_char_boundary(at);
    let (before, behind) = text.split_at(at);
    let start = before.char_indices().rev().nth(SHOWN_BEFORE - 1).map_or(0, |(start, _)| start);
    let end = at + behind.char_indices().nth(SHOWN_BEHIND).map_or(behind.len(), |(end, _)| end);
    let (mut left, mut right) = (&text[start..at], &text[at..end]);
    if start > 0 {
        left = left.find(char::is_whitespace).map_or(left, |blank| &left[blank..]);
    }
    if end < text.len() {
        right = right.rfind(char::is_whitespace).map_or(right, |blank| &right[..blank]);
    }
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let words: Vec<&str> = left.split_whitespace().collect();
    let mut shown = cut(start > 0).to_owned() + &words.join(" ");
    let goes_on = right.split_whitespace().collect::<Vec<_>>().join(" ");
    let has_gap = left.ends_with(char::is_whitespace) || right.starts_with(char::is_whitespace);
    if has_gap && !words.is_empty() && !goes_on.is_empty() {
        shown.push(' ');
    }
    shown + &goes_on + cut(end < text.len())
}

#[cfg(test)]
mod tests {
    use super::super::super::units::Unit;
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "Scope\nThis standard applies to all systems.\x0cRequirements\nDistributions must be FHScompliant\nin every \
        respect, and must not be\nchanged by hand.\x0cAnnex\nA reader should con-\nsult the annex first.";

    fn near(quote: &str) -> Option<(u64, u64, String, String, String)> {
        let found = QuoteIndex::new(Unit::Page, TEXT).nearest(quote)?;
        Some((found.at.page?, found.at.line, found.passage, found.quoted, found.word))
    }

    #[track_caller]
    fn check(quote: &str, page: u64, line: u64, passage: &str, word: &str) {
        let found = near(quote).unwrap();
        assert_eq!((found.0, found.1, found.2.as_str(), found.4.as_str()), (page, line, passage, word), "{quote}");
    }

    #[test]
    fn the_first_word_that_differs_is_named() {
        let passage = "…Requirements Distributions must be FHScompliant in every respect, and must not be changed by…";
        check("Distributions must be FHS-compliant in every respect", 2, 2, passage, "-");
        let passage = "…in every respect, and must not be changed by hand. Annex A reader should con- sult the…";
        check("in every respect, and must be changed by hand", 2, 3, passage, "be");
        let passage = "Scope This standard applies to all systems. Requirements…";
        check("this standard applies to all systems", 1, 2, passage, "this");
        let passage = "…be changed by hand. Annex A reader should con- sult the annex first.";
        check("A reader shall consult the annex first", 3, 2, passage, "shall");
        check(
            "A reader should con-sult the annexes first",
            3,
            3,
            "…A reader should con- sult the annex first.",
            "annexes",
        );
    }

    #[test]
    fn a_cut_word_and_what_is_nowhere() {
        let passage = "…Requirements Distributions must be FHScompliant in every respect, and must not be changed by…";
        check("compliant in every respect", 2, 2, passage, "compliant");
        for quote in ["Payment is due within thirty days of the invoice", "x", "", "—"] {
            assert_eq!(near(quote), None, "{quote}");
        }
    }

    #[test]
    fn a_long_text_is_gone_through_once() {
        let text = "A line that says nothing of note.\n".repeat(200_000);
        let index = QuoteIndex::new(Unit::Line, text + "The pump shall be inspected before every start.\n");
        let found = index.nearest("The pump should be inspected before every start").unwrap();
        assert_eq!((found.at.line, found.word.as_str()), (200_001, "should"));
    }

    proptest! {
        #[test]
        fn any_quote_of_any_text_is_answered(text in "[ab \\-\n\x0cé日1.]{0,200}", quote in "[ab \\-\né日1.]{0,60}") {
            for unit in [Unit::Page, Unit::Line] {
                let _ = QuoteIndex::new(unit, text.clone()).nearest(&quote);
            }
        }
    }
}
