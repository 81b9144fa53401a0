//! Sections of OneNote (ONE), through `onenote_parser`: a page is a page. It reads no file but the one it is given.

use std::panic::{AssertUnwindSafe, catch_unwind};

use onenote_parser::Parser;
use onenote_parser::contents::{Content, OutlineElement, OutlineItem, RichText, Table};
use onenote_parser::page::{Page, PageContent, PageSeries};
use typed_path::{PathType, TypedPath};

use super::flow::{Flow, FlowPart, FlowTable};
use super::package::{BlockKind, one_line};
use super::{PageSink, ReadFailure, Reader, Source, note_counts};
use crate::refusal::Refusal;
use crate::units::Unit;

const FORMAT: &str = "a OneNote section";
/// The most levels of outlines and tables that are read.
const MAX_DEPTH: usize = 60;
/// Items nested more deeply than this are no longer indented.
const MAX_INDENTS: usize = 8;

/// Reads sections of OneNote.
pub(crate) struct OneNoteReader;

impl Reader for OneNoteReader {
    fn version(&self) -> &'static str {
        "onenote_parser 2.1.0"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let name = TypedPath::new("section.one", PathType::Unix);
        let parse = || Parser::new().parse_section_buffer(source.bytes, name);
        let damaged = |why: &str| Refusal::Damaged { format: FORMAT.to_owned(), why: why.to_owned() };
        let section = catch_unwind(AssertUnwindSafe(parse))
            .map_err(|_| damaged("its records contradict each other"))?
            .map_err(|_| damaged("its records are damaged, or of a version that isn't known"))?;
        let all: Vec<&Page> = section.page_series().iter().flat_map(PageSeries::pages).collect();
        pages.expect(all.len() as u64)?;
        let mut omitted = OneNoteOmissions::default();
        for (number, page) in (1..).zip(all) {
            if pages.begin(number)? {
                read_page(page, &mut omitted).tell_page(pages)?;
            }
        }
        let counts = [
            (omitted.images, "1 image was left out", "images were left out"),
            (omitted.files, "1 embedded file was left out", "embedded files were left out"),
            (omitted.drawings, "1 drawing by hand was left out", "drawings by hand were left out"),
        ];
        note_counts(pages, &counts)?;
        Ok(Unit::Page)
    }
}

#[derive(Debug, Default)]
struct OneNoteOmissions {
    images: u64,
    files: u64,
    drawings: u64,
}

fn read_page(page: &Page, omitted: &mut OneNoteOmissions) -> Flow {
    let mut flow = Flow::default();
    if let Some(title) = page.title_text().map(one_line).filter(|title| !title.is_empty()) {
        flow.paragraph(format!("# {title}"));
    }
    for content in page.contents() {
        match content {
            PageContent::Outline(outline) => items(outline.items(), 0, omitted, &mut flow),
            PageContent::Image(image) => {
                omitted.images += 1;
                alternative(image.alt_text(), &mut flow);
            }
            PageContent::EmbeddedFile(file) => embedded(file.filename(), omitted, &mut flow),
            PageContent::Ink(_) => omitted.drawings += 1,
            PageContent::Unknown => flow.gap("something on it of a kind that isn't known"),
        }
    }
    flow
}

fn items(items: &[OutlineItem], depth: usize, omitted: &mut OneNoteOmissions, flow: &mut Flow) {
    if depth > MAX_DEPTH {
        return flow.gap(format!("more than {MAX_DEPTH} levels on it, and the inner ones aren't read"));
    }
    for item in items {
        match item {
            OutlineItem::Group(group) => self::items(group.outlines(), depth + 1, omitted, flow),
            OutlineItem::Element(element) => self::element(element, depth, omitted, flow),
        }
    }
}

