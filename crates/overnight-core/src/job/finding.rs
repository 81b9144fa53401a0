//! Findings: what a second reader, a verifier or a person holds against a result, and what became of each. All that there are stand in
//! `findings.jsonl` in the workspace, a JSON object each.

use super::{second_reading::QuoteSpan, time::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write;

/// The file in the workspace.
pub const FINDINGS_FILE: &str = "findings.jsonl";

/// What is held against a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// `r3` of the second reading, `v1.2` of a verifier's first round, `c1` of a person.
    pub id: String,
    /// What it says.
    pub kind: FindingKind,
    /// One or two sentences.
    pub text: String,
    /// The deliverable that a correction is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// In the deliverable: `$.requirements[3]`, or a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The document that it speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Of that document, where it has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Of that document, where it has no pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The words there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Where the quote was found; none where it was not, or there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<QuoteSpan>,
    /// The record that one reader has and the other doesn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Value>,
    /// Quotes that a correction made others of, looked for anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<CorrectedQuote>,
    /// None while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
}

/// What came of looking for a quote after a person had corrected it, its document or its page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorrectedQuote {
    /// The object that it stands in: `$.requirements[3]`.
    pub item: String,
    /// Its key there.
    pub key: String,
    /// The line that `quotes.jsonl` would have of it; none where there is nothing to look for any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Why it doesn't stand where the record says, and what comes nearest; none where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
}

impl Finding {
    /// `r3 only the second reader has it, licence.md 4: {"quote": …}`.
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

/// What a finding says.
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
    /// The verifier rejects the result for this.
    Fault,
    /// The verifier came to no verdict.
    NoVerdict,
    /// A person has corrected a field.
    Correction,
}

impl FindingKind {
    /// As a table names it.
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

    /// What it says, in a sentence's beginning.
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

    /// Whether the verifier says it.
    pub fn is_verifiers(self) -> bool {
        match self {
            Self::Missing | Self::Unconfirmed | Self::Unread | Self::Correction => false,
            Self::Fault | Self::NoVerdict => true,
        }
    }
}

/// What was done about a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "how", rename_all = "snake_case", deny_unknown_fields)]
pub enum Settlement {
    /// The record is in the deliverable now.
    Added,
    /// The record is not in the deliverable any more.
    Dropped,
    /// It is no fault, and why.
    Explained {
        /// In the words of who settled it.
        reason: String,
    },
    /// A later round of the verifier has judged anew.
    JudgedAgain,
    /// A person has put another value there, in the file beside the model's.
    Corrected {
        /// As the model wrote it; null where it was not there.
        before: Value,
        /// As it is to be.
        after: Value,
    },
}

impl Settlement {
    /// In a few words.
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

/// What was done about a finding, by whom, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// What was done.
    #[serde(flatten)]
    pub settlement: Settlement,
    /// `model`, or a person's name.
    pub by: String,
    /// Of the decision.
    pub at: Timestamp,
}

/// Who settles what nobody else is named for.
pub const BY_MODEL: &str = "model";

/// How many findings there are, by what became of them. A person's corrections are not among them: they hold nothing against the
/// reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingCounts {
    /// Records that only the second reader had, and that were added.
    pub added: u64,
    /// Records that only the first reader had, and that were dropped.
    pub dropped: u64,
    /// Settled with a reason.
    pub explained: u64,
    /// Judged again by the verifier.
    pub judged_again: u64,
    /// Settled by nobody.
    pub open: u64,
}

impl FindingCounts {
    /// Of some findings.
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

    /// All of them.
    pub fn all(self) -> u64 {
        self.added + self.dropped + self.explained + self.judged_again + self.open
    }
}
