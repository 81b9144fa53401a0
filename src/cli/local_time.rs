//! Reads and writes times as people do: in local time.

use chrono::{DateTime, Datelike, Days, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Utc};
use overnight_core::{amount::shown, job::time::Timestamp};

/// Later years don't fit into four digits.
const LAST_YEAR: i32 = 9999;

/// `2026-11-21 23:04:35 +01:00`, local.
pub(super) fn second(at: Timestamp) -> String {
    with_zone(at, "%Y-%m-%d %H:%M:%S")
}

/// `2026-11-21 23:04 +01:00`, local.
pub(super) fn minute(at: Timestamp) -> String {
    with_zone(at, "%Y-%m-%d %H:%M")
}

/// [`minute`], without the day if it is the day of `now`.
pub(super) fn time_of_day(at: Timestamp, now: Timestamp) -> String {
    let day = |at: Timestamp| at.utc().with_timezone(&Local).date_naive();
    if day(at) == day(now) { with_zone(at, "%H:%M") } else { minute(at) }
}

fn with_zone(at: Timestamp, form: &str) -> String {
    let there = at.utc().with_timezone(&Local);
    let zone = match there.offset().local_minus_utc() {
        0 => "UTC".to_owned(),
        _ => there.format("%:z").to_string(),
    };
    format!("{} {zone}", there.format(form))
}

/// Reads a moment in the past: `22:00` (the last time it was that late), `2h` (so long ago), `2026-11-20`, `2026-11-20
/// 22:00`, or a full time with its offset. `now` also determines the time zone.
pub(super) fn since<Z: TimeZone>(text: &str, now: &DateTime<Z>) -> Result<Timestamp, String> {
    read(text, now, Direction::Past)
}

/// Reads a time in the future: `22:00` (the next time it is that late), `2h` (so long from now), and the other forms of [`since`].
pub(super) fn at<Z: TimeZone>(text: &str, now: &DateTime<Z>) -> Result<Timestamp, String> {
    let text = text.trim();
    let at = read(text.strip_prefix("in ").unwrap_or(text), now, Direction::Future)?;
    if at.utc().year() > LAST_YEAR {
        return Err(wrong(text, Direction::Future));
    }
    if at <= Timestamp::new(now.with_timezone(&Utc)) {
        return Err(format!("'{}' is over already", shown(text)));
    }
    Ok(at)
}

/// Whether a time of day means the last or the next such time.
#[derive(Clone, Copy)]
enum Direction {
    Past,
    Future,
}

fn read<Z: TimeZone>(text: &str, now: &DateTime<Z>, direction: Direction) -> Result<Timestamp, String> {
    let text = text.trim();
    let wrong = || wrong(text, direction);
    let local = |at: NaiveDateTime| {
        // A clock change skips an hour, or repeats one: of a repeated time, the earlier one counts.
        let there = now.timezone().from_local_datetime(&at).earliest();
        let later = || now.timezone().from_local_datetime(&(at + chrono::Duration::hours(1))).earliest();
        there.or_else(later).map(|at| Timestamp::new(at.with_timezone(&Utc))).ok_or_else(wrong)
    };
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Ok(Timestamp::new(at.with_timezone(&Utc)));
    }
    for form in ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M"] {
        if let Ok(at) = NaiveDateTime::parse_from_str(text, form) {
            return local(at);
        }
    }
    if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return local(day.and_time(NaiveTime::MIN));
    }
    for form in ["%H:%M", "%H:%M:%S"] {
        if let Ok(time) = NaiveTime::parse_from_str(text, form) {
            let (today, is_over) = (now.naive_local().date(), time <= now.naive_local().time());
            let day = match direction {
                Direction::Past if is_over => Some(today),
                Direction::Past => today.checked_sub_days(Days::new(1)),
                Direction::Future if is_over => today.checked_add_days(Days::new(1)),
                Direction::Future => Some(today),
            };
            return day.ok_or_else(wrong).and_then(|day| local(day.and_time(time)));
        }
    }
    let distance = humantime::parse_duration(text).ok().and_then(|distance| chrono::Duration::from_std(distance).ok());
    let now = now.with_timezone(&Utc);
    let at = distance.and_then(|distance| match direction {
        Direction::Past => now.checked_sub_signed(distance),
        Direction::Future => now.checked_add_signed(distance),
    });
    at.map(Timestamp::new).ok_or_else(wrong)
}

fn wrong(text: &str, direction: Direction) -> String {
    let distance = match direction {
        Direction::Past => "ago",
        Direction::Future => "from now",
    };
    let text = shown(text);
    format!(
        "'{text}' is not a time; write 22:00, 2h ({distance}), 2026-11-20, '2026-11-20 22:00' or 2026-11-20T22:00:00Z"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::FixedOffset;
    use proptest::prelude::*;

    fn now() -> DateTime<FixedOffset> {
        DateTime::parse_from_rfc3339("2026-11-21T07:30:00+01:00").unwrap()
    }

    #[test]
    fn moments_are_read_as_people_write_them() {
        for (text, expected) in [
            ("22:00", "2026-11-20T21:00:00.000Z"),
            ("07:30", "2026-11-21T06:30:00.000Z"),
            ("2h", "2026-11-21T04:30:00.000Z"),
            ("1day 30m", "2026-11-20T06:00:00.000Z"),
            ("2026-11-20", "2026-11-19T23:00:00.000Z"),
            ("2026-11-20 22:00", "2026-11-20T21:00:00.000Z"),
            ("2026-11-20T22:00:05", "2026-11-20T21:00:05.000Z"),
            ("2026-11-20T22:00:00Z", "2026-11-20T22:00:00.000Z"),
        ] {
            assert_eq!(since(text, &now()).map(|at| at.to_string()).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(
            since("yesterday", &now()),
            Err("'yesterday' is not a time; write 22:00, 2h (ago), 2026-11-20, '2026-11-20 22:00' or 2026-11-20T22:00:00Z"
                .to_owned())
        );
    }

    #[test]
    fn moments_to_come_are_read_as_people_write_them() {
        for (text, expected) in [
            ("22:00", "2026-11-21T21:00:00.000Z"),
            ("07:30", "2026-11-22T06:30:00.000Z"),
            ("00:00", "2026-11-21T23:00:00.000Z"),
            ("2h", "2026-11-21T08:30:00.000Z"),
            (" in 90m ", "2026-11-21T08:00:00.000Z"),
            ("2026-11-23", "2026-11-22T23:00:00.000Z"),
            ("2026-11-21 22:00", "2026-11-21T21:00:00.000Z"),
            ("2026-11-20T22:00:00-12:00", "2026-11-21T10:00:00.000Z"),
        ] {
            assert_eq!(at(text, &now()).map(|at| at.to_string()).as_deref(), Ok(expected), "{text}");
        }
        for over in ["2026-11-21", "2026-11-21 07:30", "0s", "1970-01-01T00:00:00Z"] {
            assert_eq!(at(over, &now()), Err(format!("'{over}' is over already")));
        }
        assert!(at("999999weeks", &now()).is_err());
        assert_eq!(
            at("tomorrow", &now()),
            Err("'tomorrow' is not a time; write 22:00, 2h (from now), 2026-11-20, '2026-11-20 22:00' or 2026-11-20T22:00:00Z"
                .to_owned())
        );
    }

    proptest! {
        #[test]
        fn whatever_is_written_there_is_an_answer(text in "[0-9:TZdhmy+ -]{0,24}|\\PC{0,12}") {
            let _ = since(&text, &now());
            let _ = at(&text, &now());
        }
    }
}
