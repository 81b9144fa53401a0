//! The program killed at every place of `src/failpoint.rs`: once in a job's life, and again and again in one life, so that what repairs
//! is killed as well.
//!
//! A job that is killed once is killed at one hit of each place; `OVERNIGHT_TEST_HITS=all` kills at every hit.

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

/// Kills `act`, and whoever goes on with it, wherever it comes by a place for the time `hit` (from 0) at which nobody died
/// before, until it ends. Gives the places.
fn killed_again_and_again(
    act: &Act,
    hit: usize,
    is_wanted: &dyn Fn(&str) -> bool,
    prepare: &dyn Fn(&mut TestDir),
    faults: &Faults,
) -> BTreeSet<String> {
    let mut dir = act.before.copy();
    prepare(&mut dir);
    let mut armed: BTreeSet<&str> = NAMES.iter().map(String::as_str).filter(|name| is_wanted(name)).collect();
    let mut died = BTreeSet::new();
    let mut kill = |dir: &TestDir, arguments: &[&str]| {
        let points: Vec<String> = armed.iter().map(|name| death(dir, name, hit)).collect();
        let ran = dir.run(arguments, &points.join(";"));
        if ran.signal.is_some() {
            let place = ran.stderr.lines().last().and_then(|line| line.strip_prefix("killed at ")).unwrap();
            assert!(armed.remove(place), "{ran:?}");
            died.insert(place.to_owned());
        }
        ran
    };
    let ran = kill(&dir, act.arguments);
    let ended = if act.is_done(&ran) { Ok(()) } else { act.finish(&dir, &mut kill) };
    if let Err(what) = ended.and_then(|()| act.check(&dir, died.len())) {
        faults.lock().unwrap().push(format!("{:?} killed at hit {hit} of {died:?}: {what}", act.word));
    }
    died
}

fn told(faults: &Faults) {
    let faults = faults.lock().unwrap();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn killed_at_every_place_a_job_ends_as_if_nothing_had_happened() {
    let faults = Faults::default();
    let (offline, scripted, approve) = (Act::offline(), Act::scripted(), Act::approve());
    let mut reached = BTreeSet::new();
    for (act, which) in [
        (&offline, [false, false, false, true]),
        (&scripted, [false, false, true, false]),
        (&approve, [true, false, false, false]),
    ] {
        reached.extend(killed(act, which, &|_| true, &|_| {}, &faults));
    }
    let words = [Act::feedback(), Act::feedback_after_the_end(), Act::correct(), Act::resume(), Act::cancel()];
    let acts = words.iter().chain([&offline, &scripted, &approve]).map(|act| (act, 0));
    let acts = acts.chain([(&offline, 3), (&scripted, 20)]);
    let reached = Mutex::new(reached);
    both(&acts.collect::<Vec<_>>(), &|(act, hit)| {
        let died = killed_again_and_again(act, *hit, &|_| true, &|_| {}, &faults);
        reached.lock().unwrap().extend(died);
    });
    told(&faults);
    let reached = reached.into_inner().unwrap();
    let unreached: Vec<&String> = NAMES.difference(&reached).collect();
    assert_eq!(unreached, UNREACHED);
}

#[test]
fn killed_at_every_place_of_the_other_database_too() {
    let faults = Faults::default();
    let act = Act::offline();
    let is_database =
        |name: &str| ["store.", "row.", "claim.", "checkpoint."].iter().any(|room| name.starts_with(room));
    let other = |dir: &mut TestDir| dir.database = Some(wait(postgres_url()));
    killed(&act, [false, true, false, true], &is_database, &other, &faults);
    killed_again_and_again(&act, 0, &is_database, &other, &faults);
    told(&faults);
}
