//! The documents beside the records: their text by page, or by groups of lines if there are no pages, with the quotes
//! marked. For a long document, only the parts with a mark are kept, and one part before and after.

use overnight_documents::{MarkedBox, Offsets, QuoteOnPage, Unit};
use std::{collections::BTreeSet, ops::Range};

/// Lines of one part of a document without pages.
const LINES_OF_PART: u64 = 60;
/// The size in bytes of a text from which on a document is long.
const LONG_BYTES: usize = 64 << 10;

/// One document, as it is shown beside the records.
#[derive(Clone, Debug)]
pub struct SourceDocument {
    /// Which of the job's documents it is, from 0.
    pub index: usize,
    pub name: String,
    /// Images of its pages can be painted.
    pub is_painted: bool,
    /// Counted in pages, not lines.
    pub is_paged: bool,
    /// `page`, `chapter` or `line`.
    pub unit: &'static str,
    /// Pages or lines.
    pub units: u64,
    pub parts: Vec<SourcePart>,
    /// The reason why its text is not shown.
    pub missing: Option<String>,
}

/// A page of a document, a group of its lines, or several of these that are left out.
#[derive(Clone, Debug)]
pub struct SourcePart {
    /// The pages or lines, both included.
    pub first: u64,
    pub last: u64,
    /// Its text; `None` if it is left out.
    pub segments: Option<Vec<TextSegment>>,
    /// The image of its page, if one was made.
    pub picture: Option<PartPicture>,
}

/// A piece of text under the same marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSegment {
    pub text: String,
    /// Numbers of the marks that cover it.
    pub marks: Vec<usize>,
    /// The marks among them that begin here.
    pub begins: Vec<usize>,
}

/// The image of a page, in a file of its own.
#[derive(Clone, Debug)]
pub struct PartPicture {
    /// The file, beside the page; `None` if there is no image.
    pub file: Option<String>,
    pub width: u32,
    pub height: u32,
    pub boxes: Vec<MarkedBox>,
    /// The parts that could not be painted or marked.
    pub told: Vec<String>,
}

/// A quote in the text of a document.
#[derive(Clone, Debug)]
pub(super) struct SourceMark {
    pub(super) number: usize,
    pub(super) range: Range<usize>,
}

impl SourceDocument {
    /// Its element on the page.
    pub fn anchor(&self) -> String {
        format!("source-{}", self.index)
    }

    /// The element of the part with this page or line; `None` if it is left out.
    pub(super) fn part_anchor(&self, unit: u64) -> Option<String> {
        let part = self.parts.iter().find(|part| (part.first..=part.last).contains(&unit) && part.is_text())?;
        Some(part.anchor(self))
    }

    /// Cuts `text` into parts. A long one, unless `is_whole`, keeps only those around the `marks` and `named` units.
    pub(super) fn cut(&mut self, text: &str, marks: &[SourceMark], named: &BTreeSet<u64>, is_whole: bool) {
        let offsets = Offsets::new(if self.is_paged { Unit::Page } else { Unit::Line }, text);
        self.units = offsets.count();
        let step = if self.is_paged { 1 } else { LINES_OF_PART };
        let spans: Vec<(u64, u64, Range<usize>)> = (0..self.units.div_ceil(step))
            .map(|nth| (nth * step + 1, ((nth + 1) * step).min(self.units)))
            .map(|(first, last)| (first, last, offsets.bytes(first, last)))
            .collect();
        let is_wanted = |(first, last, bytes): &(u64, u64, Range<usize>)| {
            marks.iter().any(|mark| mark.range.start < bytes.end && bytes.start < mark.range.end)
                || named.range(first..=last).next().is_some()
        };
        let wanted: Vec<bool> = spans.iter().map(is_wanted).collect();
        let is_all = is_whole || text.len() <= LONG_BYTES;
        let is_near = |at: usize| wanted[at.saturating_sub(1)..(at + 2).min(wanted.len())].contains(&true);
        for (at, (first, last, bytes)) in spans.into_iter().enumerate() {
            if is_all || is_near(at) {
                let segments = Some(segments(text, bytes, marks));
                self.parts.push(SourcePart { first, last, segments, picture: None });
            } else if let Some(before) = self.parts.last_mut().filter(|part| !part.is_text()) {
                before.last = last;
            } else {
                self.parts.push(SourcePart { first, last, segments: None, picture: None });
            }
        }
    }
}

impl TextSegment {
    /// The numbers of its marks, in the form that the page's script reads.
    pub(super) fn mark_list(&self) -> String {
        numbers(self.marks.iter())
    }
}

/// `3 5`.
pub(super) fn numbers<'n>(marks: impl Iterator<Item = &'n usize>) -> String {
    marks.map(usize::to_string).collect::<Vec<_>>().join(" ")
}

impl SourcePart {
    /// Whether its text is shown.
    pub fn is_text(&self) -> bool {
        self.segments.is_some()
    }

    /// Its element on the page.
    pub fn anchor(&self, document: &SourceDocument) -> String {
        format!("source-{}-{}", document.index, self.first)
    }

    /// `page 4`, `lines 61 to 120`, `pages 5 to 9`.
    pub fn label(&self, document: &SourceDocument) -> String {
        let unit = document.unit;
        if self.first == self.last {
            format!("{unit} {}", self.first)
        } else {
            format!("{unit}s {} to {}", self.first, self.last)
        }
    }

    /// Whether it contains a quote.
    pub fn is_marked(&self) -> bool {
        self.segments.iter().flatten().any(|segment| !segment.marks.is_empty())
    }

    /// The parts of quotes in it.
    pub(super) fn quotes(&self) -> Vec<QuoteOnPage> {
        let mut quotes: Vec<QuoteOnPage> = Vec::new();
        let mut at = 0;
        for segment in self.segments.iter().flatten() {
            for &mark in &segment.marks {
                match quotes.iter_mut().find(|quote| quote.mark == mark) {
                    Some(quote) => quote.text.push_str(&segment.text),
                    None => quotes.push(QuoteOnPage { mark, at, text: segment.text.clone(), boxes: Vec::new() }),
                }
            }
            at += segment.text.len();
        }
        quotes
    }
}

/// The text of `bytes`, cut wherever a mark begins or ends.
fn segments(text: &str, bytes: Range<usize>, marks: &[SourceMark]) -> Vec<TextSegment> {
    let of_part: Vec<&SourceMark> =
        marks.iter().filter(|mark| mark.range.start < bytes.end && bytes.start < mark.range.end).collect();
    let mut edges = BTreeSet::from([bytes.start, bytes.end]);
    edges.extend(of_part.iter().flat_map(|mark| [mark.range.start.max(bytes.start), mark.range.end.min(bytes.end)]));
    let edges: Vec<usize> = edges.into_iter().collect();
    let mut segments = Vec::new();
    for pair in edges.windows(2) {
        let covers = |mark: &&&SourceMark| mark.range.start <= pair[0] && pair[1] <= mark.range.end;
        let marks = of_part.iter().filter(covers).map(|mark| mark.number).collect();
        let begins = of_part.iter().filter(|mark| mark.range.start == pair[0]).map(|mark| mark.number).collect();
        let text = text.get(pair[0]..pair[1]).unwrap_or_default().to_owned();
        segments.push(TextSegment { text, marks, begins });
    }
    segments
}
