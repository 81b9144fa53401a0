//! Words one after another, with any white space between them: over line ends and page breaks too.

use super::hit::{Hit, PositionCounter, TextHits, line_end, line_start, shown};
use overnight_documents::Unit;
use regex::bytes::Regex;

/// Every place of `phrase`; those on one line are one hit.
pub(super) fn find(phrase: &Regex, text: &str, unit: Unit, most: usize) -> TextHits {
    let bytes = text.as_bytes();
    let mut found = TextHits::default();
    let mut counter = PositionCounter::new(text, unit);
    let mut at = 0;
    while let Some(hit) = phrase.find_at(bytes, at) {
        found.total += 1;
        let end = line_end(bytes, hit.end(), unit);
        if found.hits.len() < most {
            let (page, line) = counter.place(hit.start());
            let lines = &text[line_start(bytes, hit.start(), unit)..end];
            found.hits.push(Hit { page, line, text: shown(lines) });
        }
        at = end;
    }
    found
}
