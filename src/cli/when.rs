//! Moments as people here read and write them: local time.

use crate::job::time::Timestamp;
use chrono::{DateTime, Days, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Utc};

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
    let text = text.trim();
    let local = |at: NaiveDateTime| {
        // A clock that is put forward skips an hour, and one that is put back has it twice: the earlier one, then.
        let there = now.timezone().from_local_datetime(&at).earliest();
        let later = || now.timezone().from_local_datetime(&(at + chrono::Duration::hours(1))).earliest();
        there.or_else(later).map(|at| Timestamp::new(at.with_timezone(&Utc))).ok_or_else(|| wrong(text))
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
            let today = now.naive_local().date();
            let day = if time <= now.naive_local().time() { Some(today) } else { today.checked_sub_days(Days::new(1)) };
            return day.ok_or_else(|| wrong(text)).and_then(|day| local(day.and_time(time)));
        }
    }
    let ago = humantime::parse_duration(text).ok().and_then(|ago| chrono::Duration::from_std(ago).ok());
    ago.and_then(|ago| now.with_timezone(&Utc).checked_sub_signed(ago)).map(Timestamp::new).ok_or_else(|| wrong(text))
}

fn wrong(text: &str) -> String {
    format!("'{text}' is not a time; write 22:00, 2h (ago), 2026-11-20, '2026-11-20 22:00' or 2026-11-20T22:00:00Z")
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

    proptest! {
        #[test]
        fn whatever_is_written_there_is_an_answer(text in "[0-9:TZdhmy+ -]{0,24}|\\PC{0,12}") {
            let _ = since(&text, &now());
        }
    }
}
