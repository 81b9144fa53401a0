//! The parts of a document in their order. Breaks divide it into pages; without breaks, its chapters do; without
//! chapters, it is counted in lines.

use crate::readers::package::{BlockKind, Blocks};
use crate::readers::{PageSink, Stopped};
use crate::text::MAX_TEXT_BYTES;
use crate::units::{PAGES_ARE_CHAPTERS, Unit};

/// The most pages that blank breaks can make.
const MAX_BREAKS: u64 = 100_000;

/// One part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FlowPart {
    Block(BlockKind, String),
    /// A heading with its level, from 1.
    Heading(u8, String),
    /// The next part is separated, even if it is of the same kind: two tables.
    SetOff,
    /// A page ends here.
    Break,
    /// A footnote or endnote that the text before refers to: it stands at the end of the page.
    Note(String),
    /// Something on the page can't be read.
    Gap(String),
}

/// A document, or the content of one of its cells or text boxes.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    parts: Vec<FlowPart>,
    held: usize,
    breaks: u64,
    is_full: bool,
}

impl Flow {
    pub(crate) fn add(&mut self, part: FlowPart) {
        let bytes = match &part {
            FlowPart::Block(_, text) | FlowPart::Heading(_, text) => {
                if text.trim().is_empty() {
                    return;
                }
                text.len()
            }
            FlowPart::Note(text) | FlowPart::Gap(text) => text.len(),
            FlowPart::SetOff => 0,
            FlowPart::Break => {
                self.breaks += 1;
                if self.breaks > MAX_BREAKS {
                    return;
                }
                0
            }
        };
        if self.is_full {
            return;
        }
        self.held += bytes + size_of::<FlowPart>();
        if self.held > 2 * MAX_TEXT_BYTES {
            self.is_full = true;
            self.parts.push(FlowPart::Gap(format!(
                "what lies behind the first {} MiB of its text isn't read: split it",
                MAX_TEXT_BYTES >> 20
            )));
            return;
        }
        self.parts.push(part);
    }

    pub(crate) fn paragraph(&mut self, text: impl Into<String>) {
        self.add(FlowPart::Block(BlockKind::Paragraph, text.into()));
    }

    pub(crate) fn gap(&mut self, why: impl Into<String>) {
        self.add(FlowPart::Gap(why.into()));
    }

    /// Whether the parts have no text.
    pub(crate) fn is_blank(&self) -> bool {
        !self.parts.iter().any(|part| matches!(part, FlowPart::Block(..) | FlowPart::Heading(..)))
    }

    /// Whether there are no parts at all.
    pub(crate) const fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The number of bytes that the parts hold.
    pub(crate) const fn held(&self) -> usize {
        self.held
    }

    /// Appends all parts of another flow.
    pub(crate) fn append(&mut self, other: Self) {
        other.parts.into_iter().for_each(|part| self.add(part));
    }

    /// The text in blocks, as for a cell; notes, gaps and breaks go to `outer`, which contains it.
    pub(crate) fn into_blocks(self, outer: &mut Self) -> Blocks {
        let mut blocks = Blocks::default();
        for part in self.parts {
            match part {
                FlowPart::Block(kind, text) => blocks.add(kind, &text),
                FlowPart::Heading(_, text) => blocks.add(BlockKind::Paragraph, &text),
                FlowPart::SetOff => blocks.set_off(),
                FlowPart::Break | FlowPart::Note(_) | FlowPart::Gap(_) => outer.add(part),
            }
        }
        blocks
    }

    /// Reports the document to `pages`.
    pub(crate) fn tell(self, pages: &mut dyn PageSink) -> Result<Unit, Stopped> {
        let chapters = if self.breaks == 0 { self.chapter_level() } else { None };
        let unit = if self.breaks > 0 || chapters.is_some() { Unit::Page } else { Unit::Line };
        let mut all = vec![FlowPage::default()];
        for part in self.parts {
            let begins_chapter = matches!(&part, FlowPart::Heading(level, _) if Some(*level) <= chapters);
            if part == FlowPart::Break || (begins_chapter && all.last().is_some_and(|page| !page.blocks.is_empty())) {
                all.push(FlowPage::default());
            }
            if let Some(page) = all.last_mut() {
                page.add(part);
            }
        }
        // A break behind the last text begins no page.
        while all.len() > 1 && all.last().is_some_and(FlowPage::is_empty) {
            all.pop();
        }
        if unit == Unit::Page {
            pages.expect(all.len() as u64)?;
        }
        for (number, page) in (1..).zip(all) {
            if pages.begin(number)? {
                page.tell(pages)?;
            }
        }
        if chapters.is_some() {
            pages.note(PAGES_ARE_CHAPTERS.to_owned())?;
        }
        Ok(unit)
    }

    /// Reports all parts as the current page.
    pub(crate) fn tell_page(self, pages: &mut dyn PageSink) -> Result<(), Stopped> {
        let mut page = FlowPage::default();
        self.parts.into_iter().for_each(|part| page.add(part));
        page.tell(pages)
    }

    /// The highest level that has more than one heading.
    fn chapter_level(&self) -> Option<u8> {
        let mut counts = [0_u64; 10];
        for part in &self.parts {
            if let FlowPart::Heading(level, _) = part
                && let Some(count) = counts.get_mut(usize::from(*level))
            {
                *count += 1;
            }
        }
        counts.iter().position(|count| *count > 1).and_then(|level| u8::try_from(level).ok())
    }
}

#[derive(Debug, Default)]
struct FlowPage {
    blocks: Blocks,
    notes: Vec<String>,
    gaps: Vec<String>,
}

impl FlowPage {
    fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.notes.is_empty() && self.gaps.is_empty()
    }

    fn add(&mut self, part: FlowPart) {
        match part {
            FlowPart::Block(kind, text) => self.blocks.add(kind, &text),
            FlowPart::Heading(level, text) => {
                let signs = "#".repeat(usize::from(level.clamp(1, 6)));
                self.blocks.add(BlockKind::Paragraph, &format!("{signs} {text}"));
            }
            FlowPart::SetOff => self.blocks.set_off(),
            FlowPart::Note(note) => self.notes.push(note),
            FlowPart::Gap(gap) if !self.gaps.contains(&gap) => self.gaps.push(gap),
            FlowPart::Gap(_) | FlowPart::Break => {}
        }
    }

    fn tell(mut self, pages: &mut dyn PageSink) -> Result<(), Stopped> {
        for gap in &self.gaps {
            pages.gap(gap)?;
        }
        for note in &self.notes {
            self.blocks.add(BlockKind::Paragraph, note);
        }
        if self.blocks.is_empty() { Ok(()) } else { pages.text(&self.blocks.take()) }
    }
}
