//! The state that the rules keep from turn to turn, in the first line of `workspace.md`.

use super::{plan::Task, prompt_view::DocumentPlace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The current reading position, and the counts of records so far.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ReadingState {
    pub(super) task: Task,
    /// Those that were added to a result; empty: all documents are read.
    pub(super) added: Vec<String>,
    /// Documents that are read, where to go on in the next one, and the heading above that place.
    pub(super) read: usize,
    pub(super) next: DocumentPlace,
    pub(super) section: Option<String>,
    pub(super) is_reported: bool,
    pub(super) entries: usize,
    /// Entries by strength or verdict: of all documents, and of the current one.
    pub(super) totals: BTreeMap<String, u64>,
    pub(super) of_document: BTreeMap<String, u64>,
}

impl ReadingState {
    pub(super) fn new(task: Task) -> Self {
        Self { task, next: (1, 1), ..Self::default() }
    }

    pub(super) fn count(&mut self, what: &str) {
        self.entries += 1;
        *self.totals.entry(what.to_owned()).or_default() += 1;
        *self.of_document.entry(what.to_owned()).or_default() += 1;
    }
}

/// `MUST 12, SHOULD 3`, or `nothing`.
pub(super) fn in_words(totals: &BTreeMap<String, u64>) -> String {
    let listed: Vec<String> = totals.iter().map(|(what, count)| format!("{what} {count}")).collect();
    if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") }
}
