//! XML: an element's name with its text on a line, indented by its level, and behind the name the attributes with
//! information. If text and elements are mixed, as in prose, all of it is the outer element's text. For drawings (SVG),
//! titles and texts are read; in feeds, HTML in texts is read as HTML.

use std::fmt::Write as _;

use super::plain_text::{self, indented};
use crate::encoding;
use crate::extracted::CollectedPages;
use crate::readers::package::{Element, Xml, XmlNode, one_line};
use crate::readers::{
    HtmlReader, OpenDocumentReader, PageSink, ReadFailure, Reader, Source, is_single_file, read_single_file,
};
use crate::units::Unit;

/// The most elements and texts that are kept, and how deeply names are shown.
const MAX_NODES: usize = 1_000_000;
const MAX_DEPTH: usize = 60;
/// How much of a file is searched for its encoding and its first element.
const HEAD: usize = 1_024;
/// The encoding of XML that declares none (XML 1.0, section 4.3.3).
const UTF_8: &str = "utf-8";

/// Reads XML.
pub(crate) struct XmlReader;

impl Reader for XmlReader {
    fn version(&self) -> &'static str {
        "quick-xml 0.42.0+2"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let decoded = encoding::decode(source.bytes, declared(source.bytes).or(Some(UTF_8)))?;
        for note in decoded.notes {
            pages.note(note)?;
        }
        let text = decoded.text.as_ref();
        if is_open_document(text) {
            return OpenDocumentReader.read(Source { bytes: text.as_bytes(), ..source }, pages);
        }
        if is_single_file(text) {
            return read_single_file(text, pages);
        }
        let mut tree = XmlTree::default();
        let mut xml = Xml::of_bytes("the file", text.as_bytes()).with_lenient_markup();
        if let Err(broken) = tree.fill(&mut xml) {
            let why = broken.to_string();
            return plain_text::tell(text, "XML", &why.rsplit(": ").next().unwrap_or(&why), pages);
        }
        let mut told = String::new();
        let is_drawing = tree.nodes.first().is_some_and(|root| root.name == "svg");
        if is_drawing {
            tree.drawing(&mut told);
        } else {
            tree.element(0, 0, &mut told);
        }
        if pages.begin(1)? {
            pages.text(&told)?;
        }
        if is_drawing {
            pages.note("a drawing: only its titles and texts were read".to_owned())?;
        }
        if tree.is_cut {
            pages.gap(&format!("what lies behind its first {MAX_NODES} elements isn't read: split it"))?;
        }
        Ok(Unit::Line)
    }
}

/// Whether the text is an office document in one XML file.
pub(crate) fn is_open_document(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(HEAD * 8)];
    head.contains("<office:document ")
        && ["text", "presentation", "graphics"].iter().any(|kind| head.contains(&format!("opendocument.{kind}\"")))
}

/// The encoding that the file states.
fn declared(bytes: &[u8]) -> Option<&str> {
    let head = std::str::from_utf8(&bytes[..bytes.len().min(HEAD)])
        .unwrap_or_else(|error| std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default());
    let declaration = head.trim_start().strip_prefix("<?xml")?.split("?>").next()?;
    let value = declaration.split("encoding").nth(1)?.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next()
}

/// An element, or a text (which has no name).
#[derive(Debug, Default)]
struct Node {
    name: String,
    /// For an element the text behind its name; for a text the text itself.
    text: String,
    /// The indexes of the nodes inside.
    children: Vec<usize>,
}

#[derive(Debug, Default)]
struct XmlTree {
    nodes: Vec<Node>,
    is_cut: bool,
}

impl XmlTree {
    fn fill(&mut self, xml: &mut Xml<'_>) -> Result<(), crate::readers::package::BrokenPart> {
        let mut open: Vec<usize> = Vec::new();
        loop {
            let node = match xml.next()? {
                XmlNode::Start(element) => {
                    Node { name: element.name().to_owned(), text: attributes(&element), ..Node::default() }
                }
                XmlNode::Text(text) => {
                    // One text is reported in several pieces.
                    let last = open.last().and_then(|at| self.nodes.get(*at)?.children.last().copied());
                    if let Some(last) =
                        last.and_then(|last| self.nodes.get_mut(last)).filter(|last| last.name.is_empty())
                    {
                        last.text.push_str(&text);
                        continue;
                    }
                    Node { text, ..Node::default() }
                }
                XmlNode::End(_) => {
                    open.pop();
                    continue;
                }
                XmlNode::Over => return Ok(()),
            };
            if self.nodes.len() >= MAX_NODES {
                self.is_cut = true;
                return Ok(());
            }
            let is_element = !node.name.is_empty();
            let place = self.nodes.len();
            let around = open.last().copied();
            if around.is_none() && !is_element {
                continue;
            }
            self.nodes.push(node);
            if let Some(around) = around.and_then(|at| self.nodes.get_mut(at)) {
                around.children.push(place);
            }
            if is_element {
                open.push(place);
            }
        }
    }

