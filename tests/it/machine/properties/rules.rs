//! The properties themselves.

use super::{
    night::{happenings, play, settings},
    wire,
};
use crate::support::cases;
use overnight::job::step::Ask;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(16),
        max_shrink_iters: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_night_keeps_the_rules(night in happenings(60), settings in settings()) {
        let world = play(&settings, &night);
        wire::check(&world);
    }

    /// SPEC 3: a job works towards an end within its limits, or is held at them; it never waits for what doesn't come.
    #[test]
    fn a_night_of_replies_alone_comes_to_rest(night in happenings(12), settings in settings()) {
        let world = play(&settings, &night);
        let turns = world.job.totals.spent.turns;
        prop_assert!(turns <= world.job.limits.turns);
        if world.job.is_running() {
            prop_assert_eq!(world.job.next(), Ask::Model);
            prop_assert!(turns < world.job.limits.turns, "{} turns, and it still runs", turns);
        }
    }
}
