//! Crashes as a `for` loop: every scenario, every line k of its journal. The workspace is put back to how it was when line k
//! was on the disk, with what the next decision does half done; a new process opens it and goes on, and it must leave what
//! the undisturbed run left, in the workspace and in the database.
//!
//! For each line (of very long journals for every second, third …) one state in which a crash can leave the files is tried,
//! another for each; at every third it is the middle of line k + 1. A quarter of the crashes is worked to the scenario's end, half of
//! these through a second crash; the others until they have caught up with the undisturbed run by some lines: files and
//! state are then the same as at that line, and what follows depends on nothing else. `CRASH=all` tries every state at
//! every line, and works each to the end; `SCENARIO=part-of-a-name` tries only some scenarios.

mod caught_up;
mod cut;
mod record;
mod rows;

use crate::{
    scenarios::{
        case::{self, Scenario, Step},
        golden::{Expected, differences},
        ground::Ground,
        mask::Mask,
        play,
        tree::Tree,
    },
    support::wait,
};
use caught_up::CaughtUp;
use cut::{Cut, Wanted};
use record::Record;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

/// Faults of one scenario that are told; one is enough to mend.
const MOST_TOLD: usize = 3;
/// Lines of one scenario after which it is cut; of longer ones every second, third …
const MOST_LINES: usize = 60;

/// What a job left that came to rest.
struct Left {
    files: Expected,
    inputs: Tree,
    rows: BTreeMap<String, String>,
}

impl Left {
    async fn of(scenario: &Scenario, ground: &Ground, path: &Path) -> Result<Self, String> {
        let (mask, _) = Mask::of(path)?;
        let mut inputs = Tree::read(path, None);
        inputs.0.retain(|name, _| name == "job.yaml" || name.starts_with("documents/") || name.starts_with("assets/"));
        let rows = rows::told(&*ground.store, path, &mask).await?;
        let files = Expected::of(scenario, path, &ground.faults(path).await?)?;
        Ok(Self { files, inputs, rows: BTreeMap::from([("rows".to_owned(), rows)]) })
    }

    /// How `other` differs; empty where it doesn't.
    fn differences(&self, other: &Self) -> String {
        let mut faults = differences(&self.files.0, &other.files.0) + &differences(&self.rows, &other.rows);
        if self.inputs != other.inputs {
            faults.push_str("the inputs are not what they were\n");
        }
        faults
    }
}

/// How far a crashed job is worked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Far {
    UntilCaughtUp,
    /// Until it has caught up and crashed again, and then to the end.
    WithASecondCrash,
    ToTheEnd,
}

/// One scenario, and what its undisturbed run was and left.
struct Ordeal<'s> {
    scenario: &'s Scenario,
    ground: Ground,
    record: Record,
    left: Left,
}

impl Ordeal<'_> {
    /// Goes on after a crash. What is not as in the undisturbed run.
    async fn go_on(&self, cut: &Cut, far: Far) -> Result<(), String> {
        let Self { scenario, ground, record, .. } = self;
        cut.tree.write(&record.path);
        record.put_rows(&*ground.store, cut.rows_at).await?;
        self.settle_after(cut.from).await?;
        let mut caught_up = CaughtUp::new(record, cut.line, far == Far::ToTheEnd);
        let stop = caught_up.stop.clone();
        let mut watch = |line: play::Line<'_>| caught_up.on(line);
        let is_done = tokio::select! {
            biased;
            () = stop.notified() => false,
            played = play::play(scenario, cut.from, &*ground.store, &record.path, &mut watch) => {
                played.map(|()| true)?
            }
        };
        if !is_done {
            if !caught_up.faults.is_empty() {
                return Err(caught_up.faults);
            }
            if far == Far::UntilCaughtUp {
                return Ok(());
            }
            // The process was dropped where it stood: that is the second crash. What it had only been told may be lost with
            // it, but no person does again what was done before its step.
            let (_, decisions) = Mask::of(&record.path)?;
            let from = cut::step_after(scenario, record, record.line_of(decisions.len())).max(caught_up.step);
            self.settle_after(from).await?;
            play::play(scenario, from, &*ground.store, &record.path, &mut |_| {}).await?;
        }
        let faults = self.left.differences(&Left::of(scenario, ground, &record.path).await?);
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Nothing is left to play: the row may still be missing.
    async fn settle_after(&self, from: usize) -> Result<(), String> {
        if from < self.scenario.steps.len() {
            return Ok(());
        }
        play::settle(&*self.ground.store, &self.record.path).await
    }

    /// How many crashes were tried.
    async fn cut_everywhere(&self, all: bool) -> Result<usize, String> {
        let mut tried = 0;
        let mut faults = Vec::new();
        let lines = self.record.lines();
        for (turn, line) in (1..=lines).rev().step_by(if all { 1 } else { lines.div_ceil(MOST_LINES) }).enumerate() {
            let wanted = match (all, turn % 3) {
                (true, _) => Wanted::All,
                (false, 2) => Wanted::Torn,
                (false, _) => Wanted::One,
            };
            for cut in cut::cuts(self.scenario, &self.record, line, wanted) {
                tried += 1;
                let far = match (tried % 8, all) {
                    (0, _) | (2 | 6, true) => Far::ToTheEnd,
                    (4, _) | (_, true) => Far::WithASecondCrash,
                    (_, false) => Far::UntilCaughtUp,
                };
                if let Err(fault) = self.go_on(&cut, far).await {
                    faults.push(format!("after line {line}, {}:\n{fault}", cut.what));
                }
            }
            if faults.len() >= MOST_TOLD {
                break;
            }
        }
        if faults.is_empty() { Ok(tried) } else { Err(faults.join("\n")) }
    }
}

#[test]
fn a_crash_after_any_line_changes_nothing_of_what_is_left() {
    let all = std::env::var("CRASH").is_ok_and(|value| value == "all");
    let tried = AtomicUsize::new(0);
    let began = Instant::now();
    case::each(&|scenario| {
        let count = wait(async {
            let ground = Ground::new().await;
            let record = Record::of(scenario, &ground).await?;
            let left = Left::of(scenario, &ground, &record.path).await?;
            Ordeal { scenario, ground, record, left }.cut_everywhere(all).await
        })?;
        tried.fetch_add(count, Ordering::Relaxed);
        Ok(())
    });
    println!("{} crashes in {} s", tried.load(Ordering::Relaxed), began.elapsed().as_secs());
}

#[test]
fn a_job_that_is_cancelled_after_a_crash_tells_its_todos_truly() {
    let Some(Ok(mut scenario)) = case::all().into_iter().next() else {
        return;
    };
    wait(async {
        let ground = Ground::new().await;
        let record = Record::of(&scenario, &ground).await.unwrap();
        scenario.steps = vec![Step::Cancel];
        // The last line ends the job, which can't be cancelled any more.
        for line in 1..record.lines() {
            for cut in cut::cuts(&scenario, &record, line, Wanted::All).into_iter().filter(|cut| !cut.is_torn) {
                cut.tree.write(&record.path);
                record.put_rows(&*ground.store, cut.rows_at).await.unwrap();
                play::play(&scenario, 0, &*ground.store, &record.path, &mut |_| {}).await.unwrap();
                let left = Tree::read(&record.path, None);
                let todos = overnight_core::prompt::todo_board::file(&record.at(line).unwrap().job);
                assert_eq!(
                    left.bytes("todos.md").map(|text| &**text),
                    Some(todos.as_bytes()),
                    "line {line}, {}",
                    cut.what
                );
            }
        }
    });
}
