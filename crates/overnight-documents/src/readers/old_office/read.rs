//! One DOC or PPT, from bytes to text.

use std::io::{Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use undoc::model::{Block, Document, ListType, Paragraph, RevisionType, Section, Table};

use super::labels::Labels;
use crate::ole;
use crate::readers::flow::{Emphasis, Flow, FlowPart, FlowTable, written};
use crate::readers::package::{BlockKind, one_line};
use crate::readers::{PageSink, ReadFailure, Reader, Source, note_counts};
use crate::refusal::Refusal;
use crate::units::Unit;

/// The maximum nesting depth of tables.
const MAX_DEPTH: usize = 20;
/// Marks in a paragraph's text the end of a page.
const PAGE_END: char = '\u{c}';
/// Items of lists nested more deeply than this are no longer indented.
const MAX_INDENTS: usize = 8;

/// Reads DOC and PPT.
pub(crate) struct OldOfficeReader;

impl Reader for OldOfficeReader {
    fn version(&self) -> &'static str {
        "undoc 0.27.1+3"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let mended = ole::mended(source.bytes);
        let mut beside = Beside::of(&mended);
        if beside.is_slides
            && let Ok(mut file) = cfb::CompoundFile::open(Cursor::new(&*mended))
        {
            let unit = super::slides::read(&mut file, false, pages)?;
            if beside.has_pictures {
                pages.note("images on its slides were left out".to_owned())?;
            }
            return Ok(unit);
        }
        let format =
            if beside.is_slides { "an old PowerPoint presentation (PPT)" } else { "an old Word document (DOC)" };
        let damaged = |why: String| Refusal::Damaged { format: format.to_owned(), why };
        let parsed = catch_unwind(AssertUnwindSafe(|| undoc::parse_bytes(&mended)));
        let document = match parsed {
            Ok(Ok(document)) => document,
            Ok(Err(undoc::Error::Encrypted)) => return Err(Refusal::Encrypted { format: format.to_owned() }.into()),
            Ok(Err(error)) => return Err(damaged(why(&error.to_string())).into()),
            Err(_) => return Err(damaged("its records contradict each other".to_owned()).into()),
        };
        let unit = text(&document, &mut beside, pages)?;
        beside.tell(&document, pages)?;
        Ok(unit)
    }
}

/// A library's error as a clause: the text before its first colons only repeats the format.
fn why(error: &str) -> String {
    let last = error.rsplit(": ").next().unwrap_or(error);
    format!("it is not as such files are ({last})")
}

/// The content of the file other than its text, which the library ignores.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a thing that a file has or not")]
struct Beside {
    is_slides: bool,
    images: u64,
    objects: u64,
    deletions: u64,
    has_pictures: bool,
    has_comments: bool,
    has_numbers: bool,
    has_text_boxes: bool,
    labels: Labels,
}

impl Beside {
    fn of(bytes: &[u8]) -> Self {
        /// Behind the headers of the file information block: the lengths of its texts, for Word 97 and later.
        const COMMENTS: usize = 0x5c;
        const TEXT_BOXES: usize = 0x64;
        let mut beside = Self::default();
        // A damaged file may still show the name.
        let name: Vec<u8> = "PowerPoint Document".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let has_name = memchr::memmem::find(bytes, &name).is_some();
        beside.is_slides = has_name;
        let Ok(mut file) = cfb::CompoundFile::open(Cursor::new(bytes)) else { return beside };
        beside.is_slides = has_name && !file.exists("/WordDocument");
        beside.has_pictures = file.open_stream("/Pictures").is_ok_and(|pictures| !pictures.is_empty());
        let objects = file.read_storage("/ObjectPool").map_or(0, Iterator::count);
        beside.objects = objects as u64;
        let mut head = Vec::new();
        if let Ok(stream) = file.open_stream("/WordDocument") {
            // The reader of the text reports unreadable parts.
            let _ = stream.take(0x70).read_to_end(&mut head);
        }
        let length =
            |at: usize| head.get(at..at + 4).map_or(0, |bytes| bytes.iter().map(|byte| u64::from(*byte)).sum());
        let is_later = head.starts_with(&[0xec, 0xa5]) && head.get(2).is_some_and(|version| *version >= 0xc0);
        beside.has_comments = is_later && length(COMMENTS) > 0;
        beside.has_text_boxes = is_later && length(TEXT_BOXES) > 0;
        beside.labels = Labels::of(bytes);
        beside
    }

    fn tell(&self, document: &Document, pages: &mut dyn PageSink) -> Result<(), ReadFailure> {
        let counts = [
            (self.images, "1 image was left out", "images were left out"),
            (self.objects, "1 embedded object was left out", "embedded objects were left out"),
        ];
        note_counts(pages, &counts)?;
        if self.has_numbers {
            pages.note(
                "numbers of lists stand as figures, also where the document shows letters or several numbers"
                    .to_owned(),
            )?;
        }
        if self.has_comments {
            pages.note("comments were left out".to_owned())?;
        }
        if self.has_text_boxes {
            pages.gap("text boxes, which aren't read: save it as DOCX")?;
        }
        if self.labels.formulas > 0 {
            pages.gap("formulas in fields (EQ), which aren't read: save it as PDF")?;
        }
        if self.deletions > 0 {
            pages.note("it has tracked changes: insertions were read, deletions left out".to_owned())?;
        }
        if document.sections.iter().any(|section| section.header.is_some() || section.footer.is_some()) {
            pages.note("headers and footers were left out".to_owned())?;
        }
        Ok(())
    }
}

