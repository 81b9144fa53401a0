//! Decides which of the gathered calls are sent together, and when.

use super::{GatherPace, timing::now};
use crate::store::GatheredCall;
use chrono::TimeDelta;
use overnight_core::job::time::Timestamp;
use std::time::Duration;

/// The most calls of one batch, as all their replies are held in memory at once.
const MOST_CALLS: usize = 2_000;
/// Calls whose deadlines are this close together are sent together.
const SAME_TIME: TimeDelta = TimeDelta::minutes(15);

/// The calls that go together now; none: more may come.
pub(super) fn wave(
    gathered: &[GatheredCall],
    pace: GatherPace,
    most_bytes: u64,
    most_tokens: Option<u64>,
) -> Option<Vec<&GatheredCall>> {
    // The earliest deadline, and those near it; calls without a deadline come last.
    let earliest = gathered.iter().filter_map(|call| call.until).min();
    let latest = earliest.map(|until| Timestamp::new(until.utc() + SAME_TIME));
    let alike = gathered.iter().filter(|call| match (call.until, latest) {
        (Some(until), Some(latest)) => until <= latest,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    });
    let mut wave: Vec<&GatheredCall> = Vec::new();
    let (mut bytes, mut tokens, mut is_full) = (0, 0, false);
    for call in alike {
        bytes += call.bytes + 200;
        tokens += call.tokens;
        is_full = wave.len() == MOST_CALLS || bytes > most_bytes || most_tokens.is_some_and(|most| tokens > most);
        if is_full && !wave.is_empty() {
            break;
        }
        wave.push(call);
    }
    let age = |handed: Option<Timestamp>| handed.map(|at| Duration::from_millis(now().millis_since(at)));
    let is_quiet = age(wave.iter().map(|call| call.handed).max())? >= pace.quiet;
    let is_old = age(wave.iter().map(|call| call.handed).min())? >= pace.most;
    (is_full || is_quiet || is_old).then_some(wave)
}