fn element(element: &OutlineElement, depth: usize, omitted: &mut OneNoteOmissions, flow: &mut Flow) {
    let is_item = !element.list_contents().is_empty();
    for content in element.contents() {
        match content {
            Content::RichText(text) => {
                let text = shown(text);
                if is_item || depth > 0 {
                    let indent = "  ".repeat(depth.min(MAX_INDENTS));
                    flow.add(FlowPart::Block(
                        BlockKind::Item,
                        if text.is_empty() { text } else { format!("{indent}- {text}") },
                    ));
                } else {
                    flow.paragraph(text);
                }
            }
            Content::Table(table) => self::table(table, depth, omitted, flow),
            Content::Image(image) => {
                omitted.images += 1;
                alternative(image.alt_text(), flow);
            }
            Content::EmbeddedFile(file) => embedded(file.filename(), omitted, flow),
            Content::Ink(_) => omitted.drawings += 1,
            Content::Unknown => flow.gap("something on it of a kind that isn't known"),
        }
    }
    items(element.children(), depth + 1, omitted, flow);
}

/// A text, each of its lines on one.
fn shown(text: &RichText) -> String {
    let text = without_links(text.text());
    let lines: Vec<String> = text.split(['\u{b}', '\n', '\r']).map(one_line).collect();
    lines.join("\n").trim().to_owned()
}

/// Removes the addresses hidden before link texts: a sign, `HYPERLINK`, and the address in quotation marks.
fn without_links(text: &str) -> String {
    const SIGN: char = '\u{fddf}';
    let mut pieces = text.split(SIGN);
    let mut shown = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let link = piece.trim_start().strip_prefix("HYPERLINK").and_then(|rest| rest.trim_start().strip_prefix('"'));
        shown.push_str(link.and_then(|link| link.split_once('"')).map_or(piece, |(_, text)| text));
    }
    shown
}

fn table(table: &Table, depth: usize, omitted: &mut OneNoteOmissions, flow: &mut Flow) {
    let mut told = FlowTable::default();
    for row in table.contents() {
        for cell in row.contents() {
            let mut inner = Flow::default();
            if depth > MAX_DEPTH {
                inner.gap(format!("more than {MAX_DEPTH} levels on it, and the inner ones aren't read"));
            } else {
                cell.contents().iter().for_each(|content| element(content, depth + 1, omitted, &mut inner));
            }
            let text = inner.into_blocks(flow).take();
            let lines: Vec<&str> = text.lines().map(|line| line.trim_start().trim_start_matches("- ")).collect();
            told.cell(&lines.join(" "), 1);
        }
        told.end_row(false, flow);
    }
    flow.add(FlowPart::SetOff);
}

/// Writes the alternative text of a picture.
fn alternative(text: Option<&str>, flow: &mut Flow) {
    if let Some(text) = text.map(one_line).filter(|text| !text.is_empty()) {
        flow.paragraph(format!("[picture: {text}]"));
    }
}

fn embedded(name: &str, omitted: &mut OneNoteOmissions, flow: &mut Flow) {
    omitted.files += 1;
    flow.paragraph(format!("[file: {}]", one_line(name)));
}

#[cfg(test)]
mod tests {
    use super::without_links;
    use crate::extract::{detect, extract};
    use crate::format::Format;

    /// The first bytes of every OneNote file.
    const SIGN: [u8; 16] = *b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3";

    #[test]
    fn a_damaged_section_is_told() {
        let mut bytes = SIGN.to_vec();
        assert_eq!(detect("notes", &bytes), Ok(Format::OneNote));
        let told = "a.one can't be read as a OneNote section, because its records are damaged, or of a version that isn't known: \
            open it in its own program and save it again, or leave it out";
        assert_eq!(extract("a.one", &bytes).unwrap_err().to_string(), told);
        bytes.extend((0..5_000_u32).flat_map(|number| (number.wrapping_mul(2_654_435_761)).to_le_bytes()));
        assert!(extract("a.one", &bytes).is_err());
    }

    #[test]
    fn links_show_their_text() {
        let text = "See \u{fddf}HYPERLINK \"http://a.b/?c\"the page\u{fddf} twice";
        assert_eq!(without_links(text), "See the page twice");
    }
}
