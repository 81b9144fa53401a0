//! The reasons for a person to look at a record, and the order of doubtful records.

use super::{ReviewedQuote, ReviewedRecord};
use crate::runner::QuoteStatus;
use overnight_core::job::{instructions::CheckLevel, record_findings::FoundBy};
use std::cmp::Reverse;

/// A record's own confidence is low below this value, or below its job's floor if that is higher.
pub(super) const LOW_CONFIDENCE: f64 = 0.7;

/// Differences between two readings that are listed for one quote, at most.
const MOST_RUNS: usize = 5;

/// The kinds of doubt, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DoubtKind {
    /// It was refused when it was added, and is in no deliverable.
    Refused,
    /// Its quote doesn't stand where the record says, or a rule that its values must keep doesn't hold.
    FailedCheck,
    /// A rule for its values doesn't hold, or a value is not in its quote.
    Value,
    /// No record of the job quotes one of its documents, such as an amendment.
    Unquoted,
    /// A finding is open against it.
    OpenFinding,
    /// Only one of two readers of a scanned page has read words of its quote.
    OneReading,
    /// Only one of two readers has found it.
    FoundByOne,
    /// The model's confidence in it is low.
    LowConfidence,
    /// Its quote continues over the end of a page.
    OverBreak,
    /// The text was recognised in an image.
    Recognised,
}

impl DoubtKind {
    /// All kinds, the gravest first.
    pub const ALL: [Self; 10] = [
        Self::Refused,
        Self::FailedCheck,
        Self::Value,
        Self::Unquoted,
        Self::OpenFinding,
        Self::OneReading,
        Self::FoundByOne,
        Self::LowConfidence,
        Self::OverBreak,
        Self::Recognised,
    ];

    /// Its name as a filter.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused, not in the result",
            Self::FailedCheck => "failed check",
            Self::Value => "value in doubt",
            Self::Unquoted => "document without a quote",
            Self::OpenFinding => "open finding",
            Self::OneReading => "one reading",
            Self::FoundByOne => "found by one reader only",
            Self::LowConfidence => "low confidence",
            Self::OverBreak => "quote over a page break",
            Self::Recognised => "read once",
        }
    }

    /// Its name in the page's script.
    pub fn key(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::FailedCheck => "check",
            Self::Value => "value",
            Self::Unquoted => "unquoted",
            Self::OpenFinding => "finding",
            Self::OneReading => "reading",
            Self::FoundByOne => "one",
            Self::LowConfidence => "confidence",
            Self::OverBreak => "break",
            Self::Recognised => "ocr",
        }
    }
}

/// One reason to look at a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub kind: DoubtKind,
    /// The field or object that the doubt is about, `lines[2].amount`; `None`: the record as a whole.
    pub field: Option<String>,
    /// A sentence's beginning: "the quote isn't found in licence.pdf".
    pub why: String,
}

/// A rule for values that does not hold.
#[derive(Clone, Debug)]
pub struct BrokenRule {
    pub level: CheckLevel,
    /// The part of its record that the rule is about: `lines[2]`.
    pub field: Option<String>,
    /// A sentence's beginning.
    pub why: String,
}

/// The doubts about a record, the gravest first. `floor` is its job's confidence floor.
pub(super) fn doubts(record: &ReviewedRecord, floor: f64) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = Vec::new();
    let mut add_to = |field: Option<&String>, kind, why: String| {
        let doubt = Doubt { kind, field: field.cloned(), why };
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
    };
    for quote in &record.quotes {
        let field = quote.field.as_ref();
        let its = quote.its();
        if let Some(why) = failed_check(quote) {
            add_to(field, DoubtKind::FailedCheck, format!("{its} {why}"));
        }
        // A value corrected by a person is no longer doubtful.
        for value in quote.values.iter().filter(|value| !value.is_corrected) {
            add_to(Some(&value.field), DoubtKind::Value, value.told.clone());
        }
        if quote.is_over_break {
            add_to(field, DoubtKind::OverBreak, format!("{its} goes on over the end of a page"));
        }
        for words in quote.one_reading.iter().take(MOST_RUNS) {
            // A digit that the two readers read differently is graver than a word.
            let kind = if words.has_digit() { DoubtKind::Value } else { DoubtKind::OneReading };
            add_to(field, kind, format!("in {its} {}", words.told()));
        }
        if quote.is_recognised {
            add_to(
                field,
                DoubtKind::Recognised,
                format!("the words of {its} were read in a picture, by nothing else a second time"),
            );
        }
    }
    for BrokenRule { level, field, why } in &record.broken_rules {
        let kind = match level {
            CheckLevel::Fail => DoubtKind::FailedCheck,
            CheckLevel::Doubt => DoubtKind::Value,
        };
        add_to(field.as_ref(), kind, why.clone());
    }
    let mut add = |kind, why| add_to(None, kind, why);
    for finding in &record.findings {
        add(DoubtKind::OpenFinding, finding.told());
    }
    match record.found_by {
        Some(FoundBy::First) => add(DoubtKind::FoundByOne, "only the first reader has found it".to_owned()),
        Some(FoundBy::Second) => add(DoubtKind::FoundByOne, "only the second reader has found it".to_owned()),
        Some(FoundBy::Both) | None => {}
    }
    let floor = floor.max(LOW_CONFIDENCE);
    if let Some(confidence) = record.confidence.filter(|&confidence| confidence < floor) {
        add(DoubtKind::LowConfidence, format!("the model's confidence in it is {confidence:.2}, under {floor:.2}"));
    }
    doubts.sort_by_key(|doubt| doubt.kind);
    doubts
}

/// The reason why a quote is no evidence: a fragment that follows the quote's name in a sentence.
fn failed_check(quote: &ReviewedQuote) -> Option<String> {
    let document = &quote.document;
    let why = match quote.check? {
        QuoteStatus::Found => return None,
        QuoteStatus::OnAnotherPage => format!("stands on another page of {document} than the record says"),
        QuoteStatus::OnAnotherLine => format!("stands on another line of {document} than the record says"),
        QuoteStatus::TooShort => "is too short to prove anything".to_owned(),
        QuoteStatus::NotFound => format!("isn't found in {document}"),
        QuoteStatus::NoSuchDocument => format!("is said to stand in {document}, which this job does not have"),
    };
    let why = match &quote.wrong {
        Some(wrong) => format!("{why}: {}", wrong.trim_end_matches('.')),
        None => why,
    };
    Some(match &quote.gap {
        Some(gap) => format!("{why}; no text was got from the page that it names: {gap}"),
        None => why,
    })
}

/// The sort key of a record: whether it has no doubt, its gravest one, and their number.
pub(super) type DoubtOrder = (bool, Option<DoubtKind>, Reverse<usize>);

/// The gravest doubt first, then the most doubts. An accepted record keeps its place, so that a person who goes through
/// the records finds the next one after it.
pub(super) fn by_doubt(record: &ReviewedRecord) -> DoubtOrder {
    let gravest = record.doubts.first().map(|doubt| doubt.kind);
    (gravest.is_none(), gravest, Reverse(record.doubts.len()))
}
