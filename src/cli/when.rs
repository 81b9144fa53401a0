//! Moments as people here read and write them: local time.

use chrono::{DateTime, Datelike, Days, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Utc};
use overnight_core::{amount::shown, job::time::Timestamp};

/// Later ones can't be written with four digits.
const LAST_YEAR: i32 = 9999;

/// `2026-11-21 23:04:35`, local.
pub(super) fn second(at: Timestamp) -> String {
    at.utc().with_timezone(&Local).format("%Y-%m-%d %H:%M:%S").to_string()
}

/// `2026-11-21 23:04`, local.
pub(super) fn minute(at: Timestamp) -> String {
    at.utc().with_timezone(&Local).format("%Y-%m-%d %H:%M").to_string()
}

/// Reads a moment in the past: `22:00` (the last time it was that late), `2h` (so long ago), `2026-11-20`,
/// `2026-11-20 22:00`, or a full time with its offset. `now` also says in which zone people are.
pub(super) fn since<Z: TimeZone>(text: &str, now: &DateTime<Z>) -> Result<Timestamp, String> {
    read(text, now, Side::Past)
}

/// Reads a moment in the future: `22:00` (today, or tomorrow when it is later than that), `2h` (so long from now), and the
/// others as [`since`] does.
pub(super) fn at<Z: TimeZone>(text: &str, now: &DateTime<Z>) -> Result<Timestamp, String> {
    let text = text.trim();
    let at = read(text.strip_prefix("in ").unwrap_or(text), now, Side::Future)?;
    if at.utc().year() > LAST_YEAR {
        return Err(wrong(text, Side::Future));
    }
    if at <= Timestamp::new(now.with_timezone(&Utc)) {
        return Err(format!("'{}' is over already", shown(text)));
    }
    Ok(at)
}

/// On which side of now a moment is looked for, where it can be either.
#[derive(Clone, Copy)]
enum Side {
    Past,
    Future,
}

fn read<Z: TimeZone>(text: &str, now: &DateTime<Z>, side: Side) -> Result<Timestamp, String> {
    let text = text.trim();
    let wrong = || wrong(text, side);
    let local = |at: NaiveDateTime| {
        // A clock that is put forward skips an hour, and one that is put back has it twice: the earlier one, then.
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
            let day = match side {
                Side::Past if is_over => Some(today),
                Side::Past => today.checked_sub_days(Days::new(1)),
                Side::Future if is_over => today.checked_add_days(Days::new(1)),
                Side::Future => Some(today),
            };
            return day.ok_or_else(wrong).and_then(|day| local(day.and_time(time)));
        }
    }
    let apart = humantime::parse_duration(text).ok().and_then(|apart| chrono::Duration::from_std(apart).ok());
    let now = now.with_timezone(&Utc);
    let at = apart.and_then(|apart| match side {
        Side::Past => now.checked_sub_signed(apart),
        Side::Future => now.checked_add_signed(apart),
    });
    at.map(Timestamp::new).ok_or_else(wrong)
}

fn wrong(text: &str, side: Side) -> String {
    let apart = match side {
        Side::Past => "ago",
        Side::Future => "from now",
    };
    let text = shown(text);
    format!("'{text}' is not a time; write 22:00, 2h ({apart}), 2026-11-20, '2026-11-20 22:00' or 2026-11-20T22:00:00Z")
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
