//! Scenarios as data: every file `tests/scenarios/NNN-name.txt` is a job that is worked to its rest, and what it leaves is
//! compared whole with what the file says. `tests/scenarios/README.md` says how to write one.
//!
//! `UPDATE=1` rewrites what is expected; `SCENARIO=part-of-a-name` runs only some.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

pub(crate) mod case;
pub(crate) mod common;
mod derived;
mod generated;
pub(crate) mod golden;
pub(crate) mod ground;
pub(crate) mod later;
pub(crate) mod mask;
pub(crate) mod play;
pub(crate) mod story;
pub(crate) mod tree;

use crate::support::wait;
use case::Scenario;
use common::Usual;
use generated::GeneratedPart;
use golden::Expected;
use ground::Ground;
use similar::TextDiff;
use std::{collections::BTreeMap, env, fs, sync::Mutex};

/// Works a scenario undisturbed; what it leaves, or what is wrong.
async fn played(scenario: &Scenario, ground: &Ground) -> Result<GeneratedPart, String> {
    let path = ground.begin(scenario)?;
    play::play(scenario, 0, &*ground.store, &path, &mut |_| {})
        .await
        .map_err(|fault| format!("{fault}\nthe story ends:\n{}", story::end(&path)))?;
    ground.nothing_outside_was_touched()?;
    GeneratedPart::of(scenario, &path, &Expected::of(scenario, &path, &ground.faults(&path).await?)?)
}

/// The texts that are usual. Under `UPDATE=1` those that all scenarios together have, otherwise as they stand in their file.
fn usual(all: &BTreeMap<String, GeneratedPart>) -> Usual {
    let path = case::root().join("usual.txt");
    if env::var_os("UPDATE").is_none() || env::var_os("SCENARIO").is_some() {
        return Usual::read(&fs::read_to_string(&path).unwrap_or_default());
    }
    let usual = Usual::among(all.values().flat_map(GeneratedPart::named));
    fs::write(&path, usual.write("Generated: what many scenarios have in common, by the name of the reply or file.\n"))
        .unwrap();
    usual
}

#[test]
fn every_scenario_ends_as_expected() {
    let all: Mutex<BTreeMap<String, GeneratedPart>> = Mutex::default();
    case::each(&|scenario| {
        let told = wait(async { played(scenario, &Ground::new().await).await })?;
        all.lock().unwrap().insert(scenario.name.clone(), told);
        Ok(())
    });
    let all = all.into_inner().unwrap();
    let usual = usual(&all);
    let mut faults = String::new();
    for scenario in case::all().iter().flatten() {
        let file = all[&scenario.name].file(scenario, &usual);
        if env::var_os("UPDATE").is_some() {
            fs::write(case::root().join(&scenario.name).with_extension("txt"), file).unwrap();
        } else if file != scenario.file {
            let diff = TextDiff::from_lines(scenario.file.as_str(), file.as_str());
            faults += &diff.unified_diff().context_radius(2).header(&scenario.name, "found").to_string();
        }
    }
    assert!(faults.is_empty(), "{faults}\nUPDATE=1 takes it as it is");
}
