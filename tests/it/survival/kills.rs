//! The program killed, and stopped, at any moment: by SIGKILL until the job has ended all the same, by SIGTERM with nothing
//! lost.
//!
//! `OVERNIGHT_TEST_KILLS` says how many kills (30), `OVERNIGHT_TEST_SEED` when; a failure tells its seed.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by it")]

use super::{
    act::Act,
    test_dir::{Ran, TestDir},
};
use std::{
    cell::RefCell,
    process::{Child, Command},
    time::{Duration, Instant},
};

/// Kills, where the environment doesn't say.
const KILLS: usize = 30;
/// How long to look away from a program that is about to be killed.
const GLANCE: Duration = Duration::from_micros(200);

/// Numbers that follow from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }
}

/// When to strike.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// After so long: startup and the end too.
    After(Duration),
    /// Once the journal has grown by so many bytes.
    Journal(u64),
}

/// An undisturbed act: how long it takes, and how much it writes.
struct Measure {
    time: Duration,
    bytes: u64,
}

fn measure(act: &Act) -> Measure {
    let dir = act.before.copy();
    let (before, since) = (journal_bytes(&dir), Instant::now());
    dir.run(act.arguments, "");
    Measure { time: since.elapsed(), bytes: journal_bytes(&dir).saturating_sub(before) }
}

fn moment(random: &mut Random, measure: &Measure) -> Moment {
    if random.below(2) == 0 {
        let micros = u64::try_from(measure.time.as_micros()).unwrap();
        Moment::After(Duration::from_micros(random.below(micros)))
    } else {
        Moment::Journal(random.below(measure.bytes))
    }
}

/// Bytes of all journal files; one that is moved meanwhile may count twice or not at all.
fn journal_bytes(dir: &TestDir) -> u64 {
    let files = walkdir::WalkDir::new(dir.path().join("workspaces")).into_iter().filter_map(Result::ok);
    let journals = files.filter(|entry| entry.file_name() == "journal.jsonl");
    journals.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// Runs the program and strikes at `moment`, unless it has ended by then. Whether it was struck, and what it came to.
fn struck(dir: &TestDir, arguments: &[&str], moment: Moment, strike: &dyn Fn(&mut Child)) -> (bool, Ran) {
    let (before, since) = (journal_bytes(dir), Instant::now());
    let mut child = dir.start(arguments);
    loop {
        if child.try_wait().unwrap().is_some() {
            return (false, dir.wait(&mut child));
        }
        let is_time = match moment {
            Moment::After(time) => since.elapsed() >= time,
            Moment::Journal(bytes) => journal_bytes(dir) >= before + bytes,
        };
        if is_time {
            strike(&mut child);
            return (true, dir.wait(&mut child));
        }
        std::thread::sleep(GLANCE);
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

fn seed() -> u64 {
    number("OVERNIGHT_TEST_SEED").unwrap_or_else(|| u64::from(std::process::id()) << 32 | u64::from(clock()))
}

fn clock() -> u32 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().subsec_nanos()
}

fn acts() -> [Act; 6] {
    [Act::scripted(), Act::offline(), Act::feedback(), Act::approve(), Act::resume(), Act::cancel()]
}

/// Works the acts in turn, each struck again and again until it has come to its end, until `wanted` strikes are made.
fn disturbed(name: &str, wanted: usize, strike: &dyn Fn(&mut Child), is_well: &dyn Fn(&Act, &Ran) -> bool) {
    let seed = seed();
    let mut random = Random(seed);
    let acts = acts().map(|act| (measure(&act), act));
    let mut strikes = 0;
    while strikes < wanted {
        for (measure, act) in &acts {
            let dir = act.before.copy();
            let here = RefCell::new(Vec::new());
            let mut disturb = |dir: &TestDir, arguments: &[&str]| {
                // Now and then it is left in peace, so that every job ends.
                if random.below(4) == 0 {
                    return dir.run(arguments, "");
                }
                let moment = moment(&mut random, measure);
                let (was_struck, ran) = struck(dir, arguments, moment, strike);
                if was_struck {
                    here.borrow_mut().push(moment);
                    assert!(is_well(act, &ran), "{name} with seed {seed}: {:?} after {here:?}: {ran:?}", act.word);
                }
                ran
            };
            let first = disturb(&dir, act.arguments);
            let ended = if act.is_done(&first) { Ok(()) } else { act.finish(&dir, &mut disturb) };
            let here = here.into_inner();
            if let Err(what) = ended.and_then(|()| act.check(&dir, here.len())) {
                let kept = std::env::temp_dir().join(format!("overnight-{name}-{seed}"));
                dir.keep(&kept);
                panic!("{name} with seed {seed}: {:?} after {here:?}, kept in {}: {what}", act.word, kept.display());
            }
            strikes += here.len();
        }
    }
}

fn wanted() -> usize {
    number("OVERNIGHT_TEST_KILLS").map_or(KILLS, |kills| usize::try_from(kills).unwrap())
}

#[test]
fn killed_at_any_moment_a_job_ends_as_if_nothing_had_happened() {
    disturbed("kills", wanted(), &|child| child.kill().unwrap(), &|_, _| true);
}

#[test]
fn stopped_at_any_moment_a_job_is_held_and_nothing_is_lost() {
    let strike = |child: &mut Child| {
        let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    };
    // Before it listens it is ended as any program; after its last word it has ended as it would have.
    disturbed("stops", wanted() / 3, &strike, &|act, ran| match ran.code {
        None => ran.signal == Some(15),
        Some(130) => ran.stdout.is_empty() || ran.stdout.contains("stopped by a person"),
        Some(code) => [0, 4].contains(&code) || act.was_never_begun(ran) || act.was_done_before(ran),
    });
}
