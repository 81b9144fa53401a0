//! One OpenDocument file, from bytes to text.

use super::slides;
use super::story::{OpenOmissions, OpenStory};
use super::styles::Styles;
use crate::readers::flow::Flow;
use crate::readers::package::{BrokenPart, Halt, Package, Xml, XmlNode};
use crate::readers::{PageSink, ReadFailure, Reader, Source, Stopped, note_counts};
use crate::refusal::Refusal;
use crate::units::Unit;

/// The name of the format in refusals.
const FORMAT: &str = "an OpenDocument file";

/// Reads ODT, ODP and ODG.
pub(crate) struct OpenDocumentReader;

impl Reader for OpenDocumentReader {
    fn version(&self) -> &'static str {
        "quick-xml 0.42.0+4"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        if !source.bytes.starts_with(b"PK") {
            let read = Xml::of_bytes("the file", source.bytes).with_lenient_markup();
            return text(read, Styles::default(), None, pages).map_err(|halt| halt.of(FORMAT));
        }
        let package = Package::of(source.bytes, FORMAT, pages)?;
        read(&package, pages).map_err(|halt| halt.of(FORMAT))
    }
}

fn read(package: &Package<'_>, pages: &mut dyn PageSink) -> Result<Unit, Halt> {
    let manifest = package.head("META-INF/manifest.xml", 1 << 20).unwrap_or_default();
    if memchr::memmem::find(&manifest, b"encryption-data").is_some() {
        return Err(Refusal::Encrypted { format: FORMAT.to_owned() }.into());
    }
    let mut styles = Styles::default();
    let mut lost = None;
    if let Some(xml) = Xml::open(package, "styles.xml") {
        lost = xml.and_then(|mut xml| styles.read(&mut xml)).err();
    }
    let unit = text(Xml::need(package, "content.xml")?, styles, Some(package), pages)?;
    if let Some(broken) = lost {
        pages.gap(&format!("numbers of headings and lists may be missing, because {broken}"))?;
    }
    if has_around(package).unwrap_or(false) {
        pages.note("headers and footers were left out".to_owned())?;
    }
    Ok(unit)
}

/// The content: styles that only it has, then its body.
fn text(
    mut xml: Xml<'_>,
    mut styles: Styles,
    package: Option<&Package<'_>>,
    pages: &mut dyn PageSink,
) -> Result<Unit, Halt> {
    styles.read(&mut xml)?;
    let kind = loop {
        match xml.next()? {
            XmlNode::Start(element) => break element.name().to_owned(),
            XmlNode::Over => return Err(BrokenPart("it has no body".to_owned()).into()),
            XmlNode::End(_) | XmlNode::Text(_) => {}
        }
    };
    let mut story = OpenStory::new(&styles, package);
    if matches!(kind.as_str(), "presentation" | "drawing") {
        story.is_drawn = true;
        let (count, hidden) = slides::read(&mut story, &mut xml, pages)?;
        if count == 0 {
            return Err(BrokenPart("it has no pages".to_owned()).into());
        }
        let hidden = (hidden, "1 of its slides is hidden, and was read", "of its slides are hidden, and were read");
        note_counts(pages, &[hidden])?;
        tell(&story.omitted, pages)?;
        return Ok(Unit::Page);
    }
    let mut flow = Flow::default();
    match story.blocks(&mut xml, &mut flow) {
        Err(broken) if flow.is_blank() => return Err(broken.into()),
        Err(broken) => flow.gap(format!("cut off, because {broken}")),
        Ok(()) => {}
    }
    let unit = flow.tell(pages)?;
    tell(&story.omitted, pages)?;
    Ok(unit)
}

/// Reports the omissions that a person should know.
fn tell(omitted: &OpenOmissions, pages: &mut dyn PageSink) -> Result<(), Stopped> {
    let counts = [
        (omitted.images, "1 image was left out", "images were left out"),
        (omitted.objects, "1 embedded object was left out", "embedded objects were left out"),
        (omitted.comments, "1 comment was left out", "comments were left out"),
    ];
    note_counts(pages, &counts)?;
    if omitted.deletions > 0 {
        pages.note("it has tracked changes: insertions were read, deletions left out".to_owned())?;
    }
    if omitted.hidden > 0 {
        pages.note("hidden text was left out".to_owned())?;
    }
    Ok(())
}

/// Whether there is text in the headers or footers of its pages.
fn has_around(package: &Package<'_>) -> Result<bool, BrokenPart> {
    let mut xml = Xml::need(package, "styles.xml")?;
    let mut has_text = false;
    xml.each("", |element, xml| {
        if matches!(
            element.name(),
            "header" | "footer" | "header-left" | "footer-left" | "header-first" | "footer-first"
        ) {
            has_text |= !xml.text()?.trim().is_empty();
        }
        Ok(())
    })?;
    Ok(has_text)
}
