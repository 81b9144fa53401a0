//! The meaning of style names, as far as it changes the text: page breaks, hidden and struck text, levels of headings,
//! numbers.

use std::collections::HashMap;

use crate::readers::flow::Emphasis;
use crate::readers::package::{BrokenPart, Element, Xml, XmlNode};

/// The most styles that are kept.
const MAX_STYLES: usize = 100_000;
/// How many parents of a style are followed.
const MAX_PARENTS: usize = 30;

/// The properties of one style itself; none if it doesn't set them.
#[derive(Debug, Clone, Default)]
struct OpenStyle {
    parent: Option<String>,
    breaks_before: Option<bool>,
    breaks_after: Option<bool>,
    hidden: Option<bool>,
    struck: Option<bool>,
    /// The position: raised (above 0) or lowered (below).
    position: Option<i8>,
    outline: Option<u8>,
    list: Option<String>,
    /// A property of slides.
    shows_footer: Option<bool>,
}

/// One level of a list.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenListLevel {
    /// The number format; none: a bullet.
    pub(super) format: Option<String>,
    pub(super) prefix: String,
    pub(super) suffix: String,
    pub(super) start: u32,
    /// How many levels' numbers are shown.
    pub(super) shown: usize,
}

/// All styles of a document.
#[derive(Debug, Default)]
pub(super) struct Styles {
    /// The styles by family and name.
    by_name: HashMap<(String, String), OpenStyle>,
    lists: HashMap<String, Vec<OpenListLevel>>,
    /// The numbers of headings.
    pub(super) outline: Vec<OpenListLevel>,
}

/// The properties of a paragraph.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property that a style has or not")]
pub(super) struct OpenParagraph {
    pub(super) breaks_before: bool,
    pub(super) breaks_after: bool,
    pub(super) is_hidden: bool,
    pub(super) outline: Option<u8>,
    pub(super) list: Option<String>,
    pub(super) is_title: bool,
}

impl Styles {
    /// Reads the styles of one part, up to where the document's body begins.
    pub(super) fn read(&mut self, xml: &mut Xml<'_>) -> Result<(), BrokenPart> {
        loop {
            match xml.next()? {
                XmlNode::Start(element) if !self.start(&element, xml)? => return Ok(()),
                XmlNode::Over => return Ok(()),
                XmlNode::Start(_) | XmlNode::End(_) | XmlNode::Text(_) => {}
            }
        }
    }

    /// Learns from an element that stands before the body. False: it is the body.
    pub(super) fn start(&mut self, element: &Element, xml: &mut Xml<'_>) -> Result<bool, BrokenPart> {
        match element.name() {
            "body" => return Ok(false),
            "style" if element.value("family").is_some() => self.style(element, xml)?,
            "list-style" => {
                let levels = levels(xml, "list-style")?;
                if self.lists.len() < MAX_STYLES {
                    self.lists.insert(element.value("name").unwrap_or_default(), levels);
                }
            }
            "outline-style" => self.outline = levels(xml, "outline-style")?,
            "font-face-decls" | "scripts" | "meta" | "settings" | "master-styles" => xml.skip()?,
            _ => {}
        }
        Ok(true)
    }

    fn style(&mut self, element: &Element, xml: &mut Xml<'_>) -> Result<(), BrokenPart> {
        let family = element.value("family").unwrap_or_default();
        let name = element.value("name").unwrap_or_default();
        let mut style = OpenStyle {
            parent: element.value("parent-style-name"),
            outline: element.number("default-outline-level"),
            list: element.value("list-style-name"),
            breaks_before: element.value("master-page-name").filter(|master| !master.is_empty()).map(|_| true),
            ..OpenStyle::default()
        };
        xml.each("style", |inner, xml| {
            match inner.name() {
                "paragraph-properties" | "table-properties" => {
                    let breaks = |name: &str| inner.value(name).map(|value| value == "page");
                    style.breaks_before = style.breaks_before.or(breaks("break-before"));
                    style.breaks_after = breaks("break-after");
                }
                "text-properties" => {
                    style.hidden = inner.value("display").map(|display| display == "none");
                    style.struck = inner.value("text-line-through-style").map(|line| line != "none");
                    style.position = inner.value("text-position").map(|position| raised(&position));
                }
                "drawing-page-properties" => {
                    style.hidden = inner.value("visibility").map(|shown| shown == "hidden");
                    style.shows_footer = inner.value("display-footer").map(|shown| shown == "true");
                }
                "section-properties" => style.hidden = inner.value("display").map(|display| display == "none"),
                // A conditional style: the text has what the writing program shows.
                "map" => {}
                _ => xml.skip()?,
            }
            Ok(())
        })?;
        if self.by_name.len() < MAX_STYLES {
            self.by_name.insert((family, name), style);
        }
        Ok(())
    }

