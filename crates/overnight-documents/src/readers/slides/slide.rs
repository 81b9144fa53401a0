//! One slide's shapes in order: text, tables, and shapes without text.

use super::layout::{Layouts, Placeholder, place};
use super::reading_order::{Scale, ShapeBox, sort};
use crate::links;
use crate::readers::chart;
use crate::readers::embedded::marker;
use crate::readers::package::{
    BlockKind, Blocks, BrokenPart, DrawingText, Package, Relations, Xml, XmlNode, alternative_text, diagram, one_line,
    paragraphs, row, rule,
};
use crate::text::MAX_TEXT_BYTES;

/// The maximum nesting depth of groups, and the most shapes on a slide.
const MAX_GROUPS: usize = 100;
const MAX_SHAPES: usize = 20_000;
/// The most columns that a cell can cover.
const MAX_SPAN: usize = 64;

/// The content of a slide.
#[derive(Debug, Default)]
pub(super) struct Slide {
    pub(super) title: String,
    shapes: Vec<(ShapeBox, Blocks)>,
    pub(super) images: u64,
    pub(super) objects: u64,
    pub(super) gaps: Vec<String>,
    pub(super) is_hidden: bool,
    is_notes: bool,
    /// It has more than the descriptions of its images.
    pub(super) has_text: bool,
}

/// The current shape.
#[derive(Debug, Default)]
struct Shape {
    place: Option<ShapeBox>,
    holder: Option<Placeholder>,
    blocks: Blocks,
    /// The current row of a table, and whether a row was written.
    row: Vec<String>,
    has_row: bool,
    charts: Vec<String>,
    /// Its alternative text.
    alternative: Option<String>,
    /// The marker of its picture in the text.
    picture: Option<String>,
    /// The target of a click on it.
    link: Option<String>,
}

impl Slide {
    /// Reads a slide, or notes, into `self`; content read before damage is kept.
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
                    "cNvPr" => shape.alternative = alternative_text(&element),
                    // A link of the whole shape; links in its text are read with the text.
                    "hlinkClick" => {
                        let target = element.prefixed("id").and_then(|id| relations.outside(&id).map(str::to_owned));
                        shape.link = target;
                    }
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
                        paragraphs(
                            &mut xml,
                            "txBody",
                            DrawingText { is_list, relations: &relations },
                            &mut shape.blocks,
                        )?;
                    }
                    "tr" => shape.row.clear(),
                    "tc" => {
                        let span = element.number("gridSpan").unwrap_or(1_usize).clamp(1, MAX_SPAN);
                        let is_covered = element.value("hMerge").is_some() && element.is_on("hMerge");
                        let mut blocks = Blocks::default();
                        paragraphs(&mut xml, "tc", DrawingText { is_list: false, relations: &relations }, &mut blocks)?;
                        // Covered cells exist too, but are empty.
                        if !is_covered {
                            shape.row.push(one_line(blocks.text()));
                            shape.row.extend(std::iter::repeat_n(String::new(), span - 1));
                        }
                    }
                    "chart" => shape.charts.extend(element.prefixed("id")),
                    "relIds" => self.diagram(package, &relations, element.prefixed("dm").as_deref(), &mut shape.blocks),
                    "blip" => {
                        self.images += 1;
                        let relation = element.prefixed("embed").and_then(|id| relations.get(&id));
                        shape.picture = relation.and_then(|relation| marker(package, &relation.part));
                    }
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
                    "sp" | "graphicFrame" | "cxnSp" | "pic" => {
                        let target = shape.link.take().and_then(|target| links::behind(shape.blocks.text(), &target));
                        self.has_text |= !shape.blocks.is_empty() || !shape.charts.is_empty();
                        for said in [shape.alternative.take(), shape.picture.take()].into_iter().flatten() {
                            shape.blocks.add(BlockKind::Paragraph, &said);
                        }
                        shape.blocks.add(BlockKind::Paragraph, target.unwrap_or_default().trim());
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
        if shape.blocks.is_empty() || shape.holder.as_ref().is_some_and(|holder| holder.is_left_out(self.is_notes)) {
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
        let texts = id.and_then(|id| relations.get(id)).and_then(|relation| diagram(package, &relation.part));
        if let Some(texts) = texts {
            blocks.add(BlockKind::Paragraph, texts.trim_end());
        } else {
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