    fn children(&self, at: usize) -> impl DoubleEndedIterator<Item = (usize, &Node)> {
        let places = self.nodes.get(at).map(|node| node.children.as_slice()).unwrap_or_default();
        places.iter().filter_map(|place| Some((*place, self.nodes.get(*place)?)))
    }

    fn element(&self, at: usize, depth: usize, told: &mut String) {
        let Some(node) = self.nodes.get(at) else { return };
        let indent = "  ".repeat(depth);
        let has_text = self.children(at).any(|(_, child)| child.name.is_empty() && !child.text.trim().is_empty());
        let has_elements = self.children(at).any(|(_, child)| !child.name.is_empty());
        if has_text || (depth >= MAX_DEPTH && has_elements) {
            let text = shown(&self.text(at), &format!("{indent}  "));
            let _ = writeln!(told, "{indent}{}{}: {text}", node.name, node.text);
            return;
        }
        if has_elements || !node.text.is_empty() {
            let _ = writeln!(told, "{indent}{}{}{}", node.name, node.text, if has_elements { ":" } else { "" });
        }
        for (place, _) in self.children(at).filter(|(_, child)| !child.name.is_empty()) {
            self.element(place, depth + 1, told);
        }
    }

    /// All text in an element.
    fn text(&self, at: usize) -> String {
        let mut text = String::new();
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            let Some(node) = self.nodes.get(at) else { continue };
            if node.name.is_empty() {
                text.push_str(&node.text);
            }
            open.extend(node.children.iter().rev());
        }
        text
    }

    /// The titles and texts of a drawing, each on a line.
    fn drawing(&self, told: &mut String) {
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let Some(node) = self.nodes.get(at) else { continue };
            match node.name.as_str() {
                "style" | "script" | "metadata" => {}
                "title" | "desc" => {
                    let _ = writeln!(told, "{}", one_line(&self.text(at)));
                }
                "text" => {
                    // Pieces with their own positions are separated.
                    let mut text = String::new();
                    for (place, child) in self.children(at) {
                        let stands_apart = ["x: ", "y: ", "dy: "].iter().any(|name| child.text.contains(name));
                        if stands_apart && !child.name.is_empty() {
                            text.push(' ');
                        }
                        text.push_str(&self.text(place));
                    }
                    let _ = writeln!(told, "{}", one_line(&text));
                }
                _ => open.extend(node.children.iter().rev()),
            }
        }
    }
}

/// A text as it is read: if it is HTML, as a page shows it.
fn shown(text: &str, indent: &str) -> String {
    let is_html = text.contains("</") || ["<p>", "<br", "<a ", "<img "].iter().any(|tag| text.contains(tag));
    if is_html {
        let mut page = CollectedPages::default();
        let bytes = format!("<html><body>{text}</body></html>");
        if HtmlReader.read(Source { name: "", bytes: bytes.as_bytes() }, &mut page).is_ok() {
            let read = page.finish(crate::format::Format::Html, String::new(), Unit::Line, None).text;
            if !read.trim().is_empty() {
                return indented(read.trim(), indent);
            }
        }
    }
    indented(text.trim(), indent).lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The attributes with information, as written behind the name: ` (currency: EUR)`.
fn attributes(element: &Element) -> String {
    let mut told = String::new();
    for (name, value) in element.all() {
        let is_technical = name.starts_with("xmlns") || name.starts_with("xml:") || name.contains("chemaLocation");
        let value = one_line(&value);
        if is_technical || value.is_empty() || value.starts_with("data:") {
            continue;
        }
        let name = name.rsplit(':').next().unwrap_or(&name);
        let _ = write!(told, "{}{name}: {value}", if told.is_empty() { " (" } else { ", " });
    }
    if !told.is_empty() {
        told.push(')');
    }
    told
}
