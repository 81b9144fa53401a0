//! Reads a text in order: paragraphs, headings, lists, tables, sections, frames. It may be a document's body, or in a
//! cell, a note or a slide.

use super::numbering::{self, Counts, OpenNumbering};
use super::styles::Styles;
use crate::readers::flow::{Flow, FlowPart, FlowTable};
use crate::readers::package::{BlockKind, BrokenPart, Element, Package, Xml, XmlNode, one_line};

/// The maximum nesting depth of lists, tables, sections and frames.
const MAX_DEPTH: usize = 60;
/// Items of lists nested more deeply than this are no longer indented.
const MAX_INDENTS: usize = 8;
/// How often a repeated cell or row is reported.
const MAX_REPEATED: usize = 64;

/// Counts of a document's content other than its text, for notes.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenOmissions {
    pub(super) images: u64,
    pub(super) objects: u64,
    pub(super) comments: u64,
    pub(super) deletions: u64,
    pub(super) hidden: u64,
}

/// The current list.
#[derive(Debug, Clone)]
struct OpenList {
    style: Option<String>,
    counts: Counts,
    level: usize,
    /// The label before the next paragraph of the current item.
    marker: Marker,
    restart: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Due,
    /// The label was written; the rest of the item is indented.
    Given,
    /// A list's header has none.
    None,
}

/// The state of reading a story.
pub(super) struct OpenStory<'s> {
    pub(super) styles: &'s Styles,
    pub(super) package: Option<&'s Package<'s>>,
    pub(super) omitted: OpenOmissions,
    numbering: OpenNumbering,
    list: Option<OpenList>,
    pub(super) depth: usize,
    in_table: usize,
    after_break: bool,
    /// The story is a shape on a page, where an object is all that can be seen of it.
    pub(super) is_drawn: bool,
}

impl<'s> OpenStory<'s> {
    pub(super) fn new(styles: &'s Styles, package: Option<&'s Package<'s>>) -> Self {
        Self {
            styles,
            package,
            omitted: OpenOmissions::default(),
            numbering: OpenNumbering::default(),
            list: None,
            depth: 0,
            in_table: 0,
            after_break: false,
            is_drawn: false,
        }
    }

    /// Reads all blocks up to the end of the element whose start tag was read last.
    pub(super) fn blocks(&mut self, xml: &mut Xml<'_>, flow: &mut Flow) -> Result<(), BrokenPart> {
        if self.depth >= MAX_DEPTH {
            flow.gap(format!(
                "more than {MAX_DEPTH} frames, lists and tables inside one another, and the inner ones aren't read"
            ));
            return xml.skip();
        }
        self.depth += 1;
        let read = self.read_blocks(xml, flow);
        self.depth -= 1;
        read
    }

    fn read_blocks(&mut self, xml: &mut Xml<'_>, flow: &mut Flow) -> Result<(), BrokenPart> {
        let mut inside = 0_usize;
        loop {
            match xml.next()? {
                XmlNode::Start(element) => {
                    if self.block(&element, xml, flow)? {
                        inside += 1;
                    }
                }
                XmlNode::End(_) if inside == 0 => return Ok(()),
                XmlNode::End(_) => inside -= 1,
                XmlNode::Over => return Ok(()),
                XmlNode::Text(_) => {}
            }
        }
    }

    /// Reads one element among blocks. True: it is open, and contains blocks.
    fn block(&mut self, element: &Element, xml: &mut Xml<'_>, flow: &mut Flow) -> Result<bool, BrokenPart> {
        match element.name() {
            "p" | "h" => self.paragraph(element, xml, flow)?,
            "list" | "numbered-paragraph" => self.list(element, xml, flow)?,
            "list-item" | "list-header" => {
                let is_header = element.name() == "list-header";
                if let Some(list) = &mut self.list {
                    list.marker = if is_header { Marker::None } else { Marker::Due };
                    list.restart = element.number("start-value");
                }
                self.blocks(xml, flow)?;
            }
            "table" => self.table(element, xml, flow)?,
            "section" | "index-body" | "text-box" => {
                let (hidden, _) = self.styles.area("section", element.value("style-name").as_deref());
                let display = element.value("display").is_some_and(|display| display == "none");
                if hidden || display {
                    self.omitted.hidden += 1;
                    xml.skip()?;
                } else {
                    self.blocks(xml, flow)?;
                }
            }
            "soft-page-break" => {
                self.break_page(flow, true);
                xml.skip()?;
            }
            "tracked-changes" => {
                xml.each("tracked-changes", |change, _| {
                    self.omitted.deletions += u64::from(change.name() == "deletion");
                    Ok(())
                })?;
            }
            "annotation" => {
                self.omitted.comments += 1;
                xml.skip()?;
            }
            "frame" | "custom-shape" | "rect" | "ellipse" | "circle" | "path" | "polygon" | "polyline" | "line"
            | "connector" | "caption" | "g" | "regular-polygon" | "measure" | "control" => self.shape(xml, flow)?,
            "forms"
            | "sequence-decls"
            | "variable-decls"
            | "user-field-decls"
            | "table-of-content-source"
            | "illustration-index-source"
            | "table-index-source"
            | "object-index-source"
            | "user-index-source"
            | "alphabetical-index-source"
            | "bibliography-source"
            | "dde-connection-decls"
            | "desc"
            | "title"
            | "glue-point"
            | "enhanced-geometry"
            | "event-listeners"
            | "shapes" => xml.skip()?,
            _ => return Ok(true),
        }
        Ok(false)
    }

