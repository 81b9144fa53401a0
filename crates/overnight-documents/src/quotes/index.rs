//! A folded text that is searched for quotes, and the way back to the text: marks are set every few lines, and the
//! lines between two marks are folded again.

use super::super::units::Unit;
use super::{
    bits::Bits,
    fold::{Fold, FoldedPiece, first_char, last_char},
    line_cursor::LineCursor,
    nearest::{NearestPassage, nearest},
    needle::{Hay, Needle},
    place::{QuotePlace, TextPosition},
    word_boundary::Neighbours,
};
use crate::{
    headers_footers::{Extent, running},
    links,
};
use std::{ops::Range, sync::OnceLock};

/// Bytes of folded text, and of the text itself, from one mark to the next, up to a line more.
const MARK_EVERY: usize = 512;
const MARK_TEXT_EVERY: usize = 16 << 10;

/// One text, indexed for many quotes. Holds the text, its folded form, and about a third of that again.
#[derive(Debug, Clone)]
pub struct QuoteIndex {
    unit: Unit,
    text: String,
    folded: Vec<u8>,
    /// The bytes of `folded` before which white space was left out.
    gaps: Bits,
    /// The bytes of `folded` before which a hyphen at a line's end was left out.
    hyphens: Bits,
    marks: Vec<LineMark>,
    /// The start of each page in `folded`; empty if there are no pages.
    pages: Vec<u32>,
    /// The same text without running lines on its pages, if there are any: a sentence continues behind a header.
    flow: Option<Box<Self>>,
    /// The same without only the lines that run on many pages, made when a quote is found in neither: two pages may
    /// begin alike by chance. None if that is no different.
    narrow_flow: OnceLock<Option<Box<Self>>>,
    /// The same without the targets of links, which readers don't see, made when a quote is found in no other one.
    unlinked: OnceLock<Option<Box<Self>>>,
}

/// The start of a line.
#[derive(Debug, Clone, Copy)]
struct LineMark {
    folded: u32,
    text: u32,
    page: u32,
    line: u32,
}

impl QuoteIndex {
    /// Indexes `text`, which must be counted in `unit` everywhere.
    pub fn new(unit: Unit, text: impl Into<String>) -> Self {
        let mut text: String = text.into();
        if unit == Unit::Page && text.ends_with('\x0c') {
            // A separator at the end begins no page.
            text.pop();
        }
        let flow = if unit == Unit::Page { flow(&text, Extent::Whole) } else { None };
        let mut index = Self::of(unit, text);
        index.flow = flow.map(|flow| Box::new(Self::of(unit, flow)));
        index
    }

    fn of(unit: Unit, text: String) -> Self {
        let mut index = Self {
            unit,
            flow: None,
            narrow_flow: OnceLock::new(),
            unlinked: OnceLock::new(),
            folded: Vec::with_capacity(text.len()),
            text: String::new(),
            gaps: Bits::default(),
            hyphens: Bits::default(),
            marks: Vec::new(),
            pages: Vec::new(),
        };
        let mut fold = Fold::new(&text);
        let mut next = Some(LineCursor::first(unit, &text));
        while let Some(line) = next {
            index.begin(line);
            while let Some(piece) = fold.next(line.end, &mut index.folded) {
                if piece.has_gap {
                    index.gaps.set(piece.start);
                    // The space before it, if there is one, is marked too.
                    if piece.start > 0 && index.folded[piece.start - 1] == b' ' {
                        index.gaps.set(piece.start - 1);
                    }
                }
                if piece.has_hyphen {
                    index.hyphens.set(piece.start);
                }
            }
            next = line.next(unit, &text);
        }
        index.folded.shrink_to_fit();
        index.text = text;
        index
    }

    fn begin(&mut self, line: LineCursor) {
        let (folded, text) = (self.folded.len(), line.start);
        if self.unit == Unit::Page && self.pages.len() < line.page as usize {
            self.pages.push(offset(folded));
        }
        let is_far = self.marks.last().is_none_or(|mark| {
            folded - mark.folded as usize >= MARK_EVERY || text - mark.text as usize >= MARK_TEXT_EVERY
        });
        if is_far {
            self.marks.push(LineMark {
                folded: offset(folded),
                text: offset(text),
                page: line.page,
                line: line.number,
            });
        }
    }

