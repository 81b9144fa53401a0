use super::*;
use chrono::{Datelike, NaiveDate, Timelike};
use chrono_tz::TZ_VARIANTS;
use proptest::prelude::*;

fn at(text: &str) -> Timestamp {
    serde_json::from_value(text.into()).unwrap()
}

fn read(text: &str) -> Result<String, String> {
    Window::parse(text).map(|window| window.to_string()).map_err(|error| error.to_string())
}

#[test]
fn a_window_has_one_text() {
    for (text, expected) in [
        ("22:00-06:00 Europe/Berlin", "22:00-06:00 Europe/Berlin"),
        ("  9:00–17:30   utc ", "09:00-17:30 UTC"),
        ("Mon-Fri 22:00-06:00 Europe/Berlin", "Mon-Fri 22:00-06:00 Europe/Berlin"),
        ("sunday, saturday 00:00-24:00 UTC", "Sat,Sun 00:00-24:00 UTC"),
        ("Fri-Mon 20:00-00:00 UTC", "Mon,Fri-Sun 20:00-24:00 UTC"),
        ("Mon-Sun 08:00-09:00 UTC", "08:00-09:00 UTC"),
        ("Tue,Tue,Wed 08:00-09:00 UTC", "Tue,Wed 08:00-09:00 UTC"),
        ("Mon-Fri 22:00-06:00 UTC;Sat 00:00-24:00 Asia/Tokyo;", "Mon-Fri 22:00-06:00 UTC; Sat 00:00-24:00 Asia/Tokyo"),
    ] {
        assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        assert_eq!(read(expected).as_deref(), Ok(expected));
    }
}

#[test]
fn what_is_wrong_with_a_window_is_said() {
    let allowed = "write 22:00-06:00 Europe/Berlin, or Mon-Fri 22:00-06:00 Europe/Berlin";
    for (text, expected) in [
        ("", format!("the window is empty: {allowed}")),
        ("Europe/Berlin", format!("the window 'Europe/Berlin' has no times: {allowed}")),
        ("22:00-06:00 UTC;; 1:00-2:00 UTC", format!("the window '' has no times: {allowed}")),
        (
            "Fri 22:00-06:00",
            "the window 'Fri 22:00-06:00' has no time zone: add one, such as Fri 22:00-06:00 Europe/Berlin or \
             Fri 22:00-06:00 UTC"
                .to_owned(),
        ),
        ("22:00-06:00 Europe/Bern", "there is no time zone 'Europe/Bern': did you mean Europe/Berlin?".to_owned()),
        ("22:00 UTC", "'22:00' is not from one time to another: write 22:00-06:00".to_owned()),
        ("22-6 UTC", "'22-6' is not from one time to another: write 22:00-06:00".to_owned()),
        ("22:00-24:01 UTC", "'22:00-24:01' is not from one time to another: write 22:00-06:00".to_owned()),
        ("22:60-23:00 UTC", "'22:60-23:00' is not from one time to another: write 22:00-06:00".to_owned()),
        ("22:00-22:00 UTC", "'22:00-22:00' ends when it begins: the whole day is 00:00-24:00".to_owned()),
        ("24:00-06:00 UTC", "'24:00-06:00' begins when the day is over: write 00:00 for midnight".to_owned()),
        ("Mo 22:00-06:00 UTC", "'Mo' is not a day: write Mon, Tue, Wed, Thu, Fri, Sat or Sun".to_owned()),
        ("Mon-Funday 22:00-06:00 UTC", "'Funday' is not a day: write Mon, Tue, Wed, Thu, Fri, Sat or Sun".to_owned()),
        ("Mon, 22:00-06:00 UTC", "'' is not a day: write Mon, Tue, Wed, Thu, Fri, Sat or Sun".to_owned()),
    ] {
        assert_eq!(read(text), Err(expected), "{text}");
    }
    assert_eq!(read(&"1:00-2:00 UTC;".repeat(21)), Err("the window has 21 spans, and may have 20".to_owned()));
    assert_eq!(read(&" x".repeat(900)), Err(format!("the window is longer than 1000 letters: {allowed}")));
}

