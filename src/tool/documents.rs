//! `read_document`. Document text is delimited and labelled as such: its content is material.

use super::{
    ToolError,
    document_cache::{DocumentCache, DocumentText, find_document},
    document_list::MOST_PARTS,
    files::{NUMBERS, asked_for, text_lines},
    partial::{in_part, later},
};
use crate::workspace::Workspace;
use overnight_core::{
    answer,
    job::{
        arguments::ReadDocument,
        event::{CallEnd, ShownPart, ToolResult},
        pages::{PageLines, UnreadPart},
        spec::{DocumentEntry, JobSpec},
    },
    prompt::{
        bounds::ResultBound,
        fence::{mark_of, quoted},
    },
    tokens::{estimate, quarters},
};
use std::fmt::Write;

/// Tokens of the lines around what is read, beside the document's name.
const READ_FRAME_TOKENS: u64 = 100;

/// Tokens of the line above a page on which nothing is missing.
const PAGE_HEADING_TOKENS: u64 = 20;

/// The line above a page: its number, whether its characters were recognised, which lines of it follow if not all, and
/// which parts of it are missing.
fn heading(document: &DocumentEntry, page: u64, lines: Option<PageLines>) -> String {
    let mut heading = format!("[page {page}");
    if document.recognised.iter().any(|pages| pages.has(page)) {
        heading.push_str(", read once, from its picture");
    }
    if let Some(lines) = lines {
        let _ = write!(heading, ", {lines}");
    }
    let on_it = document.gaps.iter().filter(|gap| gap.pages.is_some_and(|pages| pages.has(page)));
    let whys: Vec<&str> = on_it.map(|gap| gap.why.as_str()).collect();
    if !whys.is_empty() {
        let _ = write!(heading, ": {}", whys.join("; "));
    }
    heading.push(']');
    heading
}

/// The parts of the document that are on none of its pages.
fn beyond(document: &DocumentEntry) -> String {
    let is_beyond = |gap: &&UnreadPart| gap.pages.is_none_or(|pages| pages.to > document.units);
    let parts: Vec<String> =
        document.gaps.iter().filter(is_beyond).take(MOST_PARTS).map(UnreadPart::to_string).collect();
    if parts.is_empty() { String::new() } else { format!(" {}", answer!("document.beyond", parts = parts.join("; "))) }
}

/// The part of a document that is shown.
struct ReadText {
    body: String,
    /// The last page or line.
    last: u64,
    /// The lines of the first page, if it is not shown completely.
    lines: Option<PageLines>,
}

impl ReadText {
    /// The lines of its only page, if the page continues after them.
    fn cut(&self) -> Option<PageLines> {
        self.lines.filter(|lines| lines.to < lines.of)
    }
}

/// From `line` of page `from` on, or from line `from` on: as many pages or lines as `most` tokens hold, and of a first page
/// that is longer than `longest` as many of its lines; at least one line.
fn part(
    document: &DocumentEntry,
    text: &DocumentText,
    (from, to, line): (u64, u64, u64),
    (most, longest): (u64, u64),
) -> Result<ReadText, ToolError> {
    let mut part = ReadText { body: String::new(), last: from, lines: None };
    let mut spent = 0;
    for number in from..=to {
        let unit = text.range(number, number);
        let shown = if document.paged {
            let page = unit.trim_end_matches('\n');
            let lines = if number == from { part_of(document, number, page, line, (most, longest))? } else { None };
            part.lines = part.lines.or(lines);
            let shown = lines.map_or(page, |lines| text_lines(page, lines.from, lines.to));
            format!("{}\n{shown}\n", heading(document, number, lines))
        } else {
            format!("{number}\t{unit}\n")
        };
        spent += quarters(&shown);
        if spent.div_ceil(4) > most && number > from {
            break;
        }
        part.body.push_str(&shown);
        part.last = number;
        if part.cut().is_some() {
            break;
        }
    }
    Ok(part)
}

