//! Chooses how a document is divided into pages: by the breaks that Word recorded when it last showed it; else by
//! manual ones; else by its chapters.

use super::paragraph::Properties;
use super::styles::ParagraphStyles;
use crate::readers::package::{BrokenPart, Xml, XmlNode};

/// The divisions of a document into pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageCut {
    /// Breaks.
    Breaks,
    /// Headings of this level and higher ones.
    Headings(u8),
    /// No division.
    Nowhere,
}

/// The most sections that are distinguished.
const MAX_SECTIONS: usize = 100_000;

/// The numbers of a document's breaks and headings.
#[derive(Debug, Default)]
pub(super) struct BreakCounts {
    pub(super) recorded: u64,
    pub(super) by_hand: u64,
    /// For each section, whether it begins a page.
    pub(super) sections: Vec<bool>,
    headings: [u64; 9],
}

impl BreakCounts {
    /// Counts until the end, or until the part can't be read.
    pub(super) fn take(mut xml: Xml<'_>, styles: &ParagraphStyles) -> Self {
        let mut survey = Self::default();
        // The reader of the text reports unreadable parts.
        let _ = survey.count(&mut xml, styles);
        survey
    }

    pub(super) fn cut(&self) -> PageCut {
        if self.recorded + self.by_hand > 0 || self.sections.iter().skip(1).any(|begins| *begins) {
            return PageCut::Breaks;
        }
        let level = self.headings.iter().position(|count| *count > 1);
        level.and_then(|at| u8::try_from(at + 1).ok()).map_or(PageCut::Nowhere, PageCut::Headings)
    }

    fn count(&mut self, xml: &mut Xml<'_>, styles: &ParagraphStyles) -> Result<(), BrokenPart> {
        let (mut heading, mut has_text) = (None, false);
        loop {
            match xml.next()? {
                XmlNode::Start(element) => match element.name() {
                    "p" => (heading, has_text) = (None, false),
                    "pPr" => {
                        let properties = Properties::read(xml)?;
                        heading = styles.heading(properties.style.as_deref(), properties.outline);
                        if properties.break_before {
                            self.by_hand += 1;
                        }
                        if let Some(begins_page) = properties.section {
                            self.section(begins_page);
                        }
                    }
                    "sectPr" => {
                        let begins_page = section(xml)?;
                        self.section(begins_page);
                    }
                    "t" => has_text |= !xml.text()?.trim().is_empty(),
                    "lastRenderedPageBreak" => self.recorded += 1,
                    "br" if element.value("type").is_some_and(|kind| kind == "page") => self.by_hand += 1,
                    "del" | "moveFrom" | "Fallback" => xml.skip()?,
                    _ => {}
                },
                XmlNode::End(name) if name == "p" && has_text => {
                    if let Some(level) = heading.take()
                        && let Some(count) = self.headings.get_mut(usize::from(level) - 1)
                    {
                        *count += 1;
                    }
                }
                XmlNode::Over => return Ok(()),
                XmlNode::End(_) | XmlNode::Text(_) => {}
            }
        }
    }

    fn section(&mut self, begins_page: bool) {
        if self.sections.len() < MAX_SECTIONS {
            self.sections.push(begins_page);
        }
    }
}

/// Whether the section whose properties begin here begins a page, which is the default.
pub(super) fn section(xml: &mut Xml<'_>) -> Result<bool, BrokenPart> {
    let mut begins_page = true;
    xml.each("sectPr", |element, _| {
        if element.name() == "type" {
            begins_page = element.value("val").is_none_or(|kind| !matches!(kind.as_str(), "continuous" | "nextColumn"));
        }
        Ok(())
    })?;
    Ok(begins_page)
}