    /// Ends a page, unless a manual break has just ended it and this is only the same break as recorded by the program.
    fn break_page(&mut self, flow: &mut Flow, is_recorded: bool) {
        if self.in_table == 0 && !(is_recorded && self.after_break) {
            flow.add(FlowPart::Break);
            self.after_break = true;
        }
    }

    fn paragraph(&mut self, element: &Element, xml: &mut Xml<'_>, flow: &mut Flow) -> Result<(), BrokenPart> {
        let name = element.value("style-name");
        let style = self.styles.paragraph(name.as_deref());
        let outline = element.number::<u8>("outline-level").filter(|_| element.name() == "h");
        let heading = outline.or_else(|| style.outline.filter(|level| *level > 0)).or(style.is_title.then_some(1));
        if style.breaks_before && !flow.is_blank() {
            self.break_page(flow, false);
        }
        let line = self.line(xml, style.is_hidden)?;
        let has_text = !line.text.trim().is_empty();
        let marker = self.marker(heading, element, has_text, style.list.as_deref());
        if has_text {
            self.after_break = false;
        }
        let text = line.text.as_str();
        let mut from = 0;
        for (at, breaks) in line.breaks.iter().copied().map(|at| (at, true)).chain([(text.len(), false)]) {
            let piece = text.get(from..at).unwrap_or_default().trim();
            let label = marker.as_ref().filter(|_| from == 0);
            write(piece, heading.filter(|_| from == 0), label, flow);
            if breaks {
                self.break_page(flow, true);
            }
            from = at;
        }
        flow.append(line.behind);
        if style.breaks_after {
            self.break_page(flow, false);
        }
        Ok(())
    }

    /// The level and number of a paragraph in a list, or of a heading.
    fn marker(
        &mut self,
        heading: Option<u8>,
        element: &Element,
        has_text: bool,
        by_paragraph: Option<&str>,
    ) -> Option<(usize, String)> {
        if let Some(list) = &mut self.list {
            let indent = list.level;
            let label = match std::mem::replace(&mut list.marker, Marker::Given) {
                Marker::Due => {
                    let levels =
                        list.style.as_deref().or(by_paragraph).map(|name| self.styles.list(name)).unwrap_or_default();
                    numbering::next(levels, list.level, &mut list.counts, list.restart.take())
                }
                Marker::Given => String::new(),
                Marker::None => {
                    list.marker = Marker::None;
                    String::new()
                }
            };
            // An empty item is counted, but has no label.
            return Some((indent, if has_text { label } else { String::new() }));
        }
        let is_numbered = element.name() == "h" && element.value("is-list-header").is_none_or(|is| is != "true");
        let level = usize::from(heading?.checked_sub(1)?);
        let numbered = self.styles.outline.get(level)?.format.as_ref().is_some_and(|format| !format.is_empty());
        if !is_numbered || !has_text || !numbered {
            return None;
        }
        Some((
            0,
            numbering::next(&self.styles.outline, level, &mut self.numbering.outline, element.number("start-value")),
        ))
    }

    fn list(&mut self, element: &Element, xml: &mut Xml<'_>, flow: &mut Flow) -> Result<(), BrokenPart> {
        let outer = self.list.take();
        let own = element.value("style-name").filter(|name| !name.is_empty());
        let style = own.or_else(|| outer.as_ref().and_then(|list| list.style.clone()));
        let goes_on = element.value("continue-list").or_else(|| {
            element.value("continue-numbering").filter(|goes_on| goes_on == "true").and_then(|_| style.clone())
        });
        let (level, counts) = match &outer {
            Some(list) => (list.level + 1, list.counts),
            None => (0, self.numbering.begin(goes_on.as_deref())),
        };
        let id = element.value("id");
        self.list = Some(OpenList { style: style.clone(), counts, level, marker: Marker::Due, restart: None });
        let read = self.blocks(xml, flow);
        let counts = self.list.take().map(|list| list.counts).unwrap_or_default();
        match outer {
            Some(mut list) => {
                list.counts = counts;
                self.list = Some(list);
            }
            None => self.numbering.end([id, style], counts),
        }
        read
    }

