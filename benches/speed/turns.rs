//! (a) What a turn costs: processor time of the whole runner with a scripted model, what the disk takes apart.

use crate::{
    load::{Load, Notes, Place, model, wait},
    measure::{cpu, median, ms},
    table,
};
use overnight::{runner::JobOutcome, workspace::fsync::fsync_counts};
use overnight_core::job::record::JobStatus;
use std::{path::Path, time::Duration};

const LIMIT_MS: f64 = 0.5;
/// The load that the limit is about.
const LIMITED_PHASES: usize = 8;
const RUNS: usize = 7;

pub(crate) fn measure() {
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // The workspaces stay until all is measured: on ext4 without a journal the search for a free inode passes by all that
    // were deleted in the last minutes, which the runner didn't delete.
    let mut kept = Vec::new();
    for (phases, notes, name) in [
        (8, Notes::Appended, "8 phases, notes appended to a file"),
        (8, Notes::Added, "8 phases, notes added by add_note"),
        (64, Notes::Appended, "64 phases, notes appended to a file"),
    ] {
        let runs = if phases > 8 { 1 } else { RUNS };
        let turn = per_turn(Load { phases, notes }, disk, runs, &mut kept);
        if phases == LIMITED_PHASES {
            table::limited(format!("CPU a turn, on the disk, {name}"), ms(turn.own()), LIMIT_MS, "ms");
        } else {
            table::plain(format!("CPU a turn, on the disk, {name}"), ms(turn.own()), "ms");
        }
        table::plain(format!("CPU within fsync a turn, on the disk, {name}"), ms(turn.syncing), "ms");
        table::plain(
            format!("waiting a turn (fsync), on the disk, {name}"),
            ms(turn.wall.saturating_sub(turn.cpu)),
            "ms",
        );
    }
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        let turn = per_turn(Load::new(8), memory, RUNS, &mut kept);
        table::limited("CPU a turn, 8 phases, workspace in memory (/dev/shm)", ms(turn.cpu), LIMIT_MS, "ms");
        table::plain("wall a turn, 8 phases, workspace in memory (/dev/shm)", ms(turn.wall), "ms");
    }
}

/// What one turn takes, in the middle of several runs.
struct Turn {
    wall: Duration,
    /// Of all threads, fsync with it.
    cpu: Duration,
    /// What the system uses of it within the workspace's fsync calls. SQLite's are not among them.
    syncing: Duration,
}

impl Turn {
    fn own(&self) -> Duration {
        self.cpu.saturating_sub(self.syncing)
    }
}

fn per_turn(load: Load, parent: &Path, runs: usize, kept: &mut Vec<Place>) -> Turn {
    let turns = u32::try_from(load.turns()).unwrap();
    let model = model(load);
    let (mut walls, mut cpus, mut syncs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        wait(async {
            let place = Place::within(parent).await;
            load.put(place.path());
            let path = place.create("", &*model);
            let (began, used, syncing) = (std::time::Instant::now(), cpu(), fsync_counts().cpu);
            let outcome = place.work(&path, model.clone(), &mut |_, _| {}).await;
            assert_eq!(outcome, JobOutcome::Ended(JobStatus::Completed));
            walls.push(began.elapsed() / turns);
            cpus.push(cpu().saturating_sub(used) / turns);
            syncs.push(fsync_counts().cpu.saturating_sub(syncing) / turns);
            kept.push(place);
        });
    }
    Turn { wall: median(walls), cpu: median(cpus), syncing: median(syncs) }
}