    /// The indexed text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Bytes of the text.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The first place of `quote`, compared as in `fold`, where neither its first nor its last word or number is a part
    /// of a longer one; also `None` for a quote without a visible character.
    ///
    /// With `at`, only there: the quote must begin on page `at`, or end there if it runs over a page break; without
    /// pages, it must cover line `at`.
    ///
    /// Running lines of pages (headers, footers, page numbers) may interrupt a quote that crosses a page's end.
    ///
    /// ```
    /// use overnight_documents::{QuoteIndex, Unit};
    ///
    /// let index = QuoteIndex::new(Unit::Line, "The key\nis “here”, for\ncustomers.");
    /// assert_eq!(index.find("key is \"here\"", None).map(|place| place.from.line), Some(1));
    /// assert_eq!(index.find("for custom", None), None);
    /// ```
    pub fn find(&self, quote: &str, at: Option<u64>) -> Option<QuotePlace> {
        self.find_nth(quote, at, 0).map(|(_, place)| place)
    }

    /// The place of `quote` with this number, counted from 0, and its number; the last place if there are fewer.
    ///
    /// ```
    /// use overnight_documents::{QuoteIndex, Unit};
    ///
    /// let index = QuoteIndex::new(Unit::Line, "The seal is worn.\nNone.\nThe seal is worn.");
    /// let line = |nth| index.find_nth("The seal is worn", None, nth).map(|(number, place)| (number, place.from.line));
    /// assert_eq!((line(0), line(1), line(2)), (Some((0, 1)), Some((1, 3)), Some((1, 3))));
    /// ```
    pub fn find_nth(&self, quote: &str, at: Option<u64>, nth: usize) -> Option<(usize, QuotePlace)> {
        let needle = Needle::new(quote)?;
        let over_a_break = |(_, place): &(usize, QuotePlace)| place.from.page != place.to.page;
        self.look(&needle, at, nth)
            .or_else(|| self.flow.as_ref()?.look(&needle, at, nth).filter(over_a_break))
            .or_else(|| self.narrow_flow()?.look(&needle, at, nth).filter(over_a_break))
            .or_else(|| self.unlinked()?.find_nth(quote, at, nth))
    }

    fn unlinked(&self) -> Option<&Self> {
        let made = || Some(Box::new(Self::new(self.unit, links::without_targets(&self.text)?)));
        self.unlinked.get_or_init(made).as_deref()
    }

    fn narrow_flow(&self) -> Option<&Self> {
        let wide = self.flow.as_ref()?;
        let made = self.narrow_flow.get_or_init(|| {
            let narrow = flow(&self.text, Extent::Part { from_top: true }).filter(|narrow| *narrow != wide.text)?;
            Some(Box::new(Self::of(self.unit, narrow)))
        });
        made.as_deref()
    }

    fn look(&self, needle: &Needle, at: Option<u64>, nth: usize) -> Option<(usize, QuotePlace)> {
        let hay = Hay { folded: &self.folded, hyphens: &self.hyphens };
        let most = needle.most();
        let whole = |start, end| self.begins_word(start) && self.may_end(end);
        // Counts whole matches that don't overlap, up to the wanted one.
        let find = |bounds: (usize, usize), is_there: &dyn Fn(usize, usize) -> bool| {
            let mut last: Option<(usize, (usize, usize))> = None;
            needle.find(hay, bounds, &mut |start, end| {
                if last.is_some_and(|(_, (_, before))| start < before) || !is_there(start, end) || !whole(start, end) {
                    return false;
                }
                let number = last.map_or(0, |(number, _)| number + 1);
                last = Some((number, (start, end)));
                number == nth
            });
            last
        };
        let (number, (start, end)) = match (at, self.unit) {
            (None, Unit::Page | Unit::Line) => find((0, self.folded.len()), &|_, _| true),
            (Some(page), Unit::Page) => {
                let (from, to) = self.page(page)?;
                find((from, to.saturating_add(most)), &|start, _| start < to)
                    .or_else(|| find((from.saturating_sub(most), to), &|_, end| end > from))
            }
            (Some(line), Unit::Line) => {
                let (from, to) = self.line(line)?;
                let near = (from.saturating_sub(most), to.saturating_add(most));
                find(near, &|start, end| start < to && end > from)
            }
        }?;
        Some((number, QuotePlace { from: self.position(start, false), to: self.position(end - 1, true) }))
    }

    fn may_end(&self, at: usize) -> bool {
        !self.hyphens.has(at) && self.around(at).may_end()
    }

