//! The program killed between a call's submission and the fact of it: what was handed in is found again, and not paid for twice.

use super::{act::Act, failpoints::death, test_dir::TestDir};
use std::fs;

/// Calls that were handed in.
fn handed_in(dir: &TestDir) -> usize {
    fs::read_dir(dir.path().join("calls")).map_or(0, Iterator::count)
}

#[test]
fn a_call_is_handed_in_once_wherever_the_program_is_killed() {
    let act = Act::scripted_later();
    let undisturbed = act.before.copy();
    undisturbed.run(act.arguments, "");
    let calls = handed_in(&undisturbed);
    assert!(calls > 5, "{calls}");
    for place in ["model.called", "model.submitted", "model.replied", "checkpoint.done"] {
        for hit in [0, 1, calls / 2] {
            let dir = act.before.copy();
            let ran = dir.run(act.arguments, &death(&dir, place, hit));
            assert!(ran.signal.is_some(), "{place} {hit}: it lives: {ran:?}");
            let killed_with = handed_in(&dir);
            act.finish(&dir, &mut |dir, arguments| dir.run(arguments, "")).unwrap();
            act.check(&dir, 1).unwrap();
            assert_eq!(handed_in(&dir), calls, "{place} {hit}, killed with {killed_with}");
        }
    }
}
