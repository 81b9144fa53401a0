//! The numbers before paragraphs. The document doesn't store them: each is counted from the previous ones.

use std::collections::{HashMap, HashSet};

use super::styles::{ListReference, ParagraphStyles};
use crate::readers::package::{BrokenPart, Element, Package, Xml, XmlNode, bullet, number};

const LEVELS: usize = 9;
/// The most lists that are kept.
const MAX_LISTS: usize = 50_000;

/// One level of a list.
#[derive(Debug, Clone, Default)]
struct ListLevel {
    start: Option<u32>,
    format: String,
    text: String,
    style: Option<String>,
    /// The font of a bullet.
    font: String,
    is_legal: bool,
    /// It continues counting below a new item of a higher level.
    goes_on: bool,
}

#[derive(Debug, Default)]
struct ListPattern {
    levels: [ListLevel; LEVELS],
    /// The style whose list's pattern is used instead.
    style_link: Option<String>,
}

#[derive(Debug, Default)]
struct NumberedList {
    pattern: String,
    starts: [Option<u32>; LEVELS],
    levels: HashMap<usize, ListLevel>,
}

/// All lists, and the current count of each.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    patterns: HashMap<String, ListPattern>,
    lists: HashMap<String, NumberedList>,
    counts: HashMap<String, [Option<u32>; LEVELS]>,
    started: HashSet<(String, usize)>,
}

impl Numbering {
    pub(super) fn read(package: &Package<'_>, part: &str) -> Result<Self, BrokenPart> {
        let mut all = Self::default();
        let Some(xml) = Xml::open(package, part) else { return Ok(all) };
        let mut xml = xml?;
        let (mut pattern_id, mut list_id) = (String::new(), String::new());
        let (mut pattern, mut list) = (ListPattern::default(), NumberedList::default());
        // The current level, and the level that an exception is about.
        let (mut level, mut at, mut exception) = (ListLevel::default(), 0, None);
        loop {
            match xml.next()? {
                XmlNode::Start(element) => match element.name() {
                    "abstractNum" => {
                        pattern_id = element.value("abstractNumId").unwrap_or_default();
                        pattern = ListPattern::default();
                    }
                    "num" => {
                        list_id = element.value("numId").unwrap_or_default();
                        list = NumberedList::default();
                    }
                    "abstractNumId" => list.pattern = element.value("val").unwrap_or_default(),
                    "numStyleLink" => pattern.style_link = element.value("val"),
                    "lvlOverride" => exception = element.number::<usize>("ilvl").filter(|level| *level < LEVELS),
                    "startOverride" => {
                        if let Some(start) = exception.and_then(|at| list.starts.get_mut(at)) {
                            *start = element.number("val");
                        }
                    }
                    "lvl" => {
                        at = element.number("ilvl").unwrap_or(LEVELS);
                        level = ListLevel::default();
                    }
                    _ => level.learn(&element),
                },
                XmlNode::End(name) => match name.as_str() {
                    "lvl" if exception.is_some() && at < LEVELS => {
                        list.levels.insert(at, std::mem::take(&mut level));
                    }
                    "lvl" => {
                        if let Some(place) = pattern.levels.get_mut(at) {
                            *place = std::mem::take(&mut level);
                        }
                    }
                    "lvlOverride" => exception = None,
                    "abstractNum" if all.patterns.len() < MAX_LISTS => {
                        all.patterns.insert(std::mem::take(&mut pattern_id), std::mem::take(&mut pattern));
                    }
                    "num" if all.lists.len() < MAX_LISTS => {
                        all.lists.insert(std::mem::take(&mut list_id), std::mem::take(&mut list));
                    }
                    _ => {}
                },
                XmlNode::Over => return Ok(all),
                XmlNode::Text(_) => {}
            }
        }
    }

    /// Counts one more paragraph: its level, and its label. None if it is in no list.
    pub(super) fn next(
        &mut self,
        styles: &ParagraphStyles,
        style: Option<&str>,
        own: &ListReference,
    ) -> Option<(usize, String)> {
        let by_style = styles.number(style);
        let list_id = own.list.clone().or_else(|| by_style.as_ref().and_then(|(number, _)| number.list.clone()))?;
        let list = self.lists.get(&list_id)?;
        let pattern_id = self.pattern_of(styles, list)?;
        let pattern = self.patterns.get(&pattern_id)?;
        let by_style = by_style.and_then(|(number, id)| {
            let linked = pattern.levels.iter().position(|level| level.style.as_ref() == Some(&id));
            linked.or(number.level)
        });
        let at = own.level.or(by_style).unwrap_or(0).min(LEVELS - 1);
        let levels: Vec<&ListLevel> =
            pattern.levels.iter().enumerate().map(|(at, level)| list.levels.get(&at).unwrap_or(level)).collect();

        let counts = self.counts.entry(pattern_id.clone()).or_default();
        let start = |at: usize| levels.get(at).and_then(|level| level.start).unwrap_or(1);
        let restart = list.starts[at].filter(|_| self.started.insert((list_id.clone(), at)));
        counts[at] = Some(restart.unwrap_or_else(|| counts[at].map_or(start(at), |count| count.saturating_add(1))));
        for (count, level) in counts.iter_mut().zip(&levels).skip(at + 1) {
            if !level.goes_on {
                *count = None;
            }
        }
        for (above, count) in counts.iter_mut().enumerate().take(at) {
            count.get_or_insert(start(above));
        }
        Some((at, label(&levels, at, counts)))
    }

    fn pattern_of(&self, styles: &ParagraphStyles, list: &NumberedList) -> Option<String> {
        let pattern = self.patterns.get(&list.pattern)?;
        let linked = pattern.style_link.as_deref().and_then(|style| {
            let (number, _) = styles.number(Some(style))?;
            let list = self.lists.get(number.list.as_deref()?)?;
            self.patterns.contains_key(&list.pattern).then(|| list.pattern.clone())
        });
        Some(linked.unwrap_or_else(|| list.pattern.clone()))
    }
}

impl ListLevel {
    fn learn(&mut self, element: &Element) {
        match element.name() {
            "start" => self.start = element.number("val"),
            "numFmt" => self.format = element.value("val").unwrap_or_default(),
            "lvlText" => self.text = element.value("val").unwrap_or_default(),
            "rFonts" => self.font = element.value("ascii").unwrap_or_default(),
            "pStyle" => self.style = element.value("val"),
            "isLgl" => self.is_legal = element.is_on("val"),
            "lvlRestart" => self.goes_on = element.value("val").is_some_and(|value| value == "0"),
            _ => {}
        }
    }
}

fn label(levels: &[&ListLevel], at: usize, counts: &[Option<u32>; LEVELS]) -> String {
    let Some(level) = levels.get(at) else { return String::new() };
    match level.format.as_str() {
        "bullet" => return bullet(&level.font, &level.text),
        "none" => return String::new(),
        _ => {}
    }
    let mut label = String::new();
    let mut chars = level.text.chars().peekable();
    while let Some(found) = chars.next() {
        let place = chars.peek().and_then(|next| next.to_digit(10)).filter(|place| found == '%' && *place > 0);
        let Some(place) = place.and_then(|place| usize::try_from(place).ok()) else {
            label.push(found);
            continue;
        };
        chars.next();
        let format = levels.get(place - 1).map_or("decimal", |other| other.format.as_str());
        let format = if level.is_legal { "decimal" } else { format };
        label.push_str(&number(counts.get(place - 1).copied().flatten().unwrap_or(1), format));
    }
    label.trim().to_owned()
}
