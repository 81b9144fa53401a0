//! The effects of styles on paragraphs: a heading, an item of a numbered list.

use std::collections::HashMap;

use super::run::RunProperties;
use crate::readers::package::{BrokenPart, Package, Xml, XmlNode};

/// The most styles that are kept, and how many base styles of one are followed.
const MAX_STYLES: usize = 50_000;
const MAX_BASES: usize = 16;
/// The outline level that means "no heading".
const BODY_TEXT: u8 = 9;

#[derive(Debug, Default)]
struct ParagraphStyle {
    name: String,
    based_on: Option<String>,
    outline: Option<u8>,
    number: ListReference,
    run: RunProperties,
}

/// A reference to a list and a level in it, as far as it is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ListReference {
    pub(super) list: Option<String>,
    pub(super) level: Option<usize>,
}

/// All styles by their identifiers.
#[derive(Debug, Default)]
pub(super) struct ParagraphStyles {
    styles: HashMap<String, ParagraphStyle>,
    /// The style of paragraphs without a style.
    default: Option<String>,
}

impl ParagraphStyles {
    pub(super) fn read(package: &Package<'_>, part: &str) -> Result<Self, BrokenPart> {
        let mut all = Self::default();
        let Some(xml) = Xml::open(package, part) else { return Ok(all) };
        let mut xml = xml?;
        let mut id = None;
        let mut style = ParagraphStyle::default();
        loop {
            match xml.next()? {
                XmlNode::Start(element) => match element.name() {
                    "style" => {
                        id = element.value("styleId");
                        style = ParagraphStyle::default();
                        let is_default = element.value("default").is_some_and(|value| matches!(&*value, "1" | "true"));
                        if is_default && element.value("type").is_some_and(|kind| kind == "paragraph") {
                            all.default.clone_from(&id);
                        }
                    }
                    "name" => style.name = element.value("val").unwrap_or_default().to_lowercase(),
                    "basedOn" => style.based_on = element.value("val"),
                    "rPr" => style.run = RunProperties::read(&mut xml)?,
                    // The properties for parts of a table.
                    "tblStylePr" => xml.skip()?,
                    "outlineLvl" => style.outline = element.number("val"),
                    "numId" => style.number.list = element.value("val"),
                    "ilvl" => style.number.level = element.number("val"),
                    _ => {}
                },
                XmlNode::End(name) if name == "style" && all.styles.len() < MAX_STYLES => {
                    if let Some(id) = id.take() {
                        all.styles.insert(id, std::mem::take(&mut style));
                    }
                }
                XmlNode::Over => return Ok(all),
                XmlNode::End(_) | XmlNode::Text(_) => {}
            }
        }
    }

    /// The level of a paragraph's heading, from 1, by its own outline level and its style.
    pub(super) fn heading(&self, style: Option<&str>, own: Option<u8>) -> Option<u8> {
        let outline = own.or_else(|| self.find(style, |style| style.outline.or_else(|| by_name(&style.name))))?;
        (outline < BODY_TEXT).then_some(outline + 1)
    }

    /// Whether the style is that of the document's title.
    pub(super) fn is_title(&self, style: Option<&str>) -> bool {
        self.find(style, |style| (style.name == "title").then_some(())).is_some()
    }

    /// The list of a style's paragraphs, and the style that sets it.
    pub(super) fn number(&self, style: Option<&str>) -> Option<(ListReference, String)> {
        self.chain(style)
            .find(|(_, style)| style.number.list.is_some())
            .map(|(id, style)| (style.number.clone(), id.to_owned()))
    }

    /// The format of runs in a style.
    pub(super) fn run(&self, style: Option<&str>) -> RunProperties {
        self.chain(style).fold(RunProperties::default(), |run, (_, style)| run.over(&style.run))
    }

    fn find<T>(&self, style: Option<&str>, wanted: impl Fn(&ParagraphStyle) -> Option<T>) -> Option<T> {
        self.chain(style).find_map(|(_, style)| wanted(style))
    }

    /// A style and its base styles.
    fn chain<'s>(&'s self, style: Option<&str>) -> impl Iterator<Item = (&'s str, &'s ParagraphStyle)> {
        let first = style.or(self.default.as_deref()).and_then(|id| self.styles.get_key_value(id));
        std::iter::successors(first, |(_, style)| self.styles.get_key_value(style.based_on.as_deref()?))
            .take(MAX_BASES)
            .map(|(id, style)| (id.as_str(), style))
    }
}

/// Word's own styles are known by their English names in every language.
fn by_name(name: &str) -> Option<u8> {
    let level: u8 = name.strip_prefix("heading ")?.trim().parse().ok()?;
    (1..=BODY_TEXT).contains(&level).then(|| level - 1)
}
