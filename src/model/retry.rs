//! When to try again. Pure: chance and time come from outside.
//!
//! The rule is "full jitter" of the AWS Architecture Blog's "Exponential Backoff And Jitter": the longest wait doubles
//! with each attempt, and chance picks any wait up to it. Jobs that failed together so come back one by one, which of the
//! rules compared there costs the server least.

use std::time::Duration;

/// The longest wait after the first failed attempt.
const BASE: Duration = Duration::from_millis(500);
/// The longest wait that the program chooses by itself.
const CAP: Duration = Duration::from_mins(1);
/// Doublings after which [`BASE`] is above [`CAP`].
const DOUBLINGS: u32 = 7;
/// The share of the provider's requested wait that the random part may add.
const SPREAD: f64 = 0.1;
/// The longest wait that a provider may ask for. If its limit ends later, further attempts find that out.
pub const LONGEST: Duration = Duration::from_hours(1);

/// The longest plausible wait that a provider may state: a longer value is taken for a mistake.
const SENSIBLE: Duration = Duration::from_hours(24);

/// The wait that a number of seconds asks for, if it is a valid time: neither negative nor endless.
pub fn asked(seconds: f64) -> Option<Duration> {
    let asked = Duration::try_from_secs_f64(seconds).ok()?;
    (asked <= SENSIBLE).then_some(asked.min(LONGEST))
}

/// How long to wait after failed attempt number `attempt`, from 1, at one turn.
///
/// `retry_after`: how long the provider asks to be left alone. The wait is never shorter than that, up to [`LONGEST`].
/// `chance`: from 0 to 1, drawn anew each time.
pub fn wait(attempt: u32, retry_after: Option<Duration>, chance: f64) -> Duration {
    let chance = if chance.is_nan() { 1.0 } else { chance.clamp(0.0, 1.0) };
    let doublings = attempt.saturating_sub(1).min(DOUBLINGS);
    let backoff = (BASE * 2_u32.pow(doublings)).min(CAP).mul_f64(chance);
    let asked = retry_after.unwrap_or_default().min(LONGEST);
    (asked + asked.mul_f64(SPREAD * chance)).max(backoff).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(retry_after: Option<Duration>, chance: f64) -> Vec<u128> {
        [0, 1, 2, 3, 7, 8, 9, u32::MAX].map(|attempt| wait(attempt, retry_after, chance).as_millis()).to_vec()
    }

    #[test]
    fn the_longest_wait_doubles_up_to_a_minute() {
        assert_eq!(millis(None, 1.0), [500, 500, 1000, 2000, 32_000, 60_000, 60_000, 60_000]);
        assert_eq!(millis(None, 0.5), [250, 250, 500, 1000, 16_000, 30_000, 30_000, 30_000]);
        assert_eq!(millis(None, 0.0), [0; 8]);
    }

    #[test]
    fn what_the_provider_asks_for_is_kept_and_spread() {
        let after = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(millis(after(20), 0.0), [20_000; 8]);
        assert_eq!(millis(after(20), 0.5), [21_000, 21_000, 21_000, 21_000, 21_000, 30_000, 30_000, 30_000]);
        assert_eq!(millis(after(20), 1.0), [22_000, 22_000, 22_000, 22_000, 32_000, 60_000, 60_000, 60_000]);
        assert_eq!(millis(after(3000), 1.0), [3_300_000; 8]);
        assert_eq!(millis(after(3500), 1.0), [3_600_000; 8]);
        assert_eq!(millis(Some(Duration::MAX), 1.0), [3_600_000; 8]);
    }

    #[test]
    fn a_chance_that_is_none_is_held_within_bounds() {
        assert_eq!(
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 2.0].map(|chance| wait(3, None, chance).as_millis()),
            [2000, 2000, 0, 0, 2000]
        );
    }

    proptest! {
        #[test]
        fn never_sooner_than_asked_and_never_later_than_the_bounds(
            attempt: u32,
            seconds in proptest::option::of(0_u64..10_000),
            chance in 0.0..=1.0,
        ) {
            let asked = seconds.map(Duration::from_secs);
            let wait = wait(attempt, asked, chance);
            prop_assert!(wait >= asked.unwrap_or_default().min(LONGEST));
            prop_assert!(wait <= (asked.unwrap_or_default().min(LONGEST) * 11 / 10).max(CAP).min(LONGEST));
        }
    }
}
