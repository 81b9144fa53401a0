//! What the rules must remember between todos, kept in `work/position.json`: memory is files.

use super::{
    calls::{Call, write},
    seen::Seen,
    statements::{Code, Start, Strength},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(super) const PATH: &str = "work/position.json";

/// Where the reading is, and what was recorded so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Position {
    /// Records in the result file.
    pub(super) count: u64,
    /// Records by strength, or findings by verdict.
    pub(super) totals: BTreeMap<String, u64>,
    /// Findings by verdict and strength.
    pub(super) details: BTreeMap<String, u64>,
    /// The document that is being read, and the line from which to go on.
    pub(super) document: String,
    pub(super) next: u64,
    /// The stretch that was finished last: `name [from-to]`.
    pub(super) finished: String,
    /// What was open there.
    pub(super) section: Option<String>,
    #[serde(default)]
    pub(super) code: Code,
    pub(super) lead_in: Option<String>,
    /// Statements that were collected for a comparison.
    pub(super) standards: u64,
    pub(super) policies: u64,
    /// Estimated tokens of the collected policy statements.
    pub(super) policy_tokens: u64,
    /// Lines of the files that grow.
    #[serde(default)]
    pub(super) lines: BTreeMap<String, u64>,
}

impl Position {
    /// As the conversation shows it; `None` where it must be read first.
    pub(super) fn seen(seen: &Seen<'_>) -> Option<Self> {
        seen.file(PATH).and_then(|text| serde_json::from_str(text.trim()).ok())
    }

    pub(super) fn start(&self) -> Start {
        Start {
            section: self.section.clone(),
            code: self.code,
            lead_in: self.lead_in.as_deref().and_then(|word| word.parse::<Strength>().ok()),
        }
    }

    pub(super) fn stand_at(&mut self, document: &str, next: u64, start: &Start) {
        document.clone_into(&mut self.document);
        self.next = next;
        self.section.clone_from(&start.section);
        self.code = start.code;
        self.lead_in = start.lead_in.map(|strength| strength.to_string());
    }

    /// The call that keeps it.
    pub(super) fn save(&self) -> Call {
        // A plain tree of strings and numbers; writing it can't fail.
        write(PATH, &serde_json::to_string(self).unwrap_or_default())
    }

    pub(super) fn add(&mut self, what: &str) {
        *self.totals.entry(what.to_owned()).or_default() += 1;
    }

    /// `: MUST 12, SHOULD 3`, where there are any.
    pub(super) fn totals_words(&self) -> String {
        if self.totals.is_empty() { String::new() } else { format!(": {}", self.totals_line()) }
    }

    /// ` (MUST 12, SHOULD 3)`, where there are any.
    pub(super) fn totals_in_brackets(&self) -> String {
        if self.totals.is_empty() { String::new() } else { format!(" ({})", self.totals_line()) }
    }

    /// `MUST 12, SHOULD 3`.
    pub(super) fn totals_line(&self) -> String {
        self.totals.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_open_is_open_when_the_reading_goes_on() {
        for code in [Code::None, Code::Fenced, Code::Quoted] {
            let start = Start { section: Some("3.2 Doors".to_owned()), code, lead_in: Some(Strength::MustNot) };
            let mut position = Position::default();
            position.stand_at("a.md", 7, &start);
            let kept = serde_json::to_string(&position).expect("a position is written");
            let read: Position = serde_json::from_str(&kept).expect("and read");
            assert_eq!((read.document.as_str(), read.next, read.start()), ("a.md", 7, start));
        }
    }
}
