//! One hit, and how its page and line are counted on from the one before.

use overnight_core::prompt::tokens::head;
use overnight_documents::Unit;

/// Tokens of one hit that are shown.
const LINE_TOKENS: u64 = 120;

/// A place in a text, and what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// None where the text has no pages.
    pub(super) page: Option<u64>,
    /// On its page, where there are pages.
    pub(super) line: u64,
    pub(super) text: String,
}

/// What was found in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TextHits {
    pub(super) total: u64,
    /// The first ones.
    pub(super) hits: Vec<Hit>,
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

    /// Page and line of byte `to`, which lies behind those asked for before.
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

/// Where the line begins that byte `at` lies in.
pub(super) fn line_start(text: &[u8], at: usize, unit: Unit) -> usize {
    let found = match unit {
        Unit::Line => memchr::memrchr(b'\n', &text[..at]),
        Unit::Page => memchr::memrchr2(b'\n', b'\x0c', &text[..at]),
    };
    found.map_or(0, |found| found + 1)
}

/// Where it ends.
pub(super) fn line_end(text: &[u8], at: usize, unit: Unit) -> usize {
    let found = match unit {
        Unit::Line => memchr::memchr(b'\n', &text[at..]),
        Unit::Page => memchr::memchr2(b'\n', b'\x0c', &text[at..]),
    };
    found.map_or(text.len(), |found| at + found)
}

/// Lines as one, as much of them as is shown.
pub(super) fn shown(lines: &str) -> String {
    let start = lines.floor_char_boundary(lines.len().min(8_000));
    let one = if lines.contains(['\n', '\x0c']) {
        lines[..start].split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        lines[..start].trim().to_owned()
    };
    head(&one, LINE_TOKENS).to_owned()
}
