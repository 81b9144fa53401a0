//! The structure of a plan by the Markdown parser: its top-level blocks with their lines, and the lines of code or
//! HTML, in which nothing is looked for.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// An item of a top-level list.
#[derive(Debug, Default)]
pub(super) struct PlanListItem {
    pub(super) first: usize,
    pub(super) last: usize,
    /// Its box, if it has one, and whether that is ticked.
    pub(super) task: Option<bool>,
    /// The plain text of the paragraph that begins it, on its first line; empty if it begins with something else.
    pub(super) text: String,
    is_read: bool,
}

#[derive(Debug)]
pub(super) enum PlanBlockKind {
    Heading(u8),
    List(Vec<PlanListItem>),
    Code,
    Other,
}

#[derive(Debug)]
pub(super) struct PlanBlock {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) kind: PlanBlockKind,
}

#[derive(Debug)]
pub(super) struct Scan {
    pub(super) blocks: Vec<PlanBlock>,
    /// Lines inside code and HTML.
    pub(super) is_code: Vec<bool>,
    /// The first line of code or HTML that is not closed.
    pub(super) open: Option<usize>,
}

pub(super) fn scan(lines: &[String]) -> Scan {
    // A heading after the text shows whether something in it is left open.
    let text = lines.join("\n") + "\n\n#\n";
    let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let line_of = |offset: usize| starts.partition_point(|&start| start <= offset).saturating_sub(1);
    let mut scan = Scan { blocks: Vec::new(), is_code: vec![false; lines.len()], open: None };
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(&text, Options::ENABLE_TASKLISTS).into_offset_iter() {
        let first = line_of(range.start);
        match event {
            Event::Start(tag) => {
                let is_code = matches!(tag, Tag::CodeBlock(_) | Tag::HtmlBlock);
                // Only outer blocks need their end: trimming deeply nested ranges would walk the same blanks each time.
                let length = if depth < 2 || is_code { text[range.clone()].trim_end().len() } else { 0 };
                let last = line_of(range.start + length.saturating_sub(1));
                if is_code {
                    scan.is_code.iter_mut().take(last + 1).skip(first).for_each(|line| *line = true);
                }
                if depth == 0 {
                    let kind = match tag {
                        Tag::Heading { level, .. } => PlanBlockKind::Heading(level as u8),
                        Tag::List(_) => PlanBlockKind::List(Vec::new()),
                        Tag::CodeBlock(_) => PlanBlockKind::Code,
                        _ => PlanBlockKind::Other,
                    };
                    scan.blocks.push(PlanBlock { first, last, kind });
                } else if let Some(PlanBlock { kind: PlanBlockKind::List(items), .. }) = scan.blocks.last_mut() {
                    match (tag, items.last_mut()) {
                        (Tag::Item, _) if depth == 1 => {
                            items.push(PlanListItem { first, last, ..PlanListItem::default() });
                        }
                        (
                            Tag::Paragraph
                            | Tag::Strong
                            | Tag::Emphasis
                            | Tag::Strikethrough
                            | Tag::Link { .. }
                            | Tag::Image { .. },
                            _,
                        )
                        | (_, None) => {}
                        (_, Some(item)) => item.is_read = true,
                    }
                }
                depth += 1;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                if let (TagEnd::Paragraph, Some(item)) = (end, reading(&mut scan)) {
                    item.is_read = true;
                }
            }
            Event::Rule if depth == 0 => scan.blocks.push(PlanBlock { first, last: first, kind: PlanBlockKind::Other }),
            Event::TaskListMarker(done) => {
                if let Some(item) = reading(&mut scan) {
                    item.task = Some(done);
                }
            }
            Event::Text(piece) | Event::InlineHtml(piece) => say(&mut scan, first, &piece),
            Event::Code(piece) => say(&mut scan, first, &format!("`{piece}`")),
            Event::SoftBreak | Event::HardBreak => say(&mut scan, first, " "),
            _ => {}
        }
    }
    if let Some(end) = scan.blocks.pop()
        && end.first < lines.len()
    {
        scan.open = Some(end.first);
    }
    scan
}

/// The item whose first paragraph is being read.
fn reading(scan: &mut Scan) -> Option<&mut PlanListItem> {
    match scan.blocks.last_mut().map(|block| &mut block.kind) {
        Some(PlanBlockKind::List(items)) => items.last_mut().filter(|item| !item.is_read),
        Some(PlanBlockKind::Heading(_) | PlanBlockKind::Code | PlanBlockKind::Other) | None => None,
    }
}

fn say(scan: &mut Scan, line: usize, piece: &str) {
    let Some(item) = reading(scan) else { return };
    if item.text.is_empty() && line != item.first {
        item.is_read = true;
    } else {
        item.text.push_str(piece);
    }
}
