//! A text as blocks, each of them a range of it: so that what is quoted stands there word for word.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// What a block is.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum TextBlockKind {
    Heading,
    Paragraph,
    /// A list's item, so many lists deep.
    Item(usize),
    Cell,
}

/// A part of a text, without the marks around it.
pub(super) struct TextBlock {
    pub(super) kind: TextBlockKind,
    pub(super) range: Range<usize>,
}

/// The blocks of a text, and where the last block that may go on behind its end begins: with the line that leads into it,
/// where it is a list.
#[derive(Default)]
pub(super) struct TextBlocks {
    pub(super) list: Vec<TextBlock>,
    pub(super) last: usize,
}

/// Endings of documents whose text is Markdown, or is made Markdown when it is extracted.
const MARKDOWN: [&str; 14] =
    ["md", "markdown", "html", "htm", "xhtml", "epub", "docx", "docm", "pptx", "xlsx", "xlsm", "odt", "ods", "odp"];

/// The blocks of `text`, which is a part of the document `name`.
pub(super) fn blocks(name: &str, text: &str) -> TextBlocks {
    let ending = name.rsplit('.').next().unwrap_or_default().to_lowercase();
    if MARKDOWN.contains(&ending.as_str()) { markdown(text) } else { plain(text) }
}

/// Code, quotations and raw HTML are left out.
fn markdown(text: &str) -> TextBlocks {
    let mut found = TextBlocks::default();
    let (mut skipped, mut lists, mut depth) = (0_usize, 0_usize, 0_usize);
    let mut open: Option<Range<usize>> = None;
    let (mut kind, mut is_led) = (TextBlockKind::Paragraph, false);
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let end = match &event {
            Event::Start(tag) => Some(tag.to_end()),
            Event::End(end) => Some(*end),
            _ => None,
        };
        if end.is_some_and(|end| !is_inline(end)) {
            found.list.extend(open.take().filter(|_| skipped == 0).map(|range| TextBlock { kind, range }));
        }
        match event {
            Event::Start(tag) if !is_inline(tag.to_end()) => {
                if depth == 0 {
                    found.last = if is_led && matches!(tag, Tag::List(_)) { found.last } else { range.start };
                    is_led = matches!(tag, Tag::Paragraph);
                }
                depth += 1;
                match tag {
                    Tag::CodeBlock(_) | Tag::BlockQuote(_) | Tag::HtmlBlock => skipped += 1,
                    Tag::List(_) => lists += 1,
                    Tag::Heading { .. } => kind = TextBlockKind::Heading,
                    Tag::TableCell => kind = TextBlockKind::Cell,
                    _ => kind = if lists > 0 { TextBlockKind::Item(lists) } else { TextBlockKind::Paragraph },
                }
            }
            Event::End(end) if !is_inline(end) => {
                depth -= 1;
                match end {
                    TagEnd::CodeBlock | TagEnd::BlockQuote(_) | TagEnd::HtmlBlock => skipped -= 1,
                    TagEnd::List(_) => lists -= 1,
                    _ => {}
                }
                kind = if lists > 0 { TextBlockKind::Item(lists) } else { TextBlockKind::Paragraph };
            }
            Event::Rule => {}
            _ => open = Some(open.map_or(range.clone(), |open| open.start.min(range.start)..open.end.max(range.end))),
        }
    }
    found
}

fn is_inline(end: TagEnd) -> bool {
    matches!(end, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
}

/// Paragraphs end at blank lines, items begin at their marks, and rows of drawn tables have cells.
fn plain(text: &str) -> TextBlocks {
    let mut found = TextBlocks::default();
    // What is open: where its first line begins, where its text behind a list's mark, and where it ends.
    let mut open: Option<(usize, Range<usize>)> = None;
    let mut place = 0;
    for line in text.split_inclusive('\n') {
        let start = place + line.len() - line.trim_start().len();
        place += line.len();
        let line = line.trim();
        let is_rule = line.len() > 2 && line.chars().all(|c| matches!(c, '=' | '-' | '_' | '*' | '~' | '+'));
        let mark = mark(line);
        if line.is_empty() || is_rule || line.starts_with('|') || mark > 0 {
            close(&mut found, text, open.take(), is_rule);
        }
        if line.starts_with('|') {
            let mut from = start;
            for cell in line.split('|') {
                let range = from + cell.len() - cell.trim_start().len()..from + cell.trim_end().len();
                found.list.extend((!range.is_empty()).then_some(TextBlock { kind: TextBlockKind::Cell, range }));
                from += cell.len() + 1;
            }
        } else if !line.is_empty() && !is_rule {
            let new = (start, start + mark..start);
            open.get_or_insert(new).1.end = start + line.len();
        }
    }
    close(&mut found, text, open, false);
    let last = found.list.iter().rfind(|block| !matches!(block.kind, TextBlockKind::Item(_)));
    found.last = last.map_or(0, |block| block.range.start);
    found
}

/// The length of a list's mark at the beginning of a line: `- `, `o  `, `• `, `1. `, `(a) `.
fn mark(line: &str) -> usize {
    let (mark, rest) = line.split_once(' ').unwrap_or_default();
    let name = mark.strip_suffix(['.', ')']).unwrap_or_default().trim_start_matches('(');
    let is_letter = name.len() == 1 && name.chars().all(char::is_lowercase);
    let is_number = (1..=3).contains(&name.len()) && name.chars().all(|c| c.is_ascii_digit());
    let is_mark = is_letter || is_number || matches!(mark, "-" | "*" | "+" | "o" | "•" | "–" | "◦" | "▪");
    if is_mark { line.len() - rest.trim_start().len() } else { 0 }
}

/// A heading is underlined, numbered or in capitals, on a line of its own.
fn close(found: &mut TextBlocks, text: &str, open: Option<(usize, Range<usize>)>, is_underlined: bool) {
    let Some((start, range)) = open else { return };
    let whole = &text[start..range.end];
    let mut words = whole.split_whitespace();
    let is_numbered = words.next().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit() || c == '.'))
        && words.next().is_some_and(|word| word.starts_with(char::is_uppercase));
    let is_capital = whole.chars().filter(|c| c.is_uppercase()).count() > 3 && !whole.chars().any(char::is_lowercase);
    let before = found.list.last();
    let is_led = before.is_some_and(|one| one.kind == TextBlockKind::Item(1) || text[one.range.clone()].ends_with(':'));
    let is_title = !whole.ends_with(['.', ';', ',', ':', '!', '?']) && (is_numbered && !is_led || is_capital);
    let (kind, from) = match range.start > start {
        _ if !whole.contains('\n') && (is_underlined || is_title) => (TextBlockKind::Heading, start),
        true => (TextBlockKind::Item(1), range.start),
        false => (TextBlockKind::Paragraph, range.start),
    };
    found.list.push(TextBlock { kind, range: from..range.end });
}
