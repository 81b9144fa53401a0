//! The only clock: the state machine gets time as data.

use overnight_core::job::time::Timestamp;
use std::time::Instant;

/// Now.
pub fn now() -> Timestamp {
    Timestamp::new(chrono::Utc::now())
}

/// Today, in UTC.
pub fn today() -> chrono::NaiveDate {
    now().utc().date_naive()
}

/// The time of decisions: the system's time, as long as that advances. If the system's clock was set back, time
/// continues from the last decision at its true pace, so that no decision is older than the one before it, and limits
/// on working time still apply.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// The last moment taken from the system, and when it was taken.
    base: Option<(Timestamp, Instant)>,
}

impl Clock {
    /// The moment of the decision after one at `last`.
    pub(super) fn tick(&mut self, last: Timestamp) -> Timestamp {
        self.at(last, now(), Instant::now())
    }

    fn at(&mut self, last: Timestamp, told: Timestamp, read: Instant) -> Timestamp {
        let counted = self.base.map_or(last, |(at, since)| at.after(read.saturating_duration_since(since))).max(last);
        if told >= counted || self.base.is_none() {
            self.base = Some((told.max(last), read));
        }
        told.max(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn moment(text: &str) -> Timestamp {
        serde_json::from_value(text.into()).unwrap()
    }

    #[test]
    fn time_goes_on_at_its_pace_when_the_clock_is_set_back_or_jumps() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let mut clock = Clock::default();
        let [past, now, later] =
            ["2001-01-01T00:00:00.000Z", "2026-11-21T03:00:00.000Z", "2026-11-21T03:00:01.500Z"].map(moment);
        assert_eq!(clock.at(past, now, after(0)), now);
        assert_eq!(clock.at(now, later, after(1500)), later);
        // Set back by years: counted on from the last true moment.
        assert_eq!(clock.at(later, past, after(2000)), moment("2026-11-21T03:00:02.000Z"));
        assert_eq!(clock.at(moment("2026-11-21T03:00:02.000Z"), past, after(2001)), moment("2026-11-21T03:00:02.001Z"));
        // A jump forward follows the system; if the system then goes back, time continues from there.
        let ahead = moment("2031-01-01T00:00:00.000Z");
        assert_eq!(clock.at(later, ahead, after(2002)), ahead);
        assert_eq!(clock.at(ahead, later, after(3002)), moment("2031-01-01T00:00:01.000Z"));
    }

    #[test]
    fn a_journal_from_the_future_is_gone_on_with_at_the_same_pace() {
        let start = Instant::now();
        let mut clock = Clock::default();
        let future = moment("2999-12-31T23:59:59.999Z");
        let now = moment("2026-11-21T03:00:00.000Z");
        assert_eq!(clock.at(future, now, start), future);
        assert_eq!(clock.at(future, now, start + Duration::from_millis(1)), moment("3000-01-01T00:00:00.000Z"));
        // Time never passes the last moment that can be written.
        let last = moment("9999-12-31T23:59:59.999Z");
        assert_eq!(clock.at(last, now, start + Duration::from_secs(1)), last);
        assert_eq!(clock.at(last, now, start + Duration::from_secs(99)), last);
    }
}
