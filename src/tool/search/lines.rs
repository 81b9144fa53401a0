//! Lines that a regular expression matches, page by page: so a hit's page and line are counted by the searcher itself.

use super::hit::{Hit, TextHits, shown};
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, SearcherBuilder, sinks::Lossy};
use overnight_documents::Unit;
use std::time::Instant;

/// Bytes of a text without pages that are searched at once, up to a line's end: between two, it is seen how late it is.
const AT_ONCE: usize = 1 << 20;

/// Looks for lines until `until`; the error is a fragment.
pub(super) fn find(
    matcher: &RegexMatcher,
    text: &str,
    unit: Unit,
    most: usize,
    until: Instant,
) -> Result<TextHits, String> {
    let mut searcher = SearcherBuilder::new().line_number(true).build();
    let mut found = TextHits::default();
    match unit {
        Unit::Page => {
            for (number, page) in (1..).zip(text.split('\x0c')) {
                in_part(&mut searcher, matcher, page, (Some(number), 0), most, &mut found)?;
                late(until)?;
            }
        }
        Unit::Line => {
            let (mut rest, mut before) = (text, 0);
            while !rest.is_empty() {
                let end = memchr::memchr(b'\n', &rest.as_bytes()[AT_ONCE.min(rest.len())..])
                    .map_or(rest.len(), |end| AT_ONCE + end + 1);
                let (part, after) = rest.split_at(end);
                in_part(&mut searcher, matcher, part, (None, before), most, &mut found)?;
                before += memchr::memchr_iter(b'\n', part.as_bytes()).count() as u64;
                rest = after;
                late(until)?;
            }
        }
    }
    Ok(found)
}

fn in_part(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    part: &str,
    (page, before): (Option<u64>, u64),
    most: usize,
    found: &mut TextHits,
) -> Result<(), String> {
    let each = Lossy(|number, line| {
        found.total += 1;
        if found.hits.len() < most {
            found.hits.push(Hit { page, line: before + number, text: shown(line) });
        }
        Ok(true)
    });
    searcher.search_slice(matcher, part.as_bytes(), each).map_err(|error| error.to_string())
}

/// That it has become late.
pub(super) fn late(until: Instant) -> Result<(), String> {
    if Instant::now() < until {
        return Ok(());
    }
    Err("it takes too long; use a simpler pattern, or name a path".to_owned())
}
