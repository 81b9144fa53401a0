//! Matches that may cross line ends and page breaks: of consecutive words, and of expressions that ask for it.

use super::{
    hit::{Hit, Keep, PositionCounter, Round, TextHits, line_end, line_start, shown},
    lines::{LineSearchError, late},
};
use overnight_documents::Unit;
use regex::bytes::Regex;
use std::time::Instant;

/// Every place of `expression`; those on one line are one hit. Looks until `until`.
pub(super) fn find(
    expression: &Regex,
    text: &str,
    unit: Unit,
    keep: Keep<'_, Round>,
    until: Instant,
) -> Result<TextHits<Round>, LineSearchError> {
    let bytes = text.as_bytes();
    let (mut found, mut total) = (TextHits::default(), 0);
    let mut counter = PositionCounter::new(text, unit);
    let mut at = 0;
    while at <= bytes.len()
        && let Some(hit) = expression.find_at(bytes, at)
    {
        let end = line_end(bytes, hit.end(), unit);
        keep.add(&mut found, Round::of(total), || {
            let (page, line) = counter.place(hit.start());
            Hit { page, line, text: shown(text, line_start(bytes, hit.start(), unit)..end, hit.range()) }
        });
        total += 1;
        // An expression may match nothing at a line's end.
        at = if end > hit.start() { end } else { end + 1 };
        if total.is_multiple_of(1_000) {
            late(until)?;
        }
    }
    Ok(found)
}