/// Opens and closes in turn, from a moment on, as a waiting worker would see it.
fn course(window: &str, from: &str, turns: usize) -> Vec<String> {
    let window = Window::parse(window).unwrap();
    let mut seen = Vec::new();
    let mut now = at(from);
    for _ in 0..turns {
        now = window.opens_after(now);
        seen.push(format!("opens {now}"));
        let Some(closes) = window.closes_after(now) else {
            seen.push("never closes".to_owned());
            break;
        };
        now = closes;
        seen.push(format!("closes {now}"));
    }
    seen
}

#[test]
fn a_night_belongs_to_the_day_on_which_it_begins() {
    // The 20th of November 2026 is a Friday.
    assert_eq!(
        course("Fri,Sun 22:00-06:00 Europe/Berlin", "2026-11-20T10:00:00.000Z", 3),
        [
            "opens 2026-11-20T21:00:00.000Z",
            "closes 2026-11-21T05:00:00.000Z",
            "opens 2026-11-22T21:00:00.000Z",
            "closes 2026-11-23T05:00:00.000Z",
            "opens 2026-11-27T21:00:00.000Z",
            "closes 2026-11-28T05:00:00.000Z",
        ]
    );
    // In the middle of it, and at its very ends.
    let window = Window::parse("Fri 22:00-06:00 Europe/Berlin").unwrap();
    for (moment, open) in [
        ("2026-11-20T20:59:59.999Z", false),
        ("2026-11-20T21:00:00.000Z", true),
        ("2026-11-21T04:59:59.999Z", true),
        ("2026-11-21T05:00:00.000Z", false),
        ("2026-11-21T21:00:00.000Z", false),
    ] {
        assert_eq!(window.is_open(at(moment)), open, "{moment}");
        assert_eq!(window.opens_after(at(moment)) == at(moment), open);
        assert_eq!(window.closes_after(at(moment)) == Some(at(moment)), !open);
    }
}

#[test]
fn spans_that_meet_are_one() {
    assert_eq!(
        course("Mon-Fri 22:00-06:00 UTC; Sat,Sun 00:00-24:00 UTC; Mon 00:00-01:00 UTC", "2026-11-20T23:00:00.000Z", 2),
        [
            "opens 2026-11-20T23:00:00.000Z",
            "closes 2026-11-23T01:00:00.000Z",
            "opens 2026-11-23T22:00:00.000Z",
            "closes 2026-11-24T06:00:00.000Z",
        ]
    );
    for always in [
        "00:00-24:00 Europe/Berlin",
        "06:00-18:00 UTC; 18:00-06:00 UTC",
        "00:00-13:00 UTC; 13:00-02:00 Asia/Tokyo; 12:00-00:00 UTC",
    ] {
        assert_eq!(course(always, "2026-11-20T23:00:00.000Z", 1), ["opens 2026-11-20T23:00:00.000Z", "never closes"]);
    }
    // Open all through the summer.
    assert_eq!(
        course("00:00-12:00 UTC; 13:00-01:00 Europe/London", "2026-04-01T00:00:00.000Z", 2),
        [
            "opens 2026-04-01T00:00:00.000Z",
            "closes 2026-10-25T12:00:00.000Z",
            "opens 2026-10-25T13:00:00.000Z",
            "closes 2026-10-26T12:00:00.000Z",
        ]
    );
}

