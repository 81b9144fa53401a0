//! One PPTX, from bytes to text.

use super::layout::Layouts;
use super::slide::Slide;
use crate::gaps::ONLY_IMAGE;
use crate::readers::package::{BlockKind, BrokenPart, Halt, Package, Relations, Xml};
use crate::readers::{PageSink, ReadFailure, Reader, Source, note_counts};
use crate::units::Unit;

/// The most slides that are read.
const MAX_SLIDES: usize = 50_000;

/// Reads PPTX.
pub(crate) struct SlidesReader;

impl Reader for SlidesReader {
    fn version(&self) -> &'static str {
        "quick-xml 0.42.0+5"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        const FORMAT: &str = "a presentation";
        let package = Package::of(source.bytes, FORMAT, pages)?;
        read(&package, pages).map_err(|halt| halt.of(FORMAT))?;
        Ok(Unit::Page)
    }
}

fn read(package: &Package<'_>, pages: &mut dyn PageSink) -> Result<(), Halt> {
    let main = Relations::main(package, "ppt/presentation.xml");
    let relations = Relations::of(package, &main)?;
    let (slides, behind) = slides(package, &main)?;
    if slides.is_empty() {
        return Err(BrokenPart(format!("its part {main} names no slides")).into());
    }
    pages.expect(slides.len() as u64)?;
    let mut layouts = Layouts::default();
    let (mut hidden, mut images, mut objects, mut comments) = (0, 0, 0, 0);
    for (page, id) in (1..).zip(&slides) {
        if !pages.begin(page)? {
            continue;
        }
        let mut slide = Slide::default();
        let Some(part) = relations.get(id).map(|relation| relation.part.clone()) else {
            pages.gap("its part is missing")?;
            continue;
        };
        let broken = slide.read(package, &part, &mut layouts).err();
        let beside = Relations::of(package, &part).unwrap_or_default();
        comments += beside.count("comments");
        let mut blocks = slide.text();
        let mut text = String::new();
        if !slide.title.is_empty() {
            text = format!("# {}\n\n", slide.title);
        }
        if slide.is_hidden {
            hidden += 1;
            text.push_str("(hidden slide)\n\n");
        }
        let has_text = slide.has_text || !slide.title.is_empty();
        if let Some(part) = beside.first("notesSlide") {
            let mut notes = Slide::default();
            match notes.read(package, part, &mut layouts) {
                Ok(()) => {}
                Err(broken) => slide.gaps.push(format!("its notes are cut off, because {broken}")),
            }
            let mut notes = notes.text();
            if !notes.is_empty() {
                blocks.add(BlockKind::Paragraph, "Notes:");
                blocks.add(BlockKind::Paragraph, notes.take().trim_end());
            }
        }
        text.push_str(&blocks.take());
        images += slide.images;
        objects += slide.objects;
        if let Some(broken) = broken {
            slide.gaps.push(format!("cut off, because {broken}"));
        } else if !has_text && slide.images > 0 {
            slide.gaps.push(ONLY_IMAGE.to_owned());
        }
        slide.gaps.dedup();
        for gap in &slide.gaps {
            pages.gap(gap)?;
        }
        pages.text(&text)?;
        if page == slides.len() as u64 && behind > 0 {
            pages.gap(&format!("{behind} slides behind it, which are not read"))?;
        }
    }
    let counts = [
        (hidden, "1 of its slides is hidden, and was read", "of its slides are hidden, and were read"),
        (images, "1 image was left out", "images were left out"),
        (objects, "1 embedded object was left out", "embedded objects were left out"),
        (comments as u64, "comments on 1 slide were left out", "slides have comments, which were left out"),
    ];
    Ok(note_counts(pages, &counts)?)
}

/// The relations of the slides that are read, in presentation order, and how many more there are.
fn slides(package: &Package<'_>, main: &str) -> Result<(Vec<String>, u64), BrokenPart> {
    let mut xml = Xml::need(package, main)?;
    let (mut slides, mut behind) = (Vec::new(), 0);
    xml.each("", |element, _| {
        match element.name() {
            "sldId" if slides.len() < MAX_SLIDES => slides.extend(element.prefixed("id")),
            "sldId" => behind += 1,
            _ => {}
        }
        Ok(())
    })?;
    Ok((slides, behind))
}