/// Pages or lines from `from` on, as many as the bound allows; of a page that is longer, as many of its lines.
pub(super) fn read(
    spec: &JobSpec,
    workspace: &Workspace,
    document_cache: &mut DocumentCache,
    wanted: &ReadDocument,
    bound: ResultBound,
) -> Result<ToolResult, ToolError> {
    let document = find_document(spec, &wanted.name)?;
    if document.units == 0 {
        let text = answer!("document.not_readable", name = document.name) + &beyond(document);
        return Ok(ToolResult::plain(CallEnd::Done, text));
    }
    let asked @ (from, to, line) = asked(document, wanted)?;
    let text = document_cache.text(workspace, document)?;
    let (unit, units, name) = (document.unit(), document.units, quoted(&document.name));
    let frame = READ_FRAME_TOKENS + 2 * estimate(&name) + estimate(&beyond(document));
    let (most, longest) = (bound.most().saturating_sub(frame), bound.most_whole().saturating_sub(frame));
    let mut shown = part(document, text, asked, (longest, longest))?;
    if estimate(&shown.body) > longest || shown.last < to || shown.cut().is_some() {
        shown = part(document, text, asked, (most, longest))?;
    }
    let ReadText { body, last, lines } = &shown;
    if bound.is_crowded() {
        let first = text.range(from, from);
        // A page that fits into one read is not split just because other results came before it.
        let is_piece = shown.cut().is_some() && line == 1 && estimate(first) + frame <= bound.share;
        if is_piece || estimate(body) > longest {
            return Ok(later(&format!("{unit} {from}"), estimate(first), bound));
        }
    }
    let mark = mark_of(&document.text_sha256);
    let mut result =
        format!("<document {mark} name={name} {unit}s=\"{from}-{last}\" of=\"{units}\">\n{body}</document {mark}>\n");
    result.push_str(&rest(document, text, (wanted, asked), &shown, bound));
    result.truncate(result.trim_end_matches('\n').len());
    Ok(ToolResult {
        shown: Some(ShownPart { document: document.name.clone(), from, to: *last, lines: *lines }),
        ..ToolResult::plain(CallEnd::Done, result)
    })
}

/// The note after the text: how much of the request was shown, why no more, and the continuing call; or that the
/// document ends here. Empty if everything requested was shown.
fn rest(
    document: &DocumentEntry,
    text: &DocumentText,
    (wanted, (from, to, line)): (&ReadDocument, (u64, u64, u64)),
    shown: &ReadText,
    bound: ResultBound,
) -> String {
    let last = shown.last;
    let cut = shown.cut();
    if cut.is_none() && last == to {
        let is_end = last == document.units;
        return if is_end { answer!("document.end") + &beyond(document) } else { String::new() };
    }
    let first = text.range(from, from);
    let before = if line > 1 { estimate(text_lines(first, 1, line - 1)) } else { 0 };
    let (what, tokens, goes_on) = if let Some(cut) = cut {
        let what = format!("Lines {}-{} of the {} of page {from}", cut.from, cut.to, cut.of);
        (what, estimate(text_lines(first, cut.from, cut.to)), (from, Some(cut.to + 1)))
    } else {
        let what = format!("{} of {}", span(document.unit(), from, last), asked_for((from, to), document.units));
        (what, estimate(text.range(from, last)).saturating_sub(before), (last + 1, None))
    };
    let of = estimate(text.range(from, to)).saturating_sub(before);
    let part = in_part(tokens, of, bound, if document.paged { "" } else { NUMBERS });
    let until = wanted.to.map(|_| format!(", \"to\": {to}")).unwrap_or_default();
    let at = goes_on.1.map(|line| format!(", \"line\": {line}")).unwrap_or_default();
    let name = quoted(&document.name);
    let call = format!("read_document({{\"name\": {name}, \"from\": {}{until}{at}}})", goes_on.0);
    answer!("part.shown", what, part, call)
}

/// `Page 3`, `Lines 4-9`.
fn span(unit: &str, from: u64, to: u64) -> String {
    let unit = if unit == "page" { "Page" } else { "Line" };
    if from == to { format!("{unit} {from}") } else { format!("{unit}s {from}-{to}") }
}

