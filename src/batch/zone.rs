//! Time zones by name, as windows and schedules name them.

use chrono_tz::{TZ_VARIANTS, Tz};
use overnight_core::job::time::Timestamp;

/// Letters at most that are quoted of an unknown name.
const SHOWN: usize = 60;

/// The error for an unknown time zone, with the one that was probably meant; a fragment of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownZone(String);

/// Reads a time zone's name; the spelling of its letters doesn't matter.
pub fn zone(name: &str) -> Result<Tz, UnknownZone> {
    let name = name.trim();
    if let Some(zone) = TZ_VARIANTS.into_iter().find(|zone| zone.name().eq_ignore_ascii_case(name)) {
        return Ok(zone);
    }
    let shown: String = name.chars().take(SHOWN).collect();
    let hint = match near(&shown) {
        Some(zone) => format!("did you mean {zone}?"),
        None => "write one such as Europe/Berlin, America/New_York or UTC".to_owned(),
    };
    Err(UnknownZone(format!("there is no time zone '{shown}': {hint}")))
}

/// `2026-11-21 22:00 Europe/Berlin`: a moment as the clock on the wall shows it there.
pub fn on_the_wall(at: Timestamp, zone: Tz) -> String {
    format!("{} {}", at.utc().with_timezone(&zone).format("%Y-%m-%d %H:%M"), zone.name())
}

/// The zone that was probably meant: by its whole name, or by its city alone.
fn near(name: &str) -> Option<&'static str> {
    let plain = plain(name);
    let likeness = |zone: &'static str| {
        let whole = self::plain(zone);
        let city = whole.rsplit('/').next().unwrap_or_default();
        (strsim::jaro_winkler(&plain, &whole).max(strsim::jaro_winkler(&plain, city)), zone)
    };
    let best = TZ_VARIANTS.iter().map(|zone| likeness(zone.name())).reduce(|best, next| {
        // The first of equals, so that the answer is always the same one.
        if next.0 > best.0 { next } else { best }
    });
    best.filter(|(likeness, _)| *likeness > 0.85).map(|(_, zone)| zone)
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace(' ', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_zone_is_known_by_its_name() {
        for (text, expected) in [
            ("Europe/Berlin", Ok("Europe/Berlin")),
            (" europe/berlin ", Ok("Europe/Berlin")),
            ("utc", Ok("UTC")),
            ("Etc/GMT+5", Ok("Etc/GMT+5")),
            ("Europe/Berln", Err("there is no time zone 'Europe/Berln': did you mean Europe/Berlin?")),
            ("berlin", Err("there is no time zone 'berlin': did you mean Europe/Berlin?")),
            ("New York", Err("there is no time zone 'New York': did you mean America/New_York?")),
            ("+02:00", Err("there is no time zone '+02:00': write one such as Europe/Berlin, America/New_York or UTC")),
        ] {
            assert_eq!(zone(text).map(Tz::name), expected.map_err(|why| UnknownZone(why.to_owned())), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_zone_reads_back(place in 0..TZ_VARIANTS.len()) {
            prop_assert_eq!(zone(TZ_VARIANTS[place].name()).map(Tz::name), Ok(TZ_VARIANTS[place].name()));
        }

        #[test]
        fn whatever_is_written_there_is_an_answer(text in "\\PC{0,80}") {
            let _ = zone(&text);
        }
    }
}
