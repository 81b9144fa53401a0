//! Information on the records of one list beside their content: which of two readers found them, the findings on them,
//! and people's corrections.

use super::{
    contract::records::record_lists,
    corrected::{DeletedRecords, put},
    finding::{Finding, FindingKind, Settlement},
    instructions::Deliverable,
    json_path,
    read_unit::ReadUnit,
    state::Job,
};
use serde_json::Value;
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    ops::Bound,
};

/// The readers that found a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// The reader that wrote the deliverable.
    First,
    /// Only the second reader.
    Second,
    /// Both readers.
    Both,
}

impl FoundBy {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
            Self::Both => "both",
        }
    }

    /// The words that follow "found" in a sentence.
    pub fn told(self) -> &'static str {
        match self {
            Self::First => "by the first reader only",
            Self::Second => "by the second reader only",
            Self::Both => "by both readers",
        }
    }
}

/// A field that a person has corrected.
#[derive(Clone, Copy, Debug)]
pub struct CorrectedField<'j> {
    /// The place within its record: `.strength`; empty for the whole record.
    pub within: &'j str,
    /// The value now.
    pub after: &'j Value,
    /// The person who corrected it.
    pub by: &'j str,
    /// The whole finding.
    pub finding: &'j Finding,
}

/// The findings of a job, by the records of one list.
#[derive(Debug)]
pub struct RecordFindings<'j> {
    job: &'j Job,
    is_read_twice: bool,
    /// Findings of the second reading on records, by document.
    held: HashMap<&'j str, Vec<&'j Finding>>,
    /// Findings of a verifier on records that nobody has settled.
    faults: Vec<&'j Finding>,
    /// People's corrections by place, oldest first, each with its number among all findings.
    corrections: BTreeMap<&'j str, Vec<(usize, &'j Finding)>>,
    deleted: DeletedRecords,
}

impl<'j> RecordFindings<'j> {
    /// The findings on the list `each` (`$.requirements[*]`) of a deliverable.
    pub fn of(job: &'j Job, deliverable: &Deliverable, each: &str) -> Self {
        let reader = job.spec.instructions.second_reader.as_ref();
        let is_read_twice = reader.is_some_and(|reader| reader.deliverable == deliverable.path)
            && record_lists(deliverable).first().is_some_and(|first| first == each);
        let mut held: HashMap<&str, Vec<&Finding>> = HashMap::new();
        let mut corrections: BTreeMap<&str, Vec<(usize, &Finding)>> = BTreeMap::new();
        let mut faults = Vec::new();
        for (number, finding) in job.proof.findings.iter().enumerate() {
            match finding.kind {
                FindingKind::Missing | FindingKind::Unconfirmed => {
                    if let Some(document) = finding.document.as_deref().filter(|_| is_read_twice) {
                        held.entry(document).or_default().push(finding);
                    }
                }
                FindingKind::Fault | FindingKind::NoVerdict => {
                    faults.extend(finding.settled.is_none().then_some(finding));
                }
                FindingKind::Correction => {
                    let is_of_file = finding.file.as_ref() == Some(&deliverable.path);
                    if let Some(place) = finding.place.as_deref().filter(|_| is_of_file) {
                        corrections.entry(place).or_default().push((number, finding));
                    }
                }
                FindingKind::Unread => {}
            }
        }
        Self { job, is_read_twice, held, faults, corrections, deleted: job.deleted_records(&deliverable.path) }
    }

    /// Whether a second reader has read for this list.
    pub fn is_read_twice(&self) -> bool {
        self.is_read_twice
    }

