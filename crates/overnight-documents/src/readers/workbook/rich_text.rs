//! The text of a cell, assembled from runs.

use crate::raised::BaselineShift;
use crate::readers::package::{BrokenPart, Element, Xml};
use crate::readers::{InlineText, RunStyle};
use crate::sign_fonts;

/// A font, as far as it changes the meaning of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CellFont {
    style: RunStyle,
    name: String,
}

impl CellFont {
    /// Sets a property from an element.
    pub(super) fn learn(&mut self, element: &Element) {
        match element.name() {
            "vertAlign" => {
                self.style.script = match element.value("val").as_deref() {
                    Some("superscript") => BaselineShift::Raised,
                    Some("subscript") => BaselineShift::Lowered,
                    Some(_) | None => BaselineShift::Level,
                };
            }
            "strike" => self.style.is_struck = element.is_on("val"),
            "name" | "rFont" => self.name = element.value("val").unwrap_or_default(),
            _ => {}
        }
    }

    /// The visible form of a text in this font.
    pub(super) fn shown(&self, text: String) -> String {
        let text = sign_fonts::shown_in(&self.name, &text).unwrap_or(text);
        if self.style == RunStyle::default() {
            return text;
        }
        let mut line = InlineText::default();
        line.push(self.style, &text);
        line.take()
    }
}

/// A text that is being read.
#[derive(Debug, Default)]
pub(super) struct RichText {
    line: InlineText,
    font: CellFont,
    /// Some of its runs have a font of their own.
    has_fonts: bool,
}

/// A cell's text, and whether its runs have fonts; then its cell's font doesn't apply to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SetText<T> {
    pub(super) text: T,
    pub(super) has_fonts: bool,
}

impl RichText {
    /// Reads an element of the text, whose start tag was read last.
    pub(super) fn learn(&mut self, element: &Element, xml: &mut Xml<'_>) -> Result<(), BrokenPart> {
        match element.name() {
            "r" => self.font = CellFont::default(),
            "rPr" => self.has_fonts = true,
            "t" => {
                let text = xml.text()?;
                let shown = sign_fonts::shown_in(&self.font.name, &text);
                self.line.push(self.font.style, shown.as_ref().unwrap_or(&text));
            }
            // The pronunciation of a name.
            "rPh" => xml.skip()?,
            _ => self.font.learn(element),
        }
        Ok(())
    }

    pub(super) fn take(&mut self) -> SetText<String> {
        self.font = CellFont::default();
        SetText { text: self.line.take(), has_fonts: std::mem::take(&mut self.has_fonts) }
    }
}
