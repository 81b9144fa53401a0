//! Three worker processes on one PostgreSQL, through a storm: workers are killed, stopped past their leases and let go on,
//! and asked to end; PostgreSQL ends all connections, and restarts at once. Nobody does anything by hand: only what has ended
//! is started again. Every job ends once, with the deliverables of an undisturbed run, and no line of a journal is of a worker
//! that had lost its lease.
//!
//! `OVERNIGHT_TEST_CHAOS` says how many jobs, and how many seconds of storm (`300 600`); `OVERNIGHT_TEST_SEED` repeats the
//! order of blows. What fails is told with its seed, and its folder is kept: the workspaces, what the workers said, and in
//! `trail.txt` every lease that was given and taken.
//!
//! - `test_dir`: the folder, and the program in it; `workers`: the workers; `storm`: the blows
//! - `lease_log`: the database past the program; `check`: what must hold afterwards

#![expect(clippy::print_stdout, reason = "what was done, and how long it took, is told")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by them")]

mod check;
mod lease_log;
mod storm;
mod test_dir;
mod workers;

use crate::{
    postgres,
    remote::server::{Format, Server, Setup},
};
use overnight_core::job::record::JobStatus;
use std::time::{Duration, Instant};
use storm::{Blow, Storm};
use test_dir::{Folder, Left, TestDir};
use workers::{AT_ONCE, WORKERS, Workers};

/// After the storm, for what is left: leases run out, and lost work is done again.
const CALM: Duration = Duration::from_mins(5);

fn seed() -> u64 {
    let given = std::env::var("OVERNIGHT_TEST_SEED").ok();
    given.map_or_else(|| fastrand::u64(..), |seed| seed.parse().expect("OVERNIGHT_TEST_SEED must be a number"))
}

fn trial(jobs: usize, storm: &Storm) {
    println!("{jobs} jobs, {:?} of storm; OVERNIGHT_TEST_SEED={} repeats it", storm.lasts, storm.seed);
    let folder = Folder::new(jobs);
    let quick = Server::start(Setup::default());
    let calm = TestDir::new(&folder, format!("sqlite://{}", folder.path().join("calm.db").display()), "calm");
    calm.submit(&quick.base_url(Format::OpenAi));
    let since = Instant::now();
    calm.run(&["work", "--until-empty", "--quiet"]);
    let expected = calm.left();
    let is_whole = |left: &Left| left.status == JobStatus::Completed && !left.files.is_empty();
    assert!(expected.len() == jobs && expected.values().all(is_whole), "not all was done without a storm");
    let turns = quick.counts().completed;
    println!("undisturbed, on SQLite: {turns} turns in {:.0?}", since.elapsed());

    // As long as the storm, were there none.
    let delay = storm.lasts * u32::try_from(WORKERS * AT_ONCE).unwrap() / u32::try_from(turns).unwrap();
    let slow = Server::start(Setup { delay, ..Setup::default() });
    let server = postgres::Server::start("").expect("this test needs PostgreSQL's programs: run ./test.sh");
    let dir = TestDir::new(&folder, lease_log::create_database(&server.url(), "chaos"), "chaos");
    dir.submit(&slow.base_url(Format::OpenAi));
    lease_log::lay(&dir.url);
    let since = Instant::now();
    let mut crew = Workers::new(&dir);
    let blows = storm.rage(&mut crew, &server, &dir.url);
    println!("{blows:?} within {:.0?}; a turn takes {delay:.1?}", since.elapsed());
    crew.go_on();
    let calm = (Instant::now(), storm.lasts + CALM);
    while lease_log::open_jobs(&dir.url) > 0 {
        assert!(calm.0.elapsed() < calm.1, "jobs are still open after {:?} of calm, seed {}", calm.1, storm.seed);
        crew.tend_for(Duration::from_millis(500));
    }
    println!("all ended after {:.0?}; {} requests", since.elapsed(), slow.counts().requests);
    let mut found = check::check(&dir, &expected);
    found.faults.extend(crew.dismiss());
    println!("{} workers; they ended {:#?}", crew.started, crew.ends);
    println!("{} leases, {} lines of journals, {} deliverables", found.leases, found.lines, found.files);
    for (blow, _) in &storm.blows {
        if !blows.contains_key(blow) {
            found.faults.push(format!("no {blow:?} ever happened"));
        }
    }
    let complaints = slow.counts().complaints;
    found.faults.extend(complaints.into_iter().map(|complaint| format!("the model was asked wrongly: {complaint}")));
    assert!(found.faults.is_empty(), "seed {}:\n{}", storm.seed, found.faults.join("\n"));
}

#[test]
fn after_a_squall_every_job_has_ended_once() {
    let blows = [Blow::Kill, Blow::Term, Blow::Terminate, Blow::Restart].map(|blow| (blow, 1));
    trial(12, &Storm { seed: seed(), lasts: Duration::from_secs(6), pause_ms: 1000..1500, blows: blows.into() });
}

/// `./test.sh chaos::after_a_storm --ignored --nocapture`
#[test]
#[ignore = "takes minutes"]
fn after_a_storm_every_job_has_ended_once() {
    let wanted = std::env::var("OVERNIGHT_TEST_CHAOS").unwrap_or_else(|_| "40 60".to_owned());
    let (jobs, seconds) =
        wanted.split_once(' ').expect("OVERNIGHT_TEST_CHAOS must be jobs and seconds, such as 300 600");
    let (jobs, seconds): (usize, u64) = (jobs.parse().unwrap(), seconds.parse().unwrap());
    trial(
        jobs,
        &Storm { seed: seed(), lasts: Duration::from_secs(seconds), pause_ms: 1000..4000, blows: Blow::ALL.into() },
    );
}