/// In Berlin the clock goes from 02:00 to 03:00 on 29 March 2026 (at 01:00 UTC), and from 03:00 back to 02:00 on
/// 25 October (at 01:00 UTC).
#[test]
fn a_window_goes_by_the_clock_on_the_wall() {
    let spring = "2026-03-28T12:00:00.000Z";
    let autumn = "2026-10-24T12:00:00.000Z";
    let cases = [
        // The night with the gap has an hour less, the one with the repeated hour one more.
        ("22:00-06:00", spring, ["opens 2026-03-28T21:00:00.000Z", "closes 2026-03-29T04:00:00.000Z"]),
        ("22:00-06:00", autumn, ["opens 2026-10-24T20:00:00.000Z", "closes 2026-10-25T05:00:00.000Z"]),
        // A span that begins or ends in the gap does so after it.
        ("02:30-03:30", spring, ["opens 2026-03-29T01:00:00.000Z", "closes 2026-03-29T01:30:00.000Z"]),
        ("01:30-02:30", spring, ["opens 2026-03-29T00:30:00.000Z", "closes 2026-03-29T01:00:00.000Z"]),
        // A span within the gap doesn't occur that day.
        ("02:00-03:00", spring, ["opens 2026-03-30T00:00:00.000Z", "closes 2026-03-30T01:00:00.000Z"]),
        // A span over the repeated hour occurs both times.
        ("02:00-03:00", autumn, ["opens 2026-10-25T00:00:00.000Z", "closes 2026-10-25T02:00:00.000Z"]),
    ];
    for (times, from, expected) in cases {
        assert_eq!(course(&format!("{times} Europe/Berlin"), from, 1), expected, "{times} from {from}");
    }
    assert_eq!(
        course("02:15-02:30 Europe/Berlin", autumn, 2),
        [
            "opens 2026-10-25T00:15:00.000Z",
            "closes 2026-10-25T00:30:00.000Z",
            "opens 2026-10-25T01:15:00.000Z",
            "closes 2026-10-25T01:30:00.000Z",
        ]
    );
    // The clock goes back into the window, and out of it.
    assert_eq!(
        course("01:30-02:30 Europe/Berlin", autumn, 2),
        [
            "opens 2026-10-24T23:30:00.000Z",
            "closes 2026-10-25T00:30:00.000Z",
            "opens 2026-10-25T01:00:00.000Z",
            "closes 2026-10-25T01:30:00.000Z",
        ]
    );
    assert_eq!(
        course("02:30-04:00 Europe/Berlin", autumn, 2),
        [
            "opens 2026-10-25T00:30:00.000Z",
            "closes 2026-10-25T01:00:00.000Z",
            "opens 2026-10-25T01:30:00.000Z",
            "closes 2026-10-25T03:00:00.000Z",
        ]
    );
    // Half an hour, at two o'clock, on Lord Howe Island; a Friday that Samoa left out.
    assert_eq!(
        course("02:00-02:45 Australia/Lord_Howe", "2026-10-03T00:00:00.000Z", 1),
        ["opens 2026-10-03T15:30:00.000Z", "closes 2026-10-03T15:45:00.000Z"]
    );
    assert_eq!(
        course("Thu 22:00-02:00 Pacific/Apia", "2011-12-29T12:00:00.000Z", 1),
        ["opens 2011-12-30T08:00:00.000Z", "closes 2011-12-30T10:00:00.000Z"]
    );
}

#[test]
fn the_end_of_the_calendar_is_no_end_of_the_program() {
    let window = Window::parse("22:00-06:00 Europe/Berlin").unwrap();
    for end in [DateTime::<chrono::Utc>::MIN_UTC, DateTime::<chrono::Utc>::MAX_UTC].map(Timestamp::new) {
        let _ = (window.is_open(end), window.opens_after(end), window.closes_after(end));
    }
}

/// Whether a window is open, by local time alone.
fn is_open_by_the_wall(spans: &[(Vec<u32>, u32, u32, Tz)], at: Timestamp) -> bool {
    spans.iter().any(|(days, from, to, zone)| {
        let wall = at.utc().with_timezone(zone).naive_local();
        let minute = wall.hour() * 60 + wall.minute();
        let today = wall.weekday().num_days_from_monday();
        let yesterday = (today + 6) % 7;
        if from < to {
            days.contains(&today) && (*from..*to).contains(&minute)
        } else {
            (days.contains(&today) && minute >= *from) || (days.contains(&yesterday) && minute < *to)
        }
    })
}

type Spans = Vec<(Vec<u32>, u32, u32, Tz)>;

