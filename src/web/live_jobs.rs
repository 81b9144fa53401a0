//! All jobs as the lists show them, read from the database once for all who look.
//!
//! Only rows that were written since the last time are read anew. While somebody watches, one task reads about once a second
//! and tells all watchers through one channel; when nobody does, it ends, and a page that is asked for reads by itself.

use super::WebError;
use crate::store::{BatchTotals, JobFilter, JobRow, Store, StoreError};
use overnight_core::job::{id::JobId, time::Timestamp};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Mutex, watch},
    time::Instant,
};
use uuid::Uuid;

/// Between two readings, while somebody watches.
pub(super) const TICK: Duration = Duration::from_secs(1);
/// A row's time is that of its transaction's beginning: one that took so long is still seen.
const SLACK: Duration = Duration::from_secs(5);
/// Batches whose names are asked for at one reading.
const MOST_BATCHES: usize = 200;

/// What the lists show.
#[derive(Clone, Debug, Default)]
pub(super) struct JobListing {
    /// Grows with each change.
    pub(super) version: u64,
    /// The database doesn't answer: this is what it said last.
    pub(super) is_old: bool,
    /// The newest first.
    pub(super) jobs: Vec<Arc<JobRow>>,
    /// The newest first.
    pub(super) batches: Vec<ListedBatch>,
}

/// A batch, with its jobs counted.
#[derive(Clone, Debug)]
pub(super) struct ListedBatch {
    pub(super) id: Uuid,
    pub(super) about: Option<Arc<BatchAbout>>,
    pub(super) totals: BatchTotals,
    /// Of its jobs whose price is known.
    pub(super) spent_usd: f64,
    pub(super) jobs: u64,
}

/// What doesn't change of a batch.
#[derive(Clone, Debug)]
pub(super) struct BatchAbout {
    pub(super) name: Option<String>,
    pub(super) created: Timestamp,
    pub(super) instructions: String,
}

impl ListedBatch {
    pub(super) fn name(&self) -> String {
        self.about.as_ref().and_then(|about| about.name.clone()).unwrap_or_else(|| self.id.to_string())
    }
}

/// What is known so far.
#[derive(Debug, Default)]
struct KnownJobs {
    jobs: BTreeMap<JobId, Arc<JobRow>>,
    batches: BTreeMap<Uuid, Arc<BatchAbout>>,
    newest: Option<Timestamp>,
    /// When the last reading failed, and how.
    outage: Option<(Instant, WebError)>,
}

#[derive(Debug)]
pub(super) struct LiveJobs {
    store: Arc<dyn Store>,
    known: Mutex<KnownJobs>,
    sender: watch::Sender<Arc<JobListing>>,
    is_polling: AtomicBool,
}

impl LiveJobs {
    pub(super) fn new(store: Arc<dyn Store>) -> Arc<Self> {
        let sender = watch::Sender::new(Arc::new(JobListing::default()));
        Arc::new(Self { store, known: Mutex::default(), sender, is_polling: AtomicBool::new(false) })
    }

    /// As the database has it now. Who waits while a reading fails is told the same, and doesn't wait for another one.
    pub(super) async fn now(&self) -> Result<Arc<JobListing>, WebError> {
        let asked = Instant::now();
        let mut known = self.known.lock().await;
        if let Some((_, error)) = known.outage.as_ref().filter(|(failed, _)| *failed > asked) {
            return Err(error.clone());
        }
        match self.read(&mut known).await {
            Ok(is_changed) => {
                if known.outage.take().is_some() || is_changed {
                    self.sender.send_modify(|listing| *listing = Arc::new(known.listing(listing.version + 1)));
                }
                Ok(self.sender.borrow().clone())
            }
            Err(error) => {
                let error = WebError::from(error);
                if known.outage.replace((Instant::now(), error.clone())).is_none() {
                    self.sender.send_modify(|listing| Arc::make_mut(listing).is_old = true);
                }
                Err(error)
            }
        }
    }

