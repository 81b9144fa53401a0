//! What a model behind HTTP costs: processor time of a turn over a real connection, and 500 jobs at once, each waiting for
//! its replies. The server runs in a process of its own, so that it isn't counted.

use crate::{
    load::{Load, Notes, Place, wait},
    measure::{cpu, median, ms, peak_memory},
    served::{SERVE, Served},
    table,
};
use overnight::{
    model::Model,
    runner::{JobOutcome, JobRunner, ModelOptions, OpenJob, RunReport, open_model},
    workspace::fsync::fsync_counts,
};
use overnight_core::{
    job::{limits::Limits, record::JobStatus, state::Job},
    machine::effect::Command,
};
use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

const LIMIT_MS: f64 = 1.0;
const RUNS: usize = 5;
/// Jobs at once, and how long each waits for a reply.
const JOBS: usize = 500;
const REPLY: Duration = Duration::from_secs(2);
const THREADS: usize = 8;
/// How far apart the jobs begin, as a worker claims them: fifty a second. All of them are at work long before the first ends.
const APART: Duration = Duration::from_millis(20);
/// The word with which this program is started to work [`JOBS`] jobs, in a process of its own for its memory's sake.
pub(crate) const CROWD: &str = "--crowd";

pub(crate) fn measure() {
    for (parent, place) in [(Path::new("/dev/shm"), "/dev/shm"), (Path::new(env!("CARGO_TARGET_TMPDIR")), "the disk")] {
        if parent.is_dir() {
            let used = (0..RUNS).map(|_| per_turn(parent)).collect();
            table::limited(
                format!("CPU a turn over HTTP, 8 phases, workspace on {place}"),
                ms(median(used)),
                LIMIT_MS,
                "ms",
            );
        }
    }
    let this = std::env::current_exe().unwrap();
    let ran = std::process::Command::new(this).arg(CROWD).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    let figures: Vec<f64> = told.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
    assert_eq!(figures.len(), 4, "{told}{}", String::from_utf8_lossy(&ran.stderr));
    let (cores, p50, p99, memory) = (figures[0], figures[1], figures[2], figures[3]);
    table::limited(format!("{JOBS} jobs at once, 2 s a reply: cores"), cores, 1.0, "");
    table::plain(format!("{JOBS} jobs at once: a turn's own time, half of them under"), p50, "ms");
    table::limited(format!("{JOBS} jobs at once: a turn's own time, 99 of 100 under"), p99, 50.0, "ms");
    table::limited(format!("{JOBS} jobs at once: peak memory"), memory, 250.0, "MiB");
}

fn open(served: &Served, job: usize) -> Arc<dyn Model> {
    let options = ModelOptions { base_url: Some(served.base_url()), ..ModelOptions::default() };
    open_model(&format!("openai:job-{job}"), &options).unwrap()
}

fn per_turn(parent: &Path) -> Duration {
    let load = Load::new(8);
    let turns = u32::try_from(load.turns()).unwrap();
    let served = Served::begin(load, Duration::ZERO);
    wait(async {
        let place = Place::within(parent).await;
        load.put(place.path());
        let model = open(&served, 0);
        let path = place.create("", &*model);
        let (used, syncing) = (cpu(), fsync_counts().cpu);
        let outcome = place.work(&path, model, &mut |_, _| {}).await;
        assert_eq!(outcome, JobOutcome::Ended(JobStatus::Completed));
        cpu().saturating_sub(used).saturating_sub(fsync_counts().cpu.saturating_sub(syncing)) / turns
    })
}

/// Works [`JOBS`] jobs at once and prints cores, the middle and the 99th percentile of a turn's own time in milliseconds, and
/// the peak memory in MiB.
pub(crate) fn crowd() {
    let load = Load { phases: 1, notes: Notes::Appended };
    let served = Arc::new(Served::begin(load, REPLY));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build().unwrap();
    let own = Arc::new(Mutex::new(Vec::new()));
    let ended = Arc::new(AtomicUsize::new(0));
    let (wall, used) = runtime.block_on(async {
        let place = Arc::new(Place::within(Path::new(env!("CARGO_TARGET_TMPDIR"))).await);
        load.put(place.path());
        let jobs: Vec<_> = (0..JOBS)
            .map(|job| {
                let model = open(&served, job);
                (place.create("", &*model), model)
            })
            .collect();
        let (began, used) = (Instant::now(), cpu());
        let tasks: Vec<_> = jobs
            .into_iter()
            .zip(0_u32..)
            .map(|((path, model), number)| {
                let (place, own, ended) = (place.clone(), own.clone(), ended.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(APART * number).await;
                    let mut session = OpenJob::open(&path, None).unwrap();
                    session.claim(&*place.store).await.unwrap();
                    let name = model.name().to_owned();
                    session
                        .command(Command::Open { version: "bench".to_owned(), model: name, torn_bytes: None })
                        .unwrap();
                    let (_keep, stop) = tokio::sync::watch::channel(false);
                    let mut called: Option<Instant> = None;
                    let mut watch = |_: &Job, report: RunReport<'_>| {
                        if let RunReport::Calling(_) = report {
                            let now = Instant::now();
                            if let Some(before) = called.replace(now) {
                                own.lock().unwrap().push((now - before).saturating_sub(REPLY));
                            }
                        }
                    };
                    let outcome =
                        JobRunner::new(&*place.store, model, stop, &mut watch).run(&mut session).await.unwrap();
                    assert_eq!(outcome, JobOutcome::Ended(JobStatus::Completed));
                    ended.fetch_add(1, Ordering::Relaxed);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        (began.elapsed(), cpu().saturating_sub(used))
    });
    assert_eq!((ended.load(Ordering::Relaxed), Limits::default().turns), (JOBS, 5_000));
    let mut own = own.lock().unwrap().clone();
    own.sort();
    println!(
        "{} {} {} {}",
        used.as_secs_f64() / wall.as_secs_f64(),
        ms(own[own.len() / 2]),
        ms(own[own.len() * 99 / 100]),
        peak_memory()
    );
}

/// Whether this process was started to be something else than the measurement.
pub(crate) fn is_other(arguments: &[String]) -> bool {
    match arguments.first().map(String::as_str) {
        Some(CROWD) => crowd(),
        Some(SERVE) => crate::served::serve(&arguments[1..]),
        Some(_) | None => return false,
    }
    true
}
