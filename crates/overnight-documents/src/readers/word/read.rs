//! One DOCX, from bytes to text.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::inserted::StoryParts;
use super::numbering::Numbering;
use super::open_element::OmittedCounts;
use super::page_breaks::{BreakCounts, PageCut};
use super::pages::PageTurner;
use super::story::{Notes, Story};
use super::styles::ParagraphStyles;
use crate::readers::embedded::marker;
use crate::readers::package::{BrokenPart, Halt, Package, Relations, Xml, XmlNode, diagram};
use crate::readers::{PageSink, ReadFailure, Reader, Source, Stopped, chart, note_counts};
use crate::refusal::Refusal;
use crate::text::MAX_TEXT_BYTES;
use crate::units::{PAGES_ARE_CHAPTERS, Unit};

/// The name of the format in refusals.
const FORMAT: &str = "Word";

/// Reads DOCX.
pub(crate) struct WordReader;

/// Whether a text is a document as Word 2003 saves it in one XML file.
pub(crate) fn is_single_file(text: &str) -> bool {
    const HEAD: usize = 4_096;
    let head = &text[..text.floor_char_boundary(HEAD)];
    head.contains(":wordDocument") && head.contains("schemas.microsoft.com/office/word/2003/wordml")
}

/// Reads such a file: its elements are those of DOCX, styles and text in one part.
pub(crate) fn read_single_file(text: &str, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
    const PART: &str = "word/document.xml";
    const RELATIONS: &str =
        "<Relationships><Relationship Id=\"styles\" Type=\"http://x/styles\" Target=\"document.xml\"/></Relationships>";
    let damaged = |error: std::io::Error| Refusal::Damaged { format: FORMAT.to_owned(), why: error.to_string() };
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [(PART, text), ("word/_rels/document.xml.rels", RELATIONS)] {
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        archive.start_file(name, stored).map_err(|error| damaged(error.into()))?;
        archive.write_all(content.as_bytes()).map_err(damaged)?;
    }
    let archive = archive.finish().map_err(|error| damaged(error.into()))?.into_inner();
    let unit = WordReader.read(Source { name: "", bytes: &archive }, pages)?;
    if text.contains("<w:hdr") || text.contains("<w:ftr") {
        pages.note("headers and footers were left out".to_owned())?;
    }
    Ok(unit)
}

impl Reader for WordReader {
    fn version(&self) -> &'static str {
        "quick-xml 0.42.0+9"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let package = Package::of(source.bytes, FORMAT, pages)?;
        read(&package, pages).map_err(|halt| halt.of(FORMAT))
    }
}

fn read(package: &Package<'_>, pages: &mut dyn PageSink) -> Result<Unit, Halt> {
    let main = Relations::main(package, "word/document.xml");
    let relations = Relations::of(package, &main).unwrap_or_default();
    let part = |kind: &str| relations.first(kind).unwrap_or_default();
    let mut lost = Vec::new();
    let styles = keep(ParagraphStyles::read(package, part("styles")), "headings", &mut lost);
    let counted = BreakCounts::take(Xml::need(package, &main)?, &styles);
    let cut = counted.cut();
    let kinds = ["footnotes", "endnotes"];
    let notes = kinds.map(|kind| keep(notes(package, part(kind), &styles), kind, &mut lost));
    let beside = OtherParts { package, relations: &relations };
    let story = |turner| -> Result<Story<'_, '_>, Halt> {
        let numbering = Numbering::read(package, part("numbering")).unwrap_or_default();
        let [footnotes, endnotes] = &notes;
        Ok(Story::new(&styles, numbering, (cut, &counted.sections), [footnotes, endnotes], &beside, turner))
    };

    if cut != PageCut::Nowhere {
        let mut count = story(PageTurner::begin(None)?)?;
        // The second pass reports where the text becomes unreadable.
        let _ = count.read(&mut Xml::need(package, &main)?, "").and_then(|()| count.close());
        pages.expect(count.turner.page())?;
    }
    let mut xml = Xml::need(package, &main)?;
    let mut told = story(PageTurner::begin(Some(&mut *pages))?)?;
    let gap = match told.read(&mut xml, "") {
        Ok(()) => None,
        Err(Halt::Broken(broken)) => Some(format!("cut off, because {broken}")),
        Err(Halt::Failure(failure)) => return Err(failure.into()),
    };
    told.close()?;
    let is_empty = told.turner.page() == 1 && told.is_blank();
    if let Some(gap) = gap.as_ref().filter(|_| is_empty) {
        let why = gap.trim_start_matches("cut off, because ").to_owned();
        return Err(Refusal::Damaged { format: FORMAT.to_owned(), why }.into());
    }
    told.finish(gap)?;
    let seen = told.seen.clone();
    drop(told);
    for kind in lost {
        pages.gap(&format!("its {kind} can't be read"))?;
    }
    tell(&seen, package, &relations, pages)?;
    Ok(match cut {
        PageCut::Breaks => Unit::Page,
        PageCut::Headings(_) => {
            pages.note(PAGES_ARE_CHAPTERS.to_owned())?;
            Unit::Page
        }
        PageCut::Nowhere => Unit::Line,
    })
}