    /// Whether there is something new.
    async fn read(&self, known: &mut KnownJobs) -> Result<bool, StoreError> {
        let updated_since = known.newest.map(|newest| earlier(newest, SLACK));
        let rows = self.store.jobs(&JobFilter { updated_since, ..JobFilter::default() }).await?;
        let mut is_changed = false;
        for mut row in rows {
            known.newest = known.newest.max(Some(row.updated));
            (row.state.summary, row.state.notes, row.state.deliverables) = (None, None, Vec::new());
            if known.jobs.get(&row.job.id).is_none_or(|before| **before != row) {
                is_changed = true;
                known.jobs.insert(row.job.id, Arc::new(row));
            }
        }
        if is_changed || known.outage.is_some() {
            self.name_batches(known).await?;
        }
        Ok(is_changed)
    }

    async fn name_batches(&self, known: &mut KnownJobs) -> Result<(), StoreError> {
        let of_job = |row: &Arc<JobRow>| row.queue.as_ref().map(|queue| queue.batch);
        let ids: BTreeSet<Uuid> = known.jobs.values().filter_map(of_job).collect();
        let unknown: Vec<Uuid> = ids.into_iter().rev().filter(|id| !known.batches.contains_key(id)).collect();
        for id in unknown.into_iter().take(MOST_BATCHES) {
            let batch = self.store.batch(&id.to_string()).await?.batch;
            let about = BatchAbout { name: batch.name, created: batch.created, instructions: batch.instructions };
            known.batches.insert(id, Arc::new(about));
        }
        Ok(())
    }

    /// Tells of each change from now on.
    pub(super) fn watch(self: &Arc<Self>) -> watch::Receiver<Arc<JobListing>> {
        let receiver = self.sender.subscribe();
        if !self.is_polling.swap(true, Ordering::SeqCst) {
            tokio::spawn(self.clone().poll());
        }
        receiver
    }

    async fn poll(self: Arc<Self>) {
        loop {
            while self.sender.receiver_count() > 0 {
                // The listing says of an outage that there is one; why, is told to who asks for a page.
                let _ = self.now().await;
                tokio::time::sleep(TICK).await;
            }
            self.is_polling.store(false, Ordering::SeqCst);
            // One that came meanwhile has seen this task, and begun none.
            if self.sender.receiver_count() == 0 || self.is_polling.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }
}

impl KnownJobs {
    fn listing(&self, version: u64) -> JobListing {
        let mut jobs: Vec<Arc<JobRow>> = self.jobs.values().cloned().collect();
        jobs.sort_by_key(|row| std::cmp::Reverse((row.job.created, row.job.id)));
        let mut batches: BTreeMap<Uuid, ListedBatch> = BTreeMap::new();
        for row in &jobs {
            let Some(queue) = &row.queue else { continue };
            let batch = batches.entry(queue.batch).or_insert_with(|| ListedBatch {
                id: queue.batch,
                about: self.batches.get(&queue.batch).cloned(),
                totals: BatchTotals::default(),
                spent_usd: 0.0,
                jobs: 0,
            });
            batch.jobs += 1;
            batch.spent_usd += row.state.cost_usd.filter(|_| queue.same_as.is_none()).unwrap_or_default();
            count(&mut batch.totals, row);
        }
        let mut batches: Vec<ListedBatch> = batches.into_values().collect();
        batches.sort_by_key(|batch| std::cmp::Reverse((batch.about.as_ref().map(|about| about.created), batch.id)));
        JobListing { version, is_old: false, jobs, batches }
    }
}

/// Counts a job.
pub(super) fn count(totals: &mut BatchTotals, row: &JobRow) {
    *totals.of_mut(row.state.status) += 1;
    totals.linked += u64::from(row.queue.as_ref().is_some_and(|queue| queue.same_as.is_some()));
}

fn earlier(moment: Timestamp, passed: Duration) -> Timestamp {
    let before = chrono::TimeDelta::from_std(passed).ok().and_then(|passed| moment.utc().checked_sub_signed(passed));
    before.map_or(moment, Timestamp::new)
}
