//! Compares both readers' lists: the records that both have, those that only one has, and an estimate of all records. A
//! record that only one has becomes a finding; the place of its quote shows whether a finding is settled.

use super::{
    finding::{Finding, FindingKind, Settlement},
    read_unit::ReadUnit,
    second_reading::{AmbiguousGroup, QuoteSpan, RecordEstimate, align, chapman, overlaps},
};
use crate::tokens::head;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Tokens of a record that a finding repeats.
const RECORD_TOKENS: u64 = 500;
/// Tokens of a quote that a finding repeats.
const QUOTE_TOKENS: u64 = 200;
/// Groups of records without a clear partner that are named; the rest are counted.
const MOST_GROUPS: usize = 50;

/// A record of a list, with the place of its quote in the document.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRecord {
    /// The record's place in its file: `$.requirements[3]`.
    pub item: String,
    /// Where its quote was found.
    pub span: QuoteSpan,
    /// The page on which the quote begins, or the line if there are no pages.
    pub unit: u64,
    /// The page or line on which the quote ends.
    pub last_unit: u64,
    /// The first page again, if there are pages.
    pub page: Option<u64>,
    /// The quote, as the record has it.
    pub quote: String,
    /// The whole record.
    pub record: Value,
}

/// Both lists of records whose quotes were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lists {
    /// The deliverable's list.
    pub first: Vec<ListedRecord>,
    /// The second readers' list.
    pub second: Vec<ListedRecord>,
}

/// The result of a comparison, within the parts that were read twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Records of the first reader.
    pub first: u64,
    /// Records of the second reader.
    pub second: u64,
    /// Records that both have.
    pub both: u64,
    /// An estimate of all records from the overlap of both lists; `None` if they have nothing in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<RecordEstimate>,
    /// Records at places that both have seen, whose partner could not be determined: neither list counts them.
    pub ambiguous: u64,
    /// The ambiguous records, by their places in both lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<PlaceGroup>,
}

impl Comparison {
    /// The number of ambiguous records, as a part of a sentence; empty if there are none.
    pub fn unmatched(&self) -> String {
        match self.ambiguous {
            0 => String::new(),
            number => format!(", {number} at places where both have records and not equally many"),
        }
    }

    /// The estimate, for people.
    pub fn estimated(&self) -> String {
        match self.estimate {
            Some(RecordEstimate { records, low, high }) => {
                format!("about {records:.0} exist (95 %, if both read independently: {low:.0} to {high:.0})")
            }
            None => "how many exist can't be estimated, because the lists have nothing in common".to_owned(),
        }
    }
}

/// Records that overlap, and are not equally many in both lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceGroup {
    /// The document.
    pub document: String,
    /// Page, or line where there are no pages.
    pub unit: u64,
    /// Places in the deliverable.
    pub first: Vec<String>,
    /// Places in the second list.
    pub second: Vec<String>,
}

/// Compares the lists within the parts that were `read` twice, and makes a finding of each record that only one has. A
/// quote that crosses the edge of a part is not whole in it, and is left out of both lists.
pub fn compare(lists: &Lists, read: &[ReadUnit]) -> (Comparison, Vec<Finding>) {
    let is_read = |listed: &&ListedRecord| {
        let is_whole = |unit: &ReadUnit| unit.from <= listed.unit && listed.last_unit <= unit.to;
        read.iter().any(|unit| unit.document == listed.span.document && is_whole(unit))
    };
    let first: Vec<&ListedRecord> = lists.first.iter().filter(is_read).collect();
    let second: Vec<&ListedRecord> = lists.second.iter().filter(is_read).collect();
    let spans = |list: &[&ListedRecord]| list.iter().map(|listed| listed.span.clone()).collect::<Vec<_>>();
    let aligned = align(&spans(&first), &spans(&second));
    let (both, only_first, only_second) =
        (aligned.pairs.len() as u64, aligned.only_first.len() as u64, aligned.only_second.len() as u64);
    let ambiguous = first.len() as u64 + second.len() as u64 - 2 * both - only_first - only_second;
    let comparison = Comparison {
        first: both + only_first,
        second: both + only_second,
        both,
        // Lists with nothing in common allow no estimate.
        estimate: (both > 0).then(|| chapman(both + only_first, both + only_second, both)),
        ambiguous,
        groups: aligned.ambiguous.iter().take(MOST_GROUPS).map(|group| named(group, &first, &second)).collect(),
    };
    let missing = aligned.only_second.iter().map(|place| (FindingKind::Missing, second[*place]));
    let unconfirmed = aligned.only_first.iter().map(|place| (FindingKind::Unconfirmed, first[*place]));
    let findings = (1..).zip(missing.chain(unconfirmed)).map(|(number, (kind, listed))| finding(number, kind, listed));
    (comparison, findings.collect())
}

fn named(group: &AmbiguousGroup, first: &[&ListedRecord], second: &[&ListedRecord]) -> PlaceGroup {
    let items =
        |places: &[usize], list: &[&ListedRecord]| places.iter().map(|place| list[*place].item.clone()).collect();
    let any = group.first.first().map(|place| first[*place]).or(group.second.first().map(|place| second[*place]));
    PlaceGroup {
        document: any.map_or_else(String::new, |listed| listed.span.document.clone()),
        unit: any.map_or(0, |listed| listed.unit),
        first: items(&group.first, first),
        second: items(&group.second, second),
    }
}

fn finding(number: u64, kind: FindingKind, listed: &ListedRecord) -> Finding {
    let text = match kind {
        FindingKind::Missing => "the second reader lists this record, and the deliverable does not",
        _ => "the deliverable has this record, and the second reader does not list it",
    };
    // A record may be larger than a finding can repeat.
    let record = Some(&listed.record).filter(|record| crate::tokens::estimate(&record.to_string()) <= RECORD_TOKENS);
    Finding {
        id: format!("r{number}"),
        kind,
        text: text.to_owned(),
        file: None,
        place: (kind == FindingKind::Unconfirmed).then(|| listed.item.clone()),
        document: Some(listed.span.document.clone()),
        page: listed.page,
        line: listed.page.is_none().then_some(listed.unit),
        quote: Some(head(&listed.quote, QUOTE_TOKENS).to_owned()),
        span: Some(listed.span.clone()),
        record: record.cloned(),
        quotes: Vec::new(),
        settled: None,
    }
}

/// Findings that the list, as it is now, has settled: a missing record is there, or an unconfirmed one is gone.
pub fn settled_by(findings: &[Finding], first: &[ListedRecord]) -> Vec<(String, Settlement)> {
    let open = findings.iter().filter(|finding| finding.settled.is_none());
    open.filter_map(|finding| {
        let span = finding.span.as_ref()?;
        let settlement = match finding.kind {
            FindingKind::Missing => {
                first.iter().any(|listed| overlaps(&listed.span, span)).then_some(Settlement::Added)?
            }
            FindingKind::Unconfirmed => {
                (!first.iter().any(|listed| listed.span == *span)).then_some(Settlement::Dropped)?
            }
            FindingKind::Unread | FindingKind::Fault | FindingKind::NoVerdict | FindingKind::Correction => return None,
        };
        Some((finding.id.clone(), settlement))
    })
    .collect()
}
