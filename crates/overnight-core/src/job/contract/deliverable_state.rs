//! The results of one deliverable's checks: for the contract, for the answer to the file's writer, and for the board.

use super::Check;
use crate::amount::grouped;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt::Write as _};

/// Doubts of one file that are named.
const MOST_DOUBTS: usize = 10_000;
/// Doubts that the writer of the file is shown.
const TOLD_DOUBTS: usize = 5;
/// Documents whose records are counted.
const MOST_DOCUMENTS: usize = 10_000;
/// Characters of a failed check's detail that a state keeps.
const MOST_DETAIL: usize = 300;

/// The checks of one deliverable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedDeliverable {
    path: String,
    /// All checks that could be made.
    pub checks: Vec<Check>,
    /// The number of items of its list, if it has one.
    pub records: Option<u64>,
    /// The counts of quotes; `None` if there were no quotes to check.
    pub quotes: Option<QuoteCount>,
    /// Doubts for a person, in the order of the file; only the first ones if there are very many.
    pub doubts: Vec<ValueDoubt>,
    /// How many doubts there are.
    pub doubtful: u64,
    /// The number of its records by the document that their quotes name.
    documents: BTreeMap<String, u64>,
}

/// A doubt about a record's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueDoubt {
    /// The record, `$.items[3]`, or the whole file, `$`.
    pub place: String,
    /// A sentence's beginning: "'amount' 1280 does not stand in its quote".
    pub why: String,
}

/// The state of a deliverable at its last check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeliverableState {
    /// Relative to the workspace.
    pub path: String,
    /// The number of items of its list, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// The counts of quotes; `None` if there were no quotes to check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<QuoteCount>,
    /// The number of values that a person should look at.
    #[serde(default, skip_serializing_if = "crate::amount::is_zero")]
    pub doubts: u64,
    /// Checks that don't hold, each with the beginning of its detail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Check>,
    /// The number of its records by the document that their quotes name. In the journal only documents whose number has
    /// changed, with 0 if there are none any more.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub documents: BTreeMap<String, u64>,
}

/// Quotes that were found where they should stand, of all that were looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuoteCount {
    /// Quotes that were found where they should stand.
    pub found: u64,
    /// All quotes, including those that could not be looked for.
    pub all: u64,
}

impl CheckedDeliverable {
    pub(super) fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            checks: Vec::new(),
            records: None,
            quotes: None,
            doubts: Vec::new(),
            doubtful: 0,
            documents: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, what: &str, outcome: Result<String, String>) {
        let (passed, detail) = match outcome {
            Ok(detail) => (true, detail),
            Err(detail) => (false, detail),
        };
        self.checks.push(Check::new(format!("{}: {what}", self.path), passed, detail));
    }

    /// Marks the check that was added last, if it fails, as failing only for content that is still to be written.
    pub(super) fn call_unfinished(&mut self) {
        if let Some(check) = self.checks.last_mut() {
            check.unfinished = !check.passed;
        }
    }

    /// Counts a record whose quote names this document.
    pub(super) fn count_of(&mut self, document: &str) {
        if let Some(count) = self.documents.get_mut(document) {
            *count += 1;
        } else if self.documents.len() < MOST_DOCUMENTS {
            self.documents.insert(document.to_owned(), 1);
        }
    }

    /// Adds a doubt for a person.
    pub(super) fn doubt(&mut self, place: &str, why: String) {
        self.doubtful += 1;
        if self.doubts.len() < MOST_DOUBTS {
            self.doubts.push(ValueDoubt { place: place.to_owned(), why });
        }
    }

    pub(super) fn count(&mut self, count: QuoteCount) {
        let all = self.quotes.get_or_insert_default();
        all.found += count.found;
        all.all += count.all;
    }

    /// The state that a job keeps.
    pub fn state(&self) -> DeliverableState {
        let brief = |check: &Check| {
            let mut detail: String = check.detail.chars().take(MOST_DETAIL).collect();
            if detail.len() < check.detail.len() {
                detail.push('…');
            }
            Check { detail, ..check.clone() }
        };
        let failed = self.checks.iter().filter(|check| !check.passed).map(brief).collect();
        let documents = self.documents.clone();
        let doubts = self.doubtful;
        DeliverableState {
            path: self.path.clone(),
            records: self.records,
            quotes: self.quotes,
            doubts,
            failed,
            documents,
        }
    }

    /// The outcome of every check in one short paragraph: `Schema: ok. Quotes: 3 of 3 found.` Empty if the file only
    /// has to exist.
    pub fn paragraph(&self) -> String {
        let sentences: Vec<String> = self
            .checks
            .iter()
            .filter_map(|check| {
                let what = check.name.get(self.path.len() + 2..)?;
                // The writer of the file already knows that it exists.
                let is_news = !check.passed || !matches!(what, "exists" | "not empty");
                is_news.then(|| {
                    let mut letters = what.chars();
                    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
                    format!("{first}{}: {}", letters.as_str(), check.detail)
                })
            })
            .collect();
        let mut text = sentences.join(" ");
        if self.doubtful > 0 {
            let told = self.doubts.iter().take(TOLD_DOUBTS).map(|doubt| format!("{}: {}", doubt.place, doubt.why));
            text.push_str(if text.is_empty() { "" } else { " " });
            let _ = write!(text, "{}: {}", doubts_told(self.doubtful), told.collect::<Vec<_>>().join("; "));
            text.push_str(if self.doubtful > TOLD_DOUBTS as u64 { "; and more." } else { "." });
        }
        text
    }
}

/// For people: `3 values are in doubt`.
pub fn doubts_told(number: u64) -> String {
    if number == 1 { "1 value is in doubt".to_owned() } else { format!("{} values are in doubt", grouped(number)) }
}

impl DeliverableState {
    /// Keeps only what has changed since `before`: the documents whose number of records is a different one.
    pub(crate) fn keep_news(&mut self, before: Option<&Self>) {
        let empty = BTreeMap::new();
        let before = before.map_or(&empty, |before| &before.documents);
        let gone: Vec<String> = before.keys().filter(|name| !self.documents.contains_key(*name)).cloned().collect();
        self.documents.retain(|name, count| before.get(name) != Some(count));
        self.documents.extend(gone.into_iter().map(|name| (name, 0)));
    }

    /// The complete state, after [`Self::keep_news`] kept only what has changed since `before`.
    pub(crate) fn with_known(mut self, before: Option<Self>) -> Self {
        let mut documents = before.map(|before| before.documents).unwrap_or_default();
        documents.append(&mut self.documents);
        documents.retain(|_, count| *count > 0);
        Self { documents, ..self }
    }
}
