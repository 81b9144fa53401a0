//! Findings: what a second reader, a verifier or a person found about a result, and how each finding was settled. All
//! of them are in `findings.jsonl` in the workspace, one JSON object each.

use super::{second_reading::QuoteSpan, time::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write;

/// The file in the workspace.
pub const FINDINGS_FILE: &str = "findings.jsonl";

/// A finding about a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The id: `r3` of the second reading, `v1.2` of a verifier's first round, `c1` of a person.
    pub id: String,
    /// The kind.
    pub kind: FindingKind,
    /// The finding in one or two sentences.
    pub text: String,
    /// The deliverable that a correction changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The place in the deliverable: `$.requirements[3]`, or a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The document to which it refers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// The page of that document, if it has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// The line of that document, if it has no pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The quoted words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The place of the quote; `None` if it was not found, or there is no quote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<QuoteSpan>,
    /// The record that one reader has and the other doesn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Value>,
    /// Quotes that a correction changed, with the results of a new search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<CorrectedQuote>,
    /// How it was settled; `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
}

/// The result of a search for a quote after a person has corrected it, its document or its page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorrectedQuote {
    /// The object that contains it: `$.requirements[3]`.
    pub item: String,
    /// Its key in that object.
    pub key: String,
    /// The line that `quotes.jsonl` would have for it; `None` if there is no quote any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Why it doesn't stand where the record says, with the nearest text; `None` if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
}

impl Finding {
    /// The finding in one line: `r3 only the second reader has it, licence.md 4: {"quote": …}`.
    pub fn told(&self) -> String {
        let mut text = format!("{} {}", self.id, self.kind.told());
        if self.kind.is_verifiers() || self.kind == FindingKind::Unread {
            let _ = write!(text, ": {}", self.text);
        }
        if let Some(place) = &self.place {
            let _ = write!(text, " at {place}");
        }
        if let Some(document) = self.document.as_ref().filter(|_| self.kind != FindingKind::Unread) {
            let _ = write!(text, ", {document}");
            let place = [("page", self.page), ("line", self.line)];
            for (unit, number) in place.into_iter().filter_map(|(unit, number)| Some((unit, number?))) {
                let _ = write!(text, " {unit} {number}");
            }
        }
        match (&self.record, &self.quote) {
            (Some(record), _) if self.kind == FindingKind::Missing => drop(write!(text, ": {record}")),
            (_, Some(quote)) => drop(write!(text, ": \"{quote}\"")),
            _ => {}
        }
        text
    }
}

/// The kind of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Only the second reader has this record.
    #[default]
    Missing,
    /// Only the first reader has this record.
    Unconfirmed,
    /// The second reader was not shown this part.
    Unread,
    /// The verifier rejects the result for this reason.
    Fault,
    /// The verifier came to no verdict.
    NoVerdict,
    /// A person has corrected a field.
    Correction,
}

impl FindingKind {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unconfirmed => "unconfirmed",
            Self::Unread => "unread",
            Self::Fault => "fault",
            Self::NoVerdict => "no_verdict",
            Self::Correction => "correction",
        }
    }

    /// The beginning of a sentence that states the kind.
    pub fn told(self) -> &'static str {
        match self {
            Self::Missing => "only the second reader has it",
            Self::Unconfirmed => "only the first reader has it",
            Self::Unread => "not read a second time",
            Self::Fault => "fault",
            Self::NoVerdict => "the verifier came to no verdict",
            Self::Correction => "corrected",
        }
    }

    /// Whether the verifier reports this kind.
    pub fn is_verifiers(self) -> bool {
        match self {
            Self::Missing | Self::Unconfirmed | Self::Unread | Self::Correction => false,
            Self::Fault | Self::NoVerdict => true,
        }
    }
}

/// How a finding was settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "how", rename_all = "snake_case", deny_unknown_fields)]
pub enum Settlement {
    /// The record is in the deliverable now.
    Added,
    /// The record is not in the deliverable any more.
    Dropped,
    /// It is no fault, and why.
    Explained {
        /// The reason, in the words of the person or model that gave it.
        reason: String,
    },
    /// A later round of the verifier judged the result again.
    JudgedAgain,
    /// A person corrected the value, in the file beside the model's.
    Corrected {
        /// The value as the model wrote it; null if there was none.
        before: Value,
        /// The corrected value.
        after: Value,
    },
}

impl Settlement {
    /// The settlement in a few words.
    pub fn told(&self) -> String {
        match self {
            Self::Added => "the record was added".to_owned(),
            Self::Dropped => "the record was dropped".to_owned(),
            Self::Explained { reason } => format!("no fault: {reason}"),
            Self::JudgedAgain => "judged again in the next round".to_owned(),
            Self::Corrected { before: Value::Null, after: after @ Value::Object(_) } => format!("{after} was added"),
            Self::Corrected { before: before @ Value::Object(_), after: Value::Null } => {
                format!("{before} was deleted")
            }
            Self::Corrected { before, after } => format!("{before} was corrected to {after}"),
        }
    }
}

/// How a finding was settled, by whom, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// The settlement.
    #[serde(flatten)]
    pub settlement: Settlement,
    /// Who settled it: `model`, or a person's name.
    pub by: String,
    /// The time of the decision.
    pub at: Timestamp,
}

/// The name of the model in settlements; people settle under their own names.
pub const BY_MODEL: &str = "model";

/// The number of findings by settlement. People's corrections are not counted, because they are no objection to the
/// reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingCounts {
    /// Records that only the second reader had, and that were added.
    pub added: u64,
    /// Records that only the first reader had, and that were dropped.
    pub dropped: u64,
    /// Findings settled with a reason.
    pub explained: u64,
    /// Findings that the verifier judged again.
    pub judged_again: u64,
    /// Findings that nobody has settled.
    pub open: u64,
}

impl FindingCounts {
    /// Counts the given findings.
    pub fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            let count = match finding.settled.as_ref().map(|settled| &settled.settlement) {
                Some(Settlement::Added) => &mut counts.added,
                Some(Settlement::Dropped) => &mut counts.dropped,
                Some(Settlement::Explained { .. }) => &mut counts.explained,
                Some(Settlement::JudgedAgain) => &mut counts.judged_again,
                Some(Settlement::Corrected { .. }) => continue,
                None => &mut counts.open,
            };
            *count += 1;
        }
        counts
    }

    /// The number of all findings.
    pub fn all(self) -> u64 {
        self.added + self.dropped + self.explained + self.judged_again + self.open
    }
}
