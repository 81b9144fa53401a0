//! The pages of a presentation or a drawing: shapes in reading order, and notes.

use std::collections::{HashMap, HashSet};

use super::story::OpenStory;
use crate::gaps::ONLY_IMAGE;
use crate::readers::PageSink;
use crate::readers::flow::Flow;
use crate::readers::package::{BrokenPart, Element, Halt, Xml, XmlNode, one_line};
use crate::readers::slides::{SHARED_FOOTERS, ShapeBox, sort};
use crate::text::MAX_TEXT_BYTES;

/// The most shapes on a page.
const MAX_SHAPES: usize = 20_000;
/// The most footers shared by pages.
const MAX_FOOTERS: usize = 10_000;

/// Reads the pages up to the end of the body, and returns the numbers of pages and of hidden pages.
pub(super) fn read(story: &mut OpenStory<'_>, xml: &mut Xml<'_>, pages: &mut dyn PageSink) -> Result<(u64, u64), Halt> {
    let (mut count, mut hidden) = (0, 0);
    let mut footers: HashMap<String, String> = HashMap::new();
    let mut told = HashSet::new();
    loop {
        match xml.next() {
            Ok(XmlNode::Start(element)) if element.name() == "footer-decl" && footers.len() < MAX_FOOTERS => {
                let text = one_line(&xml.text()?);
                footers.insert(element.value("name").unwrap_or_default(), text);
            }
            Ok(XmlNode::Start(element)) if element.name() == "page" => {
                count += 1;
                pages.expect(count)?;
                if !pages.begin(count)? {
                    xml.skip()?;
                    continue;
                }
                let (is_hidden, _) = story.styles.area("drawing-page", element.value("style-name").as_deref());
                hidden += u64::from(is_hidden);
                let shows_footer = story.styles.shows_footer(element.value("style-name").as_deref());
                let footer = element.value("use-footer-name").filter(|_| shows_footer);
                let mut footer = footer.and_then(|name| footers.get(&name)).cloned().unwrap_or_default();
                if !footer.is_empty() && !told.insert(footer.clone()) {
                    footer.clear();
                    pages.note(SHARED_FOOTERS.to_owned())?;
                }
                let mut slide = OpenSlide { footer, ..OpenSlide::default() };
                let before = story.omitted.images;
                let read = slide.read(story, xml);
                slide.tell(is_hidden, story.omitted.images > before, read.as_ref().err(), pages)?;
                if read.is_err() {
                    return Ok((count, hidden));
                }
            }
            Ok(XmlNode::Over) => return Ok((count, hidden)),
            Ok(XmlNode::Start(_) | XmlNode::End(_) | XmlNode::Text(_)) => {}
            Err(broken) if count > 0 => {
                pages.gap(&format!("cut off behind it, because {broken}"))?;
                return Ok((count, hidden));
            }
            Err(broken) => return Err(broken.into()),
        }
    }
}

#[derive(Debug, Default)]
struct OpenSlide {
    title: String,
    shapes: Vec<(ShapeBox, Flow)>,
    footer: String,
    notes: Flow,
    held: usize,
}

impl OpenSlide {
    fn read(&mut self, story: &mut OpenStory<'_>, xml: &mut Xml<'_>) -> Result<(), BrokenPart> {
        let mut inside = 0_usize;
        let mut in_notes = false;
        loop {
            match xml.next()? {
                XmlNode::Start(element) => match element.name() {
                    "notes" => {
                        in_notes = true;
                        inside += 1;
                    }
                    // The shapes of a group have their own positions.
                    "g" | "a" => inside += 1,
                    "page-thumbnail" | "animations" | "par" | "forms" | "layer-set" => xml.skip()?,
                    _ => {
                        let mut flow = Flow::default();
                        story.shape_on_page(&element, xml, &mut flow)?;
                        self.add(&element, flow, in_notes)?;
                    }
                },
                XmlNode::End(_) if inside == 0 => return Ok(()),
                XmlNode::End(name) => {
                    inside -= 1;
                    in_notes &= name != "notes";
                }
                XmlNode::Over => return Ok(()),
                XmlNode::Text(_) => {}
            }
        }
    }

    fn add(&mut self, element: &Element, flow: Flow, in_notes: bool) -> Result<(), BrokenPart> {
        if flow.is_empty() {
            return Ok(());
        }
        let class = element.value("class").unwrap_or_default();
        if matches!(class.as_str(), "page-number" | "date-time" | "header") && in_notes {
            return Ok(());
        }
        if in_notes {
            self.notes.append(flow);
            return Ok(());
        }
        self.held += flow.held();
        if self.shapes.len() >= MAX_SHAPES || self.held > MAX_TEXT_BYTES {
            return Err(BrokenPart(format!("a slide of it has more than {MAX_SHAPES} shapes or too long texts")));
        }
        if class == "title" && self.title.is_empty() {
            let mut outer = Flow::default();
            self.title = one_line(flow.into_blocks(&mut outer).text());
            self.shapes.push((ShapeBox::default(), outer));
            return Ok(());
        }
        self.shapes.push((place(element), flow));
        Ok(())
    }

    fn tell(
        mut self,
        is_hidden: bool,
        has_images: bool,
        broken: Option<&BrokenPart>,
        pages: &mut dyn PageSink,
    ) -> Result<(), Halt> {
        sort(&mut self.shapes);
        let mut all = Flow::default();
        if !self.title.is_empty() {
            all.paragraph(format!("# {}", self.title));
        }
        if is_hidden {
            all.paragraph("(hidden slide)");
        }
        let is_bare = self.title.is_empty() && self.shapes.iter().all(|(_, flow)| flow.is_blank());
        self.shapes.into_iter().for_each(|(_, flow)| all.append(flow));
        all.paragraph(self.footer);
        if !self.notes.is_blank() {
            all.paragraph("Notes:");
            all.append(self.notes);
        }
        if let Some(broken) = broken {
            all.gap(format!("cut off, because {broken}"));
        } else if is_bare && has_images {
            all.gap(ONLY_IMAGE);
        }
        all.tell_page(pages)?;
        Ok(())
    }
}

/// The position of a shape, in about hundredths of a millimetre: only the order matters.
fn place(element: &Element) -> ShapeBox {
    let length = |name: &str| {
        let value = element.value(name).unwrap_or_default();
        let split = value.find(|found: char| found.is_ascii_alphabetic()).unwrap_or(value.len());
        let (number, unit) = value.split_at(split);
        let factor = match unit {
            "in" => 25.4,
            "cm" => 10.0,
            "pt" => 0.353,
            "pc" => 4.233,
            "px" => 0.265,
            _ => 1.0,
        };
        number.parse::<f64>().ok().filter(|number| number.is_finite()).unwrap_or_default() * factor
    };
    ShapeBox { left: length("x"), top: length("y"), width: length("width"), height: length("height") }
}