    /// The characters around byte `at` of the folded text.
    fn around(&self, at: usize) -> Neighbours {
        let (mut left, mut right) = ([None; 3], [None; 3]);
        let mut end = at;
        for place in &mut left {
            if self.gaps.has(end) {
                break;
            }
            let Some(found) = last_char(&self.folded[..end]) else { break };
            *place = Some(found);
            end -= found.len_utf8();
        }
        let mut start = at;
        for (number, place) in right.iter_mut().enumerate() {
            if number > 0 && self.gaps.has(start) {
                break;
            }
            let Some(found) = first_char(&self.folded[start..]) else { break };
            *place = Some(found);
            start += found.len_utf8();
        }
        Neighbours { left, right }
    }

    /// Page `number` as a range of the folded text; `None` if it doesn't exist or is blank.
    fn page(&self, number: u64) -> Option<(usize, usize)> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        let start = *self.pages.get(at)? as usize;
        let end = self.pages.get(at + 1).map_or(self.folded.len(), |&next| next as usize);
        (start < end).then_some((start, end))
    }

    /// Line `number` as a range of the folded text; empty for a blank line that a quote may run over.
    fn line(&self, number: u64) -> Option<(usize, usize)> {
        let number = u32::try_from(number).ok().filter(|&number| number > 0)?;
        let mark = self.marks.partition_point(|mark| mark.line <= number).checked_sub(1)?;
        let mut again = self.again(self.marks[mark]);
        while again.line.number < number {
            while again.next().is_some() {}
            again.go_on()?;
        }
        let start = again.done();
        while again.next().is_some() {}
        Some((start, again.done()))
    }

    /// The passage that is most like `quote`, which does not stand in the text; `None` if nothing is like it.
    ///
    /// ```
    /// use overnight_documents::{QuoteIndex, Unit};
    ///
    /// let index = QuoteIndex::new(Unit::Line, "Fees\nThe fee is due within 30 days.");
    /// let nearest = index.nearest("The fee is due within 14 days");
    /// assert_eq!(nearest.map(|nearest| (nearest.at.line, nearest.word)), Some((2, "14".to_owned())));
    /// ```
    pub fn nearest(&self, quote: &str) -> Option<NearestPassage> {
        // A sentence continues behind a header.
        nearest(self.flow.as_deref().unwrap_or(self), quote)
    }

    /// The bytes of the text that a place covers: two places of one text can be compared by them.
    ///
    /// ```
    /// use overnight_documents::{QuoteIndex, Unit};
    ///
    /// let index = QuoteIndex::new(Unit::Line, "Fées\nare due.");
    /// assert_eq!(index.find("due", None).map(|place| index.span(place)), Some(10..13));
    /// ```
    pub fn span(&self, place: QuotePlace) -> Range<u64> {
        let to = self.byte_of(place.to);
        self.byte_of(place.from) as u64..(to + self.text[to..].chars().next().map_or(0, char::len_utf8)) as u64
    }

    /// The byte at which the character at a position begins.
    fn byte_of(&self, position: TextPosition) -> usize {
        let wanted = (position.page.unwrap_or(1), position.line);
        let is_before = |page: u32, line: u32| (u64::from(page), u64::from(line)) <= wanted;
        let mark = self.marks.partition_point(|mark| is_before(mark.page, mark.line)).saturating_sub(1);
        let LineMark { text: start, page, line: number, .. } = self.marks[mark];
        let mut line = LineCursor { start: start as usize, end: 0, page, number }.ended(self.unit, &self.text);
        while (u64::from(line.page), u64::from(line.number)) < wanted {
            let Some(next) = line.next(self.unit, &self.text) else { break };
            line = next;
        }
        let character = usize::try_from(position.character).unwrap_or(usize::MAX).saturating_sub(1);
        self.text[line.start..].char_indices().nth(character).map_or(self.text.len(), |(at, _)| line.start + at)
    }

    pub(super) fn folded(&self) -> &[u8] {
        &self.folded
    }

    /// Whether a hyphen at a line's end was left out before byte `at` of the folded text.
    pub(super) fn has_hyphen(&self, at: usize) -> bool {
        self.hyphens.has(at)
    }

    /// Whether a quote may begin at byte `at` of the folded text.
    pub(super) fn begins_word(&self, at: usize) -> bool {
        self.around(at).may_begin() && !self.hyphens.has(at)
    }

    /// The position of byte `at` of the folded text, and its byte in the text.
    pub(super) fn place_of(&self, at: usize) -> (TextPosition, usize) {
        let (line, found) = self.locate(at, false);
        (self.position_in(line, found), found)
    }

    /// The position of the character to which byte `at` of the folded text belongs.
    fn position(&self, at: usize, is_last: bool) -> TextPosition {
        let (line, found) = self.locate(at, is_last);
        self.position_in(line, found)
    }

    /// The line and the byte of the text to which byte `at` of the folded text belongs.
    fn locate(&self, at: usize, is_last: bool) -> (LineCursor, usize) {
        let mark = self.marks.partition_point(|mark| mark.folded as usize <= at).saturating_sub(1);
        let mut again = self.again(self.marks[mark]);
        let mut found = again.line.start;
        loop {
            let Some(piece) = again.next() else {
                if again.go_on().is_none() {
                    break;
                }
                continue;
            };
            if again.done() > at {
                // Among a character and its marks, which are folded together, the last one is meant at the quote's end.
                let whole = &self.text[piece.from..piece.to];
                let last = whole.char_indices().next_back().map_or(0, |(last, _)| last);
                found = match (piece.is_plain, is_last) {
                    (true, _) => piece.from + (at - (again.done() - whole.len())),
                    (false, false) => piece.from,
                    (false, true) => piece.from + last,
                };
                break;
            }
        }
        (again.line, found)
    }

    fn position_in(&self, line: LineCursor, at: usize) -> TextPosition {
        let character = self.text[line.start..at].chars().count() as u64 + 1;
        let page = match self.unit {
            Unit::Page => Some(u64::from(line.page)),
            Unit::Line => None,
        };
        TextPosition { page, line: u64::from(line.number), character }
    }

    fn again(&self, mark: LineMark) -> Refold<'_> {
        let before = &self.folded[..mark.folded as usize];
        let last = last_char(before);
        let last_at = before.len() - last.map_or(0, char::len_utf8);
        let earlier = last_char(&before[..last_at]);
        let earlier_at = last_at - earlier.map_or(0, char::len_utf8);
        let of = |found: Option<char>, at| (found.unwrap_or('\0'), found.is_none() || self.gaps.has(at));
        let line = LineCursor { start: mark.text as usize, end: 0, page: mark.page, number: mark.line };
        Refold {
            unit: self.unit,
            text: &self.text,
            fold: Fold::resumed(&self.text, mark.text as usize, [of(earlier, earlier_at), of(last, last_at)]),
            line: line.ended(self.unit, &self.text),
            before: before.len(),
            folded: Vec::new(),
        }
    }
}

