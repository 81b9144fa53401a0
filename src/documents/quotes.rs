//! Where a quote stands in a document (SPEC 8 and 9: quotes are looked for without regard to whitespace).
//!
//! The index is the text without its whitespace, so a quote is found by one substring search, however its lines were
//! broken; and it runs over page breaks, because sentences do. Invisible characters that a renderer may put into a word
//! (soft hyphens, zero-width spaces) count as whitespace: who copies a quote can't see them.

use memchr::memmem;

use super::units::Unit;

/// Where a quote begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Page or line, from 1.
    pub unit_number: u64,
    /// The line from 1: on its page where there are pages; else the same as `unit_number`.
    pub line: u64,
}

/// One text, ready to be searched for many quotes. Holds about as many bytes as the text, and eight per line with words.
#[derive(Debug, Clone)]
pub struct QuoteIndex {
    unit: Unit,
    /// The text without whitespace.
    solid: Vec<u8>,
    /// Of each line that has words: where they begin in `solid`, and the line's number in its page or the text.
    lines: Vec<(u32, u32)>,
    /// Where each page begins in `solid`; empty where there are no pages.
    pages: Vec<u32>,
}

impl QuoteIndex {
    /// Indexes `text`, which must be counted in `unit` everywhere.
    pub fn new(unit: Unit, text: &str) -> Self {
        let mut index = Self { unit, solid: Vec::with_capacity(text.len()), lines: Vec::new(), pages: Vec::new() };
        match unit {
            Unit::Page => {
                for page in text.strip_suffix('\x0c').unwrap_or(text).split('\x0c') {
                    index.pages.push(offset(index.solid.len()));
                    index.add_lines(page);
                }
            }
            Unit::Line => index.add_lines(text),
        }
        index
    }

    fn add_lines(&mut self, text: &str) {
        for (number, line) in (1..).zip(text.split('\n')) {
            let start = self.solid.len();
            push_solid(line, &mut self.solid);
            if self.solid.len() > start {
                self.lines.push((offset(start), number));
            }
        }
    }

    /// The first place where `quote` stands, whitespace apart; `None` too for a quote without a visible character.
    ///
    /// With `at`, only there: on page `at` it must begin, or end when it runs over a page break (the place found is where
    /// it begins); where there are no pages, it must cover line `at`.
    pub fn find(&self, quote: &str, at: Option<u64>) -> Option<Place> {
        let mut needle = Vec::with_capacity(quote.len());
        push_solid(quote, &mut needle);
        if needle.is_empty() || needle.len() > self.solid.len() {
            return None;
        }
        // A match that shares one byte with `part` lies within `part` and this many bytes on either side.
        let reach = needle.len() - 1;
        let found = match (at, self.unit) {
            (None, Unit::Page | Unit::Line) => self.search(&needle, 0, self.solid.len()),
            (Some(page), Unit::Page) => {
                let (start, end) = self.page(page)?;
                self.search(&needle, start, end.saturating_add(reach))
                    .or_else(|| self.search(&needle, start.saturating_sub(reach), end))
            }
            (Some(line), Unit::Line) => {
                let (start, end) = self.line(line)?;
                self.search(&needle, start.saturating_sub(reach), end.saturating_add(reach))
            }
        }?;
        Some(self.place(found))
    }

    fn search(&self, needle: &[u8], start: usize, end: usize) -> Option<usize> {
        let part = self.solid.get(start..end.min(self.solid.len()))?;
        memmem::find(part, needle).map(|at| start + at)
    }

    /// Page `number` as a part of `solid`; `None` where it doesn't exist or is blank.
    fn page(&self, number: u64) -> Option<(usize, usize)> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        let start = *self.pages.get(at)? as usize;
        let end = self.pages.get(at + 1).map_or(self.solid.len(), |&next| next as usize);
        (start < end).then_some((start, end))
    }

    /// Line `number` as a part of `solid`; empty for a blank line that a quote may run over.
    fn line(&self, number: u64) -> Option<(usize, usize)> {
        let number = u32::try_from(number).ok().filter(|&n| n > 0)?;
        let at = self.lines.partition_point(|&(_, line)| line < number);
        let &(start, line) = self.lines.get(at)?;
        if line > number {
            return Some((start as usize, start as usize));
        }
        Some((start as usize, self.lines.get(at + 1).map_or(self.solid.len(), |&(next, _)| next as usize)))
    }

    fn place(&self, found: usize) -> Place {
        let found = offset(found);
        // Blank pages begin where the next one does: the last of those that begin at or before it is the right one.
        let page = self.pages.partition_point(|&start| start <= found) as u64;
        let line = self.lines.partition_point(|&(start, _)| start <= found);
        let line = u64::from(line.checked_sub(1).and_then(|at| self.lines.get(at)).map_or(1, |&(_, number)| number));
        match self.unit {
            Unit::Page => Place { unit_number: page, line },
            Unit::Line => Place { unit_number: line, line },
        }
    }
}

