//! Objects in a frame: documents of their own within the file, with a folder for each. A text within a text is only counted: it
//! is a document beside the document, and on a slide a part of it.

use super::story::{OpenOmissions, OpenStory};
use super::styles::Styles;
use crate::readers::flow::Flow;
use crate::readers::package::{BrokenPart, Element, Package, Xml, XmlNode, one_line};

impl OpenStory<'_> {
    /// A formula, a chart or a text on a slide has a part of its own; others are only counted.
    pub(super) fn object(&mut self, element: &Element, flow: &mut Flow) {
        let folder = element.value("href").unwrap_or_default();
        let folder = folder.trim_start_matches("./").trim_end_matches('/');
        let content = format!("{folder}/content.xml");
        let opened = self.package.and_then(|package| Some((package, Xml::open(package, &content)?)));
        let Some((package, Ok(mut xml))) = opened else {
            self.omitted.objects += 1;
            return;
        };
        let mut inner = Flow::default();
        match self.object_text(&mut xml, package, folder, &mut inner) {
            Ok(true) => flow.append(inner),
            Ok(false) => self.omitted.objects += 1,
            Err(_) => flow.gap("an object on it, which isn't read: it is damaged"),
        }
    }

    fn object_text(
        &mut self,
        xml: &mut Xml<'_>,
        package: &Package<'_>,
        folder: &str,
        flow: &mut Flow,
    ) -> Result<bool, BrokenPart> {
        let mut is_body = false;
        loop {
            match xml.next()? {
                XmlNode::Start(element) => match element.name() {
                    "body" => is_body = true,
                    // A formula as it was typed; its signs alone say less.
                    "annotation" => {
                        flow.paragraph(one_line(&xml.text()?));
                        return Ok(!flow.is_blank());
                    }
                    // The objects in a text are not searched, because they may form a cycle.
                    "text" if is_body && self.is_drawn => {
                        let styles = styles(package, folder);
                        let mut story = OpenStory::new(&styles, None);
                        story.depth = self.depth;
                        let read = story.blocks(xml, flow);
                        self.omitted.add(&story.omitted);
                        return read.map(|()| !flow.is_blank());
                    }
                    // The figures that a chart is drawn from.
                    "table" => {
                        self.table(&element, xml, flow)?;
                        return Ok(!flow.is_blank());
                    }
                    _ => {}
                },
                XmlNode::Over => return Ok(false),
                XmlNode::End(_) | XmlNode::Text(_) => {}
            }
        }
    }
}

/// The styles of a document within the file. Without them, only the marks of its items are less exact.
fn styles(package: &Package<'_>, folder: &str) -> Styles {
    let mut styles = Styles::default();
    for part in ["styles.xml", "content.xml"] {
        if let Some(Ok(mut xml)) = Xml::open(package, &format!("{folder}/{part}")) {
            let _ = styles.read(&mut xml);
        }
    }
    styles
}

impl OpenOmissions {
    fn add(&mut self, other: &Self) {
        self.images += other.images;
        self.objects += other.objects;
        self.comments += other.comments;
        self.deletions += other.deletions;
        self.hidden += other.hidden;
    }
}
