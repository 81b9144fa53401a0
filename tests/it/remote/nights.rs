//! Whole jobs with an able agent behind a server that misbehaves: each comes to the same deliverables, by the same todos, as
//! with that agent at hand.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::server::{Chaos, Format, Mishap, Server, Setup};
use crate::support::{Place, Rested, cases, shipped, wait};
use overnight::{
    model::{Model, remote::Timeouts, rules::Offline, table::ModelTable},
    runner::{JobOutcome, ModelOptions, RunError, open_model},
    workspace::{Workspace, journal},
};
use overnight_core::job::{
    event::{Event, LifeEvent, PhaseEvent, PhaseKind, Why},
    record::{HoldReason, JobStatus},
};
use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

const DOCUMENTS: [(&str, &str); 2] = [
    (
        "rules.md",
        "# Rules\n\nA clerk MUST sign every receipt. A guest MAY enter.\n\n## Doors\n\nThe door SHALL be shut at night. The key \
         SHOULD NOT be lost.\n",
    ),
    (
        "vault.md",
        "# Vault\n\nThe vault MUST be cold – below 4 °C. It SHALL NOT be opened by one person alone.\n\n## Logs\n\nEvery opening \
         MUST be written down. A log SHOULD be kept for a year.\n",
    ),
];
/// No reply of the server takes as long; what hangs is noticed soon.
const PATIENCE: Timeouts =
    Timeouts { first_byte: Duration::from_millis(1500), idle: Duration::from_secs(1), whole: Duration::from_secs(20) };

/// What a job came to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Story {
    ended: String,
    /// What lies under `output/`.
    deliverables: BTreeMap<String, String>,
    /// Todos in the order in which they were completed, or left for good with the bootstrap.
    completed: Vec<String>,
    /// Todos that were completed again, or never.
    wrong: Vec<String>,
    /// Why phases were given up and begun again.
    again: Vec<String>,
    /// Times that the job was held because its server was down.
    outages: usize,
}

impl Story {
    /// What must be the same whatever the night was like.
    fn essence(&self) -> Self {
        Self { again: Vec::new(), outages: 0, ..self.clone() }
    }
}

fn story(path: &Path, rested: &Result<Rested, RunError>) -> Story {
    let (mut completed, mut wrong, mut again, mut outages) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let (mut phase_from, mut is_bootstrap) = (0, false);
    let mut open: BTreeMap<u32, String> = BTreeMap::new();
    let mut events = Vec::new();
    journal::read(&Workspace::open(path).unwrap(), |decision| {
        events.extend(decision.events);
        Ok(())
    })
    .unwrap();
    for event in &events {
        match event {
            // The first list and that of the review are the runner's own.
            Event::Phase(PhaseEvent::TodosWritten { todos } | PhaseEvent::PhaseStarted { todos, .. }) => {
                wrong.extend(open.values().map(|content| format!("never: {content}")));
                open = todos.iter().map(|todo| (todo.id, todo.content.clone())).collect();
                if let Event::Phase(PhaseEvent::PhaseStarted { kind, .. }) = event {
                    is_bootstrap = *kind == PhaseKind::Bootstrap;
                }
            }
            // A bootstrap that is given up is not begun again: the plan's first phase comes next, whatever was left.
            Event::Phase(PhaseEvent::PhaseEnded { why, .. }) if *why != Why::PhaseDone && is_bootstrap => {
                again.push(format!("{why:?}"));
                completed.extend(std::mem::take(&mut open).into_values());
                phase_from = completed.len();
            }
            // A phase that is given up is planned anew, with all its todos.
            Event::Phase(PhaseEvent::PhaseEnded { why, .. }) if *why != Why::PhaseDone => {
                again.push(format!("{why:?}"));
                completed.truncate(phase_from);
                open.clear();
            }
            Event::Life(LifeEvent::Held { reason: HoldReason::Outage, .. }) => outages += 1,
            Event::Phase(PhaseEvent::PhaseEnded { .. }) => phase_from = completed.len(),
            Event::Phase(PhaseEvent::TodoCompleted { id, .. }) => match open.remove(id) {
                Some(content) => completed.push(content),
                None => wrong.push(format!("again: number {id}")),
            },
            _ => {}
        }
    }
    let folder = path.join("output");
    let mut deliverables = BTreeMap::new();
    for entry in walkdir::WalkDir::new(&folder).into_iter().filter_map(Result::ok) {
        if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(&folder).unwrap().display().to_string();
            deliverables.insert(name, std::fs::read_to_string(entry.path()).unwrap());
        }
    }
    let ended = match rested {
        Ok(Rested { outcome: JobOutcome::Ended(JobStatus::Completed), .. }) => "completed".to_owned(),
        Ok(Rested { outcome, job, .. }) => format!("{outcome:?}: {:?}", job.ended()),
        Err(error) => error.to_string(),
    };
    Story { ended, deliverables, completed, wrong, again, outages }
}

