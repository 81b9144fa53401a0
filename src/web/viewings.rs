//! The parts of a result that people have had in view: kept until they accept it, then recorded.

use crate::review::JobReview;
use overnight_core::job::{
    id::JobId,
    seen_result::{ApprovalWay, SeenResult},
    time::Timestamp,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

/// The most pairs of person and job that are kept.
const MOST_KEPT: usize = 10_000;
/// Records that are named.
const MOST_PLACES: usize = 500;

/// The viewings of people, by job and name.
#[derive(Debug, Default)]
pub(super) struct Viewings(Mutex<HashMap<(JobId, String), Viewing>>);

/// The parts of one result that one person has had in view.
#[derive(Clone, Debug)]
struct Viewing {
    opened: Timestamp,
    /// How often the job had been sent back: afterwards it is a different result.
    result: usize,
    pages: BTreeSet<u64>,
    /// Records on these pages, and whether each is doubtful.
    on_pages: BTreeMap<String, bool>,
    /// The records that were in view according to the browser, and for how long the page was.
    in_view: BTreeSet<String>,
    visible_ms: Option<u64>,
}

impl Viewings {
    /// A page of the review was opened.
    pub(super) fn opened(&self, review: &JobReview, by: &str, now: Timestamp) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        let result = review.feedback.len();
        let fresh = || Viewing {
            opened: now,
            result,
            pages: BTreeSet::new(),
            on_pages: BTreeMap::new(),
            in_view: BTreeSet::new(),
            visible_ms: None,
        };
        let viewing = kept.entry((review.id, by.to_owned())).or_insert_with(fresh);
        if viewing.result != result {
            *viewing = fresh();
        }
        viewing.pages.insert(review.page as u64);
        let records = review.records.iter();
        viewing.on_pages.extend(records.map(|record| (place(&record.file, &record.place), record.is_doubtful())));
    }

    /// Notes that a page was in view for this long, with these of its records (by their elements).
    pub(super) fn seen(&self, review: &JobReview, by: &str, anchors: &[&str], visible_ms: u64) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(viewing) = kept.get_mut(&(review.id, by.to_owned())) else { return };
        let records = review.records.iter().filter(|record| anchors.contains(&record.anchor.as_str()));
        viewing.in_view.extend(records.map(|record| place(&record.file, &record.place)));
        *viewing.visible_ms.get_or_insert(0) += visible_ms;
    }

    /// The facts to record when `by` accepts the result.
    pub(super) fn told(&self, review: &JobReview, by: &str, way: ApprovalWay) -> SeenResult {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let viewing = kept.get(&(review.id, by.to_owned())).filter(|one| one.result == review.feedback.len());
        let Some(viewing) = viewing else { return SeenResult::unopened(way) };
        let places: Vec<String> = match viewing.visible_ms {
            Some(_) => viewing.in_view.iter().cloned().collect(),
            None => viewing.on_pages.keys().cloned().collect(),
        };
        let is_doubtful = |place: &&String| viewing.on_pages.get(*place).copied().unwrap_or_default();
        SeenResult {
            way,
            opened: Some(viewing.opened),
            pages: viewing.pages.iter().copied().collect(),
            visible_ms: viewing.visible_ms,
            records: places.len() as u64,
            all_records: review.record_count,
            doubtful: places.iter().filter(is_doubtful).count() as u64,
            // Records doubtful when viewed, and those doubtful now: individual approvals end a record's doubts.
            all_doubtful: review.doubtful.max(viewing.on_pages.values().filter(|doubtful| **doubtful).count() as u64),
            places: places.into_iter().take(MOST_PLACES).collect(),
        }
    }
}

fn place(file: &str, place: &str) -> String {
    format!("{file} {place}")
}
