//! The rate at which jobs end, and the remaining time: computed from the last ends, as older ones say little about now.

use crate::cli::local_time;
use overnight_core::job::time::{Timestamp, duration};
use std::time::Duration;

/// Ends that are considered, at most.
pub(in crate::cli) const MOST_ENDS: u32 = 20;
/// Fewer ends give no rate.
const LEAST_ENDS: usize = 3;
/// The work counts as interrupted after a pause of so many usual pauses, and of at least this many milliseconds.
const INTERRUPTED_TIMES: u64 = 10;
const INTERRUPTED_MS: u64 = 10 * 60 * 1_000;
const HOUR_MS: f64 = 3_600_000.0;

/// When the last jobs ended, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct RecentEnds(Vec<Timestamp>);

impl RecentEnds {
    /// Keeps the last of these ends; those before an interruption are left out.
    pub(in crate::cli) fn of(mut ends: Vec<Timestamp>) -> Self {
        ends.sort();
        ends.drain(..ends.len().saturating_sub(MOST_ENDS as usize));
        let longest = longest_pause(&ends);
        let begin = pauses(&ends).rposition(|pause| pause > longest).map_or(0, |place| place + 1);
        Self(ends.split_off(begin))
    }

    pub(in crate::cli) fn push(&mut self, at: Timestamp) {
        let mut ends = std::mem::take(&mut self.0);
        ends.push(at);
        *self = Self::of(ends);
    }

    /// Jobs an hour. `None`: too few have ended, or none for a long time.
    #[expect(clippy::cast_precision_loss, reason = "few ends, and far fewer than 2^52 milliseconds")]
    pub(in crate::cli) fn an_hour(&self, now: Timestamp) -> Option<f64> {
        let (passed, pause) = (now.millis_since(*self.0.first()?), now.millis_since(*self.0.last()?));
        let is_known = self.0.len() >= LEAST_ENDS && passed > 0 && pause <= longest_pause(&self.0);
        is_known.then(|| (self.0.len() - 1) as f64 * HOUR_MS / passed as f64)
    }

    /// The time until `more` have ended.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(in crate::cli) fn left(&self, now: Timestamp, more: u64) -> Option<Duration> {
        Duration::try_from_secs_f64(more as f64 * HOUR_MS / 1_000.0 / self.an_hour(now)?).ok()
    }
}

fn pauses(ends: &[Timestamp]) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator {
    ends.windows(2).map(|two| two[1].millis_since(two[0]))
}

/// The longest pause that does not count as an interruption.
fn longest_pause(ends: &[Timestamp]) -> u64 {
    let mut sorted: Vec<u64> = pauses(ends).collect();
    sorted.sort_unstable();
    let usual = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    usual.saturating_mul(INTERRUPTED_TIMES).max(INTERRUPTED_MS)
}

/// `41 an hour`; below ten, with one decimal.
pub(in crate::cli) fn rate_text(an_hour: f64) -> String {
    if an_hour < 10.0 { format!("{an_hour:.1} an hour") } else { format!("{an_hour:.0} an hour") }
}

/// `ends ~06:40 +01:00 (in 4h 35m)`.
pub(in crate::cli) fn ends_text(now: Timestamp, left: Duration) -> String {
    let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
    format!("ends ~{} (in {})", local_time::time_of_day(now.after(left), now), duration(left_ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    #[test]
    fn a_rate_is_told_from_the_last_ends_only() {
        let at = |minute| Timestamp::new(Timestamp::default().utc() + TimeDelta::minutes(minute));
        let ends = |minutes: &[i64]| RecentEnds::of(minutes.iter().copied().map(at).collect());
        assert_eq!(ends(&[10, 12]).an_hour(at(13)), None);
        let three = ends(&[10, 14, 12]);
        assert_eq!((three.an_hour(at(14)), three.left(at(14), 5)), (Some(30.0), Some(Duration::from_mins(10))));
        // Nothing has ended for a while.
        assert_eq!((three.an_hour(at(22)), three.an_hour(at(60))), (Some(10.0), None));
        // Before the last three, the workers were stopped for a night.
        let mut again = ends(&[1, 2, 3, 4, 600, 602]);
        assert_eq!(again.an_hour(at(602)), None);
        again.push(at(604));
        assert_eq!(again.an_hour(at(604)), Some(30.0));
        assert_eq!(ends(&(0..100).collect::<Vec<_>>()).0.len(), MOST_ENDS as usize);
    }
}
