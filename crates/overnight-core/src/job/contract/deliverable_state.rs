//! What the checks of one deliverable came to: for the contract, for the answer to whoever wrote the file, and for the board.

use super::Check;
use serde::{Deserialize, Serialize};

/// Characters of a failed check's detail that a state keeps.
const MOST_DETAIL: usize = 300;

/// The checks of one deliverable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedDeliverable {
    path: String,
    /// All that could be made.
    pub checks: Vec<Check>,
    /// Items of its list, where it has one.
    pub records: Option<u64>,
    /// None where no quotes were to be checked.
    pub quotes: Option<QuoteCount>,
}

/// How a deliverable stood when it was checked last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeliverableState {
    /// Relative to the workspace.
    pub path: String,
    /// Items of its list, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// None where no quotes were to be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<QuoteCount>,
    /// Checks that don't hold, each with the beginning of its detail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Check>,
}

/// Quotes that were found where they should stand, of all that were looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuoteCount {
    /// Where they should stand.
    pub found: u64,
    /// With those that could not be looked for.
    pub all: u64,
}

impl CheckedDeliverable {
    pub(super) fn new(path: &str) -> Self {
        Self { path: path.to_owned(), checks: Vec::new(), records: None, quotes: None }
    }

    pub(super) fn add(&mut self, what: &str, outcome: Result<String, String>) {
        let (passed, detail) = match outcome {
            Ok(detail) => (true, detail),
            Err(detail) => (false, detail),
        };
        self.checks.push(Check { name: format!("{}: {what}", self.path), passed, detail });
    }

    pub(super) fn count(&mut self, count: QuoteCount) {
        let all = self.quotes.get_or_insert_default();
        all.found += count.found;
        all.all += count.all;
    }

    /// What a job remembers of it.
    pub fn state(&self) -> DeliverableState {
        let brief = |check: &Check| {
            let mut detail: String = check.detail.chars().take(MOST_DETAIL).collect();
            if detail.len() < check.detail.len() {
                detail.push('…');
            }
            Check { detail, ..check.clone() }
        };
        let failed = self.checks.iter().filter(|check| !check.passed).map(brief).collect();
        DeliverableState { path: self.path.clone(), records: self.records, quotes: self.quotes, failed }
    }

    /// The outcome of every check in one short paragraph: `Schema: ok. Quotes: 3 of 3 found.` Empty where the file only has to
    /// be there.
    pub fn paragraph(&self) -> String {
        let sentences: Vec<String> = self
            .checks
            .iter()
            .filter_map(|check| {
                let what = check.name.get(self.path.len() + 2..)?;
                // That the file is there is no news to whoever wrote it.
                let is_news = !check.passed || !matches!(what, "exists" | "not empty");
                is_news.then(|| {
                    let mut letters = what.chars();
                    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
                    format!("{first}{}: {}", letters.as_str(), check.detail)
                })
            })
            .collect();
        sentences.join(" ")
    }
}
