//! One job's review in the queue of a batch: how much of it is doubtful, and its gravest doubts.

use super::{DoubtKind, JobReview};
use overnight_core::amount::grouped;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

/// A job in the queue of reviews.
#[derive(Clone, Debug)]
pub struct QueuedReview {
    /// The name of its document.
    pub title: String,
    pub records: u64,
    /// Records in doubt that nobody has accepted, refused ones, and findings that belong to no record.
    pub doubtful: u64,
    /// Documents, if the job has several, that no record quotes.
    pub unquoted: u64,
    /// Fields that the documents lack, as the model states.
    pub absent: u64,
    /// Fields, except those of lines, that at least one of its records has, and those that none has.
    pub filled: BTreeSet<String>,
    pub lacking: BTreeSet<String>,
    /// The kinds of doubt of the gravest record.
    pub kinds: Vec<DoubtKind>,
    /// The first doubt, a sentence's beginning.
    pub first: Option<String>,
    pub corrections: u32,
    /// Each person's verdict: whether the result was right as it was.
    pub judgements: BTreeMap<String, bool>,
    /// How often it was sent back.
    pub sent_back: usize,
    pub has_result: bool,
    /// A person has accepted the whole result, or each record.
    pub is_approved: bool,
}

impl QueuedReview {
    pub fn of(review: &JobReview) -> Self {
        let gravest = review.records.iter().find(|record| record.is_doubtful());
        let mut kinds: Vec<DoubtKind> = Vec::new();
        if !review.refused.is_empty() {
            kinds.push(DoubtKind::Refused);
        }
        for doubt in gravest.into_iter().flat_map(|record| &record.doubts) {
            if !kinds.contains(&doubt.kind) {
                kinds.push(doubt.kind);
            }
        }
        if !(review.findings.is_empty() || kinds.contains(&DoubtKind::OpenFinding)) {
            kinds.push(DoubtKind::OpenFinding);
        }
        if !review.unquoted.is_empty() {
            kinds.push(DoubtKind::Unquoted);
            kinds.sort_unstable();
        }
        let first = gravest.and_then(|record| record.doubts.first()).map(|doubt| doubt.why.clone());
        let unquoted = || review.unquoted.first().map(|name| format!("no record quotes {name}"));
        let is_every = review.present() > 0
            && review.pages() == 1
            && review.records.iter().all(|record| record.is_deleted || record.approval.is_some());
        let (filled, lacking) = fields(review);
        Self {
            filled,
            lacking,
            title: review.title(),
            records: review.present(),
            doubtful: review.doubtful + (review.refused.len() + review.findings.len()) as u64,
            unquoted: review.unquoted.len() as u64,
            absent: review.records.iter().filter(|record| !record.is_deleted).map(super::ReviewedRecord::absent).sum(),
            kinds,
            first: first.or_else(|| review.findings.first().map(super::JobFinding::told)).or_else(unquoted),
            corrections: review.corrections,
            judgements: review.judgements.clone(),
            sent_back: review.feedback.len(),
            has_result: review.has_result,
            is_approved: !review.approvals.is_empty()
                || is_every && review.refused.is_empty() && review.findings.is_empty(),
        }
    }

    /// Whether nothing in it is doubtful: there are records, and the program has no objection to them.
    pub fn is_clear(&self) -> bool {
        self.records > 0 && self.doubtful == 0 && self.unquoted == 0
    }

    /// Its place in the queue: the gravest doubt first; a job without any record is graver than all others.
    pub fn order(&self) -> (bool, bool, Option<DoubtKind>, Reverse<u64>) {
        (self.records > 0, self.is_clear(), self.kinds.first().copied(), Reverse(self.doubtful))
    }

    /// `2 of 8 records in doubt, 1 field not there`; `compared`: other jobs of its batch make it doubtful.
    pub fn counted(&self, compared: bool) -> String {
        let records = match (self.records, self.doubtful) {
            (0, 0) => "no record".to_owned(),
            (records, 0) if self.unquoted > 0 || compared => counted_records(records),
            (records, 0) => format!("{}, no doubts", counted_records(records)),
            (records, doubtful) => format!("{} of {} in doubt", grouped(doubtful), counted_records(records)),
        };
        let unquoted = match self.unquoted {
            0 => String::new(),
            1 => ", 1 document not quoted".to_owned(),
            unquoted => format!(", {} documents not quoted", grouped(unquoted)),
        };
        let absent = match self.absent {
            0 => String::new(),
            1 => ", 1 field not there".to_owned(),
            absent => format!(", {} fields not there", grouped(absent)),
        };
        records + &unquoted + &absent
    }
}

/// The fields that some of its records have, and those that none of them has.
fn fields(review: &JobReview) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut filled, mut lacking) = (BTreeSet::new(), BTreeSet::new());
    for record in review.records.iter().filter(|record| !record.is_deleted) {
        for field in record.shown_fields().filter(|field| !field.name.contains('[')) {
            let is_absent = field.is_null && field.corrected.is_none();
            let names = if is_absent { &mut lacking } else { &mut filled };
            names.insert(field.name.clone());
        }
    }
    lacking.retain(|name| !filled.contains(name));
    (filled, lacking)
}

fn counted_records(number: u64) -> String {
    if number == 1 { "1 record".to_owned() } else { format!("{} records", grouped(number)) }
}