fn text(document: &Document, beside: &mut Beside, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
    let mut flow = Flow::default();
    for section in &document.sections {
        blocks(section, beside, &mut flow);
    }
    Ok(flow.tell(pages)?)
}

fn blocks(section: &Section, beside: &mut Beside, flow: &mut Flow) {
    // Notes stand at the end of the section; a page's own go to its end.
    let notes: Vec<(&str, String)> = section
        .content
        .iter()
        .filter_map(|block| match block {
            Block::Note { label, content } => {
                let texts: Vec<String> = content.iter().map(|paragraph| run_text(paragraph, beside)).collect();
                Some((label.as_str(), one_line(&texts.join(" "))))
            }
            _ => None,
        })
        .collect();
    for block in &section.content {
        match block {
            Block::Paragraph(paragraph) => {
                self::paragraph(paragraph, beside, flow);
                for label in paragraph.runs.iter().filter_map(|run| run.note.as_deref()) {
                    if let Some((label, text)) = notes.iter().find(|(known, _)| *known == label) {
                        flow.add(FlowPart::Note(format!("[{label}] {text}")));
                    }
                }
            }
            Block::Table(table) => self::table(table, 0, beside, flow),
            Block::PageBreak => flow.add(FlowPart::Break),
            _ => {}
        }
    }
}

fn table(table: &Table, depth: usize, beside: &mut Beside, flow: &mut Flow) {
    if depth > MAX_DEPTH {
        return flow.gap(format!("more than {MAX_DEPTH} tables inside one another, and the inner ones aren't read"));
    }
    let mut told = FlowTable::default();
    for row in &table.rows {
        for cell in &row.cells {
            let mut inner = Flow::default();
            for paragraph in &cell.content {
                self::paragraph(paragraph, beside, &mut inner);
            }
            for nested in &cell.nested_tables {
                self::table(nested, depth + 1, beside, &mut inner);
            }
            told.cell(inner.into_blocks(flow).text(), usize::try_from(cell.col_span).unwrap_or(1));
        }
        told.end_row(depth > 0, flow);
    }
    flow.add(FlowPart::SetOff);
}

fn paragraph(paragraph: &Paragraph, beside: &mut Beside, flow: &mut Flow) {
    beside.images += paragraph.images.len() as u64;
    let text = run_text(paragraph, beside);
    let letters: String = paragraph.runs.iter().map(|run| run.text.as_str()).collect();
    let counted = || {
        let list = paragraph.list_info.as_ref()?;
        let label = match list.list_type {
            ListType::Bullet => "-".to_owned(),
            ListType::Numbered => list.number.map_or_else(|| "-".to_owned(), |number| format!("{number}.")),
            ListType::None => return None,
        };
        Some((list.level, label))
    };
    let label = beside.labels.find(&letters).unwrap_or_else(|| {
        let counted = counted();
        beside.has_numbers |= counted.as_ref().is_some_and(|(_, label)| label != "-");
        counted.unwrap_or_default()
    });
    let (level, label) = (usize::from(label.0), Some(label.1).filter(|label| !label.is_empty()));
    // A page can end within a paragraph, and the rest continues as a paragraph without a mark.
    for (at, piece) in text.split(PAGE_END).enumerate() {
        if at > 0 {
            flow.add(FlowPart::Break);
        }
        let lines: Vec<&str> = piece.trim().lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let indent = "  ".repeat(level.min(MAX_INDENTS));
        let label = label.as_deref().filter(|_| at == 0);
        if lines.is_empty() {
        } else if paragraph.heading.is_heading() && at == 0 {
            let label = label.filter(|label| *label != "-").map_or_else(String::new, |label| format!("{label} "));
            flow.add(FlowPart::Heading(paragraph.heading.level(), format!("{label}{}", one_line(piece))));
        } else if let Some(label) = label {
            let lines = lines.join(&format!("\n{indent}  "));
            flow.add(FlowPart::Block(BlockKind::Item, format!("{indent}{label} {lines}")));
        } else {
            flow.paragraph(lines.join("\n"));
        }
    }
}

fn run_text(paragraph: &Paragraph, beside: &mut Beside) -> String {
    let mut text = String::new();
    for run in &paragraph.runs {
        if run.revision == RevisionType::Deleted {
            beside.deletions += 1;
            continue;
        }
        let emphasis = Emphasis {
            is_raised: run.style.superscript,
            is_lowered: run.style.subscript,
            is_struck: run.style.strikethrough,
        };
        text.push_str(&written(&run.text, emphasis));
        if let Some(label) = &run.note {
            text.extend(["[", label, "]"]);
        }
        if run.line_break {
            text.push('\n');
        }
        if run.page_break {
            text.push(PAGE_END);
        }
    }
    text
}