/// The parts to which a part refers.
struct OtherParts<'p> {
    package: &'p Package<'p>,
    relations: &'p Relations,
}

impl StoryParts for OtherParts<'_> {
    fn chart(&self, id: &str) -> Option<String> {
        chart(self.package, &self.relations.get(id)?.part)
    }

    fn diagram(&self, id: &str) -> Option<String> {
        diagram(self.package, &self.relations.get(id)?.part)
    }

    fn picture(&self, id: &str) -> Option<String> {
        marker(self.package, &self.relations.get(id)?.part)
    }

    fn target(&self, id: &str) -> Option<String> {
        self.relations.outside(id).map(str::to_owned)
    }
}

/// Reports the omissions that a person should know.
fn tell(
    seen: &OmittedCounts,
    package: &Package<'_>,
    relations: &Relations,
    pages: &mut dyn PageSink,
) -> Result<(), Stopped> {
    let comments = relations.first("comments").map_or(0, |part| count(package, part, "comment"));
    let around = relations.all().filter(|relation| matches!(relation.kind.as_str(), "header" | "footer"));
    let has_around = around.take(64).any(|relation| has_text(package, &relation.part).unwrap_or(false));
    let counts = [
        (seen.images, "1 image was left out", "images were left out"),
        (seen.objects, "1 embedded object was left out", "embedded objects were left out"),
        (comments, "1 comment was left out", "comments were left out"),
    ];
    note_counts(pages, &counts)?;
    if seen.deletions > 0 {
        pages.note("it has tracked changes: insertions were read, deletions left out".to_owned())?;
    }
    if seen.hidden > 0 {
        pages.note("hidden text was left out".to_owned())?;
    }
    if has_around {
        pages.note("headers and footers were left out".to_owned())?;
    }
    Ok(())
}

fn keep<T: Default>(found: Result<T, BrokenPart>, what: &'static str, lost: &mut Vec<&'static str>) -> T {
    found.unwrap_or_else(|_| {
        lost.push(what);
        T::default()
    })
}

/// The texts of all footnotes or endnotes.
fn notes(package: &Package<'_>, part: &str, styles: &ParagraphStyles) -> Result<Notes, BrokenPart> {
    let mut notes = Notes::new();
    let Some(xml) = Xml::open(package, part) else { return Ok(notes) };
    let mut xml = xml?;
    let none = Notes::new();
    let turner = PageTurner::begin(None).map_err(|stopped| BrokenPart(stopped.to_string()))?;
    let relations = Relations::of(package, part).unwrap_or_default();
    let beside = OtherParts { package, relations: &relations };
    let mut story = Story::new(styles, Numbering::default(), (PageCut::Nowhere, &[]), [&none, &none], &beside, turner);
    let mut length = 0;
    loop {
        match xml.next()? {
            XmlNode::Start(element) if matches!(element.name(), "footnote" | "endnote") => {
                // Lines that separate notes from text are kept as notes.
                let is_text = element.value("type").is_none_or(|kind| kind == "normal");
                let name = element.name().to_owned();
                let read = story.read(&mut xml, &name).and_then(|()| story.close());
                read.map_err(|halt| BrokenPart(halt.to_string()))?;
                let text = story.take();
                length += text.len();
                if length > MAX_TEXT_BYTES {
                    return Err(BrokenPart(format!("its notes have more than {} MiB", MAX_TEXT_BYTES >> 20)));
                }
                if let Some(id) = element.value("id").filter(|_| is_text) {
                    notes.insert(id, text);
                }
            }
            XmlNode::Over => return Ok(notes),
            XmlNode::Start(_) | XmlNode::End(_) | XmlNode::Text(_) => {}
        }
    }
}

fn count(package: &Package<'_>, part: &str, name: &str) -> u64 {
    let mut count = 0;
    let Some(Ok(mut xml)) = Xml::open(package, part) else { return 0 };
    // The texts before any damage are kept.
    let _ = xml.each("", |element, _| {
        count += u64::from(element.name() == name);
        Ok(())
    });
    count
}

fn has_text(package: &Package<'_>, part: &str) -> Result<bool, BrokenPart> {
    let mut xml = Xml::need(package, part)?;
    let mut has_text = false;
    xml.each("", |element, xml| {
        has_text |= element.name() == "t" && !xml.text()?.trim().is_empty();
        Ok(())
    })?;
    Ok(has_text)
}
