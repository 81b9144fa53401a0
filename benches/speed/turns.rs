//! (a) What a turn costs: processor time of the whole runner with a scripted model, waiting for the disk apart.

use crate::{
    load::{Load, Notes, Place, model, wait},
    measure::{cpu, median, ms},
    table,
};
use overnight::{job::record::JobStatus, runner::Outcome};
use std::{path::Path, time::Duration};

const LIMIT_MS: f64 = 0.5;
const RUNS: usize = 7;

pub(crate) fn measure() {
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (phases, notes, name) in [
        (8, Notes::Appended, "8 phases, notes appended to a file"),
        (8, Notes::Added, "8 phases, notes added by add_note"),
        (64, Notes::Appended, "64 phases, notes appended to a file"),
    ] {
        let load = Load { phases, notes };
        let runs = if phases > 8 { 1 } else { RUNS };
        let (wall, used) = per_turn(load, disk, runs);
        table::limited(format!("CPU a turn, on the disk, {name}"), ms(used), LIMIT_MS, "ms");
        table::plain(format!("waiting a turn (fsync), on the disk, {name}"), ms(wall.saturating_sub(used)), "ms");
    }
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        let (wall, used) = per_turn(Load::new(8), memory, RUNS);
        table::limited("CPU a turn, 8 phases, workspace in memory (/dev/shm)", ms(used), LIMIT_MS, "ms");
        table::plain("wall a turn, 8 phases, workspace in memory (/dev/shm)", ms(wall), "ms");
    }
}

/// Median wall and processor time of a turn.
fn per_turn(load: Load, parent: &Path, runs: usize) -> (Duration, Duration) {
    let turns = u32::try_from(load.turns()).unwrap();
    let model = model(load);
    let times = (0..runs).map(|_| {
        wait(async {
            let place = Place::within(parent).await;
            load.put(place.path());
            let path = place.create("", &*model);
            let (began, used) = (std::time::Instant::now(), cpu());
            let outcome = place.work(&path, model.clone(), &mut |_, _| {}).await;
            assert_eq!(outcome, Outcome::Ended(JobStatus::Completed));
            (began.elapsed() / turns, cpu().saturating_sub(used) / turns)
        })
    });
    let (walls, cpus) = times.unzip();
    (median(walls), median(cpus))
}
