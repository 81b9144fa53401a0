//! Waits until something has changed.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use tokio::{sync::watch, time::timeout};

/// A number that the other side increases with each change, and the last value seen.
#[derive(Debug)]
pub(in crate::store) struct ChangeWaiter {
    number: watch::Receiver<u64>,
    heard: AtomicU64,
}

impl ChangeWaiter {
    pub(in crate::store) fn new(number: watch::Receiver<u64>) -> Self {
        let heard = AtomicU64::new(*number.borrow());
        Self { number, heard }
    }

    /// Waits until the number has changed since the last call that ended, at most `within`; false where it hasn't. A call
    /// that is cancelled doesn't count as a last call.
    pub(in crate::store) async fn wait(&self, within: Duration) -> bool {
        let mut number = self.number.clone();
        let heard = self.heard.load(Ordering::Relaxed);
        let change = async {
            // If no sender is left, the time passes.
            let now = number.wait_for(|now| *now != heard).await.map(|now| *now).ok();
            match now {
                Some(now) => now,
                None => std::future::pending().await,
            }
        };
        match timeout(within, change).await {
            Ok(now) => {
                self.heard.store(now, Ordering::Relaxed);
                true
            }
            Err(_) => false,
        }
    }
}
