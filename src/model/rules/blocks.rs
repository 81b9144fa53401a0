//! A text as blocks, each of them a range of it: so that what is quoted stands there word for word. Plain text and Markdown are
//! read alike, line by line.

use std::ops::Range;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum TextBlockKind {
    Heading,
    Paragraph,
    /// An item of a list, at this depth of nesting.
    Item(usize),
}

/// A part of a text, without the marks around it.
pub(super) struct TextBlock {
    pub(super) kind: TextBlockKind,
    pub(super) range: Range<usize>,
}

/// A block that the next line may continue: the mark before its text, and its depth in lists.
struct UnfinishedBlock {
    mark: Range<usize>,
    end: usize,
    depth: usize,
}

/// Endings of documents whose text is Markdown, or is converted to Markdown by the extraction.
const MARKDOWN: [&str; 14] =
    ["md", "markdown", "html", "htm", "xhtml", "epub", "docx", "docm", "pptx", "xlsx", "xlsm", "odt", "ods", "odp"];

/// The blocks of `text`, which is a part of the document `name`, without code and quotations; and the start of the last
/// block that may continue after the end of `text` (for a list, the start of the line that leads into it).
pub(super) fn blocks(name: &str, text: &str) -> (Vec<TextBlock>, usize) {
    let is_markdown = MARKDOWN.contains(&name.rsplit('.').next().unwrap_or_default().to_lowercase().as_str());
    let (mut found, mut open, mut place): (Vec<TextBlock>, Option<UnfinishedBlock>, usize) = (Vec::new(), None, 0);
    // The start of an unfinished code block, and the indentation of the marks of the open lists.
    let (mut code, mut indents): (Option<usize>, Vec<usize>) = (None, Vec::new());
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let start = place + indent;
        place += line.len();
        let is_fence = line.trim().starts_with("```");
        let line = if code.is_some() && !is_fence { "" } else { line.trim() };
        let is_rule = line.len() > 2 && line.chars().all(|c| matches!(c, '=' | '-' | '_' | '*' | '~' | '+'));
        let is_heading = is_markdown && line.starts_with('#');
        let is_row = line.starts_with('|');
        let is_text = !(line.is_empty() || is_rule || is_fence || is_heading || is_row || line.starts_with('>'));
        let mark = mark(line);
        if !is_text || mark > 0 {
            let is_title = close(&mut found, text, open.take(), is_rule, is_markdown);
            indents.retain(|_| !is_title && !is_heading);
        }
        if is_fence {
            code = code.xor(Some(start));
        } else if is_heading {
            let from = start + line.len() - line.trim_start_matches('#').trim_start().len();
            found.push(TextBlock { kind: TextBlockKind::Heading, range: from..start + line.len() });
        } else if is_row {
            let mut from = start;
            for cell in line.split('|') {
                let range = from + cell.len() - cell.trim_start().len()..from + cell.trim_end().len();
                found.extend((!range.is_empty()).then_some(TextBlock { kind: TextBlockKind::Paragraph, range }));
                from += cell.len() + 1;
            }
        } else if is_text {
            let open = open.get_or_insert_with(|| {
                indents.retain(|outer| *outer < indent);
                indents.extend((mark > 0).then_some(indent));
                UnfinishedBlock { mark: start..start + mark, end: start, depth: indents.len() }
            });
            open.end = start + line.len();
        }
    }
    close(&mut found, text, open, false, is_markdown);
    let last = found.iter().rfind(|block| !matches!(block.kind, TextBlockKind::Item(_)));
    let last = code.or(last.map(|block| block.range.start)).unwrap_or(0);
    (found, last)
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

/// A block ends. Whether it is a heading: a line of its own that is underlined or, in plain text, numbered or in capitals.
fn close(
    found: &mut Vec<TextBlock>,
    text: &str,
    open: Option<UnfinishedBlock>,
    is_underlined: bool,
    is_markdown: bool,
) -> bool {
    let Some(UnfinishedBlock { mark, end, depth }) = open else { return false };
    let whole = &text[mark.start..end];
    let mut words = whole.split_whitespace();
    let is_numbered = words.next().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit() || c == '.'))
        && words.next().is_some_and(|word| word.starts_with(char::is_uppercase));
    let is_capital = whole.chars().filter(|c| c.is_uppercase()).count() > 3 && !whole.chars().any(char::is_lowercase);
    let is_led = found.last().is_some_and(|before| {
        matches!(before.kind, TextBlockKind::Item(_)) || text[before.range.clone()].ends_with(':')
    });
    let is_title = !whole.ends_with(['.', ';', ',', ':', '!', '?']) && (is_numbered && !is_led || is_capital);
    let is_heading = !whole.contains('\n') && (is_underlined || is_title && !is_markdown);
    let (kind, from) = match depth {
        _ if is_heading => (TextBlockKind::Heading, mark.start),
        0 => (TextBlockKind::Paragraph, mark.end),
        depth => (TextBlockKind::Item(depth), mark.end),
    };
    found.push(TextBlock { kind, range: from..end });
    is_heading
}
