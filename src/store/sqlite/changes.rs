//! Polls for changes: a number in the file (`queue_changes` in `migrations/sqlite/0001_schema.sql`), because SQLite has no
//! notifications.

use super::SqliteStore;
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// The interval of checks for changes by another process.
const POLL_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub(super) struct ChangePoller {
    /// The last number seen.
    seen: Mutex<Option<i64>>,
    /// This process has changed something itself.
    own: Notify,
}

impl ChangePoller {
    /// To be called after each write that may change the number.
    pub(super) fn notify(&self) {
        self.own.notify_waiters();
    }

    /// Whether `number` hasn't been seen before.
    fn is_new(&self, number: i64) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = *seen != Some(number);
        *seen = Some(number);
        is_new
    }
}

impl SqliteStore {
    /// Polls until there is a change, at most `within`.
    pub(super) async fn poll_for_change(&self, within: Duration) -> bool {
        let begun = Instant::now();
        loop {
            let own = self.changes.own.notified();
            // A file that can't be read now may be readable later; the waiting caller loses nothing.
            let number: Result<i64, _> =
                sqlx::query_scalar("select number from queue_changes").fetch_one(&self.readers).await;
            if number.is_ok_and(|number| self.changes.is_new(number)) {
                return true;
            }
            let Some(rest) = within.checked_sub(begun.elapsed()).filter(|rest| !rest.is_zero()) else {
                return false;
            };
            tokio::select! {
                () = own => {}
                () = sleep_until(Instant::now() + rest.min(POLL_EVERY)) => {}
            }
        }
    }
}
