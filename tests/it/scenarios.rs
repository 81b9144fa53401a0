//! Scenarios as data: every folder of `tests/scenarios/` is a job that is worked to its rest, and what it leaves is compared
//! whole with its golden tree. `tests/scenarios/README.md` says how to write one.
//!
//! `UPDATE=1` rewrites the golden trees; `SCENARIO=part-of-a-name` runs only some.

pub(crate) mod case;
pub(crate) mod golden;
pub(crate) mod ground;
pub(crate) mod mask;
pub(crate) mod play;
pub(crate) mod story;
pub(crate) mod tree;

use crate::support::wait;
use case::Scenario;
use golden::Expected;
use ground::Ground;

/// Works a scenario undisturbed and compares what it leaves; what is wrong, otherwise.
async fn check(scenario: &Scenario, ground: &Ground) -> Result<(), String> {
    let path = ground.begin(scenario)?;
    play::play(scenario, 0, &*ground.store, &path, &mut |_| {})
        .await
        .map_err(|fault| format!("{fault}\nthe story ends:\n{}", story::end(&path)))?;
    ground.nothing_outside_was_touched()?;
    ground.verify(&path).await?;
    let found = Expected::of(scenario, &path)?;
    found.compare(&scenario.folder.join("expected"))
}

#[test]
fn every_scenario_ends_as_expected() {
    case::each(&|scenario| {
        wait(async {
            let ground = Ground::new().await;
            check(scenario, &ground).await
        })
    });
}
