//! The format of a run of text, from its own properties and its styles.

use std::borrow::Cow;

use crate::raised::BaselineShift;
use crate::readers::RunStyle;
use crate::readers::package::{BrokenPart, Xml};
use crate::sign_fonts;

/// The properties set for a run; others are inherited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RunProperties {
    script: Option<BaselineShift>,
    /// Moved up or down by a measure, at its full size.
    moved: Option<BaselineShift>,
    is_struck: Option<bool>,
    is_hidden: Option<bool>,
    /// The fonts for ASCII and for other characters.
    ascii: Option<String>,
    other: Option<String>,
    pub(super) style: Option<String>,
}

impl RunProperties {
    /// Reads the properties, whose start tag was read last.
    pub(super) fn read(xml: &mut Xml<'_>) -> Result<Self, BrokenPart> {
        let mut run = Self::default();
        xml.each("rPr", |element, xml| {
            match element.name() {
                "rPrChange" => xml.skip()?,
                "vertAlign" => {
                    run.script = Some(match element.value("val").as_deref() {
                        Some("superscript") => BaselineShift::Raised,
                        Some("subscript") => BaselineShift::Lowered,
                        Some(_) | None => BaselineShift::Level,
                    });
                }
                "position" => {
                    let value = element.value("val").unwrap_or_default();
                    let measure = value.trim_end_matches(|found: char| found.is_ascii_alphabetic()).parse::<f64>();
                    run.moved = measure.ok().map(|measure| match measure {
                        up if up > 0.0 => BaselineShift::Raised,
                        down if down < 0.0 => BaselineShift::Lowered,
                        _ => BaselineShift::Level,
                    });
                }
                "strike" | "dstrike" => {
                    run.is_struck = Some(element.is_on("val") || run.is_struck.unwrap_or_default());
                }
                "vanish" => run.is_hidden = Some(element.is_on("val")),
                "rFonts" => {
                    run.ascii = element.value("ascii");
                    run.other = element.value("hAnsi").or_else(|| run.ascii.clone());
                }
                "rStyle" => run.style = element.value("val"),
                _ => {}
            }
            Ok(())
        })?;
        Ok(run)
    }

    /// These properties, with those of `below` as defaults.
    pub(super) fn over(self, below: &Self) -> Self {
        Self {
            script: self.script.or(below.script),
            moved: self.moved.or(below.moved),
            is_struck: self.is_struck.or(below.is_struck),
            is_hidden: self.is_hidden.or(below.is_hidden),
            ascii: self.ascii.or_else(|| below.ascii.clone()),
            other: self.other.or_else(|| below.other.clone()),
            style: self.style.or_else(|| below.style.clone()),
        }
    }

    pub(super) fn is_hidden(&self) -> bool {
        self.is_hidden.unwrap_or_default()
    }

    pub(super) fn in_line(&self) -> RunStyle {
        let script = self.script.filter(|script| *script != BaselineShift::Level).or(self.moved).unwrap_or_default();
        RunStyle { script, is_struck: self.is_struck.unwrap_or_default() }
    }

    /// The visible form of `text`.
    pub(super) fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let (ascii, other) = (self.ascii.as_deref().unwrap_or_default(), self.other.as_deref().unwrap_or_default());
        if ascii.is_empty() && other.is_empty() {
            return Cow::Borrowed(text);
        }
        if ascii == other || text.is_ascii() {
            return sign_fonts::shown_in(ascii, text).map_or(Cow::Borrowed(text), Cow::Owned);
        }
        let mut shown = String::with_capacity(text.len());
        let mut buffer = [0; 4];
        for found in text.chars() {
            let one = found.encode_utf8(&mut buffer);
            let font = if found.is_ascii() { ascii } else { other };
            shown.push_str(sign_fonts::shown_in(font, one).as_deref().unwrap_or(one));
        }
        Cow::Owned(shown)
    }
}
