//! Time windows: `22:00-06:00 Europe/Berlin`. Outside, no job is started, and running jobs are held at their next turn.
//!
//! A window follows the local clock: it is open exactly while its zone's clock shows a time that it names. If the clock
//! is put forward, the skipped times count as the moment after them; if it is put back, the repeated times are in the
//! window both times. A span that ends on the next morning belongs to the day on which it begins: `Fri 22:00-06:00`
//! ends on Saturday.

mod read;
#[cfg(test)]
mod tests;

use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::Tz;
use overnight_core::job::time::Timestamp;
use std::fmt;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// Minutes of a day.
const DAY_MINUTES: u16 = 24 * 60;

/// The length of the pieces in which a window is examined; pieces are shorter around a clock change.
const PIECE: i64 = DAY / 4;

/// How far to look ahead: over a year, to find the closing of a window that closes in winter only.
const AHEAD: i64 = 400 * DAY;

/// The times when work may be done, in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// At least one; open while any of them is.
    spans: Vec<WindowSpan>,
}

/// One part of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WindowSpan {
    /// The days on which it begins, Monday first.
    days: [bool; 7],
    /// Minutes since midnight.
    from: u16,
    /// Minutes since the same midnight, up to two days' worth.
    to: u16,
    zone: Tz,
}

/// The error in the text of a window, and the allowed forms; a fragment of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidWindow(String);

impl Window {
    /// Reads `22:00-06:00 Europe/Berlin`, `Mon-Fri 22:00-06:00 Europe/Berlin`, `Sat,Sun 00:00-24:00 UTC`, or several of
    /// them with `;` between.
    pub fn parse(text: &str) -> Result<Self, InvalidWindow> {
        read::window(text).map_err(InvalidWindow)
    }

    pub fn is_open(&self, at: Timestamp) -> bool {
        let at = millis(at);
        self.spans.iter().any(|span| span.is_open(at))
    }

    /// The next moment at which the window is open; `at` itself if it is open then.
    pub fn opens_after(&self, at: Timestamp) -> Timestamp {
        if self.is_open(at) {
            return at;
        }
        let opens =
            self.pieces(millis(at)).find_map(|(from, to)| self.open_within(from, to).first().map(|open| open.0));
        // Every span is open at least once in two weeks; only the end of the calendar has nothing more.
        opens.and_then(moment).unwrap_or(at)
    }

    /// The next moment at which the window is closed; `at` itself if it is closed then. `None`: it never closes.
    pub fn closes_after(&self, at: Timestamp) -> Option<Timestamp> {
        if !self.is_open(at) {
            return Some(at);
        }
        let closes = self.pieces(millis(at)).find_map(|(from, to)| {
            let open_until = self
                .open_within(from, to)
                .into_iter()
                .fold(from, |until, (opens, closes)| if opens <= until { until.max(closes) } else { until });
            (open_until < to).then_some(open_until)
        });
        closes.and_then(moment)
    }

    /// The time from `at` on, piece by piece; no clock is put forward or back within one.
    fn pieces(&self, at: i64) -> impl Iterator<Item = (i64, i64)> {
        let end = at.saturating_add(AHEAD);
        std::iter::successors(Some((at, self.steady_until(at, end))), move |&(_, from)| {
            (from < end).then(|| (from, self.steady_until(from, end)))
        })
    }

    fn steady_until(&self, from: i64, end: i64) -> i64 {
        let to = from.saturating_add(PIECE).min(end);
        self.spans.iter().filter_map(|span| change(span.zone, from, to)).min().unwrap_or(to)
    }

    /// The open times within a piece: their beginnings and ends, sorted by beginning.
    fn open_within(&self, from: i64, to: i64) -> Vec<(i64, i64)> {
        let mut open: Vec<(i64, i64)> = self.spans.iter().flat_map(|span| span.open_within(from, to)).collect();
        open.sort_unstable();
        open
    }
}

impl WindowSpan {
    fn is_open(&self, at: i64) -> bool {
        let local = at.saturating_add(offset(self.zone, at));
        let today = local.div_euclid(DAY);
        [today - 1, today].into_iter().any(|day| self.begins_on(day) && self.on(day).contains(&local))
    }

    fn begins_on(&self, day: i64) -> bool {
        // The first day of 1970 was a Thursday.
        usize::try_from((day + 3).rem_euclid(7)).ok().and_then(|weekday| self.days.get(weekday)).is_some_and(|day| *day)
    }

    /// The span that begins on `day`, in local time.
    fn on(&self, day: i64) -> std::ops::Range<i64> {
        let midnight = day.saturating_mul(DAY);
        let at = |minutes: u16| midnight.saturating_add(i64::from(minutes) * MINUTE);
        at(self.from)..at(self.to)
    }

    fn open_within(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, i64)> {
        let offset = offset(self.zone, from);
        let day = |at: i64| at.saturating_add(offset).div_euclid(DAY);
        (day(from) - 1..=day(to)).filter(|day| self.begins_on(*day)).filter_map(move |day| {
            let local = self.on(day);
            let (opens, closes) = ((local.start - offset).max(from), (local.end - offset).min(to));
            (opens < closes).then_some((opens, closes))
        })
    }
}

/// By how much the clock on the wall is ahead of UTC.
fn offset(zone: Tz, at: i64) -> i64 {
    let utc = DateTime::from_timestamp_millis(at).map(|at| at.naive_utc());
    utc.map_or(0, |utc| i64::from(zone.offset_from_utc_datetime(&utc).fix().local_minus_utc()) * 1000)
}

/// When the clock is put forward or back between `from` and `to`.
fn change(zone: Tz, from: i64, to: i64) -> Option<i64> {
    let before = offset(zone, from);
    if offset(zone, to) == before {
        return None;
    }
    let (mut old, mut new) = (from, to);
    while new - old > 1 {
        let middle = old + (new - old) / 2;
        if offset(zone, middle) == before {
            old = middle;
        } else {
            new = middle;
        }
    }
    Some(new)
}

fn millis(at: Timestamp) -> i64 {
    at.utc().timestamp_millis()
}

fn moment(at: i64) -> Option<Timestamp> {
    DateTime::from_timestamp_millis(at).map(Timestamp::new)
}

/// As [`Window::parse`] reads it: each window has one text.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, span) in self.spans.iter().enumerate() {
            write!(f, "{}{span}", if place == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl fmt::Display for WindowSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.days.contains(&false) {
            write!(f, "{} ", read::days(self.days))?;
        }
        let time = |minutes: u16| format!("{:02}:{:02}", minutes / 60, minutes % 60);
        // A span that ends at the next midnight is written as ending today.
        let to = if self.to > DAY_MINUTES { self.to - DAY_MINUTES } else { self.to };
        write!(f, "{}-{} {}", time(self.from), time(to), self.zone.name())
    }
}
