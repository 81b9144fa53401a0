//! A document's text as it passes by, from its first paragraph to its last. Also a note's text, which is made alike.

use std::collections::HashMap;

use super::numbering::{Numbering, number};
use super::open_element::{Break, OmittedCounts, OpenElement, is_hidden};
use super::page_breaks::PageCut;
use super::pages::PageTurner;
use super::paragraph::{Paragraph, Properties};
use super::styles::ParagraphStyles;
use super::table::{self, WordTable};
use crate::readers::package::{BlockKind, Blocks, BrokenPart, Element, Halt, Xml, XmlNode, formula};
use crate::text::MAX_TEXT_BYTES;

/// The most fields inside one another that are told apart.
const MAX_FIELDS: usize = 1_000;

/// The texts of footnotes or endnotes by their identifiers.
pub(super) type Notes = HashMap<String, String>;

/// What a story is read by.
pub(super) struct Story<'s, 'p> {
    styles: &'s ParagraphStyles,
    numbering: Numbering,
    cut: PageCut,
    sections: std::slice::Iter<'s, bool>,
    notes: [&'s Notes; 2],
    pub(super) turner: PageTurner<'p>,
    pub(super) seen: OmittedCounts,
    charts: &'s dyn Fn(&str) -> Option<String>,

    page: Blocks,
    page_notes: Vec<String>,
    page_gaps: Vec<String>,
    page_images: u64,
    /// Text that isn't told yet, in bytes.
    held: usize,
    frames: Vec<OpenElement>,
    /// Fields that we are in; true: in what makes it, not in what it shows.
    fields: Vec<bool>,
    /// There was text in what makes a field.
    has_made_of_text: bool,
    is_hidden: bool,
    /// A break by hand came, and no text since.
    after_break: bool,
    referred: [u32; 2],
}

impl<'s, 'p> Story<'s, 'p> {
    pub(super) fn new(
        styles: &'s ParagraphStyles,
        numbering: Numbering,
        (cut, sections): (PageCut, &'s [bool]),
        notes: [&'s Notes; 2],
        charts: &'s dyn Fn(&str) -> Option<String>,
        turner: PageTurner<'p>,
    ) -> Self {
        let mut sections = sections.iter();
        sections.next();
        Self {
            styles,
            numbering,
            cut,
            sections,
            notes,
            turner,
            seen: OmittedCounts::default(),
            charts,
            page: Blocks::default(),
            page_notes: Vec::new(),
            page_gaps: Vec::new(),
            page_images: 0,
            held: 0,
            frames: Vec::new(),
            fields: Vec::new(),
            has_made_of_text: false,
            is_hidden: false,
            after_break: false,
            referred: [0; 2],
        }
    }

    /// Reads on to the end of the element `until`, or of the part.
    pub(super) fn read(&mut self, xml: &mut Xml<'_>, until: &str) -> Result<(), Halt> {
        loop {
            match xml.next()? {
                XmlNode::Start(element) => self.start(&element, xml)?,
                XmlNode::End(name) if name == until => return Ok(()),
                XmlNode::End(name) => self.end(&name)?,
                XmlNode::Text(_) => {}
                XmlNode::Over => return Ok(()),
            }
            if self.held > MAX_TEXT_BYTES {
                return Err(BrokenPart(format!("one page of it has more than {} MiB", MAX_TEXT_BYTES >> 20)).into());
            }
        }
    }

    /// What is open is ended here, as by the end of the document.
    pub(super) fn close(&mut self) -> Result<(), Halt> {
        while let Some(frame) = self.frames.pop() {
            self.end_frame(frame)?;
        }
        Ok(())
    }

    /// The text that isn't told yet.
    pub(super) fn take(&mut self) -> String {
        self.held = 0;
        for note in self.page_notes.drain(..) {
            self.page.add(BlockKind::Paragraph, &note);
        }
        self.page.take()
    }

    /// The last page ends here, with `gap` where more should have come.
    pub(super) fn finish(&mut self, gap: Option<String>) -> Result<(), Halt> {
        self.page_gaps.extend(gap);
        self.end_page()
    }

    /// Whether the page in hand has no text.
    pub(super) fn is_blank(&self) -> bool {
        self.page.is_empty()
    }

    fn start(&mut self, element: &Element, xml: &mut Xml<'_>) -> Result<(), Halt> {
        match element.name() {
            "p" => self.frames.push(OpenElement::Paragraph(Box::default())),
            "pPr" => self.properties(&Properties::read(xml)?)?,
            "rPr" => self.is_hidden = is_hidden(xml)?,
            "r" => self.is_hidden = false,
            "t" => {
                let text = xml.text()?;
                self.text(&text);
            }
            "tab" | "ptab" => self.text("\t"),
            "br" => match element.value("type").as_deref() {
                Some("page") => self.turn(Break::ByHand)?,
                Some(_) | None => self.text("\n"),
            },
            "cr" => self.text("\n"),
            "noBreakHyphen" => self.text("-"),
            "sym" => {
                let sign = element.value("char").and_then(|hex| u32::from_str_radix(&hex, 16).ok());
                // Private signs mean nothing without their font.
                let sign = sign.filter(|sign| !(0xE000..=0xF8FF).contains(sign)).and_then(char::from_u32);
                self.text(&sign.unwrap_or('•').to_string());
            }
            "oMath" => {
                let text = formula(xml)?;
                self.text(&text);
            }
            "lastRenderedPageBreak" => self.turn(Break::Recorded)?,
            "fldChar" => self.field(element.value("fldCharType").as_deref()),
            "footnoteReference" => self.note(0, element),
            "endnoteReference" => self.note(1, element),
            "del" | "moveFrom" => {
                self.seen.deletions += 1;
                xml.skip()?;
            }
            "instrText" | "delText" | "delInstrText" | "sdtPr" | "rt" | "tblPr" | "tblGrid" | "sectPr" => xml.skip()?,
            "tbl" => self.frames.push(OpenElement::Table(Box::default())),
            "tr" => {
                let notes = self.page_notes.len();
                self.table().into_iter().for_each(|table| table.begin_row(notes));
            }
            "trPr" => {
                let is_deleted = table::is_deleted(xml)?;
                if is_deleted {
                    self.seen.deletions += 1;
                    self.table().into_iter().for_each(|table| table.row_is_deleted = true);
                }
            }
            "tc" => self.frames.push(OpenElement::Cell(Box::default())),
            "tcPr" => {
                let span = table::span(xml)?;
                if let Some(OpenElement::Cell(cell)) = self.frames.last_mut() {
                    cell.span = span;
                }
            }
            "txbxContent" => self.frames.push(OpenElement::Box(Blocks::default())),
            "AlternateContent" => self.frames.push(OpenElement::Forms(false)),
            "Choice" | "Fallback" => {
                if let Some(OpenElement::Forms(is_read)) = self.frames.last_mut() {
                    if *is_read {
                        xml.skip()?;
                    } else {
                        *is_read = true;
                    }
                }
            }
            "blip" | "imagedata" => {
                self.seen.images += 1;
                self.page_images += 1;
            }
            "chart" => self.chart(element),
            "relIds" => self.page_gaps.push("a diagram on it, which isn't read".to_owned()),
            "OLEObject" => self.seen.objects += 1,
            "altChunk" => self.page_gaps.push("a part that is a file of its own, which isn't read".to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Halt> {
        match name {
            "r" => self.is_hidden = false,
            "p" | "tc" | "tbl" | "txbxContent" | "AlternateContent" => {
                if let Some(frame) = self.frames.pop() {
                    self.end_frame(frame)?;
                }
            }
            "tr" => self.end_row()?,
            _ => {}
        }
        Ok(())
    }

    fn end_frame(&mut self, frame: OpenElement) -> Result<(), Halt> {
        match frame {
            OpenElement::Paragraph(paragraph) => self.end_paragraph(*paragraph),
            OpenElement::Cell(mut cell) => {
                if let Some(table) = self.table() {
                    table.add(*cell);
                } else {
                    let text = cell.blocks.take();
                    self.blocks().add(BlockKind::Paragraph, text.trim());
                }
                Ok(())
            }
            OpenElement::Box(mut blocks) => {
                let text = blocks.take();
                match self.paragraph() {
                    Some(paragraph) => paragraph.boxes.push(text),
                    None => self.blocks().add(BlockKind::Paragraph, text.trim()),
                }
                Ok(())
            }
            OpenElement::Table(_) | OpenElement::Forms(_) => Ok(()),
        }
    }

    fn properties(&mut self, properties: &Properties) -> Result<(), Halt> {
        let style = properties.style.as_deref();
        let heading = self.styles.heading(style, properties.outline);
        let heading = heading.or_else(|| self.styles.is_title(style).then_some(1));
        let marker = self.numbering.next(self.styles, style, &properties.number);
        if properties.break_before && !self.is_inside() && !self.page.is_empty() {
            self.turn(Break::ByHand)?;
        }
        if let Some(paragraph) = self.paragraph() {
            paragraph.heading = heading;
            paragraph.marker = marker;
            paragraph.ends_section = properties.section.is_some();
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if self.fields.contains(&true) || text.is_empty() {
            self.has_made_of_text |= !text.trim().is_empty();
            return;
        }
        if self.is_hidden {
            self.seen.hidden += 1;
            return;
        }
        if !text.trim().is_empty() {
            self.after_break = false;
        }
        self.held += text.len();
        if let Some(paragraph) = self.paragraph() {
            paragraph.text.push_str(text);
        }
    }

    fn field(&mut self, kind: Option<&str>) {
        match kind {
            Some("begin") if self.fields.len() < MAX_FIELDS => self.fields.push(true),
            Some("separate") => {
                self.fields.last_mut().into_iter().for_each(|code| *code = false);
                self.has_made_of_text = false;
            }
            Some("end") => {
                self.fields.pop();
                self.has_made_of_text = false;
            }
            Some(_) | None => {}
        }
    }

    /// A reference to a footnote (0) or an endnote (1), numbered as Word numbers them.
    fn note(&mut self, kind: usize, element: &Element) {
        let (Some(count), Some(notes)) = (self.referred.get_mut(kind), self.notes.get(kind)) else { return };
        *count += 1;
        let label = number(*count, if kind == 0 { "decimal" } else { "lowerRoman" });
        let note = element.value("id").and_then(|id| notes.get(&id));
        let note = note.map(|text| format!("[{label}] {}", text.trim()));
        self.text(&format!("[{label}]"));
        self.held += note.as_ref().map_or(0, String::len);
        if let Some(paragraph) = self.paragraph() {
            paragraph.notes.extend(note);
        }
    }

    fn chart(&mut self, element: &Element) {
        let figures = element.prefixed("id").and_then(|id| (self.charts)(&id));
        match (figures, self.paragraph()) {
            (Some(figures), Some(paragraph)) => paragraph.boxes.push(figures),
            (_, _) => self.page_gaps.push("a chart on it, which isn't read".to_owned()),
        }
    }

    fn end_paragraph(&mut self, mut paragraph: Paragraph) -> Result<(), Halt> {
        // A field that doesn't say what it shows ends with its paragraph.
        let is_cut = self.fields.contains(&true) && std::mem::take(&mut self.has_made_of_text);
        if is_cut {
            self.page_gaps.push("a field on it has no end, and its text isn't read".to_owned());
        }
        self.fields.iter_mut().for_each(|code| *code = false);
        let begins_page = match self.cut {
            PageCut::Headings(level) => paragraph.heading.is_some_and(|own| own <= level) && !self.is_inside(),
            PageCut::Breaks | PageCut::Nowhere => false,
        };
        if begins_page && !paragraph.text.trim().is_empty() && !self.page.is_empty() {
            self.end_page()?;
            self.turner.next()?;
        }
        self.write(&mut paragraph);
        if paragraph.ends_section && self.sections.next() == Some(&true) && !self.is_inside() {
            self.turn(Break::ByHand)?;
        }
        Ok(())
    }

    fn write(&mut self, paragraph: &mut Paragraph) {
        let (kind, block) = paragraph.take();
        self.page_notes.append(&mut paragraph.notes);
        let boxes = std::mem::take(&mut paragraph.boxes);
        let blocks = self.blocks();
        blocks.add(kind, &block);
        for text in boxes {
            blocks.add(BlockKind::Paragraph, text.trim());
        }
    }

    fn end_row(&mut self) -> Result<(), Halt> {
        let Some(OpenElement::Table(mut table)) = self.frames.pop_if(|frame| matches!(frame, OpenElement::Table(_)))
        else {
            return Ok(());
        };
        let is_nested = self.is_inside();
        let (before, behind) = table.breaks;
        if !is_nested {
            let notes = self.page_notes.split_off(table.notes.min(self.page_notes.len()));
            for _ in 0..before {
                self.end_page()?;
                self.turner.next()?;
            }
            self.page_notes.extend(notes);
        }
        table.end_row(is_nested, self.blocks());
        if !is_nested {
            for _ in 0..behind {
                self.end_page()?;
                self.turner.next()?;
            }
        }
        self.frames.push(OpenElement::Table(table));
        Ok(())
    }

    fn turn(&mut self, kind: Break) -> Result<(), Halt> {
        if self.cut != PageCut::Breaks || (kind == Break::Recorded && std::mem::take(&mut self.after_break)) {
            return Ok(());
        }
        self.after_break = kind == Break::ByHand;
        if self.frames.iter().any(|frame| matches!(frame, OpenElement::Box(_))) {
            return Ok(());
        }
        let has_text = self.frames.iter().any(|frame| match frame {
            OpenElement::Paragraph(paragraph) => !paragraph.text.trim().is_empty(),
            OpenElement::Cell(cell) => !cell.blocks.is_empty(),
            OpenElement::Table(_) | OpenElement::Box(_) | OpenElement::Forms(_) => false,
        });
        let mut cells = self.frames.iter_mut().filter_map(|frame| match frame {
            OpenElement::Cell(cell) => Some(cell),
            OpenElement::Paragraph(_) | OpenElement::Table(_) | OpenElement::Box(_) | OpenElement::Forms(_) => None,
        });
        if let Some(cell) = cells.next() {
            *(if has_text { &mut cell.breaks.1 } else { &mut cell.breaks.0 }) += 1;
            return Ok(());
        }
        let at = self.frames.iter().position(|frame| matches!(frame, OpenElement::Paragraph(_)));
        if let Some(at) = at
            && let Some(OpenElement::Paragraph(paragraph)) = self.frames.get_mut(at)
        {
            let mut paragraph = std::mem::take(paragraph);
            self.write(&mut paragraph);
            if let Some(place) = self.frames.get_mut(at) {
                *place = OpenElement::Paragraph(paragraph);
            }
        }
        self.end_page()?;
        self.turner.next()?;
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), Halt> {
        let text = self.take();
        if text.is_empty() && self.page_images > 0 {
            self.page_gaps.push("nothing but an image on it".to_owned());
        }
        self.page_images = 0;
        self.page_gaps.dedup();
        let gaps = std::mem::take(&mut self.page_gaps);
        Ok(self.turner.end(&text, &gaps)?)
    }

    /// Whether we are in a table or a text box.
    fn is_inside(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame, OpenElement::Cell(_) | OpenElement::Box(_)))
    }

    /// Where finished blocks go.
    fn blocks(&mut self) -> &mut Blocks {
        let inner = self.frames.iter_mut().rev().find_map(|frame| match frame {
            OpenElement::Cell(cell) => Some(&mut cell.blocks),
            OpenElement::Box(blocks) => Some(blocks),
            OpenElement::Paragraph(_) | OpenElement::Table(_) | OpenElement::Forms(_) => None,
        });
        inner.unwrap_or(&mut self.page)
    }

    fn paragraph(&mut self) -> Option<&mut Paragraph> {
        self.frames.iter_mut().rev().find_map(|frame| match frame {
            OpenElement::Paragraph(paragraph) => Some(paragraph.as_mut()),
            OpenElement::Table(_) | OpenElement::Cell(_) | OpenElement::Box(_) | OpenElement::Forms(_) => None,
        })
    }

    fn table(&mut self) -> Option<&mut WordTable> {
        match self.frames.last_mut() {
            Some(OpenElement::Table(table)) => Some(table),
            Some(OpenElement::Paragraph(_) | OpenElement::Cell(_) | OpenElement::Box(_) | OpenElement::Forms(_))
            | None => None,
        }
    }
}
