//! The times of a schedule's runs: a cron expression, evaluated on the clock of a time zone.
//!
//! An expression that names one time of a day runs once for each day that it names: if the clock is put forward over
//! that time, at the moment after the gap; if the clock shows it twice, the first time. An expression that repeats
//! within the day follows the local clock, whatever that does.

use crate::batch::zone;
use chrono::Utc;
use chrono_tz::Tz;
use croner::parser::{CronParser, Seconds, Year};
use overnight_core::job::time::Timestamp;
use std::time::Duration;

/// The maximum length of an expression.
const LONGEST: usize = 200;

const EXAMPLE: &str = "such as '0 22 * * 1-5', weekdays at 22:00";

/// The five fields: their names, and what they take.
const FIELDS: [(&str, &str); 5] = [
    ("minute", "0-59"),
    ("hour", "0-23"),
    ("day of the month", "1-31 or L, the last one"),
    ("month", "1-12 or JAN-DEC"),
    ("weekday", "0-7 or SUN-SAT"),
];

/// A cron expression in a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    text: String,
    pattern: croner::Cron,
    zone: Tz,
}

/// The error in a cron expression, and the allowed values; a fragment of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidCron(String);

impl Cron {
    /// Reads five fields (minute, hour, day of the month, month, weekday), or a shorthand such as `@daily`. An
    /// expression without a next run after `now` is refused.
    pub fn read(text: &str, timezone: &str, now: Timestamp) -> Result<Self, InvalidCron> {
        let zone = zone(timezone).map_err(|error| InvalidCron(error.to_string()))?;
        let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        let pattern = parse(&text).map_err(InvalidCron)?;
        let cron = Self { text, pattern, zone };
        match cron.after(now) {
            Some(_) => Ok(cron),
            None => Err(InvalidCron(format!("'{}' never comes: no day is like that", cron.text))),
        }
    }

    /// The expression, with one blank between its fields.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn zone(&self) -> Tz {
        self.zone
    }

    /// The first run after `at`, not at it.
    pub fn after(&self, at: Timestamp) -> Option<Timestamp> {
        let next = self.pattern.find_next_occurrence(&at.utc().with_timezone(&self.zone), false).ok()?;
        Some(Timestamp::new(next.with_timezone(&Utc))).filter(|next| *next > at)
    }

    /// The last run from `first` to `now`, both included; `None` if there is none in the time `within` before `now`.
    pub fn last(&self, first: Timestamp, now: Timestamp, within: Duration) -> Option<Timestamp> {
        let millis = i64::try_from(within.as_millis()).unwrap_or(i64::MAX);
        let oldest = now.utc().timestamp_millis().saturating_sub(millis);
        let first = chrono::DateTime::from_timestamp_millis(oldest).map_or(first, Timestamp::new).max(first);
        // The next run after the millisecond before `first` is at `first` or later.
        let before = chrono::DateTime::from_timestamp_millis(first.utc().timestamp_millis().saturating_sub(1))?;
        std::iter::successors(self.after(Timestamp::new(before)), |run| self.after(*run))
            .take_while(|run| *run <= now)
            .last()
    }
}