    /// A style and its parents.
    fn chain<'s>(&'s self, family: &'s str, name: Option<&str>) -> impl Iterator<Item = (&'s str, &'s OpenStyle)> {
        let first = name.and_then(|name| self.by_name.get_key_value(&(family.to_owned(), name.to_owned())));
        let next = move |(_, style): &(&'s (String, String), &'s OpenStyle)| {
            let parent = style.parent.clone()?;
            self.by_name.get_key_value(&(family.to_owned(), parent))
        };
        std::iter::successors(first, next).take(MAX_PARENTS).map(|((_, name), style)| (name.as_str(), style))
    }

    pub(super) fn paragraph(&self, name: Option<&str>) -> OpenParagraph {
        let find =
            |say: fn(&OpenStyle) -> Option<bool>| self.chain("paragraph", name).find_map(|(_, style)| say(style));
        let named = |title: &str| name == Some(title) || self.chain("paragraph", name).any(|(name, _)| name == title);
        OpenParagraph {
            breaks_before: find(|style| style.breaks_before) == Some(true),
            breaks_after: find(|style| style.breaks_after) == Some(true),
            is_hidden: find(|style| style.hidden) == Some(true),
            outline: self.chain("paragraph", name).find_map(|(_, style)| style.outline),
            list: self.chain("paragraph", name).find_map(|(_, style)| style.list.clone()),
            is_title: named("Title"),
        }
    }

    /// The format of a run with this style inside of another format, and whether it is hidden.
    pub(super) fn run(&self, name: Option<&str>, around: Emphasis) -> (Emphasis, Option<bool>) {
        let find = |say: fn(&OpenStyle) -> Option<bool>| self.chain("text", name).find_map(|(_, style)| say(style));
        let position = self.chain("text", name).find_map(|(_, style)| style.position);
        let emphasis = Emphasis {
            is_raised: position.map_or(around.is_raised, |position| position > 0),
            is_lowered: position.map_or(around.is_lowered, |position| position < 0),
            is_struck: find(|style| style.struck).unwrap_or(around.is_struck),
        };
        (emphasis, find(|style| style.hidden))
    }

    /// Whether a section, a table or a page with this style is hidden, and whether it begins a page.
    pub(super) fn area(&self, family: &str, name: Option<&str>) -> (bool, bool) {
        let hidden = self.chain(family, name).find_map(|(_, style)| style.hidden) == Some(true);
        (hidden, self.chain(family, name).find_map(|(_, style)| style.breaks_before) == Some(true))
    }

    pub(super) fn shows_footer(&self, name: Option<&str>) -> bool {
        self.chain("drawing-page", name).find_map(|(_, style)| style.shows_footer) == Some(true)
    }

    pub(super) fn list(&self, name: &str) -> &[OpenListLevel] {
        self.lists.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// `super 58%`, `-33% 58%`.
fn raised(position: &str) -> i8 {
    match position.split_whitespace().next().unwrap_or_default() {
        "super" => 1,
        "sub" => -1,
        percent => match percent.trim_end_matches('%').parse::<f32>() {
            Ok(share) if share > 0.0 => 1,
            Ok(share) if share < 0.0 => -1,
            Ok(_) | Err(_) => 0,
        },
    }
}

fn levels(xml: &mut Xml<'_>, until: &str) -> Result<Vec<OpenListLevel>, BrokenPart> {
    let mut levels: Vec<OpenListLevel> = Vec::new();
    xml.each(until, |element, _| {
        let is_numbered = matches!(element.name(), "list-level-style-number" | "outline-level-style");
        if is_numbered || element.name().starts_with("list-level-style") {
            let at = element.number("level").unwrap_or(1_usize).clamp(1, 10);
            if levels.len() < at {
                levels.resize_with(at, OpenListLevel::default);
            }
            if let Some(level) = levels.get_mut(at - 1) {
                *level = OpenListLevel {
                    format: is_numbered.then(|| element.value("num-format").unwrap_or_default()),
                    prefix: element.value("num-prefix").unwrap_or_default(),
                    suffix: element.value("num-suffix").unwrap_or_default(),
                    start: element.number("start-value").unwrap_or(1),
                    shown: element.number("display-levels").unwrap_or(1_usize).clamp(1, 10),
                };
            }
        }
        Ok(())
    })?;
    Ok(levels)
}