fn spans() -> impl Strategy<Value = Spans> {
    let zone = prop_oneof![
        Just(Tz::Europe__Berlin),
        Just(Tz::Australia__Lord_Howe),
        Just(Tz::Africa__Casablanca),
        Just(Tz::America__St_Johns),
        (0..TZ_VARIANTS.len()).prop_map(|place| TZ_VARIANTS[place]),
    ];
    let minute = prop_oneof![0..24 * 60_u32, 90..200_u32];
    let days =
        prop_oneof![Just((0..7).collect::<Vec<u32>>()), prop::sample::subsequence((0..7).collect::<Vec<u32>>(), 1..7)];
    let span = (days, minute.clone(), minute, zone).prop_filter("not empty", |(_, from, to, _)| from != to);
    prop::collection::vec(span, 1..4)
}

/// Ten years, the nights in which clocks change more often than others.
fn moments() -> impl Strategy<Value = Timestamp> {
    let year = 2020..2030_i32;
    let near_a_change = (year.clone(), prop_oneof![Just(3), Just(4), Just(10), Just(11)], 1..=30_u32);
    let day = prop_oneof![near_a_change, (year, 1..=12_u32, 1..=28_u32)];
    (day, 0..86_400_000_i64).prop_map(|((year, month, day), ms)| {
        let midnight = NaiveDate::from_ymd_opt(year, month, day).unwrap().and_hms_opt(0, 0, 0).unwrap().and_utc();
        Timestamp::new(midnight + chrono::TimeDelta::milliseconds(ms))
    })
}

fn written(spans: &Spans) -> String {
    let time = |minute: u32| format!("{:02}:{:02}", minute / 60, minute % 60);
    let parts: Vec<String> = spans
        .iter()
        .map(|(days, from, to, zone)| {
            let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
            let days: Vec<&str> = days.iter().map(|day| names[*day as usize]).collect();
            format!("{} {}-{} {}", days.join(","), time(*from), time(*to), zone.name())
        })
        .collect();
    parts.join("; ")
}

/// Minutes that are looked at one by one at most: two days.
const LOOKED_AT: i64 = 2 * 24 * 60;

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_window_is_open_when_the_wall_says_so(spans in spans(), from in moments()) {
        let window = Window::parse(&written(&spans)).unwrap();
        prop_assert_eq!(&Window::parse(&window.to_string()), &Ok(window.clone()));
        prop_assert_eq!(window.is_open(from), is_open_by_the_wall(&spans, from));

        let minutes = |from: Timestamp, to: Timestamp| {
            let whole = to.utc().timestamp_millis().min(from.utc().timestamp_millis() + LOOKED_AT * MINUTE);
            (from.utc().timestamp_millis()..whole).step_by(60_000).filter_map(moment)
        };
        let opens = window.opens_after(from);
        prop_assert!(opens >= from && is_open_by_the_wall(&spans, opens), "opens at {}", opens);
        for minute in minutes(from, opens) {
            prop_assert!(!is_open_by_the_wall(&spans, minute), "open at {}, before {}", minute, opens);
        }
        let just_before = moment(millis(opens) - 1).unwrap();
        prop_assert!(opens == from || !is_open_by_the_wall(&spans, just_before));

        let closes = window.closes_after(opens);
        let until = closes.unwrap_or_else(|| moment(millis(opens) + AHEAD).unwrap());
        for minute in minutes(opens, until) {
            prop_assert!(is_open_by_the_wall(&spans, minute), "closed at {}, before {}", minute, until);
        }
        if let Some(closes) = closes {
            prop_assert!(closes > opens && !is_open_by_the_wall(&spans, closes), "closes at {}", closes);
            prop_assert!(is_open_by_the_wall(&spans, moment(millis(closes) - 1).unwrap()));
            prop_assert_eq!(window.closes_after(closes), Some(closes));
        }
    }

    #[test]
    fn whatever_is_written_there_is_an_answer(text in "[MonFriSatday0-9:;,UTCEurope/Berlin –-]{0,60}|\\PC{0,60}") {
        if let Ok(window) = Window::parse(&text) {
            prop_assert_eq!(Window::parse(&window.to_string()), Ok(window));
        }
    }
}
