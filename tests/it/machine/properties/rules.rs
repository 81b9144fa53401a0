//! The property itself.

use super::{
    night::{happenings, play, settings},
    wire,
};
use crate::support::property;
use proptest::prelude::*;

proptest! {
    #![proptest_config(property(10))]

    /// The books agree after each decision, the stored facts give the same job and the same prompts, and a job
    /// works towards an end within its limits or is held at them; it never waits for what doesn't come.
    #[test]
    fn any_night_keeps_the_rules(night in happenings(60), settings in settings()) {
        let world = play(&settings, &night);
        wire::check(&world);
        let turns = world.job.totals.spent.turns;
        prop_assert!(turns <= world.job.limits.turns);
        if world.job.is_running() {
            prop_assert!(world.asks());
            prop_assert!(turns < world.job.limits.turns, "{} turns, and it still runs", turns);
        }
    }
}
