//! Lines that a regular expression matches, searched page by page, so that the searcher itself counts page and line.

use super::hit::{Hit, Keep, Round, TextHits, shown};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, SearcherBuilder, sinks::Lossy};
use overnight_documents::Unit;
use std::{io, ops::Range, time::Instant};

/// Bytes of a text without pages that are searched at once, up to the end of a line: time is checked in between.
const AT_ONCE: usize = 1 << 20;

/// The reason why the search for lines failed: a fragment.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineSearchError {
    #[error("it takes too long; use a simpler pattern, or name a path")]
    Late,
    #[error(transparent)]
    Searcher(#[from] io::Error),
}

/// Looks for lines until `until`.
pub(super) fn find(
    matcher: &RegexMatcher,
    text: &str,
    unit: Unit,
    keep: Keep<'_, Round>,
    until: Instant,
) -> Result<TextHits<Round>, LineSearchError> {
    let mut searcher = SearcherBuilder::new().line_number(true).build();
    let (mut found, mut total) = (TextHits::default(), 0);
    let mut in_part = |part: &str, page, before| {
        search_part(&mut searcher, matcher, part, |number, line| {
            let hit = || Hit { page, line: before + number, text: shown(line, 0..line.len(), place(matcher, line)) };
            keep.add(&mut found, Round::of(total), hit);
            total += 1;
        })
    };
    match unit {
        Unit::Page => {
            for (number, page) in (1..).zip(text.split('\x0c')) {
                in_part(page, Some(number), 0)?;
                late(until)?;
            }
        }
        Unit::Line => {
            let (mut rest, mut before) = (text, 0);
            while !rest.is_empty() {
                let end = memchr::memchr(b'\n', &rest.as_bytes()[AT_ONCE.min(rest.len())..])
                    .map_or(rest.len(), |end| AT_ONCE + end + 1);
                let (part, after) = rest.split_at(end);
                in_part(part, None, before)?;
                before += memchr::memchr_iter(b'\n', part.as_bytes()).count() as u64;
                rest = after;
                late(until)?;
            }
        }
    }
    Ok(found)
}

fn search_part(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    part: &str,
    mut hit: impl FnMut(u64, &str),
) -> io::Result<()> {
    let each = Lossy(|number, line| {
        hit(number, line);
        Ok(true)
    });
    searcher.search_slice(matcher, part.as_bytes(), each)
}

/// The place of the match in its line.
fn place(matcher: &RegexMatcher, line: &str) -> Range<usize> {
    matcher.find(line.as_bytes()).ok().flatten().map_or(0..0, |found| found.start()..found.end())
}

/// Fails if it is too late.
pub(super) fn late(until: Instant) -> Result<(), LineSearchError> {
    if Instant::now() < until { Ok(()) } else { Err(LineSearchError::Late) }
}
