//! What the Markdown parser says about a plan: its top-level blocks with the lines that they stand on, and the lines
//! that are code or HTML, where nothing is to be found.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::lines::{Document, Line};

/// One list item of a top-level list.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) task: Option<bool>,
    /// The plain text of its first paragraph; empty where it begins with something else.
    pub(super) text: String,
    pub(super) nested: bool,
    pub(super) nested_tasks: bool,
    closed: bool,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// Level and raw text.
    Heading(u8, String),
    /// Plain text, a line each.
    Paragraph(String),
    List(Vec<Item>),
    /// Rows of raw cells, the head first.
    Table(Vec<Vec<String>>),
    /// The info string, and whether a closing fence stands there.
    Fence(String, bool),
    Rule,
    Html,
    Other,
}

#[derive(Debug)]
pub(super) struct Block {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) struct Scan {
    pub(super) blocks: Vec<Block>,
    /// Lines inside code and HTML.
    pub(super) shielded: Vec<bool>,
}

pub(super) fn scan(document: &Document) -> Scan {
    let text = document.markdown();
    let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let line_of = |offset: usize| starts.partition_point(|&start| start <= offset).saturating_sub(1);
    let mut scan = Scan { blocks: Vec::new(), shielded: vec![false; document.lines.len()] };
    let mut depth = 0usize;
    for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS).into_offset_iter()
    {
        let first = line_of(range.start);
        match event {
            Event::Start(tag) => {
                let shield = matches!(tag, Tag::CodeBlock(_) | Tag::HtmlBlock);
                // Only outer blocks need their end: trimming deeply nested ranges would walk the same blanks each time.
                let length = if depth < 2 || shield { text[range.clone()].trim_end().len() } else { 0 };
                let last = line_of(range.start + length.saturating_sub(1));
                if shield {
                    scan.shielded.iter_mut().take(last + 1).skip(first).for_each(|line| *line = true);
                }
                if depth == 0 {
                    scan.blocks.push(Block { first, last, kind: kind(&tag, &document.lines[first..=last]) });
                } else if let Some(block) = scan.blocks.last_mut() {
                    open(&mut block.kind, depth, &tag, (first, last), &text[range]);
                }
                depth += 1;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                if let Some(Block { kind: Kind::List(items), .. }) = scan.blocks.last_mut()
                    && matches!(end, TagEnd::Paragraph | TagEnd::Heading(_))
                    && let Some(item) = items.last_mut()
                {
                    item.closed = true;
                }
            }
            Event::Rule if depth == 0 => scan.blocks.push(Block { first, last: first, kind: Kind::Rule }),
            Event::TaskListMarker(done) => {
                if let Some(Block { kind: Kind::List(items), .. }) = scan.blocks.last_mut()
                    && let Some(item) = items.last_mut()
                {
                    // Depth 2 in a tight list, 3 in the paragraph of a loose one; an item of a nested list is closed by then.
                    if item.nested || item.closed {
                        item.nested_tasks = true;
                    } else {
                        item.task = Some(done);
                    }
                }
            }
            Event::Text(piece) => say(&mut scan, &piece),
            Event::Code(piece) => say(&mut scan, &format!("`{piece}`")),
            Event::SoftBreak | Event::HardBreak => say(&mut scan, "\n"),
            Event::InlineHtml(piece) if !piece.starts_with("<!--") => say(&mut scan, &piece),
            _ => {}
        }
    }
    scan
}

/// Adds text to what the innermost open block collects.
fn say(scan: &mut Scan, piece: &str) {
    match scan.blocks.last_mut().map(|block| &mut block.kind) {
        Some(Kind::Paragraph(text)) => text.push_str(piece),
        Some(Kind::List(items)) => {
            if let Some(item) = items.last_mut().filter(|item| !item.closed) {
                item.text.push_str(piece);
            }
        }
        Some(Kind::Heading(..) | Kind::Table(_) | Kind::Fence(..) | Kind::Rule | Kind::Html | Kind::Other) | None => {}
    }
}

fn kind(tag: &Tag, lines: &[Line]) -> Kind {
    match tag {
        Tag::Heading { level, .. } => Kind::Heading(*level as u8, heading_text(lines)),
        Tag::Paragraph => Kind::Paragraph(String::new()),
        Tag::List(_) => Kind::List(Vec::new()),
        Tag::Table(_) => Kind::Table(Vec::new()),
        Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
            let fence = lines[0].text.trim_start();
            let char = fence.chars().next().unwrap_or('`');
            let width = fence.chars().take_while(|&next| next == char).count();
            // The parser takes no fence for closed that has a tab behind it.
            let end = lines[lines.len() - 1].text.trim_start().trim_end_matches(' ');
            let closed = lines.len() > 1 && end.chars().count() >= width && end.chars().all(|next| next == char);
            Kind::Fence(info.trim().to_lowercase(), closed)
        }
        Tag::HtmlBlock => Kind::Html,
        _ => Kind::Other,
    }
}

/// Follows a tag inside a top-level block.
fn open(kind: &mut Kind, depth: usize, tag: &Tag, (first, last): (usize, usize), raw: &str) {
    match kind {
        Kind::List(items) => match tag {
            Tag::Item if depth == 1 => items.push(Item { first, last, ..Item::default() }),
            Tag::Paragraph
            | Tag::Strong
            | Tag::Emphasis
            | Tag::Strikethrough
            | Tag::Link { .. }
            | Tag::Image { .. } => {}
            _ => {
                if let Some(item) = items.last_mut() {
                    item.closed = true;
                    item.nested |= matches!(tag, Tag::List(_));
                }
            }
        },
        Kind::Table(rows) => match tag {
            Tag::TableHead | Tag::TableRow => rows.push(Vec::new()),
            Tag::TableCell => {
                if let Some(row) = rows.last_mut() {
                    row.push(raw.trim().trim_matches('|').replace("\\|", "|").trim().to_owned());
                }
            }
            _ => {}
        },
        Kind::Heading(..) | Kind::Paragraph(_) | Kind::Fence(..) | Kind::Rule | Kind::Html | Kind::Other => {}
    }
}

/// The raw text of a heading, written with `#`s or underlined.
fn heading_text(lines: &[Line]) -> String {
    let first = lines[0].text.trim();
    if lines.len() > 1 {
        return lines[..lines.len() - 1].iter().map(|line| line.text.trim()).collect::<Vec<_>>().join(" ");
    }
    let text = first.trim_start_matches('#').trim();
    let bare = text.trim_end_matches('#');
    if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end().to_owned() } else { text.to_owned() }
}