/// Works a job; what it came to, and the place where it lies.
async fn job(model: Arc<dyn Model>) -> (Story, Place) {
    let place = Place::new().await;
    let folder: PathBuf = place.folder.path().join("documents");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in DOCUMENTS {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let (instructions, text) = shipped("extract-requirements");
    let path = place.make(instructions, &text, &[folder], &model);
    let rested = place.try_resume(&path, model, None).await;
    (story(&path, &rested), place)
}

fn remote(server: &Server, format: Format) -> Arc<dyn Model> {
    let models = "version: 1\nmodels:\n  - match: \"openai:*\"\n    api: responses\n";
    let models = (format == Format::Responses).then(|| ModelTable::parse("models.yaml", models).unwrap());
    let options =
        ModelOptions { base_url: Some(server.base_url(format)), timeouts: PATIENCE, models, ..ModelOptions::default() };
    let provider = if format == Format::Responses { "openai" } else { format.name() };
    open_model(&format!("{provider}:{}", format.strictest()), &options).unwrap()
}

/// Works jobs behind servers of their own at the same time; each is to come to what it comes to without a server. The
/// workspaces of those that don't are kept, to be looked into.
fn nights(nights: Vec<(String, Format, Chaos)>) {
    let began = Instant::now();
    let mut faults = String::new();
    let mut came = 0;
    let all = nights.len();
    wait(async {
        let (expected, _place) = job(Arc::new(Offline(None))).await;
        assert_eq!((expected.ended.as_str(), &expected.wrong), ("completed", &Vec::new()));
        let mut ways = Vec::new();
        for (name, format, chaos) in nights {
            ways.push(async move {
                let seed = chaos.seed;
                let server = Server::start(Setup { chaos, thinks: true, ..Setup::default() });
                let (story, place) = job(remote(&server, format)).await;
                (format!("{name}, {}, seed {seed}", format.name()), story, place, server.counts(), began.elapsed())
            });
        }
        for (name, story, place, counts, took) in together(ways).await {
            let is_same = story.essence() == expected;
            if is_same && counts.complaints.is_empty() {
                came += 1;
                continue;
            }
            let _ = writeln!(faults, "\n== {name}, after {took:?}: {}", story.ended);
            let _ = writeln!(faults, "kept in {}", place.folder.keep().display());
            let _ = writeln!(faults, "{} requests, went wrong: {:?}", counts.requests, counts.mishaps);
            let _ = writeln!(faults, "phases begun again: {:?}", story.again);
            for complaint in &counts.complaints {
                let _ = writeln!(faults, "complaint: {complaint}");
            }
            for wrong in &story.wrong {
                let _ = writeln!(faults, "todo {wrong}");
            }
            if story.completed != expected.completed {
                let _ = writeln!(faults, "todos {:#?}\ninstead of {:#?}", story.completed, expected.completed);
            }
            for (path, text) in &expected.deliverables {
                if story.deliverables.get(path) != Some(text) {
                    let found = story.deliverables.get(path).map_or("nothing", String::as_str);
                    let _ = writeln!(faults, "{path}: {found}\ninstead of {text}");
                }
            }
        }
    });
    assert!(faults.is_empty(), "{came} of {all} jobs came to what they should:\n{faults}");
}

/// Runs all at once, on this thread, so that each waits while others wait.
async fn together<T>(ways: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut ways: Vec<_> = ways.into_iter().map(|way| (Box::pin(way), None)).collect();
    std::future::poll_fn(|context| {
        let mut is_done = true;
        for (way, ended) in &mut ways {
            if ended.is_none() {
                match way.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *ended = Some(value),
                    std::task::Poll::Pending => is_done = false,
                }
            }
        }
        if is_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    ways.into_iter().map(|(_, ended)| ended.unwrap()).collect()
}

#[test]
fn a_quiet_night_in_every_format() {
    nights(Format::ALL.map(|format| ("quiet".to_owned(), format, Chaos::none())).into());
}

#[test]
fn each_mishap_alone() {
    let ways = Mishap::ALL.iter().enumerate().map(|(number, mishap)| {
        let format = Format::ALL[number % Format::ALL.len()];
        // What can't be read three times in a row holds a job.
        let is_unreadable = matches!(mishap, Mishap::EndedEarly | Mishap::MalformedEvent | Mishap::WrongType);
        let percent = if is_unreadable { 15 } else { 30 };
        (format!("{mishap:?}"), format, Chaos::only(*mishap, percent, number as u64 + 1))
    });
    // One that isn't the transport's: the conversation is begun anew, without the thoughts.
    let bound = ("Bound".to_owned(), Format::Anthropic, Chaos::only(Mishap::Bound, 20, 1));
    nights(ways.chain([bound]).collect());
}

/// Jobs that are at work when their server goes away: none fails, each is held, and goes on by itself. Long runs set
/// `OVERNIGHT_TEST_OUTAGE`: jobs, and seconds without the server, such as `30 120`.
#[test]
fn a_server_that_goes_away_for_a_while() {
    let wanted = std::env::var("OVERNIGHT_TEST_OUTAGE").unwrap_or_else(|_| "6 3".to_owned());
    let (jobs, seconds) = wanted.split_once(' ').unwrap();
    let (jobs, away): (usize, u64) = (jobs.parse().unwrap(), seconds.parse().unwrap());
    wait(async {
        let (expected, _place) = job(Arc::new(Offline(None))).await;
        let server = Server::start(Setup::default());
        let model = remote(&server, Format::OpenAi);
        let used = std::cell::Cell::new(Duration::ZERO);
        let mut ways: Vec<std::pin::Pin<Box<dyn Future<Output = Option<Story>> + '_>>> = Vec::new();
        for _ in 0..jobs {
            let model = model.clone();
            ways.push(Box::pin(async move { Some(job(model).await.0) }));
        }
        ways.push(Box::pin(async {
            while server.counts().requests < 3 * jobs as u64 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            server.go_away();
            let before = processor_time();
            tokio::time::sleep(Duration::from_secs(away)).await;
            used.set(processor_time().checked_sub(before).unwrap());
            server.come_back();
            None
        }));
        let stories: Vec<Story> = together(ways).await.into_iter().flatten().collect();
        assert_eq!(stories.iter().map(Story::essence).collect::<Vec<_>>(), vec![expected; jobs]);
        assert!(stories.iter().all(|story| story.outages > 0), "not all were held: {stories:#?}");
        println!("{jobs} jobs without their server for {away} s: {:?} of processor time", used.get());
    });
}

fn processor_time() -> Duration {
    Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime)).unwrap()
}

/// In real time, with a breaker that opens now and then: minutes. `PROPTEST_CASES` says how many for a long run,
/// `OVERNIGHT_TEST_SEEDS` which: `35 40`.
#[test]
#[ignore = "takes minutes"]
fn nights_that_go_wrong_in_every_way() {
    let seeds: Vec<u64> = match std::env::var("OVERNIGHT_TEST_SEEDS") {
        Ok(listed) => listed.split_whitespace().map(|seed| seed.parse().unwrap()).collect(),
        Err(_) => (1..=u64::from(cases(8))).collect(),
    };
    let ways = seeds.into_iter().map(|seed| {
        ("night".to_owned(), Format::ALL[usize::try_from(seed).unwrap() % Format::ALL.len()], Chaos::night(seed))
    });
    nights(ways.collect());
}
