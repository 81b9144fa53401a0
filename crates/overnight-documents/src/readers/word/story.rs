//! Reads a document's text in order, from its first paragraph to its last; also a note's text, which has the same form.

use std::collections::HashMap;

use super::fields::Fields;
use super::inserted::StoryParts;
use super::numbering::Numbering;
use super::open_element::{Break, OmittedCounts, OpenElement};
use super::page_breaks::PageCut;
use super::pages::PageTurner;
use super::paragraph::{Paragraph, Properties};
use super::run::RunProperties;
use super::styles::ParagraphStyles;
use super::table::{self, WordTable};
use crate::gaps::ONLY_IMAGE;
use crate::readers::package::{BlockKind, Blocks, BrokenPart, Element, Halt, Xml, XmlNode, formula};
use crate::text::MAX_TEXT_BYTES;

/// The texts of footnotes or endnotes by their identifiers.
pub(super) type Notes = HashMap<String, String>;

/// The state of reading a story.
pub(super) struct Story<'s, 'p> {
    pub(super) styles: &'s ParagraphStyles,
    numbering: Numbering,
    cut: PageCut,
    sections: std::slice::Iter<'s, bool>,
    pub(super) notes: [&'s Notes; 2],
    pub(super) turner: PageTurner<'p>,
    pub(super) seen: OmittedCounts,
    pub(super) beside: &'s dyn StoryParts,

    page: Blocks,
    page_notes: Vec<String>,
    pub(super) page_gaps: Vec<String>,
    pub(super) page_images: u64,
    /// The alternative texts of the page's images.
    pub(super) page_alternatives: Vec<String>,
    /// The size of text that isn't reported yet, in bytes.
    pub(super) held: usize,
    frames: Vec<OpenElement>,
    pub(super) fields: Fields,
    /// The open links: their targets, and where their texts began.
    pub(super) links: Vec<Option<(String, usize)>>,
    pub(super) run: RunProperties,
    /// A drop cap for the next paragraph.
    drop_cap: String,
    /// A manual break came, with no text since.
    after_break: bool,
    pub(super) referred: [u32; 2],
}

impl<'s, 'p> Story<'s, 'p> {
    pub(super) fn new(
        styles: &'s ParagraphStyles,
        numbering: Numbering,
        (cut, sections): (PageCut, &'s [bool]),
        notes: [&'s Notes; 2],
        beside: &'s dyn StoryParts,
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
            beside,
            page: Blocks::default(),
            page_notes: Vec::new(),
            page_gaps: Vec::new(),
            page_images: 0,
            page_alternatives: Vec::new(),
            held: 0,
            frames: Vec::new(),
            fields: Fields::default(),
            links: Vec::new(),
            run: RunProperties::default(),
            drop_cap: String::new(),
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

    /// Ends all open elements, as the end of the document does.
    pub(super) fn close(&mut self) -> Result<(), Halt> {
        while let Some(frame) = self.frames.pop() {
            self.end_frame(frame)?;
        }
        Ok(())
    }

    /// The text that isn't reported yet.
    pub(super) fn take(&mut self) -> String {
        self.held = 0;
        let cap = std::mem::take(&mut self.drop_cap);
        self.page.add(BlockKind::Paragraph, &cap);
        for note in self.page_notes.drain(..) {
            self.page.add(BlockKind::Paragraph, &note);
        }
        self.page.take()
    }

    /// Ends the last page, with `gap` if more should have come.
    pub(super) fn finish(&mut self, gap: Option<String>) -> Result<(), Halt> {
        self.page_gaps.extend(gap);
        self.end_page()
    }

    /// Whether the current page has no text.
    pub(super) fn is_blank(&self) -> bool {
        self.page.is_empty()
    }

    fn start(&mut self, element: &Element, xml: &mut Xml<'_>) -> Result<(), Halt> {
        match element.name() {
            "p" => self.frames.push(OpenElement::Paragraph(Box::default())),
            "pPr" => self.properties(&Properties::read(xml)?)?,
            "rPr" => self.run_begins(Some(RunProperties::read(xml)?)),
            "r" => self.run_begins(None),
            "t" => {
                let text = xml.text()?;
                let shown = self.run.shown(&text).into_owned();
                self.text(&shown);
            }
            "tab" | "ptab" => self.text("\t"),
            "br" => match element.value("type").as_deref() {
                Some("page") => self.turn(Break::ByHand)?,
                Some(_) | None => self.text("\n"),
            },
            "cr" => self.text("\n"),
            "noBreakHyphen" => self.text("-"),
            "sym" => self.sign(element),
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
            "hyperlink" | "fldSimple" => self.link_begins(element),
            "instrText" => {
                let text = xml.text()?;
                self.fields.instruct(&text);
            }
            "checkBox" => self.fields.check_box(xml)?,
            "ddList" => self.fields.choice(xml)?,
            "delText" | "delInstrText" | "sdtPr" | "rt" | "tblPr" | "tblGrid" | "sectPr" => xml.skip()?,
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
            // Word 2003 stores notes at their references; they follow the paragraph.
            "txbxContent" | "footnote" | "endnote" => self.frames.push(OpenElement::Box(Blocks::default())),
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
            "blip" => self.picture(element.prefixed("embed")),
            "imagedata" => self.picture(element.prefixed("id")),
            "docPr" | "shape" => self.alternative(element),
            "chart" => self.chart(element),
            "relIds" => self.diagram(element),
            "OLEObject" => self.seen.objects += 1,
            "altChunk" => self.page_gaps.push("a part that is a file of its own, which isn't read".to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Halt> {
        match name {
            "r" => self.run = RunProperties::default(),
            "hyperlink" | "fldSimple" => {
                if let Some(Some((target, from))) = self.links.pop() {
                    self.link(&target, from);
                }
            }
            "p" | "tc" | "tbl" | "txbxContent" | "footnote" | "endnote" | "AlternateContent" => {
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
        let marker = self.numbering.next(self.styles, style, &properties.number).or_else(|| {
            let label = properties.label.as_deref()?;
            let is_number = label.contains(char::is_alphanumeric);
            Some((properties.number.level.unwrap_or(0), if is_number { label.trim() } else { "-" }.to_owned()))
        });
        if properties.break_before && !self.is_inside() && !self.page.is_empty() {
            self.turn(Break::ByHand)?;
        }
        let base = self.styles.run(style);
        if let Some(paragraph) = self.paragraph() {
            paragraph.base = base;
            paragraph.is_drop_cap = properties.is_drop_cap;
            paragraph.heading = heading;
            paragraph.marker = marker;
            paragraph.ends_section = properties.section.is_some();
        }
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.fields.is_code() || text.is_empty() {
            self.fields.made_of(text);
            return;
        }
        if self.run.is_hidden() {
            self.seen.hidden += 1;
            return;
        }
        if !text.trim().is_empty() {
            self.after_break = false;
            self.fields.shown();
        }
        self.held += text.len();
        let style = self.run.in_line();
        if let Some(paragraph) = self.paragraph() {
            paragraph.text.push(style, text);
        }
    }

    fn end_paragraph(&mut self, mut paragraph: Paragraph) -> Result<(), Halt> {
        if self.fields.end_paragraph() {
            self.page_gaps.push("a field on it has no end, and its text isn't read".to_owned());
        }
        if paragraph.is_drop_cap {
            paragraph.text.take().trim().clone_into(&mut self.drop_cap);
            return Ok(());
        }
        let begins_page = match self.cut {
            PageCut::Headings(level) => paragraph.heading.is_some_and(|own| own <= level) && !self.is_inside(),
            PageCut::Breaks | PageCut::Nowhere => false,
        };
        if begins_page && !paragraph.text.is_blank() && !self.page.is_empty() {
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
        if !paragraph.text.is_blank() {
            paragraph.drop_cap = std::mem::take(&mut self.drop_cap);
        }
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
            OpenElement::Paragraph(paragraph) => !paragraph.text.is_blank(),
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
        let alternatives = self.page_alternatives.drain(..);
        let rest = alternatives.fold(text.clone(), |rest, alternative| rest.replacen(&alternative, "", 1));
        if rest.trim().is_empty() && self.page_images > 0 {
            self.page_gaps.push(ONLY_IMAGE.to_owned());
        }
        self.page_images = 0;
        self.page_gaps.dedup();
        let gaps = std::mem::take(&mut self.page_gaps);
        Ok(self.turner.end(&text, &gaps)?)
    }

    /// Whether the current place is in a table or a text box.
    fn is_inside(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame, OpenElement::Cell(_) | OpenElement::Box(_)))
    }

    /// The destination of finished blocks.
    fn blocks(&mut self) -> &mut Blocks {
        let inner = self.frames.iter_mut().rev().find_map(|frame| match frame {
            OpenElement::Cell(cell) => Some(&mut cell.blocks),
            OpenElement::Box(blocks) => Some(blocks),
            OpenElement::Paragraph(_) | OpenElement::Table(_) | OpenElement::Forms(_) => None,
        });
        inner.unwrap_or(&mut self.page)
    }

    pub(super) fn paragraph(&mut self) -> Option<&mut Paragraph> {
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
