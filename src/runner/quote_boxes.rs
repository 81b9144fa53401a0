//! The places of quotes of PDFs on the pictures of their pages. The file has a place for each word, which the extracted
//! text lacks: the document is read once more when the result is complete.

use super::quote_line::{QuoteBox, QuoteLine};
use crate::{table_query::DocumentReader, workspace::Workspace};
use overnight_core::job::{spec::DocumentEntry, state::Job};
use overnight_documents::{Format, MAX_BYTES, MarkedBox, Offsets, QuoteOnPage, Unit};
use std::collections::BTreeMap;

/// Quotes of a job that get boxes; later ones are found, but get none.
const MOST_QUOTES: usize = 20_000;

/// The same lines of `quotes.jsonl`, with boxes for quotes of PDFs that have none yet.
pub(super) fn add(lines: Vec<u8>, job: &Job, workspace: &Workspace, reader: &dyn DocumentReader) -> Vec<u8> {
    let is_pdf = |document: &DocumentEntry| document.paged && document.format == Format::Pdf.as_str();
    if !job.spec.documents.iter().any(is_pdf) {
        return lines;
    }
    let parsed = |line: &[u8]| serde_json::from_slice::<QuoteLine<'static>>(line).ok();
    let mut all: Vec<QuoteLine<'static>> = lines.split(|byte| *byte == b'\n').filter_map(parsed).collect();
    let mut by_document: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let wanted = all.iter().enumerate().filter(|(_, line)| line.boxes.is_empty() && line.start.is_some());
    for (at, line) in wanted.take(MOST_QUOTES) {
        by_document.entry(line.document.to_string()).or_default().push(at);
    }
    let mut is_changed = false;
    for (name, quotes) in by_document {
        let Some(document) = job.spec.named(&name).filter(|document| is_pdf(document)) else {
            continue;
        };
        let text = workspace.read_text_at_most(&document.text_path(), u64::MAX);
        let bytes = workspace.read_at_most(&format!("documents/{name}"), MAX_BYTES);
        let (Ok(text), Ok(bytes)) = (text, bytes) else { continue };
        let offsets = Offsets::new(Unit::Page, &text);
        let pieces: Vec<(u64, QuoteOnPage)> =
            quotes.iter().flat_map(|at| pieces(*at, &all[*at], &text, &offsets)).collect();
        for (page, MarkedBox { mark, x, y, width, height }) in reader.quote_boxes(&bytes, &pieces) {
            if let Some(line) = all.get_mut(mark) {
                line.boxes.push(QuoteBox { page, x, y, width, height });
                is_changed = true;
            }
        }
    }
    if !is_changed {
        return lines;
    }
    let mut written = Vec::with_capacity(lines.len());
    for line in &all {
        // Plain fields written to memory: this can't fail.
        if serde_json::to_writer(&mut written, line).is_ok() {
            written.push(b'\n');
        }
    }
    written
}

/// The parts of the quote number `mark` on each of its pages.
fn pieces(mark: usize, line: &QuoteLine<'_>, text: &str, offsets: &Offsets) -> Vec<(u64, QuoteOnPage)> {
    let pages = line.place.and_then(|place| Some((place.from.page?, place.to.page?)));
    let span = line.start.zip(line.end).and_then(|(start, end)| Some((start.try_into().ok()?, end.try_into().ok()?)));
    let (Some((first, last)), Some((start, end))): (_, Option<(usize, usize)>) = (pages, span) else {
        return Vec::new();
    };
    let piece = |page: u64| {
        let range = offsets.bytes(page, page);
        let (from, to) = (start.max(range.start), end.min(range.end));
        let text = text.get(from..to)?.trim_end_matches(['\n', '\u{c}']);
        let quote = QuoteOnPage { mark, at: from - range.start, text: text.to_owned(), boxes: Vec::new() };
        Some((page, quote)).filter(|_| !text.is_empty())
    };
    (first..=last).filter_map(piece).collect()
}
