//! When a batch, or a call that waits for one, is given up.

use crate::store::{GatheredCall, ProviderBatch};
use chrono::{TimeDelta, Utc};
use overnight_core::job::time::Timestamp;
use std::time::Duration;

/// Added to the provider's own time limit.
pub(super) const GRACE: Duration = Duration::from_hours(2);
/// How long before its deadline a batch is given up, so that completed calls can still be fetched: a tenth of its time,
/// within these bounds, and never more than half of it.
const GIVES_UP: [Duration; 2] = [Duration::from_secs(15), Duration::from_mins(1)];

/// The time at which a batch is given up, and the time after which no answer of it is awaited.
pub(super) struct Times {
    pub(super) gives_up: Timestamp,
    pub(super) over: Timestamp,
}

impl Times {
    pub(super) fn of(batch: &ProviderBatch, expires_after: Duration) -> Self {
        let longest = batch.intended.after(expires_after + GRACE);
        match batch.until.filter(|until| *until < longest) {
            Some(until) => Self { gives_up: before(until, batch.intended), over: until },
            // The provider gives it up by itself before.
            None => Self { gives_up: longest, over: longest },
        }
    }
}

/// The time before the deadline at which completed calls can still be fetched.
fn before(until: Timestamp, since: Timestamp) -> Timestamp {
    let time = Duration::from_millis(until.millis_since(since));
    let ahead = (time / 10).clamp(GIVES_UP[0], GIVES_UP[1]).min(time / 2);
    Timestamp::new(until.utc() - TimeDelta::from_std(ahead).unwrap_or_default())
}

/// Whether no batch sent now would be answered before the call's deadline.
pub(super) fn is_late(call: &GatheredCall) -> bool {
    call.until.is_some_and(|until| now() >= before(until, call.handed))
}

pub(super) fn now() -> Timestamp {
    Timestamp::new(Utc::now())
}