/// The first and the last page or line that `wanted` means, and the line of the first page to begin at.
fn asked(document: &DocumentEntry, wanted: &ReadDocument) -> Result<(u64, u64, u64), ToolError> {
    let (name, unit, units) = (&document.name, document.unit(), document.units);
    let from = wanted.from.unwrap_or(1).max(1);
    let to = wanted.to.unwrap_or(units).min(units);
    let line = wanted.line.unwrap_or(1).max(1);
    if from > units {
        return Err(ToolError::Tell(answer!("document.ends", name, unit, units)));
    }
    if from > to {
        return Err(ToolError::Tell(answer!("document.from_after_to", from, to)));
    }
    if line > 1 && !document.paged {
        return Err(ToolError::Tell(answer!("document.no_pages", name)));
    }
    Ok((from, to, line))
}

/// The lines of a page to show from `line` on: as many as fit into `most` tokens, at least one. `None`: all lines, if
/// the page is no longer than `longest`.
fn part_of(
    document: &DocumentEntry,
    number: u64,
    page: &str,
    line: u64,
    (most, longest): (u64, u64),
) -> Result<Option<PageLines>, ToolError> {
    if line == 1 && estimate(page) + PAGE_HEADING_TOKENS <= longest {
        return Ok(None);
    }
    let of = page.split('\n').count() as u64;
    if line > of {
        return Err(ToolError::Tell(answer!("document.page_ends", page = number, name = document.name, lines = of)));
    }
    let mut spent = PAGE_HEADING_TOKENS * 4;
    let mut to = line - 1;
    for text in page.split('\n').skip(usize::try_from(line - 1).unwrap_or(usize::MAX)) {
        spent += quarters(text) + 1;
        if spent.div_ceil(4) > most && to >= line {
            break;
        }
        to += 1;
    }
    Ok((line > 1 || to < of).then_some(PageLines { from: line, to, of }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::document_list::tests::document;

    #[test]
    fn a_long_page_comes_in_parts_that_make_it_whole() {
        let document = document("a.epub");
        let lines: Vec<String> =
            (1..=97).map(|n| format!("Line {n} of this page{}", " goes on".repeat(n % 5))).collect();
        let page = &lines.join("\n");
        let mut line = 1;
        let mut read = Vec::new();
        while let Some(lines) = part_of(&document, 2, page, line, (200, 200)).unwrap() {
            assert_eq!((lines.from, lines.of), (line, 97));
            let text = text_lines(page, lines.from, lines.to);
            assert!(estimate(text) <= 200, "{text}");
            read.push(text);
            line = lines.to + 1;
            if line > lines.of {
                break;
            }
        }
        assert_eq!(&read.join("\n"), page);
        assert!(read.len() > 3, "{}", read.len());
        assert_eq!(part_of(&document, 2, page, 1, (100_000, 100_000)).unwrap(), None);
        assert_eq!(part_of(&document, 2, page, 97, (1, 1)).unwrap(), Some(PageLines { from: 97, to: 97, of: 97 }));
        assert_eq!(
            part_of(&document, 2, page, 98, (200, 200)).unwrap_err().to_string(),
            answer!("document.page_ends", page = 2, name = "a.epub", lines = 97)
        );
    }

    #[test]
    fn a_page_says_what_it_is() {
        let document = document("a.pdf");
        let mut headings = [1, 3, 7, 9].map(|page| heading(&document, page, None)).to_vec();
        headings.push(heading(&document, 8, Some(PageLines { from: 5, to: 9, of: 20 })));
        assert_eq!(
            headings,
            [
                "[page 1]",
                "[page 3: no text, probably a scan]",
                "[page 7, read once, from its picture]",
                "[page 9, read once, from its picture: damaged]",
                "[page 8, read once, from its picture, lines 5-9 of 20]",
            ]
        );
        let parts = "pages 11-20: cut off";
        assert_eq!(beyond(&document), format!(" {}", answer!("document.beyond", parts)));
    }
}