    pub(super) fn table(&mut self, element: &Element, xml: &mut Xml<'_>, flow: &mut Flow) -> Result<(), BrokenPart> {
        let (_, breaks) = self.styles.area("table", element.value("style-name").as_deref());
        if breaks && !flow.is_blank() {
            self.break_page(flow, false);
        }
        let list = self.list.take();
        let is_nested = self.in_table > 0;
        self.in_table += 1;
        let mut table = FlowTable::default();
        let read = self.rows(xml, is_nested, &mut table, flow);
        self.in_table -= 1;
        self.list = list;
        flow.add(FlowPart::SetOff);
        read
    }

    fn rows(
        &mut self,
        xml: &mut Xml<'_>,
        is_nested: bool,
        table: &mut FlowTable,
        flow: &mut Flow,
    ) -> Result<(), BrokenPart> {
        let mut inside = 0_usize;
        loop {
            match xml.next()? {
                XmlNode::Start(element) => match element.name() {
                    "table-cell" | "covered-table-cell" => {
                        let times = element.number("number-columns-repeated").unwrap_or(1_usize).clamp(1, MAX_REPEATED);
                        let mut cell = Flow::default();
                        self.blocks(xml, &mut cell)?;
                        let text = one_line(cell.into_blocks(flow).text());
                        (0..times).for_each(|_| table.cell(&text, 1));
                    }
                    "table-columns" | "table-column" | "desc" | "title" | "shapes" => xml.skip()?,
                    _ => inside += 1,
                },
                XmlNode::End(name) => {
                    if name == "table-row" {
                        table.end_row(is_nested, flow);
                    }
                    if inside == 0 {
                        return Ok(());
                    }
                    inside -= 1;
                }
                XmlNode::Over => return Ok(()),
                XmlNode::Text(_) => {}
            }
        }
    }

    /// Reads one shape of a page, or a table or text on it.
    pub(super) fn shape_on_page(
        &mut self,
        element: &Element,
        xml: &mut Xml<'_>,
        flow: &mut Flow,
    ) -> Result<(), BrokenPart> {
        if self.block(element, xml, flow)? { self.blocks(xml, flow) } else { Ok(()) }
    }

    /// Reads a drawing: its text, or its other content.
    pub(super) fn shape(&mut self, xml: &mut Xml<'_>, flow: &mut Flow) -> Result<(), BrokenPart> {
        let list = self.list.take();
        let mut inner = Flow::default();
        // A frame has its content in several forms, the best one first: a drawing and a picture of it.
        let mut has_form = false;
        let mut inside = 0_usize;
        loop {
            match xml.next()? {
                XmlNode::Start(part) => match part.name() {
                    "image" if has_form => xml.skip()?,
                    // A text may be typed on it.
                    "image" => {
                        self.omitted.images += 1;
                        has_form = true;
                        self.blocks(xml, &mut inner)?;
                    }
                    "object" => {
                        has_form = true;
                        self.object(&part, &mut inner);
                        xml.skip()?;
                    }
                    "object-ole" | "plugin" | "applet" | "floating-frame" => {
                        self.omitted.objects += u64::from(!has_form);
                        has_form = true;
                        xml.skip()?;
                    }
                    "text-box" => self.blocks(xml, &mut inner)?,
                    _ if self.depth >= MAX_DEPTH => {
                        inner.gap(format!(
                            "more than {MAX_DEPTH} drawings inside one another, and the inner ones aren't read"
                        ));
                        xml.skip()?;
                    }
                    _ => {
                        self.depth += 1;
                        let opened = self.block(&part, xml, &mut inner);
                        self.depth -= 1;
                        if opened? {
                            inside += 1;
                        }
                    }
                },
                XmlNode::End(_) if inside == 0 => break,
                XmlNode::End(_) => inside -= 1,
                XmlNode::Over => break,
                XmlNode::Text(_) => {}
            }
        }
        self.list = list;
        flow.append(inner);
        Ok(())
    }
}

/// A paragraph as a block.
fn write(text: &str, heading: Option<u8>, marker: Option<&(usize, String)>, flow: &mut Flow) {
    if text.is_empty() {
        return;
    }
    let label = marker.map(|(_, label)| label.as_str()).filter(|label| !label.is_empty());
    if let Some(level) = heading {
        let label = label.filter(|label| *label != "-").map_or_else(String::new, |label| format!("{label} "));
        flow.add(FlowPart::Heading(level, format!("{label}{}", one_line(text))));
        return;
    }
    let Some((level, _)) = marker else { return flow.paragraph(lines(text, "")) };
    let indent = "  ".repeat((*level).min(MAX_INDENTS));
    let label = label.map_or_else(|| "  ".to_owned(), |label| format!("{label} "));
    flow.add(FlowPart::Block(BlockKind::Item, format!("{indent}{label}{}", lines(text, &format!("{indent}  ")))));
}

/// Indents all lines but the first.
fn lines(text: &str, indent: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines.join(&format!("\n{indent}"))
}
