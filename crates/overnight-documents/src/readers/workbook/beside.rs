//! Content of sheets other than cells: text boxes, diagrams, alternative texts, targets of links. The rest is counted.

use std::collections::HashMap;

use super::xlsx::column_of;
use crate::readers::package::{
    Blocks, BrokenPart, DrawingText, Package, Relations, Xml, XmlNode, alternative_text, diagram, one_line, paragraphs,
};
use crate::readers::{PageSink, Stopped, note_counts};

/// The most links of a sheet, as in Excel.
const MAX_LINKS: usize = 65_530;

/// Counts of the content of sheets other than cells.
#[derive(Debug, Default)]
pub(super) struct SheetExtras {
    charts: usize,
    images: usize,
    comments: usize,
}

impl SheetExtras {
    /// The texts of boxes, diagrams and pictures on a sheet; the rest is counted.
    pub(super) fn read(&mut self, package: &Package<'_>, sheet: &str) -> Vec<String> {
        let relations = Relations::of(package, sheet).unwrap_or_default();
        self.comments += relations.count("comments");
        let Some(drawing) = relations.first("drawing") else { return Vec::new() };
        let drawn = Relations::of(package, drawing).unwrap_or_default();
        self.charts += drawn.count("chart");
        self.images += drawn.count("image");
        let mut texts = Vec::new();
        // The texts before any damage are kept.
        let _ = Xml::need(package, drawing).and_then(|mut xml| drawn_texts(package, &drawn, &mut xml, &mut texts));
        texts
    }

    pub(super) fn tell(&self, pages: &mut dyn PageSink) -> Result<(), Stopped> {
        let counts = [
            (
                self.charts,
                "1 chart was left out; its figures are those of cells",
                "charts were left out; their figures are those of cells",
            ),
            (self.images, "1 image was left out", "images were left out"),
            (self.comments, "comments on 1 sheet were left out", "sheets have comments, which were left out"),
        ];
        note_counts(pages, &counts.map(|(count, one, many)| (count as u64, one, many)))
    }
}

/// The texts of the shapes in a drawing.
fn drawn_texts(
    package: &Package<'_>,
    relations: &Relations,
    xml: &mut Xml<'_>,
    texts: &mut Vec<String>,
) -> Result<(), BrokenPart> {
    loop {
        match xml.next()? {
            XmlNode::Start(element) => match element.name() {
                "txBody" => {
                    let mut blocks = Blocks::default();
                    paragraphs(xml, "txBody", DrawingText { is_list: false, relations }, &mut blocks)?;
                    let text = one_line(blocks.text());
                    if !text.is_empty() {
                        texts.push(format!("Text box: {text}"));
                    }
                }
                "cNvPr" => texts.extend(alternative_text(&element)),
                "relIds" => {
                    let part = element.prefixed("dm").and_then(|id| relations.get(&id).map(|found| found.part.clone()));
                    let read = part.and_then(|part| diagram(package, &part));
                    texts.push(read.unwrap_or_else(|| "Diagram: it can't be read".to_owned()).trim_end().to_owned());
                }
                "Fallback" => xml.skip()?,
                _ => {}
            },
            XmlNode::Over => return Ok(()),
            XmlNode::End(_) | XmlNode::Text(_) => {}
        }
    }
}

/// The targets of links in a sheet's cells. They are stored behind the cells: a sheet that has some is read twice.
pub(super) fn link_targets(package: &Package<'_>, sheet: &str) -> HashMap<(u64, u32), String> {
    let mut targets = HashMap::new();
    let relations = Relations::of(package, sheet).unwrap_or_default();
    if relations.count("hyperlink") == 0 {
        return targets;
    }
    // The targets before any damage are kept.
    let _ = Xml::need(package, sheet).and_then(|mut xml| {
        xml.each("", |element, _| {
            if element.name() == "hyperlink"
                && targets.len() < MAX_LINKS
                && let Some(place) = element.value("ref")
                && let Some(target) = element.prefixed("id").and_then(|id| relations.outside(&id).map(str::to_owned))
            {
                let row = place.trim_start_matches(|found: char| found.is_ascii_alphabetic());
                let row: String = row.chars().take_while(char::is_ascii_digit).collect();
                if let (Ok(row), Some(column)) = (row.parse(), column_of(&place)) {
                    targets.insert((row, column), target);
                }
            }
            Ok(())
        })
    });
    targets
}