/// Offsets are kept in 32 bits; `extract` refuses texts that would need more.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn push_solid(text: &str, solid: &mut Vec<u8>) {
    let mut from = 0;
    for (at, found) in text.char_indices() {
        if found.is_whitespace() || matches!(found, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}') {
            solid.extend_from_slice(&text.as_bytes()[from..at]);
            from = at + found.len_utf8();
        }
    }
    solid.extend_from_slice(&text.as_bytes()[from..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: &str = "The parties agree\nas follows:\n\x0c\x0c\nThe fee is due\n\nwithin 30 days,\nand on page\x0cfour it ends. The fee";

    #[expect(clippy::unnecessary_wraps, reason = "it is compared with what `find` answers")]
    fn place(unit_number: u64, line: u64) -> Option<Place> {
        Some(Place { unit_number, line })
    }

    #[test]
    fn a_quote_is_found_however_its_lines_were_broken() {
        let index = QuoteIndex::new(Unit::Page, PAGES);
        assert_eq!(index.find("parties agree as follows", None), place(1, 1));
        assert_eq!(index.find("as\u{a0}follo\u{ad}ws :", None), place(1, 2));
        assert_eq!(index.find("within\n30   days", None), place(3, 4));
        assert_eq!(index.find("within 31 days", None), None);
        assert_eq!(index.find(" \n\u{200b}", None), None);
    }

    #[test]
    fn a_quote_with_a_page_begins_there_or_ends_there() {
        let index = QuoteIndex::new(Unit::Page, PAGES);
        assert_eq!(index.find("The fee", None), place(3, 2));
        assert_eq!(index.find("The fee", Some(4)), place(4, 1));
        assert_eq!(index.find("on page four it ends", Some(3)), place(3, 5));
        assert_eq!(index.find("on page four it ends", Some(4)), place(3, 5));
        assert_eq!(index.find("as follows: The fee", Some(2)), None);
        for page in [0, 1, 2, 4, 5, u64::MAX] {
            assert_eq!(index.find("within 30 days", Some(page)), None, "page {page}");
        }
    }

    #[test]
    fn a_quote_with_a_line_covers_that_line() {
        let index = QuoteIndex::new(Unit::Line, "one two\nthree\n\nfour\none two\n");
        assert_eq!(index.find("one two", Some(1)), place(1, 1));
        assert_eq!(index.find("one two", Some(5)), place(5, 5));
        for line in 1..=4 {
            assert_eq!(index.find("two three four", Some(line)), place(1, 1), "line {line}");
        }
        assert_eq!(index.find("two three four", Some(5)), None);
        assert_eq!(index.find("one two", Some(2)), None);
        assert_eq!(index.find("three", Some(3)), None);
        assert_eq!(index.find("one", Some(0)), None);
        assert_eq!(index.find("one", Some(99)), None);
    }

    #[test]
    fn a_thousand_quotes_that_share_their_beginning_are_no_trouble() {
        let text = "a ".repeat(200_000);
        let index = QuoteIndex::new(Unit::Line, &text);
        for n in 0..1_000 {
            let quote = format!("{}b{n}", "a".repeat(2_000));
            assert_eq!(index.find(&quote, None), None);
        }
    }

    proptest::proptest! {
        /// What stands in the text is found, on its own page too, and the place named is where it begins.
        #[test]
        fn any_part_of_a_text_is_found(text in "[ab\u{e4}\u{ad} \n\x0c]{1,60}", from in 0_usize..60, len in 1_usize..30) {
            let quote: String = text.chars().skip(from).take(len).collect();
            let before: String = text.chars().take(from).collect();
            for unit in [Unit::Page, Unit::Line] {
                let index = QuoteIndex::new(unit, &text);
                let visible = quote.chars().any(|c| !c.is_whitespace() && c != '\u{ad}');
                let found = index.find(&quote, None);
                proptest::prop_assert_eq!(found.is_some(), visible);
                if visible {
                    let skipped = quote.chars().take_while(|c| c.is_whitespace() || *c == '\u{ad}');
                    let start = before.chars().chain(skipped).filter(|&c| c == char::from(unit.separator())).count() as u64 + 1;
                    let at = index.find(&quote, Some(start));
                    proptest::prop_assert!(at.is_some_and(|place| place.unit_number <= start));
                }
            }
        }
    }
}
