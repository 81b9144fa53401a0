//! A document with scanned pages, as quotes are looked at in it: page by page, each compared with its other reading once.

use super::{
    quote_line::{OneReading, QuoteBox},
    scan_file::{self, ComparedPage, ScanLine},
};
use crate::workspace::Workspace;
use overnight_core::job::spec::DocumentEntry;
use std::{collections::BTreeMap, ops::Range};

/// The text of a document, and what is kept of its scanned pages.
#[derive(Debug)]
pub(super) struct ScannedText {
    text: String,
    /// The bytes of each page, in their order.
    pages: Vec<Range<usize>>,
    lines: BTreeMap<u64, ScanLine>,
    compared: BTreeMap<u64, ComparedPage>,
}

impl ScannedText {
    /// What can't be read is empty: no doubt comes of it.
    pub(super) fn read(workspace: &Workspace, document: &DocumentEntry) -> Self {
        let text = workspace.read_text_at_most(&document.text_path(), u64::MAX).unwrap_or_default();
        let mut at = 0;
        let pages = text.split('\u{c}').map(|page| {
            let range = at..at + page.len();
            at = range.end + 1;
            range
        });
        let pages = pages.collect();
        Self { text, pages, lines: scan_file::read(workspace, document), compared: BTreeMap::new() }
    }

    /// Words of a passage that only one of two readings has, and where it stands on the pictures of its pages.
    pub(super) fn passage(&mut self, span: &Range<u64>) -> (Vec<OneReading>, Vec<QuoteBox>) {
        let [start, end] = [span.start, span.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        let (mut words, mut boxes) = (Vec::new(), Vec::new());
        for (page, range) in (1..).zip(&self.pages) {
            if range.end <= start || end <= range.start {
                continue;
            }
            let Some(line) = self.lines.get(&page) else { continue };
            let text = &self.text[range.clone()];
            let compared = self.compared.entry(page).or_insert_with(|| ComparedPage::new(line.clone(), text));
            let within = start.saturating_sub(range.start)..end.min(range.end) - range.start;
            let passage = compared.passage(text, &within);
            words.extend(passage.of_one);
            boxes.extend(passage.boxes.into_iter().map(|word| QuoteBox {
                page,
                x: word.x,
                y: word.y,
                width: word.width,
                height: word.height,
            }));
        }
        (words, boxes)
    }
}
