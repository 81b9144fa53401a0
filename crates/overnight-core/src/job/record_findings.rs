//! What is known of the records of one list beside their content: which of two readers has found them, what is held against them,
//! and what people have corrected in them.

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

/// Which of two readers has found a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// The one who wrote the deliverable.
    First,
    /// Only the second.
    Second,
    /// Both.
    Both,
}

impl FoundBy {
    /// As a table names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
            Self::Both => "both",
        }
    }

    /// As a sentence goes on behind "found".
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
    /// Where it is within its record: `.strength`; empty: the whole record.
    pub within: &'j str,
    /// What stands there now.
    pub after: &'j Value,
    /// Who has put it there.
    pub by: &'j str,
    /// All of it.
    pub finding: &'j Finding,
}

/// The findings of a job, by the records of one list.
#[derive(Debug)]
pub struct RecordFindings<'j> {
    job: &'j Job,
    is_read_twice: bool,
    /// What the second reading held against records, by document.
    held: HashMap<&'j str, Vec<&'j Finding>>,
    /// What a verifier holds against them, and nobody has settled.
    faults: Vec<&'j Finding>,
    /// What people corrected, by place, oldest first, each with its number among all findings.
    corrections: BTreeMap<&'j str, Vec<(usize, &'j Finding)>>,
    deleted: DeletedRecords,
}

impl<'j> RecordFindings<'j> {
    /// Of the list `each` (`$.requirements[*]`) of a deliverable.
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

    /// What the second reading held against the record with this quote, settled or not. `start` is the first byte of the quote in
    /// the document's text, where that is known: equal quotes differ by it.
    pub fn held(&self, document: &str, quote: &str, start: Option<u64>) -> Option<&'j Finding> {
        let is_of = |finding: &&&Finding| {
            let is_there = start.zip(finding.span.as_ref()).is_none_or(|(start, span)| start == span.start);
            is_there && finding.quote.as_deref().is_some_and(|known| quote.starts_with(known))
        };
        self.held.get(document)?.iter().find(is_of).copied()
    }

    /// What a verifier holds against the record at this place, and nobody has settled.
    pub fn faults(&self, record: &str) -> impl Iterator<Item = &'j Finding> {
        let is_at =
            |finding: &&Finding| finding.place.as_deref().and_then(|place| json_path::within(place, record)).is_some();
        self.faults.iter().copied().filter(is_at)
    }

    /// What people have corrected in the record at this place; of one field the last correction comes last, and counts.
    pub fn corrections(&self, record: &str) -> impl Iterator<Item = CorrectedField<'j>> {
        self.numbered_corrections(record).map(|(_, correction)| correction)
    }

    /// The same, each with its number among all findings.
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

    /// Puts into the record at this place what people have corrected in it, with the lines that they added to its lists; null where
    /// they deleted it.
    pub fn correct(&self, place: &str, record: &mut Value) {
        let mut corrections: Vec<_> = self.numbered_corrections(place).collect();
        corrections.sort_by_key(|(number, _)| *number);
        for (_, correction) in corrections {
            put(record, &format!("${}", correction.within), correction.after);
        }
    }

    /// The same without the lines that they deleted from its lists: places within the record change.
    pub fn correct_whole(&self, place: &str, record: &mut Value) {
        self.correct(place, record);
        self.deleted.within(place).remove_from(record);
    }

    /// The record at this place with what people have corrected in it.
    pub fn corrected<'v>(&self, place: &str, record: &'v Value) -> Cow<'v, Value> {
        let mut corrected = Cow::Borrowed(record);
        if self.corrections(place).next().is_some() {
            self.correct(place, corrected.to_mut());
        }
        corrected
    }

    /// What is wrong with a quote of the record, since a person has corrected it; none where it stands there, or nobody has.
    pub fn wrong_quote(&self, record: &str, key: &str) -> Option<String> {
        let quotes = self.corrections(record).flat_map(|correction| &correction.finding.quotes);
        quotes.filter(|quote| quote.item == record && quote.key == key).last()?.wrong.clone()
    }

    /// Who has found the record on this page or line; none where that part was not read twice. `held` is what the second reading
    /// held against it.
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
