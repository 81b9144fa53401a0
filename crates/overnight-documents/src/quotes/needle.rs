//! A folded quote, and the search for it in a folded text. A hyphen of the quote matches one of the text, or one left
//! out of it at a line's end; a hyphen at a line's end of the quote may also match none. So the search looks for the
//! longest part without hyphens, and extends each match to both sides.

use super::{bits::Bits, fold::Fold};
use memchr::memmem::Finder;

/// The most matches of the longest part that are tried: only a quote of a few letters in a text made of them has more.
const MOST_TRIES: usize = 1 << 20;
/// The most bytes compared around them.
const MOST_COMPARED: usize = 1 << 28;

/// A quote, prepared for searching.
#[derive(Debug)]
pub(super) struct Needle {
    /// The parts between hyphens, in order; the outer ones may be empty.
    parts: Vec<Vec<u8>>,
    /// For each part but the last: whether the hyphen behind it may be missing.
    free: Vec<bool>,
    /// The longest part.
    longest: usize,
}

/// A folded text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hay<'h> {
    pub(super) folded: &'h [u8],
    /// The bytes before which a hyphen was left out.
    pub(super) hyphens: &'h Bits,
}

impl Needle {
    /// `None` for a quote without a visible character.
    pub(super) fn new(quote: &str) -> Option<Self> {
        let mut folded = Vec::with_capacity(quote.len());
        let mut fold = Fold::new(quote);
        let (mut parts, mut free) = (vec![Vec::new()], Vec::new());
        let mut is_seen = false;
        loop {
            folded.clear();
            let Some(piece) = fold.next(quote.len(), &mut folded) else { break };
            is_seen = true;
            if piece.has_hyphen {
                free.push(true);
                parts.push(Vec::new());
            }
            for (number, part) in folded.split(|&byte| byte == b'-').enumerate() {
                if number > 0 {
                    free.push(false);
                    parts.push(Vec::new());
                }
                if let Some(last) = parts.last_mut() {
                    last.extend_from_slice(part);
                }
            }
        }
        if parts.iter().all(Vec::is_empty) {
            // The quote is nothing but hyphens, and so one part.
            parts = vec![vec![b'-'; free.len()]];
            free.clear();
        }
        let longest = parts.iter().enumerate().max_by_key(|(_, part)| part.len()).map_or(0, |(number, _)| number);
        is_seen.then_some(Self { parts, free, longest })
    }

    /// The maximum length of a match in bytes.
    pub(super) fn most(&self) -> usize {
        self.parts.iter().map(Vec::len).sum::<usize>() + self.free.len()
    }

    /// The first match between `from` and `to` that `accept` takes, from its first byte to behind its last.
    pub(super) fn find(
        &self,
        hay: Hay<'_>,
        (from, to): (usize, usize),
        accept: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Option<(usize, usize)> {
        let bounded = Hay { folded: hay.folded.get(..to.min(hay.folded.len()))?, ..hay };
        let part = &self.parts[self.longest];
        let finder = Finder::new(part);
        let (mut at, mut compared) = (from, 0);
        for _ in 0..MOST_TRIES {
            let found = at + finder.find(bounded.folded.get(at..)?)?;
            let end = self.right(bounded, found + part.len(), &mut compared);
            let start = end.and_then(|_| self.left(bounded, found, &mut compared));
            if let (Some(start), Some(end)) = (start, end)
                && start >= from
                && accept(start, end)
            {
                return Some((start, end));
            }
            if compared > MOST_COMPARED {
                return None;
            }
            at = found + 1;
        }
        None
    }

    /// Matches what follows the longest part, from `at` on.
    fn right(&self, hay: Hay<'_>, mut at: usize, compared: &mut usize) -> Option<usize> {
        let mut used = None;
        for (part, &is_free) in self.parts.iter().zip(std::iter::once(&false).chain(&self.free)).skip(self.longest + 1)
        {
            if hay.folded.get(at) == Some(&b'-') {
                at += 1;
            } else if hay.hyphens.has(at) && used != Some(at) {
                used = Some(at);
            } else if !is_free {
                return None;
            }
            *compared += part.len() + 1;
            at = hay.folded.get(at..)?.starts_with(part).then_some(at + part.len())?;
        }
        Some(at)
    }

    /// Matches what comes before the longest part, which begins at `at`.
    fn left(&self, hay: Hay<'_>, mut at: usize, compared: &mut usize) -> Option<usize> {
        let mut used = None;
        for (part, &is_free) in self.parts.iter().zip(&self.free).take(self.longest).rev() {
            let before = &hay.folded[..at];
            if before.last() == Some(&b'-') {
                at -= 1;
            } else if hay.hyphens.has(at) && used != Some(at) {
                used = Some(at);
            } else if !is_free {
                return None;
            }
            *compared += part.len() + 1;
            at = hay.folded[..at].ends_with(part).then(|| at - part.len())?;
        }
        Some(at)
    }
}
