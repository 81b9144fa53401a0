//! The texts that a workbook's cells share. In one piece, so that millions of empty ones cost little.

use super::rich_text::RichText;
use crate::readers::package::{BrokenPart, Package, Xml, XmlNode};

#[derive(Debug, Default)]
pub(super) struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    pub(super) fn read(package: &Package<'_>, part: &str) -> (Self, Option<BrokenPart>) {
        let mut strings = Self::default();
        let Some(xml) = Xml::open(package, part) else { return (strings, None) };
        let broken = xml.and_then(|mut xml| strings.fill(&mut xml)).err();
        (strings, broken)
    }

    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    fn fill(&mut self, xml: &mut Xml<'_>) -> Result<(), BrokenPart> {
        let mut text = RichText::default();
        loop {
            match xml.next()? {
                XmlNode::Start(element) => text.learn(&element, xml)?,
                XmlNode::End(name) if name == "si" => {
                    self.text.push_str(&text.take());
                    self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
                }
                XmlNode::Over => return Ok(()),
                XmlNode::End(_) | XmlNode::Text(_) => {}
            }
        }
    }
}
