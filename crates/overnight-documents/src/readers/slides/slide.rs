//! One slide's shapes, as they pass by: text, tables, and what has no text.

use super::layout::{Layouts, Placeholder, place};
use super::reading_order::{Scale, ShapeBox, sort};
use crate::readers::package::{
    BlockKind, Blocks, BrokenPart, Package, Relations, Xml, XmlNode, chart, formula, one_line, row, rule,
};
use crate::text::MAX_TEXT_BYTES;

/// The most groups inside one another, and shapes on a slide.
const MAX_GROUPS: usize = 100;
const MAX_SHAPES: usize = 20_000;
/// The most columns that a cell can cover.
const MAX_SPAN: usize = 64;
/// Beyond this many levels, paragraphs are no longer moved in.
const MAX_INDENTS: usize = 8;

/// What was read of a slide.
#[derive(Debug, Default)]
pub(super) struct Slide {
    pub(super) title: String,
    shapes: Vec<(ShapeBox, Blocks)>,
    pub(super) images: u64,
    pub(super) objects: u64,
    pub(super) gaps: Vec<String>,
    pub(super) is_hidden: bool,
    is_notes: bool,
}

/// The shape that is being read.
#[derive(Debug, Default)]
struct Shape {
    place: Option<ShapeBox>,
    holder: Option<Placeholder>,
    blocks: Blocks,
    /// Row of a table in hand, and whether a row was written.
    row: Vec<String>,
    has_row: bool,
    charts: Vec<String>,
}

impl Slide {
    /// Reads a slide, or notes, into `self`; what was read before damage stays.
    pub(super) fn read(&mut self, package: &Package<'_>, part: &str, layouts: &mut Layouts) -> Result<(), BrokenPart> {
        let relations = Relations::of(package, part).unwrap_or_default();
        let layout = relations.first("slideLayout").or(relations.first("notesMaster")).unwrap_or_default().to_owned();
        let mut xml = Xml::need(package, part)?;
        let mut groups = vec![Scale::default()];
        let mut depth = 0_usize;
        let mut chosen: Vec<bool> = Vec::new();
        let mut shape = Shape::default();
        loop {
            match xml.next()? {
                XmlNode::Start(element) => match element.name() {
                    "notes" => self.is_notes = true,
                    "sld" => self.is_hidden = element.value("show").is_some_and(|show| matches!(&*show, "0" | "false")),
                    "grpSp" => depth += 1,
                    "sp" | "graphicFrame" | "pic" | "cxnSp" => shape = Shape::default(),
                    "ph" => shape.holder = Some(Placeholder::of(&element)),
                    "xfrm" => match place(&mut xml)? {
                        (Some(outside), Some(inside)) if groups.len() < MAX_GROUPS && groups.len() <= depth => {
                            let outer = groups.last().copied().unwrap_or_default();
                            groups.push(Scale::of_group(outside, inside).within(outer));
                        }
                        (Some(own), _) => shape.place = Some(groups.last().copied().unwrap_or_default().apply(own)),
                        (None, _) => {}
                    },
                    "txBody" => {
                        let is_list = !self.is_notes && shape.holder.as_ref().is_some_and(Placeholder::is_list);
                        text(&mut xml, "txBody", is_list, &mut shape.blocks)?;
                    }
                    "tr" => shape.row.clear(),
                    "tc" => {
                        let span = element.number("gridSpan").unwrap_or(1_usize).clamp(1, MAX_SPAN);
                        let is_covered = element.value("hMerge").is_some() && element.is_on("hMerge");
                        let mut blocks = Blocks::default();
                        text(&mut xml, "tc", false, &mut blocks)?;
                        // Covered cells are there too, and empty.
                        if !is_covered {
                            shape.row.push(one_line(blocks.text()));
                            shape.row.extend(std::iter::repeat_n(String::new(), span - 1));
                        }
                    }
                    "chart" => shape.charts.extend(element.prefixed("id")),
                    "relIds" => self.diagram(package, &relations, element.prefixed("dm").as_deref(), &mut shape.blocks),
                    "blip" => self.images += 1,
                    "oleObj" => self.objects += 1,
                    "AlternateContent" if chosen.len() < MAX_GROUPS => chosen.push(false),
                    "Choice" | "Fallback" => match chosen.last_mut() {
                        Some(true) => xml.skip()?,
                        Some(is_chosen) => *is_chosen = true,
                        None => {}
                    },
                    "timing" | "extLst" | "transition" => xml.skip()?,
                    _ => {}
                },
                XmlNode::End(name) => match name.as_str() {
                    "grpSp" => {
                        groups.truncate(depth.max(1));
                        depth = depth.saturating_sub(1);
                    }
                    "tr" => shape.end_row(),
                    "sp" | "graphicFrame" | "cxnSp" => {
                        for id in std::mem::take(&mut shape.charts) {
                            let figures = relations.get(&id).and_then(|relation| chart(package, &relation.part));
                            match figures {
                                Some(figures) => shape.blocks.add(BlockKind::Paragraph, &figures),
                                None => self.gaps.push("a chart on it, which isn't read".to_owned()),
                            }
                        }
                        self.add(std::mem::take(&mut shape), package, &layout, layouts)?;
                    }
                    "AlternateContent" => {
                        chosen.pop();
                    }
                    _ => {}
                },
                XmlNode::Over => return Ok(()),
                XmlNode::Text(_) => {}
            }
        }
    }

