//! The texts that a workbook's cells share. In one piece, so that millions of empty ones cost little.

use super::rich_text::{RichText, SetText};
use crate::readers::package::{BrokenPart, Package, Xml, XmlNode};

#[derive(Debug, Default)]
pub(super) struct Strings {
    text: String,
    /// The end of each text, and whether its runs have fonts of their own.
    ends: Vec<(u32, bool)>,
}

impl Strings {
    pub(super) fn read(package: &Package<'_>, part: &str) -> (Self, Option<BrokenPart>) {
        let mut strings = Self::default();
        let Some(xml) = Xml::open(package, part) else { return (strings, None) };
        let broken = xml.and_then(|mut xml| strings.fill(&mut xml)).err();
        (strings, broken)
    }

    pub(super) fn get(&self, index: usize) -> Option<SetText<&str>> {
        let (end, has_fonts) = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(Some(0), |before| Some(self.ends.get(before)?.0))?;
        let text = self.text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)?;
        Some(SetText { text, has_fonts })
    }

    fn fill(&mut self, xml: &mut Xml<'_>) -> Result<(), BrokenPart> {
        let mut text = RichText::default();
        loop {
            match xml.next()? {
                XmlNode::Start(element) => text.learn(&element, xml)?,
                XmlNode::End(name) if name == "si" => {
                    let SetText { text, has_fonts } = text.take();
                    self.text.push_str(&text);
                    self.ends.push((u32::try_from(self.text.len()).unwrap_or(u32::MAX), has_fonts));
                }
                XmlNode::Over => return Ok(()),
                XmlNode::End(_) | XmlNode::Text(_) => {}
            }
        }
    }
}
