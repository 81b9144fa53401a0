//! Reviews as the queues of batches show them, read once for each state of a job.

use crate::{review::QueuedReview, store::JobRow};
use overnight_core::job::{id::JobId, time::Timestamp};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Reviews that are kept, of all batches.
const MOST_KEPT: usize = 50_000;

/// Cached reviews, by job, with the state of the row for which they were read.
#[derive(Debug, Default)]
pub(super) struct KeptReviews(Mutex<HashMap<JobId, (Timestamp, Arc<QueuedReview>)>>);

impl KeptReviews {
    pub(super) fn get(&self, row: &JobRow) -> Option<Arc<QueuedReview>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&row.job.id).filter(|(at, _)| *at == row.updated).map(|(_, review)| review.clone())
    }

    pub(super) fn keep(&self, row: &JobRow, review: &Arc<QueuedReview>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(row.job.id, (row.updated, review.clone()));
    }
}
