//! Collects a reader's output: one text with its pages, the gaps in it, and how it was extracted.

use serde::{Deserialize, Serialize};

use super::format::Format;
use super::gaps::{AGAINST_GAPS, Gap, ONLY_IMAGE, PageSpan};
use super::readers::{PageSink, Stopped, embedded_pictures};
use super::recognised::RecognisedPage;
use super::text::{self, MAX_TEXT_BYTES};
use super::units::Unit;

/// A document's text. The same text is shown, counted and searched, so that "page 4" means one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Extracted {
    /// The format of the document.
    pub format: Format,
    /// The unit in which the text is counted.
    pub unit: Unit,
    /// The reader's name and version: the same reader gives the same text.
    pub reader: String,
    /// UTF-8, lines ended by `\n`, each at most [`super::MAX_LINE_CHARS`] long, pages separated by `\x0c`.
    #[serde(skip)]
    pub text: String,
    /// The missing parts, in the order of the pages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// Pages whose characters were recognised in an image.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recognised: Vec<PageSpan>,
    /// Facts about the extraction that a person should know, each a fragment: "read as windows-1252, a guess".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The words of pages whose characters were recognised, with their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<RecognisedPage>,
}

impl Extracted {
    /// The result for a document that gives no text, for the reason `why`.
    pub fn unread(why: String) -> Self {
        Self {
            format: Format::Unread,
            unit: Unit::Line,
            reader: "none".to_owned(),
            text: String::new(),
            gaps: vec![Gap { pages: None, why }],
            recognised: Vec::new(),
            notes: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Makes each picture that the text names a page, for a document that has nothing else.
    pub fn make_pages_of_pictures(&mut self) {
        let pictures: Vec<&str> = embedded_pictures(&self.text).map(|picture| &self.text[picture.at]).collect();
        let count = pictures.len() as u64;
        if count > 0 {
            (self.unit, self.text) = (Unit::Page, pictures.join("\n\x0c") + "\n");
            self.gaps = vec![Gap { pages: Some(PageSpan { from: 1, to: count }), why: ONLY_IMAGE.to_owned() }];
        }
    }

    /// The reason why a document has no text, and what to do if its own program may show some. A fragment.
    pub fn lack(&self) -> String {
        let gaps: Vec<String> = self.gaps.iter().map(ToString::to_string).collect();
        let why = if gaps.is_empty() { String::new() } else { format!(" ({})", gaps.join("; ")) };
        match self.format {
            Format::Text
            | Format::Markdown
            | Format::Csv
            | Format::Html
            | Format::Json
            | Format::Xml
            | Format::Notebook => format!("no text in it{why}"),
            _ => format!("no text in it{why}: {AGAINST_GAPS}"),
        }
    }
}

/// The pages collected so far. If a reader ends early, they are kept, so that another can continue behind the last one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectedPages {
    /// The tidy text of each page, from 1 on.
    pages: Vec<String>,
    expected: u64,
    bytes: usize,
    wrapped: u64,
    gaps: Vec<Gap>,
    recognised: Vec<PageSpan>,
    notes: Vec<String>,
    /// No more text was taken, because it was too long.
    is_full: bool,
}

impl CollectedPages {
    /// The page that was begun last; 0 before the first one.
    pub fn page(&self) -> u64 {
        self.pages.len() as u64
    }

    /// See [`PageSink::gap`].
    pub fn add_gap(&mut self, why: &str) {
        let page = self.page();
        Gap::push(&mut self.gaps, page, why);
    }

    /// See [`PageSink::note`].
    pub fn add_note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Collects another program's text, page after page, as far as there is room for it.
    pub fn of<'p>(texts: impl IntoIterator<Item = &'p str>) -> Self {
        let mut collected = Self::default();
        for (number, text) in (1..).zip(texts) {
            if collected.begin(number).and_then(|_| collected.text(text)).is_err() {
                break;
            }
        }
        collected
    }

    /// The expected number of pages, if it was reported.
    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// Whether there is no text yet.
    pub fn is_blank(&self) -> bool {
        self.bytes == 0
    }

    /// Whether the text was too long to take more.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Finishes the text. Expected pages that were never begun are a gap; `why` is its reason if that isn't the text's
    /// length.
    pub fn finish(mut self, format: Format, reader: String, unit: Unit, why: Option<&str>) -> Extracted {
        let begun = self.page();
        if self.is_full || (why.is_some() && self.expected > begun) {
            let too_long =
                format!("what lies behind the first {} MiB of its text isn't read: split it", MAX_TEXT_BYTES >> 20);
            let why = why.map_or(too_long, str::to_owned);
            let rest = PageSpan { from: begun + 1, to: self.expected.max(begun + 1) };
            let pages = (unit == Unit::Page && self.expected > begun).then_some(rest);
            self.gaps.push(Gap { pages, why });
        }
        if unit == Unit::Line {
            for gap in &mut self.gaps {
                gap.pages = None;
            }
        }
        let separator = match unit {
            Unit::Page => "\x0c",
            Unit::Line => "\n",
        };
        let mut text = self.pages.join(separator);
        if text.trim().is_empty() {
            text.clear();
        } else if unit == Unit::Page && text.ends_with('\x0c') {
            // A separator at the end begins no page, but a blank last page is one.
            text.push('\n');
        }
        match self.wrapped {
            0 => {}
            1 => self.notes.push("1 line over 2,000 characters was wrapped".to_owned()),
            n => self.notes.push(format!("{n} lines over 2,000 characters were wrapped")),
        }
        if text.is_empty() && self.gaps.is_empty() {
            self.notes.push("no text in it".to_owned());
        }
        let Self { gaps, recognised, notes, .. } = self;
        Extracted { format, unit, reader, text, gaps, recognised, notes, words: Vec::new() }
    }
}

impl PageSink for CollectedPages {
    fn expect(&mut self, pages: u64) -> Result<(), Stopped> {
        self.expected = pages;
        Ok(())
    }

    fn begin(&mut self, page: u64) -> Result<bool, Stopped> {
        if page <= self.page() {
            return Ok(false);
        }
        let pages = usize::try_from(page).map_err(|_| Stopped)?;
        if pages > MAX_TEXT_BYTES || self.is_full {
            self.is_full = true;
            return Err(Stopped);
        }
        self.pages.resize(pages, String::new());
        Ok(true)
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        let tidy = text::tidy(text);
        let pages = self.pages.len();
        let Some(page) = self.pages.last_mut() else { return Err(Stopped) };
        let room = MAX_TEXT_BYTES.saturating_sub(self.bytes + pages);
        self.wrapped += tidy.wrapped;
        let taken = &tidy.text[..tidy.text.floor_char_boundary(room)];
        page.push_str(taken);
        self.bytes += taken.len();
        self.is_full = taken.len() < tidy.text.len();
        if self.is_full { Err(Stopped) } else { Ok(()) }
    }

    fn gap(&mut self, why: &str) -> Result<(), Stopped> {
        self.add_gap(why);
        Ok(())
    }

    fn recognised(&mut self) -> Result<(), Stopped> {
        let page = self.page();
        PageSpan::push(&mut self.recognised, page);
        Ok(())
    }

    fn note(&mut self, note: String) -> Result<(), Stopped> {
        self.add_note(note);
        Ok(())
    }
}
