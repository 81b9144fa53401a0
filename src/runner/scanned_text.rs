//! A document with scanned pages, for checking quotes page by page; each page is compared with its other reading once.

use super::scan_file::{self, ComparedPage, ComparedPassage, ScanLine};
use crate::workspace::Workspace;
use overnight_core::job::spec::DocumentEntry;
use overnight_documents::{Offsets, Unit};
use std::{collections::BTreeMap, ops::Range};

/// The text of a document, and the kept data of its scanned pages.
#[derive(Debug)]
pub(super) struct ScannedText {
    text: String,
    pages: Offsets,
    lines: BTreeMap<u64, ScanLine>,
    compared: BTreeMap<u64, ComparedPage>,
}

impl ScannedText {
    /// Unreadable data counts as empty: it causes no doubts.
    pub(super) fn read(workspace: &Workspace, document: &DocumentEntry) -> Self {
        let text = workspace.read_text_at_most(&document.text_path(), u64::MAX).unwrap_or_default();
        let (pages, lines) = (Offsets::new(Unit::Page, &text), scan_file::read(workspace, document));
        Self { text, pages, lines, compared: BTreeMap::new() }
    }

    /// The words of a passage that only one of two readings has, and its places on the pictures of its pages.
    pub(super) fn passage(&mut self, span: &Range<u64>) -> ComparedPassage {
        let [start, end] = [span.start, span.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        let mut whole = ComparedPassage::default();
        for (page, line) in &self.lines {
            let range = self.pages.bytes(*page, *page);
            if range.end <= start || end <= range.start {
                continue;
            }
            let text = &self.text[range.clone()];
            let compared = self.compared.entry(*page).or_insert_with(|| ComparedPage::new(line.clone(), text));
            let within = start.saturating_sub(range.start)..end.min(range.end) - range.start;
            let passage = compared.passage(text, &within);
            whole.of_one.extend(passage.of_one);
            whole.boxes.extend(passage.boxes);
        }
        whole
    }
}
