//! Dates and times from the numbers by which workbooks store them.

use calamine::{ExcelDateTime, ExcelDateTimeType};

/// The number of the last day that Excel knows.
const LAST_DAY: f64 = 2_958_466.0;

/// A date, a time or both; none if the number is no date.
pub(super) fn show(number: f64, date: bool, time: bool, since_1904: bool) -> Option<String> {
    if !(0.0..LAST_DAY).contains(&number) {
        return None;
    }
    let (year, month, day, hour, minute, mut second, milli) =
        ExcelDateTime::new(number, ExcelDateTimeType::DateTime, since_1904).to_ymd_hms_milli();
    // A fraction of a day is slightly inexact, so the seconds are rounded.
    second += u8::from(milli >= 500 && second < 59);
    let day = format!("{year:04}-{month:02}-{day:02}");
    let clock =
        if second == 0 { format!("{hour:02}:{minute:02}") } else { format!("{hour:02}:{minute:02}:{second:02}") };
    Some(match (date, time) {
        (true, false) => day,
        (false, true) => clock,
        (_, _) => format!("{day} {clock}"),
    })
}

/// Hours, minutes and seconds, also of more than a day. Seconds that the format hides are added if they aren't zero.
pub(super) fn elapsed(days: f64, shows_seconds: bool) -> Option<String> {
    if !(-LAST_DAY..LAST_DAY).contains(&days) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded above")]
    let seconds = (days * 86_400.0).round() as i64;
    let (sign, seconds) = (if seconds < 0 { "-" } else { "" }, seconds.abs());
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Some(if shows_seconds || rest != 0 {
        format!("{sign}{hours}:{minutes:02}:{rest:02}")
    } else {
        format!("{sign}{hours}:{minutes:02}")
    })
}
