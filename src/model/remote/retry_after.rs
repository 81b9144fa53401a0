//! The wait that a server requests before the next attempt (`Retry-After`).

use crate::model::retry;
use chrono::{DateTime, Utc};
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use std::time::Duration;

const RETRY_AFTER_MS: &str = "retry-after-ms";

/// The wait that a response's headers ask for: milliseconds, seconds, or a date (RFC 9110, section 10.2.3). A date is compared
/// with the server's own clock where the response gives it, else with `now`.
pub(super) fn from_headers(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(pause) = text(RETRY_AFTER_MS).and_then(|text| seconds(text, 1_000.0)) {
        return Some(pause);
    }
    let asked = text(RETRY_AFTER.as_str())?;
    seconds(asked, 1.0).or_else(|| {
        let until = date(asked)?;
        let now = text(DATE.as_str()).and_then(date).unwrap_or(now);
        // A time in the past says nothing about when to try again.
        retry::asked((until - now).to_std().ok()?.as_secs_f64())
    })
}

fn seconds(text: &str, in_one: f64) -> Option<Duration> {
    retry::asked(text.parse::<f64>().ok()? / in_one)
}

fn date(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc2822(text).ok().map(|date| date.with_timezone(&Utc))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_headers(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let now = DateTime::parse_from_rfc3339("2026-11-22T03:00:00Z").unwrap().with_timezone(&Utc);
        let headers = headers.iter().filter_map(|(name, value)| Some(((*name).parse().ok()?, value.parse().ok()?)));
        from_headers(&headers.collect::<HeaderMap>(), now)
    }

    #[test]
    fn every_form_is_read_and_bounded() {
        for (headers, expected) in [
            (&[][..], None),
            (&[("retry-after", "7")], Some(7_000)),
            (&[("retry-after", " 0.25 ")], Some(250)),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "1e300")], None),
            (&[("retry-after", "inf")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "Infinity")], None),
            (&[("retry-after", "1e9")], None),
            (&[("retry-after", "99999999999999999999")], None),
            (&[("retry-after", "0")], Some(0)),
            (&[("retry-after", "7200")], Some(3_600_000)),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "")], None),
            (&[("retry-after", "Sun, 22 Nov 2026 03:00:30 GMT")], Some(30_000)),
            (&[("retry-after", "Sun, 22 Nov 2026 02:00:30 GMT")], None),
            (&[("retry-after", "Mon, 22 Nov 2099 03:00:30 GMT")], None),
            (&[("retry-after", "22 Nov 2099 03:00:30 GMT")], None),
            // The server's clock is five minutes ahead of ours.
            (
                &[("retry-after", "Sun, 22 Nov 2026 02:55:30 GMT"), ("date", "Sun, 22 Nov 2026 02:55:00 GMT")],
                Some(30_000),
            ),
            (&[("retry-after-ms", "1500"), ("retry-after", "2")], Some(1_500)),
            (&[("retry-after-ms", "?"), ("retry-after", "2")], Some(2_000)),
        ] {
            assert_eq!(read_headers(headers), expected.map(Duration::from_millis), "{headers:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_bounded_pause_or_none(text in "\\PC{0,40}|[-+0-9.eE]{0,30}") {
            prop_assert!(read_headers(&[("retry-after", &text), ("date", &text)]).is_none_or(|pause| pause <= retry::LONGEST));
        }
    }
}