/// Folds a part of the text again, for the way back from the folded text to the text itself.
#[derive(Debug)]
struct Refold<'t> {
    unit: Unit,
    text: &'t str,
    fold: Fold<'t>,
    line: LineCursor,
    /// The number of bytes of folded text before it.
    before: usize,
    folded: Vec<u8>,
}

impl Refold<'_> {
    /// The next piece of the line.
    fn next(&mut self) -> Option<FoldedPiece> {
        self.fold.next(self.line.end, &mut self.folded)
    }

    fn go_on(&mut self) -> Option<()> {
        self.line = self.line.next(self.unit, self.text)?;
        Some(())
    }

    /// The number of bytes folded so far, from the text's beginning.
    fn done(&self) -> usize {
        self.before + self.folded.len()
    }
}

/// The text with its running lines blanked; `None` if it has none.
pub(super) fn flow(text: &str, extent: Extent) -> Option<String> {
    let mut begins = Vec::new();
    let mut lines = Vec::new();
    for page in text.split('\x0c') {
        begins.extend(page.split('\n').enumerate().map(|(number, _)| number == 0));
        lines.extend(page.split('\n'));
    }
    let runs = running(&lines, &|i| begins[i], extent);
    if !runs.contains(&true) {
        return None;
    }
    let mut flow = String::with_capacity(text.len());
    for (i, line) in lines.iter().enumerate() {
        if i > 0 {
            flow.push(if begins[i] { '\x0c' } else { '\n' });
        }
        if !runs[i] {
            flow.push_str(line);
        }
    }
    Some(flow)
}

fn offset(at: usize) -> u32 {
    // No text is long enough to need more.
    u32::try_from(at).unwrap_or(u32::MAX)
}
