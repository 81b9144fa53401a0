//! `list_documents` and `read_document`. Document text is delimited and named as such: what stands in it is material.

use super::{
    ToolError,
    document_cache::{DocumentCache, find_document},
    files::{glob, matches},
};
use crate::workspace::Workspace;
use overnight_core::{
    job::{
        coverage::Coverage,
        event::{CallEnd, ShownPart, ToolResult},
        pages::{PageLines, UnreadPart},
        spec::{DocumentEntry, JobSpec},
    },
    prompt::{
        fence::{mark_of, quoted},
        tokens::estimate,
        tools::{ListDocuments, ReadDocument},
    },
};
use std::fmt::Write;

/// Tokens of a list's first and last line.
const LIST_FRAME_TOKENS: u64 = 60;

/// Tokens of the lines around what is read.
const READ_FRAME_TOKENS: u64 = 60;

/// Tokens of the line over a page, where nothing is missing on it.
const PAGE_HEADING_TOKENS: u64 = 20;

/// Parts of one document that are named in the list; the rest is counted.
const MOST_PARTS: usize = 8;

/// The documents with their lengths and the shares that were read, from a place on, as many as `most` tokens hold.
pub(super) fn list(
    spec: &JobSpec,
    coverage: &Coverage,
    wanted: &ListDocuments,
    most: u64,
) -> Result<ToolResult, ToolError> {
    part(&spec.documents, coverage, wanted, most).map(|text| ToolResult::plain(CallEnd::Done, text))
}

fn part(all: &[DocumentEntry], coverage: &Coverage, wanted: &ListDocuments, most: u64) -> Result<String, ToolError> {
    let glob = wanted.glob.as_deref().map(glob).transpose()?;
    let fits = |document: &&DocumentEntry| {
        matches(glob.as_ref(), &document.name) || matches(glob.as_ref(), &format!("documents/{}", document.name))
    };
    let documents: Vec<&DocumentEntry> = all.iter().filter(fits).collect();
    let count = documents.len();
    let tokens: u64 = documents.iter().map(|document| document.tokens).sum();
    let of = if wanted.glob.is_some() { format!(" of {}", all.len()) } else { String::new() };
    let first = usize::try_from(wanted.from.unwrap_or(1).max(1)).unwrap_or(usize::MAX);
    if first > count && first > 1 {
        return Err(ToolError::Tell(format!("the list ends at place {count}; ask for an earlier one")));
    }
    let mut lines = String::new();
    let mut spent = LIST_FRAME_TOKENS;
    let mut last = first - 1;
    for document in &documents[last..] {
        let line = line(coverage, document);
        spent += estimate(&line);
        if spent > most && last >= first {
            break;
        }
        lines.push_str(&line);
        last += 1;
    }
    let part = if first > 1 || last < count { format!("; here {first} to {last}") } else { String::new() };
    let mut text = format!("{count}{of} documents, about {tokens} tokens{part}:\n{lines}");
    if last < count {
        let glob = wanted.glob.as_deref().map(|glob| format!("glob: {}, ", quoted(glob))).unwrap_or_default();
        let _ = write!(text, "To go on: list_documents({glob}from: {})", last + 1);
    }
    text.truncate(text.trim_end().len());
    Ok(text)
}

/// `a.pdf (PDF, 12 pages, about 3400 tokens, 40 % read) [not read: pages 3-4: no text on it, probably a scan]`.
fn line(coverage: &Coverage, document: &DocumentEntry) -> String {
    let mut line = format!(
        "{} ({}, {} {}s, about {} tokens, {:.0} % read)",
        document.name,
        document.format,
        document.units,
        document.unit(),
        document.tokens,
        coverage.share(document) * 100.0
    );
    let recognised = document.recognised.iter().map(|pages| format!("{pages} recognised by OCR"));
    let not_read = document.gaps.iter().map(|gap| format!("not read: {gap}"));
    let mut parts: Vec<String> = not_read.chain(recognised).collect();
    if parts.len() > MOST_PARTS {
        let more = parts.len() - MOST_PARTS;
        parts.truncate(MOST_PARTS);
        parts.push(format!("{more} more such parts"));
    }
    parts.extend(document.notes.iter().cloned());
    if !parts.is_empty() {
        let _ = write!(line, " [{}]", parts.join("; "));
    }
    line.push('\n');
    line
}

