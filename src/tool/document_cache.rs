//! A cache of the documents' extracted text, kept in memory between calls, because a long document is read page after page.

use super::ToolError;
use crate::workspace::Workspace;
use overnight_core::{
    answer,
    job::spec::{DocumentEntry, JobSpec},
};
use overnight_documents::{Offsets, QuoteIndex, Unit};
use std::collections::BTreeMap;

/// The most bytes of text that are kept; the least recently opened is dropped first.
const KEPT_BYTES: usize = 4 << 20;

/// Bytes of a wrong name that are compared with the right ones and repeated.
const MOST_NAME_BYTES: usize = 200;

/// One document's text with the places of its pages or lines.
#[derive(Debug)]
pub struct DocumentText {
    pub whole: String,
    pub offsets: Offsets,
    used: u64,
}

impl DocumentText {
    /// Units `from` to `to`, both included.
    pub fn range(&self, from: u64, to: u64) -> &str {
        self.offsets.range(&self.whole, from, to)
    }
}

/// The most recently opened texts, within a limit.
#[derive(Debug, Default)]
pub struct DocumentCache {
    texts: BTreeMap<String, DocumentText>,
    clock: u64,
}

/// The unit in which a document is counted.
pub(super) fn unit(document: &DocumentEntry) -> Unit {
    if document.paged { Unit::Page } else { Unit::Line }
}

impl DocumentCache {
    /// The text of `document`.
    pub fn text(&mut self, workspace: &Workspace, document: &DocumentEntry) -> Result<&DocumentText, ToolError> {
        self.clock += 1;
        let clock = self.clock;
        if !self.texts.contains_key(&document.name) {
            let text = workspace.read_text(&document.text_path())?;
            self.make_room(text.len());
            let offsets = Offsets::new(unit(document), &text);
            self.texts.insert(document.name.clone(), DocumentText { whole: text, offsets, used: clock });
        }
        let text = self.texts.get_mut(&document.name).ok_or_else(|| ToolError::Tell(answer!("document.no_text")))?;
        text.used = clock;
        Ok(text)
    }

    fn make_room(&mut self, bytes: usize) {
        while self.texts.values().map(|text| text.whole.len()).sum::<usize>() + bytes > KEPT_BYTES {
            let Some(oldest) = self.texts.iter().min_by_key(|(_, text)| text.used).map(|(name, _)| name.clone()) else {
                break;
            };
            self.texts.remove(&oldest);
        }
    }

    /// An index of one document for finding quotes in it.
    pub fn quotes(workspace: &Workspace, document: &DocumentEntry) -> Result<QuoteIndex, ToolError> {
        let text = workspace.read_text(&document.text_path())?;
        Ok(QuoteIndex::new(unit(document), text))
    }
}

/// The document that a model means: its name, or its path under `documents/`.
pub(super) fn find_document<'a>(spec: &'a JobSpec, name: &str) -> Result<&'a DocumentEntry, ToolError> {
    let plain = name.trim().trim_start_matches("./");
    let plain = plain.strip_prefix("documents/").unwrap_or(plain);
    spec.named(name).ok_or_else(|| {
        let cut = plain.floor_char_boundary(MOST_NAME_BYTES);
        if cut < plain.len() {
            return ToolError::Tell(answer!("document.unknown", name = format!("{}…", &plain[..cut])));
        }
        let nearest = spec
            .documents
            .iter()
            .map(|document| (strsim::jaro_winkler(plain, &document.name), &document.name))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        ToolError::Tell(match nearest {
            Some((likeness, near)) if likeness > 0.75 => answer!("document.unknown_but_near", name, near),
            Some(_) | None => answer!("document.unknown", name),
        })
    })
}