fn parse(text: &str) -> Result<croner::Cron, String> {
    if text.len() > LONGEST {
        return Err(format!("a cron expression has at most {LONGEST} letters, {EXAMPLE}"));
    }
    let fields: Vec<&str> = text.split(' ').collect();
    if fields.len() != FIELDS.len() && !text.starts_with('@') {
        return Err(format!(
            "'{text}' is not a cron expression: it has five fields (minute, hour, day of the month, month, weekday), {EXAMPLE}"
        ));
    }
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    // A list with an empty element would match no time, and the search would go on until the year 5000.
    let is_whole = |field: &str| !field.split(',').any(str::is_empty);
    if let Ok(cron) = parser.parse(text)
        && fields.iter().all(|field| is_whole(field))
    {
        return Ok(cron);
    }
    // Each field is parsed with `*` for the others, to find the invalid one.
    for (place, (field, (name, allowed))) in fields.iter().zip(FIELDS).enumerate() {
        let mut alone = ["*"; FIELDS.len()];
        if let Some(here) = alone.get_mut(place) {
            *here = field;
        }
        if !is_whole(field) || parser.parse(&alone.join(" ")).is_err() {
            return Err(format!(
                "'{text}' is not a cron expression: its {name} is '{field}', and may be {allowed}, * or several with , - and */"
            ));
        }
    }
    Err(format!("'{text}' is not a cron expression: write five fields, {EXAMPLE}, or @daily, @weekly, @monthly"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        serde_json::from_value(text.into()).unwrap()
    }

    fn now() -> Timestamp {
        at("2026-11-21T12:00:00.000Z")
    }

    /// The next runs.
    fn runs(cron: &str, zone: &str, from: &str, count: usize) -> Vec<String> {
        let cron = Cron::read(cron, zone, now()).unwrap();
        let first = cron.after(at(from));
        std::iter::successors(first, |run| cron.after(*run)).take(count).map(|run| run.to_string()).collect()
    }

    #[test]
    fn a_run_comes_when_the_wall_says_so() {
        for (cron, zone, from, expected) in [
            // The 21st of November 2026 is a Saturday.
            (
                "0 22 * * 1-5",
                "Europe/Berlin",
                "2026-11-20T20:59:59.999Z",
                ["2026-11-20T21:00:00.000Z", "2026-11-23T21:00:00.000Z"],
            ),
            (
                "0  22 * * MON-FRI",
                "europe/berlin",
                "2026-11-20T21:00:00.000Z",
                ["2026-11-23T21:00:00.000Z", "2026-11-24T21:00:00.000Z"],
            ),
            (
                "@daily",
                "Asia/Tokyo",
                "2026-11-20T16:00:00.000Z",
                ["2026-11-21T15:00:00.000Z", "2026-11-22T15:00:00.000Z"],
            ),
            (
                "30 6 29 2 *",
                "UTC",
                "2026-11-20T16:00:00.000Z",
                ["2028-02-29T06:30:00.000Z", "2032-02-29T06:30:00.000Z"],
            ),
            ("0 1 L * *", "UTC", "2026-11-20T16:00:00.000Z", ["2026-11-30T01:00:00.000Z", "2026-12-31T01:00:00.000Z"]),
            // Put forward over it: at the moment after the gap. Put back: the first time only.
            (
                "30 2 * * *",
                "Europe/Berlin",
                "2026-03-28T12:00:00.000Z",
                ["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"],
            ),
            (
                "30 2 * * *",
                "Europe/Berlin",
                "2026-10-24T12:00:00.000Z",
                ["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"],
            ),
            // Repeating expressions follow the local clock.
            (
                "*/30 2 * * *",
                "Europe/Berlin",
                "2026-10-25T00:30:00.000Z",
                ["2026-10-25T01:00:00.000Z", "2026-10-25T01:30:00.000Z"],
            ),
            (
                "*/30 * * * *",
                "Europe/Berlin",
                "2026-03-29T00:30:00.000Z",
                ["2026-03-29T01:00:00.000Z", "2026-03-29T01:30:00.000Z"],
            ),
        ] {
            assert_eq!(runs(cron, zone, from, 2), expected, "{cron} {zone} from {from}");
        }
    }

    #[test]
    fn what_is_wrong_with_an_expression_is_said() {
        let five = |text: &str| {
            format!(
                "'{text}' is not a cron expression: it has five fields (minute, hour, day of the month, month, weekday), \
                 such as '0 22 * * 1-5', weekdays at 22:00"
            )
        };
        let field = |text: &str, name: &str, field: &str, allowed: &str| {
            format!(
                "'{text}' is not a cron expression: its {name} is '{field}', and may be {allowed}, * or several with , - and */"
            )
        };
        for (text, expected) in [
            ("", five("")),
            ("22:00", five("22:00")),
            ("0 0 22 * * 1-5", five("0 0 22 * * 1-5")),
            ("60 22 * * *", field("60 22 * * *", "minute", "60", "0-59")),
            ("0 25 * * *", field("0 25 * * *", "hour", "25", "0-23")),
            ("0 22 0 * *", field("0 22 0 * *", "day of the month", "0", "1-31 or L, the last one")),
            ("0 22 * 13 *", field("0 22 * 13 *", "month", "13", "1-12 or JAN-DEC")),
            ("0 22 * * FUN", field("0 22 * * FUN", "weekday", "FUN", "0-7 or SUN-SAT")),
            ("0 22 * * 5-1", field("0 22 * * 5-1", "weekday", "5-1", "0-7 or SUN-SAT")),
            (", 22 * * *", field(", 22 * * *", "minute", ",", "0-59")),
            ("0 22 1, * *", field("0 22 1, * *", "day of the month", "1,", "1-31 or L, the last one")),
            ("0 22 30 2 *", "'0 22 30 2 *' never comes: no day is like that".to_owned()),
            ("0 22 31 4,6 *", "'0 22 31 4,6 *' never comes: no day is like that".to_owned()),
        ] {
            assert_eq!(
                Cron::read(text, "UTC", now()).map(|cron| cron.text().to_owned()),
                Err(InvalidCron(expected)),
                "{text}"
            );
        }
        let reboot = Cron::read("@reboot", "UTC", now()).unwrap_err().to_string();
        assert!(reboot.starts_with("'@reboot' is not a cron expression: "), "{reboot}");
        let wrong = "there is no time zone 'Europe/Berln': did you mean Europe/Berlin?";
        assert_eq!(Cron::read("@daily", "Europe/Berln", now()), Err(InvalidCron(wrong.to_owned())));
    }

    #[test]
    fn of_missed_runs_the_last_is_found() {
        let cron = Cron::read("0 22 * * *", "UTC", now()).unwrap();
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        for (first, now, within, expected) in [
            // On time, to the millisecond.
            ("2026-11-20T22:00:00.000Z", "2026-11-20T22:00:00.000Z", 0, Some("2026-11-20T22:00:00.000Z")),
            ("2026-11-20T22:00:00.000Z", "2026-11-20T21:59:59.999Z", 12, None),
            // A week of nothing.
            ("2026-11-14T22:00:00.000Z", "2026-11-21T09:00:00.000Z", 12, Some("2026-11-20T22:00:00.000Z")),
            ("2026-11-14T22:00:00.000Z", "2026-11-21T10:00:00.000Z", 12, Some("2026-11-20T22:00:00.000Z")),
            ("2026-11-14T22:00:00.000Z", "2026-11-21T10:00:00.001Z", 12, None),
            // The last one was run already.
            ("2026-11-21T22:00:00.000Z", "2026-11-21T09:00:00.000Z", 12, None),
        ] {
            let last = cron.last(at(first), at(now), hours(within));
            assert_eq!(last, expected.map(at), "from {first} to {now} within {within} h");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_there_is_an_answer(text in "[0-9*,/LW#?+@ -]{0,20}|\\PC{0,20}|([0-9*,/-]{1,4} ){4}[0-7#L,-]{1,4}") {
            if let Ok(cron) = Cron::read(&text, "Europe/Berlin", now()) {
                let next = cron.after(now()).unwrap();
                prop_assert!(next > now());
                prop_assert_eq!(Cron::read(cron.text(), "Europe/Berlin", now()), Ok(cron.clone()));
                prop_assert_eq!(cron.last(now(), next, Duration::MAX), Some(next));
            }
        }

        #[test]
        fn runs_are_after_one_another_and_none_is_left_out(
            minute in 0..60_u32, hour in 0..24_u32, zone in 0..chrono_tz::TZ_VARIANTS.len(), days in 0..3650_i64,
        ) {
            let cron = Cron::read(&format!("{minute} {hour} * * *"), chrono_tz::TZ_VARIANTS[zone].name(), now()).unwrap();
            let from = Timestamp::new(now().utc() + chrono::TimeDelta::days(days));
            let next = cron.after(from).unwrap();
            // Each day has one, but those are an hour or two apart from a day's length when the clock changes.
            let gap = cron.after(next).unwrap().millis_since(next);
            prop_assert!(next > from && (21..=27).contains(&(gap / 3_600_000)), "{} {}", next, gap);
        }
    }
}