/// What stands over a page: its number, whether its characters were recognised, which lines of it follow if not all, and
/// what is missing on it.
fn heading(document: &DocumentEntry, page: u64, lines: Option<PageLines>) -> String {
    let mut heading = format!("[page {page}");
    if document.recognised.iter().any(|pages| pages.has(page)) {
        heading.push_str(", recognised by OCR");
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

/// What of the document is on none of the pages that can be asked for.
fn beyond(document: &DocumentEntry) -> String {
    let is_beyond = |gap: &&UnreadPart| gap.pages.is_none_or(|pages| pages.to > document.units);
    let parts: Vec<String> =
        document.gaps.iter().filter(is_beyond).take(MOST_PARTS).map(UnreadPart::to_string).collect();
    if parts.is_empty() { String::new() } else { format!(" Not in it: {}.", parts.join("; ")) }
}

/// Pages or lines from `from` on, as many as `most` tokens hold; of a page that is longer, as many of its lines.
pub(super) fn read(
    spec: &JobSpec,
    workspace: &Workspace,
    document_cache: &mut DocumentCache,
    wanted: &ReadDocument,
    most: u64,
) -> Result<ToolResult, ToolError> {
    let document = find_document(spec, &wanted.name)?;
    if document.units == 0 {
        let text = format!("{} has no readable text.{}", document.name, beyond(document));
        return Ok(ToolResult::plain(CallEnd::Done, text));
    }
    let (from, to, line) = asked(document, wanted)?;
    let text = document_cache.text(workspace, document)?;
    let mut body = String::new();
    let mut tokens = READ_FRAME_TOKENS;
    let mut last = from;
    let mut lines = None;
    for number in from..=to {
        let unit = text.range(number, number);
        let shown = if document.paged {
            let page = unit.trim_end_matches('\n');
            let part = if number == from {
                lines = part_of(document, number, page, line, most.saturating_sub(tokens))?;
                lines.map_or(page, |lines| text_of(page, lines))
            } else {
                page
            };
            let lines = lines.filter(|_| number == from);
            format!("{}\n{part}\n", heading(document, number, lines))
        } else {
            format!("{number}\t{unit}\n")
        };
        tokens += estimate(&shown);
        if tokens > most && number > from {
            break;
        }
        body.push_str(&shown);
        last = number;
        if lines.is_some_and(|lines| lines.to < lines.of) {
            break;
        }
    }
    let (unit, units) = (document.unit(), document.units);
    let (mark, name) = (mark_of(&document.text_sha256), quoted(&document.name));
    let mut result =
        format!("<document {mark} name={name} {unit}s=\"{from}-{last}\" of=\"{units}\">\n{body}</document {mark}>\n");
    match lines {
        Some(lines) if lines.to < lines.of => {
            let _ = write!(result, "To go on: read_document(name: {name}, from: {from}, line: {})", lines.to + 1);
        }
        Some(_) | None if last < units => {
            let _ = write!(result, "To go on: read_document(name: {name}, from: {})", last + 1);
        }
        Some(_) | None => {
            let _ = write!(result, "This is the end of the document.{}", beyond(document));
        }
    }
    Ok(ToolResult {
        shown: Some(ShownPart { document: document.name.clone(), from, to: last, lines }),
        ..ToolResult::plain(CallEnd::Done, result)
    })
}

/// The first and the last page or line that `wanted` means, and the line of the first page to begin at.
fn asked(document: &DocumentEntry, wanted: &ReadDocument) -> Result<(u64, u64, u64), ToolError> {
    let (name, unit, units) = (&document.name, document.unit(), document.units);
    let from = wanted.from.unwrap_or(1).max(1);
    let to = wanted.to.unwrap_or(units).min(units);
    let line = wanted.line.unwrap_or(1).max(1);
    if from > units {
        return Err(ToolError::Tell(format!("{name} ends at {unit} {units}; ask for an earlier one")));
    }
    if from > to {
        return Err(ToolError::Tell(format!("from ({from}) lies after to ({to}); ask for from <= to")));
    }
    if line > 1 && !document.paged {
        return Err(ToolError::Tell(format!("{name} has lines and no pages; ask for its lines with from and to")));
    }
    Ok((from, to, line))
}

/// The lines of a page that are to be shown from `line` on: as many as `most` tokens hold, at least one. `None`: all.
fn part_of(
    document: &DocumentEntry,
    number: u64,
    page: &str,
    line: u64,
    most: u64,
) -> Result<Option<PageLines>, ToolError> {
    if line == 1 && estimate(page) + PAGE_HEADING_TOKENS <= most {
        return Ok(None);
    }
    let of = page.split('\n').count() as u64;
    if line > of {
        return Err(ToolError::Tell(format!(
            "page {number} of {} ends at line {of}; ask for an earlier one",
            document.name
        )));
    }
    let mut tokens = PAGE_HEADING_TOKENS;
    let mut to = line - 1;
    for text in page.split('\n').skip(usize::try_from(line - 1).unwrap_or(usize::MAX)) {
        tokens += estimate(text) + 1;
        if tokens > most && to >= line {
            break;
        }
        to += 1;
    }
    Ok((line > 1 || to < of).then_some(PageLines { from: line, to, of }))
}

/// These lines of a page.
fn text_of(page: &str, lines: PageLines) -> &str {
    let mut ends = memchr::memchr_iter(b'\n', page.as_bytes());
    let place = |line: u64| usize::try_from(line).unwrap_or(usize::MAX);
    let start = if lines.from == 1 { 0 } else { ends.nth(place(lines.from - 2)).map_or(page.len(), |end| end + 1) };
    let end = ends.nth(place(lines.to - lines.from)).unwrap_or(page.len());
    page.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use overnight_core::job::pages::PageRange;

    fn document(name: &str) -> DocumentEntry {
        let gap = |from, to, why: &str| UnreadPart { pages: Some(PageRange { from, to }), why: why.to_owned() };
        DocumentEntry {
            name: name.to_owned(),
            sha256: String::new(),
            bytes: 0,
            format: "PDF".to_owned(),
            paged: true,
            units: 10,
            tokens: 3_400,
            text_sha256: String::new(),
            reader: String::new(),
            gaps: vec![gap(3, 4, "no text, probably a scan"), gap(9, 9, "damaged"), gap(11, 20, "cut off")],
            unreadable: vec![PageRange { from: 3, to: 4 }],
            recognised: vec![PageRange { from: 7, to: 9 }],
            notes: vec!["a note".to_owned()],
        }
    }

    #[test]
    fn a_list_says_what_is_missing() {
        let mut coverage = Coverage::default();
        coverage.add(&ShownPart { document: "a.pdf".to_owned(), from: 1, to: 4, lines: None });
        let plain = DocumentEntry {
            gaps: Vec::new(),
            unreadable: Vec::new(),
            recognised: Vec::new(),
            notes: Vec::new(),
            ..document("b.pdf")
        };
        let listed = part(&[document("a.pdf"), plain], &coverage, &ListDocuments::default(), 4_000).unwrap();
        assert_eq!(
            listed,
            "2 documents, about 6800 tokens:\n\
             a.pdf (PDF, 10 pages, about 3400 tokens, 25 % read) [not read: pages 3-4: no text, probably a scan; \
             not read: page 9: damaged; not read: pages 11-20: cut off; pages 7-9 recognised by OCR; a note]\n\
             b.pdf (PDF, 10 pages, about 3400 tokens, 0 % read)"
        );
    }

    #[test]
    fn a_long_list_comes_in_parts() {
        let documents: Vec<DocumentEntry> = (0..10_000)
            .map(|n| DocumentEntry {
                gaps: Vec::new(),
                recognised: Vec::new(),
                notes: Vec::new(),
                ..document(&format!("in/{n:05}.pdf"))
            })
            .collect();
        let list = |glob: Option<&str>, from| {
            let wanted = ListDocuments { glob: glob.map(str::to_owned), from };
            part(&documents, &Coverage::default(), &wanted, 300).map_err(|error| error.to_string())
        };
        let mut from = 1;
        let mut names = 0;
        while from <= 10_000 {
            let text = list(None, Some(from)).unwrap();
            assert!(estimate(&text) <= 300, "{text}");
            let lines: Vec<&str> = text.lines().collect();
            let next = names + lines.iter().filter(|line| line.starts_with("in/")).count();
            assert_eq!(lines[0], format!("10000 documents, about 34000000 tokens; here {from} to {next}:"));
            let end = if next < 10_000 {
                format!("To go on: list_documents(from: {})", next + 1)
            } else {
                lines[lines.len() - 1].to_owned()
            };
            assert_eq!(lines[lines.len() - 1], end);
            (names, from) = (next, next as u64 + 1);
        }
        assert_eq!(names, 10_000);
        let some = list(Some("*/0000?.pdf"), Some(10)).unwrap();
        assert_eq!(
            some,
            "10 of 10000 documents, about 34000 tokens; here 10 to 10:\nin/00009.pdf (PDF, 10 pages, about 3400 tokens, 0 % read)"
        );
        assert!(
            list(Some("0????.pdf"), None).unwrap().ends_with("list_documents(glob: \"0????.pdf\", from: 17)"),
            "{}",
            list(Some("0????.pdf"), None).unwrap()
        );
        assert_eq!(list(None, Some(10_001)).unwrap_err(), "the list ends at place 10000; ask for an earlier one");
    }

    #[test]
    fn a_long_page_comes_in_parts_that_make_it_whole() {
        let document = document("a.epub");
        let lines: Vec<String> =
            (1..=97).map(|n| format!("Line {n} of this page{}", " goes on".repeat(n % 5))).collect();
        let page = &lines.join("\n");
        let mut line = 1;
        let mut read = Vec::new();
        while let Some(lines) = part_of(&document, 2, page, line, 200).unwrap() {
            assert_eq!((lines.from, lines.of), (line, 97));
            let text = text_of(page, lines);
            assert!(estimate(text) <= 200, "{text}");
            read.push(text);
            line = lines.to + 1;
            if line > lines.of {
                break;
            }
        }
        assert_eq!(&read.join("\n"), page);
        assert!(read.len() > 3, "{}", read.len());
        assert_eq!(part_of(&document, 2, page, 1, 100_000).unwrap(), None);
        assert_eq!(part_of(&document, 2, page, 97, 1).unwrap(), Some(PageLines { from: 97, to: 97, of: 97 }));
        assert_eq!(
            part_of(&document, 2, page, 98, 200).unwrap_err().to_string(),
            "page 2 of a.epub ends at line 97; ask for an earlier one"
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
                "[page 7, recognised by OCR]",
                "[page 9, recognised by OCR: damaged]",
                "[page 8, recognised by OCR, lines 5-9 of 20]",
            ]
        );
        assert_eq!(beyond(&document), " Not in it: pages 11-20: cut off.");
    }
}