    /// Its text in reading order, without the title.
    pub(super) fn text(&mut self) -> Blocks {
        let mut shapes = std::mem::take(&mut self.shapes);
        sort(&mut shapes);
        let mut blocks = Blocks::default();
        for (_, mut shape) in shapes {
            blocks.add(BlockKind::Paragraph, shape.take().trim_end());
        }
        blocks
    }

    fn add(
        &mut self,
        shape: Shape,
        package: &Package<'_>,
        layout: &str,
        layouts: &mut Layouts,
    ) -> Result<(), BrokenPart> {
        if shape.blocks.is_empty() || shape.holder.as_ref().is_some_and(Placeholder::is_header_or_footer) {
            return Ok(());
        }
        if shape.holder.as_ref().is_some_and(Placeholder::is_title) && self.title.is_empty() {
            self.title = one_line(shape.blocks.text());
            return Ok(());
        }
        let held: usize = self.shapes.iter().map(|(_, blocks)| blocks.len()).sum();
        if self.shapes.len() >= MAX_SHAPES || held > MAX_TEXT_BYTES {
            return Err(BrokenPart(format!("a slide of it has more than {MAX_SHAPES} shapes or too long texts")));
        }
        let inherited = |holder| layouts.place(package, layout, holder);
        let place = shape.place.or_else(|| shape.holder.as_ref().and_then(inherited)).unwrap_or_default();
        self.shapes.push((place, shape.blocks));
        Ok(())
    }

    /// A diagram's texts lie in a part of their own.
    fn diagram(&mut self, package: &Package<'_>, relations: &Relations, id: Option<&str>, blocks: &mut Blocks) {
        let part = id.and_then(|id| relations.get(id)).map(|relation| relation.part.clone());
        let read = part.as_deref().and_then(|part| Xml::open(package, part)).and_then(Result::ok);
        let is_read = read.is_some_and(|mut xml| text(&mut xml, "", false, blocks).is_ok());
        if !is_read {
            self.gaps.push("a diagram on it, which isn't read".to_owned());
        }
    }
}

impl Shape {
    fn end_row(&mut self) {
        if self.row.iter().all(String::is_empty) {
            return;
        }
        self.blocks.add(BlockKind::Row, &row(&self.row));
        if !self.has_row {
            self.blocks.add(BlockKind::Row, &rule(self.row.len()));
        }
        self.has_row = true;
    }
}

/// Paragraphs up to the end of the element `until`; in a list, those that don't say otherwise are items.
pub(super) fn text(xml: &mut Xml<'_>, until: &str, is_list: bool, blocks: &mut Blocks) -> Result<(), BrokenPart> {
    let mut line = String::new();
    let mut level = 0_usize;
    let mut mark = None;
    let mut counts = ListCounts::default();
    loop {
        match xml.next()? {
            XmlNode::Start(element) => match element.name() {
                "p" => {
                    line.clear();
                    (level, mark) = (0, None);
                }
                "pPr" => level = element.number("lvl").unwrap_or(0).min(MAX_INDENTS),
                "buNone" => mark = Some(ParagraphMark::None),
                "buChar" | "buBlip" => mark = Some(ParagraphMark::Bullet),
                "buAutoNum" => mark = Some(ParagraphMark::Number(element.number("startAt").unwrap_or(1))),
                "t" => line.push_str(&xml.text()?),
                "br" => line.push('\n'),
                "tab" => line.push('\t'),
                "oMath" => line.push_str(&formula(xml)?),
                "rPr" | "endParaRPr" | "tcPr" => xml.skip()?,
                _ => {}
            },
            XmlNode::End(name) if name == until => return Ok(()),
            XmlNode::End(name) if name == "p" => {
                let lines: Vec<&str> =
                    line.split(['\n', '\u{b}']).map(str::trim).filter(|line| !line.is_empty()).collect();
                let indent = "  ".repeat(level);
                let text = lines.join(&format!("\n{indent}"));
                if text.is_empty() {
                    continue;
                }
                if blocks.len() > MAX_TEXT_BYTES {
                    return Err(BrokenPart("a slide of it has too long texts".to_owned()));
                }
                let inherited = if is_list || level > 0 { ParagraphMark::Bullet } else { ParagraphMark::None };
                match mark.unwrap_or(inherited) {
                    ParagraphMark::None => blocks.add(BlockKind::Paragraph, &text),
                    ParagraphMark::Bullet => blocks.add(BlockKind::Item, &format!("{indent}- {text}")),
                    ParagraphMark::Number(start) => {
                        let number = counts.next(level, start);
                        blocks.add(BlockKind::Item, &format!("{indent}{number}. {text}"));
                        continue;
                    }
                }
                counts.0.truncate(level);
            }
            XmlNode::Over => return Ok(()),
            XmlNode::End(_) | XmlNode::Text(_) => {}
        }
    }
}

/// What stands before a paragraph.
#[derive(Debug, Clone, Copy)]
enum ParagraphMark {
    None,
    Bullet,
    /// The list's first number.
    Number(u32),
}

/// The last numbers of a numbered list and those around it, by level.
#[derive(Debug, Default)]
struct ListCounts(Vec<Option<u32>>);

impl ListCounts {
    fn next(&mut self, level: usize, start: u32) -> u32 {
        self.0.resize(level + 1, None);
        let last = self.0.last_mut();
        last.map_or(start, |last| *last.insert(last.map_or(start, |number| number.saturating_add(1))))
    }
}
