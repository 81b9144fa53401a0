//! One paragraph: its properties, and its text so far.

use super::page_breaks;
use super::run::RunProperties;
use super::styles::ListReference;
use crate::readers::InlineText;
use crate::readers::package::{BlockKind, BrokenPart, Xml, one_line};

/// Items of lists nested more deeply than this are no longer indented.
const MAX_INDENTS: usize = 8;

/// The properties stored before a paragraph's text.
#[derive(Debug, Default)]
pub(super) struct Properties {
    pub(super) style: Option<String>,
    pub(super) outline: Option<u8>,
    pub(super) number: ListReference,
    /// The label, if the document stores it, as in Word 2003.
    pub(super) label: Option<String>,
    pub(super) break_before: bool,
    /// The paragraph ends a section; and whether that section began a page.
    pub(super) section: Option<bool>,
    /// The paragraph is the drop cap of the next one.
    pub(super) is_drop_cap: bool,
}

impl Properties {
    /// Reads the properties, whose start tag was read last.
    pub(super) fn read(xml: &mut Xml<'_>) -> Result<Self, BrokenPart> {
        let mut all = Self::default();
        xml.each("pPr", |element, xml| {
            match element.name() {
                "pStyle" => all.style = element.value("val"),
                "outlineLvl" => all.outline = element.number("val"),
                "numId" => all.number.list = element.value("val"),
                "t" => all.label = element.value("val"),
                "ilvl" => all.number.level = element.number("val"),
                "pageBreakBefore" => all.break_before = element.is_on("val"),
                "framePr" => {
                    all.is_drop_cap = element.value("dropCap").is_some_and(|kind| matches!(&*kind, "drop" | "margin"));
                }
                "sectPr" => all.section = Some(page_breaks::section(xml)?),
                // The properties of its mark, and those before a tracked change.
                "rPr" | "pPrChange" => xml.skip()?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(all)
    }
}

/// The current paragraph.
#[derive(Debug, Default)]
pub(super) struct Paragraph {
    pub(super) text: InlineText,
    /// The drop cap with which its text begins.
    pub(super) drop_cap: String,
    pub(super) is_drop_cap: bool,
    /// The default format of its runs.
    pub(super) base: RunProperties,
    pub(super) heading: Option<u8>,
    /// Its list level and label.
    pub(super) marker: Option<(usize, String)>,
    /// Text boxes attached to it.
    pub(super) boxes: Vec<String>,
    /// Notes that its text refers to.
    pub(super) notes: Vec<String>,
    pub(super) ends_section: bool,
}

impl Paragraph {
    /// Its text so far as a block; later text continues as a paragraph without a mark.
    pub(super) fn take(&mut self) -> (BlockKind, String) {
        let text = self.text.take();
        let text = if text.trim().is_empty() { text } else { std::mem::take(&mut self.drop_cap) + &text };
        let text = text.trim();
        if text.is_empty() {
            return (BlockKind::Paragraph, String::new());
        }
        let marker = self.marker.take();
        let label = marker.as_ref().map(|(_, label)| label.as_str()).filter(|label| !label.is_empty());
        if let Some(level) = self.heading.take() {
            let signs = "#".repeat(usize::from(level).min(6));
            // A bullet before a heading has no meaning.
            let label = label.filter(|label| *label != "-").map_or_else(String::new, |label| format!("{label} "));
            return (BlockKind::Paragraph, format!("{signs} {label}{}", one_line(text)));
        }
        let Some((level, _)) = &marker else { return (BlockKind::Paragraph, lines(text, "")) };
        let indent = "  ".repeat((*level).min(MAX_INDENTS));
        let label = label.map_or_else(String::new, |label| format!("{label} "));
        (BlockKind::Item, format!("{indent}{label}{}", lines(text, &format!("{indent}  "))))
    }
}

/// Indents all lines but the first.
fn lines(text: &str, indent: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines.join(&format!("\n{indent}"))
}
