//! The program killed at every place of `src/crash.rs`, and once more while it mends what that left.
//!
//! `OVERNIGHT_TEST_HITS=all` kills at every hit of every place, not at the first, middle and last.

use super::{
    act::Act,
    desk::{CALLED, Desk},
};
use regex::Regex;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::{LazyLock, Mutex},
};

/// Places that these jobs don't reach, and why.
const UNREACHED: [&str; 0] = [];

/// Every place that the source names.
static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let place = Regex::new(r#"crash::(?:point|half|half_of)\(\s*"([^"]+)""#).unwrap();
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
fn hits(desk: &Desk, arguments: &[&str]) -> BTreeMap<String, usize> {
    let list = desk.path().join("hits");
    let points: Vec<String> = NAMES.iter().map(|name| format!("{name}=return({})", list.display())).collect();
    desk.run(arguments, &points.join(";"));
    let mut hits = BTreeMap::new();
    for name in fs::read_to_string(&list).unwrap_or_default().lines() {
        *hits.entry(name.to_owned()).or_insert(0) += 1;
    }
    hits
}

/// The hits, from 0, at which to kill.
fn spread(count: usize) -> BTreeSet<usize> {
    if std::env::var("OVERNIGHT_TEST_HITS").is_ok_and(|wish| wish == "all") {
        return (0..count).collect();
    }
    BTreeSet::from([0, count / 2, count - 1])
}

/// What makes the program die when it comes by `name` for the time `hit`, from 0.
fn death(desk: &Desk, name: &str, hit: usize) -> String {
    let before = match (name == CALLED, hit) {
        (_, 0) => String::new(),
        (true, hit) => format!("{hit}*return({})->", desk.list().display()),
        (false, hit) => format!("{hit}*off->"),
    };
    format!("{name}={before}return")
}

/// Kills `act` at each place and a spread of its hits; each time a person goes on until it has ended.
fn killed_once(act: &Act, faults: &Mutex<Vec<String>>) -> BTreeSet<String> {
    let found = hits(&act.before.copy(), act.arguments);
    let mut cases: Vec<(&String, usize)> =
        found.iter().flat_map(|(name, &count)| spread(count).into_iter().map(move |hit| (name, hit))).collect();
    let half = cases.split_off(cases.len() / 2);
    std::thread::scope(|threads| {
        for cases in [cases, half] {
            threads.spawn(move || {
                for (name, hit) in cases {
                    let desk = act.before.copy();
                    let ran = desk.run(act.arguments, &death(&desk, name, hit));
                    let ended = if ran.signal.is_some() {
                        act.finish(&desk, &mut |desk, arguments| desk.run(arguments, ""))
                    } else {
                        Err(format!("it lives: {ran:?}"))
                    };
                    if let Err(what) = ended.and_then(|()| act.check(&desk, 1)) {
                        faults.lock().unwrap().push(format!("{:?} killed at {name} {hit}: {what}", act.word));
                    }
                }
            });
        }
    });
    found.into_keys().collect()
}

/// Kills `act` at `name`, and who mends it at each place that it comes by.
fn killed_twice(act: &Act, name: &str, hit: usize, faults: &mut Vec<String>) -> BTreeSet<String> {
    let crashed = act.before.copy();
    let ran = crashed.run(act.arguments, &death(&crashed, name, hit));
    assert!(ran.signal.is_some(), "{name} {hit}: it lives: {ran:?}");
    let found = hits(&crashed.copy(), &["resume", "last", "-q"]);
    for place in found.keys() {
        let desk = crashed.copy();
        let mut points = Some(death(&desk, place, 0));
        let ended = act.finish(&desk, &mut |desk, arguments| desk.run(arguments, &points.take().unwrap_or_default()));
        if let Err(what) = ended.and_then(|()| act.check(&desk, 2)) {
            faults.push(format!("{:?} killed at {name} {hit}, then at {place}: {what}", act.word));
        }
    }
    found.into_keys().collect()
}

#[test]
fn killed_at_every_place_a_job_ends_as_if_nothing_had_happened() {
    let mut reached = BTreeSet::new();
    let faults = Mutex::new(Vec::new());
    for act in [Act::offline(), Act::scripted(), Act::feedback(), Act::approve(), Act::resume(), Act::cancel()] {
        let since = std::time::Instant::now();
        reached.extend(killed_once(&act, &faults));
        eprintln!("{:?} {:?}", act.word, since.elapsed());
    }
    let mut faults = faults.into_inner().unwrap();
    let act = Act::scripted();
    for (name, hit) in [("journal.append.half", 40), ("file.new.half", 30), ("archive.named", 1), ("archive.copied", 2)]
    {
        reached.extend(killed_twice(&act, name, hit, &mut faults));
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    let unreached: Vec<&String> = NAMES.difference(&reached).collect();
    assert_eq!(unreached, UNREACHED);
}
