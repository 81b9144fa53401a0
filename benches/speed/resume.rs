//! (d) Taking up a job with 5,000 journal lines: read, verify the chain, apply, first prompt; and by the binary.

use crate::{
    load::{Load, Place, model, wait},
    measure::{median, ms, timed, wall},
    program::program,
    table,
};
use overnight::runner::{JobOutcome, OpenJob};
use overnight_core::{job::record::HoldReason, prompt::compose};
use std::path::Path;

const LIMIT_MS: f64 = 200.0;
const LINES: usize = 5_000;
/// Some 3.6 lines a turn.
const TURNS: usize = 1_400;
const PHASES: usize = 60;
const RUNS: usize = 9;

pub(crate) fn measure() {
    let load = Load::new(PHASES);
    let (place, path) = wait(async {
        let place = Place::in_memory().await;
        load.put(place.path());
        let model = model(load);
        let path = place.create(&format!("limits: {{ turns: {TURNS} }}\n"), &*model);
        let outcome = place.work(&path, model, &mut |_, _| {}).await;
        assert_eq!(outcome, JobOutcome::Held(HoldReason::Limit));
        (place, path)
    });
    let lines = lines(&path);
    assert!(lines >= LINES, "{lines} lines");
    let times: Vec<_> = (0..RUNS)
        .map(|_| {
            let (prompt, wall, cpu) = timed(|| {
                let session = OpenJob::open(&path, None).unwrap();
                compose::prompt(&session.job.own)
            });
            assert!(prompt.messages.len() > 2);
            (wall, cpu)
        })
        .collect();
    let (walls, cpus): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    table::limited(
        format!("open a job with {lines} journal lines, and make its prompt"),
        ms(median(walls)),
        LIMIT_MS,
        "ms",
    );
    table::plain("CPU of that", ms(median(cpus)), "ms");
    let times: Vec<_> = (0..RUNS)
        .map(|_| wall(program(place.path()).args(["resume", "last", "--model", "scripted:script.yaml"])))
        .collect();
    table::limited("overnight resume of it, until it is held again at its limit", ms(median(times)), LIMIT_MS, "ms");
    let times: Vec<_> = (0..RUNS).map(|_| wall(program(place.path()).args(["audit", "verify", "last"]))).collect();
    table::plain("overnight audit verify of it", ms(median(times)), "ms");
}

/// Lines of the whole journal.
fn lines(path: &Path) -> usize {
    let count = |file: &Path| std::fs::read_to_string(file).map_or(0, |text| text.lines().count());
    let archives = std::fs::read_dir(path.join("archive")).unwrap();
    let in_archives: usize = archives.map(|entry| count(&entry.unwrap().path().join("journal.jsonl"))).sum();
    in_archives + count(&path.join("journal.jsonl"))
}
