//! Notifies watchers of changes to jobs. No job data is kept: a page reads the data that it shows from the database.
//!
//! While anyone watches, one task asks about once a second which rows were changed, by the numbers that the database
//! gives ([`JobChanges`]), and notifies all watchers through one channel; without watchers it ends.

use super::WebError;
use crate::{
    store::{JobChange, JobChanges, Store, StoreError},
    workspace::{Workspace, chain::LIVE},
};
use overnight_core::job::{id::JobId, time::Timestamp};
use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};
use tokio::{
    sync::{Mutex, broadcast},
    time::sleep,
};

/// The pause between two readings, while anyone watches.
pub(super) const TICK: Duration = Duration::from_secs(1);
/// The most notifications that a watcher may lag behind: beyond that it is notified that everything may have changed.
const MOST_LATE: usize = 64;

/// A change.
#[derive(Clone, Debug)]
pub(super) enum LiveChange {
    Jobs(Arc<Vec<JobChange>>),
    /// More changes than are listed one by one; or the database stopped answering, or answers again.
    Everything,
}

/// The notifications sent so far.
#[derive(Debug, Default)]
struct ToldChanges {
    horizon: u64,
    /// Changes from the horizon on that were sent already, though they will be read again.
    seen: HashMap<JobId, u64>,
    is_polling: bool,
    is_out: bool,
}

#[derive(Debug)]
pub(super) struct LiveJobs {
    store: Arc<dyn Store>,
    told: Mutex<ToldChanges>,
    sender: broadcast::Sender<LiveChange>,
}

impl LiveJobs {
    pub(super) fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { store, told: Mutex::default(), sender: broadcast::Sender::new(MOST_LATE) })
    }

    /// Reports each change that is committed from now on.
    pub(super) async fn watch(self: &Arc<Self>) -> Result<broadcast::Receiver<LiveChange>, WebError> {
        let receiver = self.sender.subscribe();
        let mut told = self.told.lock().await;
        if !told.is_polling {
            let first = self.store.job_changes(None).await?;
            *told = ToldChanges { is_polling: true, ..ToldChanges::default() };
            told.take(first);
            tokio::spawn(self.clone().poll());
        }
        Ok(receiver)
    }

    async fn poll(self: Arc<Self>) {
        loop {
            sleep(TICK).await;
            let mut told = self.told.lock().await;
            if self.sender.receiver_count() == 0 {
                // A new watcher now waits for the lock, and starts again.
                told.is_polling = false;
                return;
            }
            let changes = self.store.job_changes(Some(told.horizon)).await;
            if let Some(change) = told.next(changes) {
                // If no one watches any more, no one misses it.
                let _ = self.sender.send(change);
            }
        }
    }
}

impl ToldChanges {
    /// The news in a reading.
    fn next(&mut self, read: Result<JobChanges, StoreError>) -> Option<LiveChange> {
        let was_out = std::mem::replace(&mut self.is_out, read.is_err());
        let Ok(changes) = read else {
            return (!was_out).then_some(LiveChange::Everything);
        };
        let is_cut = changes.is_cut;
        let new = self.take(changes);
        if was_out || is_cut {
            return Some(LiveChange::Everything);
        }
        (!new.is_empty()).then(|| LiveChange::Jobs(Arc::new(new)))
    }

    /// Takes in a reading, and returns its news.
    fn take(&mut self, changes: JobChanges) -> Vec<JobChange> {
        let JobChanges { horizon, rows, is_cut: _ } = changes;
        let is_new = |change: &&JobChange| self.seen.get(&change.job) != Some(&change.number);
        let new = rows.iter().filter(is_new).copied().collect();
        self.seen = rows.iter().filter(|row| row.number >= horizon).map(|row| (row.job, row.number)).collect();
        self.horizon = horizon;
        new
    }
}

/// Size and time of the live journal: another for each line.
pub(super) fn live_journal(path: &Path) -> Option<(u64, Timestamp)> {
    let entry = Workspace::open(path).ok()?.metadata(LIVE).ok()?;
    Some((entry.bytes, entry.modified))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(horizon: u64, rows: &[(u128, u64)]) -> JobChanges {
        let row = |&(job, number)| JobChange { job: JobId(uuid::Uuid::from_u128(job)), batch: None, number };
        JobChanges { horizon, rows: rows.iter().map(row).collect(), is_cut: false }
    }

    #[test]
    fn each_change_is_told_once_however_late_it_is_committed() {
        let mut told = ToldChanges::default();
        told.take(reading(5, &[]));
        let mut new = |read: JobChanges| -> Vec<(u128, u64)> {
            told.take(read).iter().map(|change| (change.job.0.as_u128(), change.number)).collect()
        };
        // Transaction 6 is seen before 5, which is still open and holds the horizon.
        assert_eq!(new(reading(5, &[(1, 6)])), [(1, 6)]);
        assert_eq!(new(reading(5, &[(1, 6)])), []);
        assert_eq!(new(reading(7, &[(1, 6), (2, 5)])), [(2, 5)]);
        assert_eq!(new(reading(7, &[])), []);
    }
}
