//! The program killed at every place of `src/failpoint.rs`, and once more while it repairs what that left.
//!
//! Each command is killed at one hit of each place or two; `OVERNIGHT_TEST_HITS=all` kills at every hit.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    act::Act,
    test_dir::{CALLED, TestDir},
};
use crate::{store::postgres_url, support::wait};
use regex::Regex;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// What went wrong, and where it was killed.
type Faults = Mutex<Vec<String>>;

/// Places that these jobs don't reach: those of answers that come later (`later.rs`), of packing (`packing.rs`), of pages that
/// are looked at (`remote/images.rs`) and of a workspace store (`workspace_store.rs`).
const UNREACHED: [&str; 16] = [
    "batch.answered",
    "batch.created",
    "batch.intended",
    "cascade.decided",
    "model.submitted",
    "pack.aside",
    "pack.checked",
    "pack.named",
    "page.painted",
    "unpack.named",
    "unpack.written",
    "workspace_store.blocks",
    "workspace_store.cleared",
    "workspace_store.manifest",
    "workspace_store.pointed",
    "workspace_store.restored",
];

/// Every place that the source names.
static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let place = Regex::new(r#"failpoint::(?:hit|half|half_of)\(\s*"([^"]+)""#).unwrap();
    walkdir::WalkDir::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"))
        .flat_map(|entry| {
            let text = fs::read_to_string(entry.path()).unwrap();
            place.captures_iter(&text).map(|found| found[1].to_owned()).collect::<Vec<_>>()
        })
        .collect()
});

/// How often a command comes by each place.
fn hits(dir: &TestDir, arguments: &[&str]) -> BTreeMap<String, usize> {
    let list = dir.path().join("hits");
    let points: Vec<String> = NAMES.iter().map(|name| format!("{name}=return({})", list.display())).collect();
    dir.run(arguments, &points.join(";"));
    let mut hits = BTreeMap::new();
    for name in fs::read_to_string(&list).unwrap_or_default().lines() {
        *hits.entry(name.to_owned()).or_insert(0) += 1;
    }
    hits
}

/// The hits, from 0, at which to kill: these of `[first, second, middle, last]`.
fn spread(count: usize, which: [bool; 4]) -> BTreeSet<usize> {
    if std::env::var("OVERNIGHT_TEST_HITS").is_ok_and(|wish| wish == "all") {
        return (0..count).collect();
    }
    let hits = [0, 1.min(count - 1), count / 2, count - 1];
    hits.into_iter().zip(which).filter_map(|(hit, is_wanted)| is_wanted.then_some(hit)).collect()
}

/// What makes the program die when it comes by `name` for the time `hit`, from 0.
pub(super) fn death(dir: &TestDir, name: &str, hit: usize) -> String {
    let before = match (name == CALLED, hit) {
        (_, 0) => String::new(),
        (true, hit) => format!("{hit}*return({})->", dir.list().display()),
        (false, hit) => format!("{hit}*off->"),
    };
    format!("{name}={before}return")
}

/// Kills `act` at each of the places and a spread of its hits; each time a person goes on until it has ended. Gives the
/// places it came by.
fn killed(
    act: &Act,
    which: [bool; 4],
    is_wanted: &(dyn Fn(&str) -> bool + Sync),
    prepare: &(dyn Fn(&mut TestDir) + Sync),
    faults: &Faults,
) -> BTreeSet<String> {
    let fresh = || {
        let mut dir = act.before.copy();
        prepare(&mut dir);
        dir
    };
    let found = hits(&fresh(), act.arguments);
    let places = found.iter().filter(|(name, _)| is_wanted(name));
    let cases = places.flat_map(|(name, &count)| spread(count, which).into_iter().map(move |hit| (name, hit)));
    both(&cases.collect::<Vec<_>>(), &|(name, hit)| {
        let dir = fresh();
        let ran = dir.run(act.arguments, &death(&dir, name, *hit));
        let ended = if ran.signal.is_some() {
            act.finish(&dir, &mut |dir, arguments| dir.run(arguments, ""))
        } else {
            Err(format!("it lives: {ran:?}"))
        };
        if let Err(what) = ended.and_then(|()| act.check(&dir, 1)) {
            faults.lock().unwrap().push(format!("{:?} killed at {name} {hit}: {what}", act.word));
        }
    });
    found.into_keys().collect()
}

/// Does all cases on two threads.
fn both<T: Sync>(cases: &[T], one: &(dyn Fn(&T) + Sync)) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    one(case);
                }
            });
        }
    });
}

/// Kills `act` at `name`, and who mends it at each place that it comes by.
fn killed_twice(act: &Act, name: &str, hit: usize, faults: &Faults) -> BTreeSet<String> {
    let first = act.before.copy();
    let ran = first.run(act.arguments, &death(&first, name, hit));
    assert!(ran.signal.is_some(), "{name} {hit}: it lives: {ran:?}");
    // Rows hold a workspace's whole path: with the first folder gone, each copy's own is taken.
    let crashed = first.copy();
    drop(first);
    let found = hits(&crashed.copy(), act.again());
    both(&found.keys().collect::<Vec<_>>(), &|place| {
        let dir = crashed.copy();
        let mut points = Some(death(&dir, place, 0));
        let ended = act.finish(&dir, &mut |dir, arguments| dir.run(arguments, &points.take().unwrap_or_default()));
        if let Err(what) = ended.and_then(|()| act.check(&dir, 2)) {
            let how = format!("{:?} killed at {name} {hit}, then at {place}", act.word);
            faults.lock().unwrap().push(format!("{how}: {what}"));
        }
    });
    found.into_keys().collect()
}

fn told(faults: &Faults) {
    let faults = faults.lock().unwrap();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn killed_at_every_place_a_job_ends_as_if_nothing_had_happened() {
    let mut reached = BTreeSet::new();
    let faults = Faults::default();
    for (act, which) in [
        (Act::offline(), [true, false, false, true]),
        (Act::scripted(), [false, false, true, false]),
        (Act::feedback(), [false, true, false, false]),
        (Act::feedback_after_the_end(), [false, false, false, true]),
        (Act::approve(), [true, false, false, false]),
        (Act::correct(), [false, false, false, true]),
        (Act::resume(), [true, false, false, false]),
        (Act::cancel(), [false, false, false, true]),
    ] {
        reached.extend(killed(&act, which, &|_| true, &|_| {}, &faults));
    }
    let act = Act::scripted();
    for (name, hit) in [("journal.append.half", 80), ("archive.named", 3), ("file.new.half", 70)] {
        reached.extend(killed_twice(&act, name, hit, &faults));
    }
    told(&faults);
    let unreached: Vec<&String> = NAMES.difference(&reached).collect();
    assert_eq!(unreached, UNREACHED);
}

#[test]
fn killed_at_every_place_of_the_other_database_too() {
    let faults = Faults::default();
    let act = Act::offline();
    let which = [true, true, false, true];
    let is_database =
        |name: &str| ["store.", "row.", "claim.", "checkpoint."].iter().any(|room| name.starts_with(room));
    killed(&act, which, &is_database, &|dir| dir.database = Some(wait(postgres_url())), &faults);
    told(&faults);
}