    /// The finding of the second reading on the record with this quote, settled or not. `start` is the first byte of
    /// the quote in the document's text, if that is known: it distinguishes equal quotes.
    pub fn held(&self, document: &str, quote: &str, start: Option<u64>) -> Option<&'j Finding> {
        let is_of = |finding: &&&Finding| {
            let is_there = start.zip(finding.span.as_ref()).is_none_or(|(start, span)| start == span.start);
            is_there && finding.quote.as_deref().is_some_and(|known| quote.starts_with(known))
        };
        self.held.get(document)?.iter().find(is_of).copied()
    }

    /// The findings of a verifier on the record at this place that nobody has settled.
    pub fn faults(&self, record: &str) -> impl Iterator<Item = &'j Finding> {
        let is_at =
            |finding: &&Finding| finding.place.as_deref().and_then(|place| json_path::within(place, record)).is_some();
        self.faults.iter().copied().filter(is_at)
    }

    /// People's corrections in the record at this place; the last correction of a field comes last, and counts.
    pub fn corrections(&self, record: &str) -> impl Iterator<Item = CorrectedField<'j>> {
        self.numbered_corrections(record).map(|(_, correction)| correction)
    }

    /// These corrections, each with its number among all findings.
    fn numbered_corrections(&self, record: &str) -> impl Iterator<Item = (usize, CorrectedField<'j>)> {
        let from = self.corrections.range::<str, _>((Bound::Included(record), Bound::Unbounded));
        let of_record = from.take_while(move |(place, _)| place.starts_with(record));
        let all = of_record.flat_map(|(place, findings)| findings.iter().map(move |finding| (place, *finding)));
        all.filter_map(move |(place, (number, finding))| {
            let within = json_path::within(place, record)?;
            let settled = finding.settled.as_ref()?;
            let Settlement::Corrected { after, .. } = &settled.settlement else { return None };
            Some((number, CorrectedField { within, after, by: &settled.by, finding }))
        })
    }

    /// Whether a person has deleted the record at this place, or one that it is part of.
    pub fn is_deleted(&self, record: &str) -> bool {
        self.deleted.has(record)
    }

    /// Applies people's corrections to the record at this place, with the lines that they added to its lists; the
    /// record becomes null if they deleted it.
    pub fn correct(&self, place: &str, record: &mut Value) {
        let mut corrections: Vec<_> = self.numbered_corrections(place).collect();
        corrections.sort_by_key(|(number, _)| *number);
        for (_, correction) in corrections {
            put(record, &format!("${}", correction.within), correction.after);
        }
    }

    /// The same, but removes the lines that people deleted from its lists: places within the record change.
    pub fn correct_whole(&self, place: &str, record: &mut Value) {
        self.correct(place, record);
        self.deleted.within(place).remove_from(record);
    }

    /// The record at this place with people's corrections.
    pub fn corrected<'v>(&self, place: &str, record: &'v Value) -> Cow<'v, Value> {
        let mut corrected = Cow::Borrowed(record);
        if self.corrections(place).next().is_some() {
            self.correct(place, corrected.to_mut());
        }
        corrected
    }

    /// The fault of a quote of the record after a person's correction; `None` if there is no fault or no correction.
    pub fn wrong_quote(&self, record: &str, key: &str) -> Option<String> {
        let quotes = self.corrections(record).flat_map(|correction| &correction.finding.quotes);
        quotes.filter(|quote| quote.item == record && quote.key == key).last()?.wrong.clone()
    }

    /// The readers that found the record on this page or line; `None` if that part was not read twice. `held` is the
    /// finding of the second reading on it.
    pub fn found_by(&self, held: Option<&Finding>, document: &str, unit: u64) -> Option<FoundBy> {
        let reading = self.job.proof.reading.as_ref().filter(|reading| reading.comparison.is_some())?;
        match held.map(|finding| finding.kind) {
            Some(FindingKind::Missing) => Some(FoundBy::Second),
            Some(FindingKind::Unconfirmed) => Some(FoundBy::First),
            Some(FindingKind::Unread | FindingKind::Fault | FindingKind::NoVerdict | FindingKind::Correction)
            | None => {
                let is_read = |part: &ReadUnit| part.document == document && (part.from..=part.to).contains(&unit);
                (self.is_read_twice && reading.read.iter().any(is_read)).then_some(FoundBy::Both)
            }
        }
    }
}
