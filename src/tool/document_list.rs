//! `list_documents`: the lengths of the documents, their unreadable parts, and the share that was read.

use super::{
    ToolError,
    document_cache::DocumentCache,
    files::{glob, matches},
    tables::{tables_of, told},
};
use crate::workspace::Workspace;
use overnight_core::{
    amount::grouped,
    answer,
    job::{
        arguments::ListDocuments,
        coverage::Coverage,
        event::{CallEnd, ToolResult},
        spec::{DocumentEntry, JobSpec},
    },
    prompt::fence::quoted,
    tokens::estimate,
};
use std::fmt::Write;

/// Tokens of a list's first and last line.
const LIST_FRAME_TOKENS: u64 = 60;

/// Tokens from which on the places of a document's long pages are listed: fewer come in one or two reads.
const ONE_READ_TOKENS: u64 = 4_000;

/// The factor of the usual length from which on a page is listed as long.
const LONG_PAGE: u64 = 2;

/// Parts of one document that are named in the list; the rest is counted.
pub(super) const MOST_PARTS: usize = 8;

/// The documents from a place on, with their lengths and the shares that were read, as many as fit into `most` tokens.
pub(super) fn list(
    spec: &JobSpec,
    coverage: &Coverage,
    workspace: &Workspace,
    document_cache: &mut DocumentCache,
    wanted: &ListDocuments,
    most: u64,
) -> Result<ToolResult, ToolError> {
    let mut long_pages = |document: &DocumentEntry| -> Result<Option<String>, ToolError> {
        if !document.paged || document.tokens <= ONE_READ_TOKENS {
            return Ok(None);
        }
        let text = document_cache.text(workspace, document)?;
        let pages: Vec<u64> = (1..=document.units).map(|page| estimate(text.range(page, page))).collect();
        Ok(uneven(&pages))
    };
    let tables = tables_of(spec, workspace)?;
    let mut more = |document: &DocumentEntry| {
        let of = tables.iter().find(|(other, _)| other.name == document.name);
        let mut told = of.map(|(_, tables)| told(tables)).unwrap_or_default();
        told.extend(long_pages(document)?);
        Ok(told)
    };
    listed(&spec.documents, coverage, wanted, most, &mut more).map(|text| ToolResult::plain(CallEnd::Done, text))
}

/// `about 300 tokens a page, but over 600 on pages 3, 17-18, at most 4,100`: where pages differ much in length.
fn uneven(pages: &[u64]) -> Option<String> {
    let longest = pages.iter().copied().max()?;
    let usual = pages.iter().sum::<u64>() / pages.len() as u64;
    let bound = usual * LONG_PAGE;
    if longest <= bound {
        return None;
    }
    let long: Vec<u64> = (1..).zip(pages).filter(|(_, tokens)| **tokens > bound).map(|(page, _)| page).collect();
    let spans: Vec<String> = long
        .chunk_by(|page, next| page + 1 == *next)
        .map(|span| match span {
            [first, .., last] => format!("{first}-{last}"),
            [] | [_] => span.iter().map(u64::to_string).collect(),
        })
        .collect();
    let more = if spans.len() > MOST_PARTS { " and others" } else { "" };
    let noun = if long.len() == 1 { "page" } else { "pages" };
    let places = format!("{noun} {}{more}", spans[..spans.len().min(MOST_PARTS)].join(", "));
    let (usual, bound, longest) = (grouped(usual), grouped(bound), grouped(longest));
    Some(answer!("document.long_pages", usual, bound, places, longest))
}

/// Returns the remarks on a document's tables and long pages.
type MoreTold<'a> = &'a mut dyn FnMut(&DocumentEntry) -> Result<Vec<String>, ToolError>;

fn listed(
    all: &[DocumentEntry],
    coverage: &Coverage,
    wanted: &ListDocuments,
    most: u64,
    more: MoreTold<'_>,
) -> Result<String, ToolError> {
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
        return Err(ToolError::Tell(answer!("document.list_ends", count)));
    }
    let mut lines = String::new();
    let mut spent = LIST_FRAME_TOKENS;
    let mut last = first - 1;
    for document in &documents[last..] {
        let line = line(coverage, document, more(document)?);
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
        let glob = wanted.glob.as_deref().map(|glob| format!("\"glob\": {}, ", quoted(glob))).unwrap_or_default();
        let call = format!("list_documents({{{glob}\"from\": {}}})", last + 1);
        text.push_str(&answer!("part.go_on", call));
    }
    text.truncate(text.trim_end().len());
    Ok(text)
}

