//! The timeout for a reply's first byte. A server that hangs should cost a minute; one that reads a long prompt on a small
//! machine may take many. The timeout adapts: each wait in vain doubles it, and a reply sets it to twice what that reply
//! took.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The longest wait: the time of one model call.
const MOST: Duration = Duration::from_mins(10);

/// The present timeout for the first byte from one model's server.
#[derive(Debug)]
pub(super) struct AdaptiveTimeout {
    least: Duration,
    millis: AtomicU64,
}

impl AdaptiveTimeout {
    pub(super) fn new(least: Duration) -> Self {
        let adaptive_timeout = Self { least, millis: AtomicU64::new(0) };
        adaptive_timeout.set(least);
        adaptive_timeout
    }

    pub(super) fn now(&self) -> Duration {
        Duration::from_millis(self.millis.load(Ordering::Relaxed))
    }

    /// Adapts to a reply that began after `first`; `None`: no reply began in time.
    pub(super) fn learn(&self, first: Option<Duration>) {
        let wanted = match first {
            Some(first) => first * 2,
            None => self.now() * 2,
        };
        self.set(wanted.min(MOST));
    }

    fn set(&self, wanted: Duration) {
        let millis = wanted.max(self.least).as_millis();
        self.millis.store(u64::try_from(millis).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_in_vain_make_patient_and_quick_replies_impatient() {
        let adaptive_timeout = AdaptiveTimeout::new(Duration::from_mins(1));
        let first = |seconds| Some(Duration::from_secs(seconds));
        let seen = [None, None, first(200), first(1), None, None, None, None, None].map(|learnt| {
            adaptive_timeout.learn(learnt);
            adaptive_timeout.now().as_secs()
        });
        assert_eq!(seen, [120, 240, 400, 60, 120, 240, 480, 600, 600]);
    }
}