/// `a.pdf (PDF, 12 pages, about 3400 tokens, 40 % shown) [not read: pages 3-4: no text on it, probably a scan]`.
fn line(coverage: &Coverage, document: &DocumentEntry, more: Vec<String>) -> String {
    let mut line = format!(
        "{} ({}, {} {}s, about {} tokens, {:.0} % shown)",
        document.name,
        document.format,
        document.units,
        document.unit(),
        document.tokens,
        coverage.share(document) * 100.0
    );
    let recognised = document.recognised.iter().map(|pages| format!("{pages} read once, from its picture"));
    let not_read = document.gaps.iter().map(|gap| format!("not read: {gap}"));
    let mut parts: Vec<String> = not_read.chain(recognised).collect();
    if parts.len() > MOST_PARTS {
        let more = parts.len() - MOST_PARTS;
        parts.truncate(MOST_PARTS);
        parts.push(format!("{more} more such parts"));
    }
    parts.extend(document.notes.iter().cloned().chain(more));
    if !parts.is_empty() {
        let _ = write!(line, " [{}]", parts.join("; "));
    }
    line.push('\n');
    line
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use overnight_core::job::{
        event::ShownPart,
        pages::{PageRange, UnreadPart},
    };

    /// A document with gaps, pages of which were recognised.
    pub(in crate::tool) fn document(name: &str) -> DocumentEntry {
        let gap = |from, to, why: &str| UnreadPart { pages: Some(PageRange { from, to }), why: why.to_owned() };
        DocumentEntry {
            name: name.to_owned(),
            sha256: String::new(),
            bytes: 0,
            dated: None,
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
            scan_sha256: None,
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
        let text = listed(&[document("a.pdf"), plain], &coverage, &ListDocuments::default(), 4_000, &mut |document| {
            Ok((document.name == "b.pdf").then(|| "a remark".to_owned()).into_iter().collect())
        })
        .unwrap();
        assert_eq!(
            text,
            "2 documents, about 6800 tokens:\n\
             a.pdf (PDF, 10 pages, about 3400 tokens, 25 % shown) [not read: pages 3-4: no text, probably a scan; \
             not read: page 9: damaged; not read: pages 11-20: cut off; pages 7-9 read once, from its picture; a note]\n\
             b.pdf (PDF, 10 pages, about 3400 tokens, 0 % shown) [a remark]"
        );
    }

    #[test]
    fn pages_that_are_much_longer_are_named() {
        let of = |long: &[(u64, u64)]| {
            let tokens = |page| long.iter().find(|(number, _)| *number == page).map_or(300, |(_, tokens)| *tokens);
            uneven(&(1..=20).map(tokens).collect::<Vec<u64>>())
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(7, 600)]), None);
        let told = answer!("document.long_pages", usual = 500, bound = "1,000", places = "page 7", longest = "4,300");
        assert_eq!(of(&[(7, 4_300)]), Some(told));
        let places = "pages 3, 17-18";
        let told = answer!("document.long_pages", usual = 545, bound = "1,090", places, longest = "2,300");
        assert_eq!(of(&[(3, 1_300), (17, 2_300), (18, 1_600), (20, 900)]), Some(told));
        assert_eq!(uneven(&[]), None);
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
            listed(&documents, &Coverage::default(), &wanted, 300, &mut |_| Ok(Vec::new()))
                .map_err(|error| error.to_string())
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
                answer!("part.go_on", call = format!("list_documents({{\"from\": {}}})", next + 1))
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
            "10 of 10000 documents, about 34000 tokens; here 10 to 10:\nin/00009.pdf (PDF, 10 pages, about 3400 tokens, 0 % shown)"
        );
        assert!(
            list(Some("0????.pdf"), None).unwrap().ends_with("list_documents({\"glob\": \"0????.pdf\", \"from\": 17})"),
            "{}",
            list(Some("0????.pdf"), None).unwrap()
        );
        assert_eq!(list(None, Some(10_001)).unwrap_err(), answer!("document.list_ends", count = 10_000));
    }
}
