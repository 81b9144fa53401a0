//! Workers, on every database as in `queue.rs`: whole batches from their submission to their ends, with models that stop,
//! cost and panic.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by them")]
#![expect(clippy::float_cmp, reason = "small whole numbers are exact")]

mod heartbeat;
mod later_answers;

use crate::{
    remote::server::{Format, Server, Setup},
    store::{Place, at, on_both},
    support::{settings_of, shipped},
};
use async_trait::async_trait;
use heartbeat::{a_blocked_thread_keeps_no_heartbeat_back, a_hook_keeps_nobody_waiting};
use later_answers::{
    a_waiting_job_holds_nothing_and_another_worker_goes_on, a_waiting_job_is_paused_resumed_and_cancelled,
};
use overnight::{
    batch::{BatchSettings, window::Window},
    extraction::Extractor,
    model::{Model, Request, rules::Offline},
    runner::{JobOutcome, ModelOptions, open_model},
    store::{JobTarget, NewBatch, QueueEntry, QueuedJob, Store},
    worker::{JobModels, Supply, Worker, WorkerConfig, WorkerEvent, WorkerSummary, WorkerTimes},
};
use overnight_core::{
    job::{
        failure::Failure,
        id::JobId,
        record::{HoldReason, JobStatus},
        state::Status,
    },
    message::{Reply, Usage},
};
use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};
use tempfile::TempDir;
use tokio::sync::{Notify, watch};
use uuid::Uuid;

/// How a model behaves with a document whose text has this word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Never answers.
    Hangs,
    Panics,
}

/// The offline model, which costs a cent a call and does something else with some documents.
#[derive(Debug, Default)]
struct Odd {
    ways: Vec<(&'static str, Way)>,
    cents: f64,
    /// Of each token, so that a call may cost less than was expected.
    token_cents: f64,
    /// Told when a call hangs.
    hung: Notify,
}

#[async_trait]
impl Model for Odd {
    fn name(&self) -> &str {
        Offline(None).name()
    }

    fn window_tokens(&self) -> u64 {
        Offline(None).window_tokens()
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let prompt = format!("{:?}", request.prompt);
        match self.ways.iter().find(|(word, _)| prompt.contains(word)) {
            Some((_, Way::Hangs)) => {
                self.hung.notify_one();
                std::future::pending().await
            }
            Some((word, Way::Panics)) => panic!("{word}"),
            None => Offline(None).reply(request).await,
        }
    }

    /// Longer than any reply of the rules: what a call costs at worst is reserved for it.
    fn most_output(&self) -> Option<u64> {
        Some(4_000)
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        let tokens = u32::try_from(usage.input + usage.output).unwrap();
        Some((self.cents + self.token_cents * f64::from(tokens)) / 100.0)
    }
}

#[derive(Debug)]
struct OneModel(Arc<dyn Model>);

#[async_trait]
impl Supply for OneModel {
    async fn models(&self, _: &str, _: &BatchSettings) -> Result<JobModels, String> {
        Ok(JobModels { first: self.0.clone(), others: Vec::new(), named: BTreeMap::new() })
    }
}

/// A database, documents and workspaces.
struct Night {
    place: Place,
    store: Arc<dyn Store>,
    folder: TempDir,
}

impl Night {
    async fn new(place: Place) -> Self {
        Self { store: place.store().await, folder: TempDir::new().unwrap(), place }
    }

    fn document(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// A batch with one job for each document.
    async fn submit(
        &self,
        number: u32,
        documents: &[(&str, &str)],
        change: impl FnOnce(&mut NewBatch, &mut [QueuedJob]),
    ) {
        let (instructions, text) = shipped("extract-requirements");
        let settings = settings_of(instructions);
        let mut batch = NewBatch {
            id: crate::queue::batch_id(number),
            created: at("2026-11-21T22:00:00.000Z"),
            name: Some(format!("night {number}")),
            instructions: "extract-requirements".to_owned(),
            instructions_text: text.clone(),
            instructions_sha256: overnight_core::job::digest::sha256(text.as_bytes()),
            model: "offline".to_owned(),
            settings: serde_json::to_value(settings).unwrap(),
            budget_usd: None,
            time_window: None,
        };
        let mut jobs: Vec<QueuedJob> = documents
            .iter()
            .map(|(name, text)| QueuedJob {
                id: JobId(Uuid::now_v7()),
                label: (*name).to_owned(),
                sources: vec![self.document(name, text)],
                documents: 1,
                documents_sha256: None,
                priority: 0,
                run_after: None,
                group: None,
                max_attempts: 1,
                is_held: false,
            })
            .collect();
        change(&mut batch, &mut jobs);
        self.store.submit(&batch, &jobs, false).await.unwrap();
    }

    fn config(&self, until_empty: bool) -> WorkerConfig {
        WorkerConfig {
            traces: None,
            extractor: Arc::new(Extractor::in_process()),
            concurrency: 3,
            window: None,
            batches: Vec::new(),
            until_empty,
            drain_after: None,
            workspaces: self.folder.path().join("workspaces"),
            workspace_store: None,
            host: "here".to_owned(),
            notices: Vec::new(),
            times: WorkerTimes {
                heartbeat: Duration::from_millis(200),
                signals: Duration::from_millis(100),
                sweep: Duration::from_millis(300),
                poll: Duration::from_millis(200),
                metrics_timeout: Duration::from_millis(500),
                ..WorkerTimes::default()
            },
        }
    }

    fn worker(&self, model: Arc<dyn Model>, config: WorkerConfig, stop: watch::Receiver<bool>) -> Worker {
        let tell = Arc::new(|_: WorkerEvent<'_>| {});
        Worker::new(self.store.clone(), Arc::new(OneModel(model)), config, stop, tell)
    }

    /// Works until nothing is left that needs no person.
    async fn work(&self, model: impl Model + 'static) -> WorkerSummary {
        let (_keep, stop) = watch::channel(false);
        self.worker(Arc::new(model), self.config(true), stop).run().await.unwrap()
    }

    /// The jobs of a batch by label.
    async fn entries(&self, number: u32) -> BTreeMap<String, QueueEntry> {
        let entries = self.store.batch_entries(crate::queue::batch_id(number)).await.unwrap();
        entries.into_iter().map(|entry| (entry.job.label.clone(), entry)).collect()
    }

    async fn statuses(&self, number: u32) -> Vec<(String, JobStatus)> {
        self.entries(number).await.into_iter().map(|(label, entry)| (label, entry.status)).collect()
    }

    /// Waits until the job has that status; a minute at most.
    async fn until(&self, number: u32, label: &str, status: JobStatus) -> QueueEntry {
        for _ in 0..600 {
            let entry = self.entries(number).await.remove(label).unwrap();
            if entry.status == status {
                return entry;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{label} never was {status}");
    }
}

fn ended(all: &[(&'static str, u64)]) -> WorkerSummary {
    WorkerSummary { ended: all.iter().copied().collect(), ..WorkerSummary::default() }
}

/// What a job delivered: name and text of each file.
fn delivered(workspace: &Path) -> BTreeMap<String, String> {
    let output = workspace.join("output");
    walkdir::WalkDir::new(&output)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let name = entry.path().strip_prefix(&output).unwrap().display().to_string();
            (name, std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

const A: (&str, &str) = ("a.md", "# A\n\nThe server MUST answer within 2 s.\n");
const B: (&str, &str) = ("b.md", "# B\n\nA client SHOULD wait. It MUST NOT shout.\n");
const C: (&str, &str) = ("c.md", "# C\n\nThe door SHALL be shut at night.\n");

async fn a_batch_is_worked_to_its_end(place: Place) {
    let night = Night::new(place).await;
    night.submit(1, &[A, B, C], |_, _| {}).await;
    assert_eq!(night.work(Offline(None)).await, ended(&[("completed", 3)]));
    let alone = crate::support::Place::new().await;
    for (label, entry) in night.entries(1).await {
        assert_eq!((entry.status, entry.attempts, entry.worker), (JobStatus::Completed, 0, None));
        assert_eq!(entry.host.as_deref(), Some("here"));
        let (instructions, text) = shipped("extract-requirements");
        let document = night.folder.path().join(&label);
        let expected = alone.run(instructions, &text, &[document], Arc::new(Offline(None))).await;
        assert_eq!(delivered(Path::new(&entry.workspace)), delivered(&expected.path), "{label}");
    }
    // The batch is marked as ended, and nothing is left of the worker.
    assert!(night.store.batch("night 1").await.unwrap().ended.is_some());
    assert_eq!(night.place.value("select cast(count(*) as text) from workers").await, "0");
    assert_eq!(night.work(Offline(None)).await, WorkerSummary::default());
}

/// What its documents do to a job is done to no other; with its attempts used up, it waits for a person.
async fn a_poisonous_job_harms_nobody_else(place: Place) {
    let night = Night::new(place).await;
    let poison = ("p.md", "# P\n\nThis is poison.\n");
    night.submit(1, &[poison, A, B], |_, _| {}).await;
    let missing = |_: &mut NewBatch, jobs: &mut [QueuedJob]| jobs[0].sources = vec!["/not/there.md".to_owned()];
    night.submit(2, &[("gone.md", ""), C], missing).await;
    let odd = Odd { ways: vec![("This is poison", Way::Panics)], ..Odd::default() };
    let summary = night.work(odd).await;
    assert_eq!(summary, WorkerSummary { failed_attempts: 2, ..ended(&[("completed", 3), ("failed", 2)]) });
    let reasons: Vec<_> = [1, 2].map(|number| night.entries(number)).into_iter().collect::<Vec<_>>();
    let mut failed = Vec::new();
    for entries in reasons {
        failed.extend(entries.await.into_values().filter(|entry| entry.status == JobStatus::Failed));
    }
    let failed: Vec<_> = failed.into_iter().map(|entry| (entry.job.label, entry.reason.unwrap())).collect();
    assert_eq!(
        failed,
        [
            (
                "p.md".to_owned(),
                "given up after attempt 1: the program failed on it with a defect; please report this \
                 with the job's journal"
                    .to_owned()
            ),
            ("gone.md".to_owned(), "given up after attempt 1: /not/there.md doesn't exist: check the path".to_owned()),
        ]
    );
    // With what made it fail mended, a retry goes on.
    assert_eq!(night.store.retry(JobTarget::Batch(crate::queue::batch_id(1))).await, Ok(1));
    assert_eq!(night.work(Offline(None)).await, ended(&[("completed", 1)]));
}

/// The jobs share what the batch may cost; another batch goes on.
async fn a_batch_budget_stops_the_batch_and_not_the_worker(place: Place) {
    let night = Night::new(place).await;
    night.submit(1, &[A, B, C, ("d.md", "# D\n\nNobody MAY enter.\n")], |batch, _| batch.budget_usd = Some(0.07)).await;
    night.submit(2, &[C], |_, _| {}).await;
    let odd = || Odd { cents: 1.0, ..Odd::default() };
    let summary = night.work(odd()).await;
    assert_eq!(summary.ended, BTreeMap::from([("completed", 1)]), "{summary:?}");
    let spent = night.store.batch("night 1").await.unwrap().spent_usd;
    assert!(spent <= 0.07 + 1e-9, "{spent}");
    // Nothing is left unused that would have paid for a call.
    assert!(spent >= 0.06 - 1e-9, "{spent}");
    for (label, entry) in night.entries(1).await {
        assert_eq!((entry.status, entry.hold_reason), (JobStatus::Held, Some(HoldReason::Budget)), "{label}");
    }
    night.store.set_budget(crate::queue::batch_id(1), Some(100.0)).await.unwrap();
    night.store.resume(JobTarget::Batch(crate::queue::batch_id(1))).await.unwrap();
    assert_eq!(night.work(odd()).await, ended(&[("completed", 4)]));
}

/// What jobs have reserved and don't need is left to the others.
async fn a_batch_budget_is_used_up_before_it_holds(place: Place) {
    let night = Night::new(place).await;
    let names: Vec<String> = (0..12).map(|number| format!("a{number}.md")).collect();
    let documents: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), A.1)).collect();
    night.submit(1, &documents, |batch, _| batch.budget_usd = Some(3.0)).await;
    let odd = || Odd { token_cents: 0.000_5, ..Odd::default() };
    let summary = night.work(odd()).await;
    let spent = night.store.batch("night 1").await.unwrap().spent_usd;
    assert!((2.8..3.0).contains(&spent), "{spent} {summary:?}");
    night.store.set_budget(crate::queue::batch_id(1), None).await.unwrap();
    night.store.resume(JobTarget::Batch(crate::queue::batch_id(1))).await.unwrap();
    night.work(odd()).await;
    for (label, entry) in night.entries(1).await {
        assert_eq!(entry.status, JobStatus::Completed, "{label}");
    }
}

/// Outside its window nothing of a batch is begun, and it needs nobody to go on.
async fn a_closed_window_holds_its_batch(place: Place) {
    let night = Night::new(place).await;
    let now = overnight::runner::now();
    // Opens in eleven to twelve hours, for an hour.
    let hour = (now.utc().format("%H").to_string().parse::<u32>().unwrap() + 12) % 24;
    let text = format!("{hour:02}:00-{hour:02}:30 UTC");
    let opens = Window::parse(&text).unwrap().opens_after(now);
    let names: Vec<String> = (0..30).map(|number| format!("a{number}.md")).collect();
    let documents: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), A.1)).collect();
    night.submit(1, &documents, |batch, _| batch.time_window = Some(text)).await;
    night.submit(2, &[C], |_, _| {}).await;
    let (stopper, stop) = watch::channel(false);
    let worker = night.worker(Arc::new(Offline(None)), night.config(true), stop);
    let check = async {
        night.until(2, "c.md", JobStatus::Completed).await;
        for label in &names {
            let entry = night.until(1, label, JobStatus::Held).await;
            assert_eq!((entry.hold_reason, entry.job.run_after), (Some(HoldReason::Window), Some(opens)));
            assert_eq!((entry.attempts, entry.workspace.as_str()), (0, ""));
            assert!(entry.lease <= 1, "{label} was begun {} times", entry.lease);
        }
        // It still waits for the window: that is work left to do.
        stopper.send_replace(true);
    };
    let (summary, ()) = tokio::join!(worker.run(), check);
    assert_eq!(summary.unwrap().ended, BTreeMap::from([("completed", 1)]));
}

/// What people wish of running jobs is done at once, though their model never answers.
async fn running_jobs_are_cancelled_and_paused(place: Place) {
    let night = Night::new(place).await;
    night.submit(1, &[A, B], |_, _| {}).await;
    let odd = Arc::new(Odd { ways: vec![("documents", Way::Hangs)], ..Odd::default() });
    let (_keep, stop) = watch::channel(false);
    let worker = night.worker(odd.clone(), night.config(true), stop);
    let check = async {
        let a = night.until(1, "a.md", JobStatus::Running).await;
        night.until(1, "b.md", JobStatus::Running).await;
        odd.hung.notified().await;
        assert_eq!(night.store.cancel(JobTarget::Job(a.job.id)).await, Ok(1));
        night.until(1, "a.md", JobStatus::Cancelled).await;
        assert_eq!(
            night.store.hold(JobTarget::Batch(crate::queue::batch_id(1)), HoldReason::Paused, None).await,
            Ok(1)
        );
        let paused = night.until(1, "b.md", JobStatus::Held).await;
        assert_eq!(paused.hold_reason, Some(HoldReason::Paused));
    };
    // A paused job waits for a person: the worker is done.
    let (summary, ()) = tokio::join!(worker.run(), check);
    let expected = WorkerSummary { held: BTreeMap::from([("paused", 1)]), ..ended(&[("cancelled", 1)]) };
    assert_eq!(summary.unwrap(), expected);
    night.store.resume(JobTarget::Batch(crate::queue::batch_id(1))).await.unwrap();
    assert_eq!(night.work(Offline(None)).await, ended(&[("completed", 1)]));
}

/// A job that was held and went on is told as what it came to, and not as held besides.
async fn a_job_counts_by_its_last_rest(place: Place) {
    let night = Night::new(place).await;
    night.submit(1, &[A, B], |_, _| {}).await;
    let odd = Arc::new(Odd { ways: vec![("documents", Way::Hangs)], ..Odd::default() });
    let (_keep, stop) = watch::channel(false);
    let worker = night.worker(odd.clone(), night.config(true), stop);
    let check = async {
        night.until(1, "a.md", JobStatus::Running).await;
        let b = night.until(1, "b.md", JobStatus::Running).await.job.id;
        assert_eq!(night.store.hold(JobTarget::Job(b), HoldReason::Paused, None).await, Ok(1));
        night.until(1, "b.md", JobStatus::Held).await;
        assert_eq!(night.store.resume(JobTarget::Job(b)).await, Ok(1));
        night.until(1, "b.md", JobStatus::Running).await;
        assert_eq!(night.store.cancel(JobTarget::Batch(crate::queue::batch_id(1))).await, Ok(2));
    };
    let (summary, ()) = tokio::join!(worker.run(), check);
    assert_eq!(summary.unwrap(), ended(&[("cancelled", 2)]));
}

/// A stop gives the jobs back at once, with no attempt used.
async fn a_stopped_worker_gives_its_jobs_back(place: Place) {
    let night = Night::new(place).await;
    night.submit(1, &[A, B], |_, _| {}).await;
    let odd = Arc::new(Odd { ways: vec![("documents", Way::Hangs)], ..Odd::default() });
    let (stopper, stop) = watch::channel(false);
    let worker = night.worker(odd.clone(), night.config(false), stop);
    let check = async {
        night.until(1, "a.md", JobStatus::Running).await;
        night.until(1, "b.md", JobStatus::Running).await;
        odd.hung.notified().await;
        stopper.send_replace(true);
    };
    let (summary, ()) = tokio::join!(worker.run(), check);
    assert_eq!(summary.unwrap(), WorkerSummary { given_back: 2, ..WorkerSummary::default() });
    for (label, entry) in night.entries(1).await {
        assert_eq!((entry.status, entry.attempts, entry.worker), (JobStatus::Queued, 0, None), "{label}");
    }
    assert_eq!(night.work(Offline(None)).await, ended(&[("completed", 2)]));
    assert_eq!(
        night.statuses(1).await,
        [("a.md".to_owned(), JobStatus::Completed), ("b.md".to_owned(), JobStatus::Completed)]
    );
}

/// Jobs whose model's server is away stay with their worker, held, and go on when it is back: no attempt is used, and nobody
/// else gets them.
async fn an_outage_of_the_models_server_is_waited_for(place: Place) {
    let night = Night::new(place).await;
    night.submit(1, &[A, B, C], |_, _| {}).await;
    let server = Server::start(Setup::default());
    let options = ModelOptions { base_url: Some(server.base_url(Format::OpenAi)), ..ModelOptions::default() };
    let model = open_model("openai:able-agent", &options).unwrap();
    let (_keep, stop) = watch::channel(false);
    let mut config = night.config(true);
    // Without a word of the worker, a sweep would queue them in the middle of the outage.
    config.times.wakes_after = Duration::from_secs(3);
    let worker = night.worker(model, config, stop);
    let check = async {
        while server.counts().requests < 9 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        server.go_away();
        for label in ["a.md", "b.md", "c.md"] {
            night.until(1, label, JobStatus::Held).await;
        }
        let before: Vec<(JobStatus, u64)> =
            night.entries(1).await.into_values().map(|entry| (entry.status, entry.lease)).collect();
        assert_eq!(before, [(JobStatus::Held, 1); 3]);
        tokio::time::sleep(Duration::from_secs(7)).await;
        let after: Vec<(JobStatus, u64)> =
            night.entries(1).await.into_values().map(|entry| (entry.status, entry.lease)).collect();
        assert_eq!(after, before);
        server.come_back();
    };
    let (summary, ()) = tokio::join!(worker.run(), check);
    assert_eq!(summary.unwrap(), ended(&[("completed", 3)]));
    for (label, entry) in night.entries(1).await {
        assert_eq!((entry.status, entry.attempts), (JobStatus::Completed, 0), "{label}");
    }
}

/// What a scrape finds while one job is done and another hangs.
#[tokio::test]
async fn a_worker_answers_prometheus() {
    let night = Night::new(Place::sqlite()).await;
    night.submit(1, &[A, ("h.md", "# H\n\nThis hangs.\n")], |_, _| {}).await;
    let odd = Arc::new(Odd { ways: vec![("This hangs", Way::Hangs)], cents: 1.0, ..Odd::default() });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stopper, stop) = watch::channel(false);
    let worker = night.worker(odd.clone(), night.config(false), stop).with_metrics_at(listener);
    let check = async {
        odd.hung.notified().await;
        night.until(1, "a.md", JobStatus::Completed).await;
        // Who connects and says nothing is in nobody's way for long.
        let mut silent = Vec::new();
        for _ in 0..100 {
            silent.push(tokio::net::TcpStream::connect(address).await.unwrap());
        }
        let read = async |path: &str| {
            let answer = reqwest::get(format!("http://{address}{path}")).await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        };
        assert_eq!(read("/health").await, (200, "ok\n".to_owned()));
        let (status, text) = read("/metrics").await;
        let number = |name: &str| {
            let line = text.lines().find(|line| line.rsplit_once(' ').is_some_and(|(left, _)| left == name));
            line.unwrap_or_else(|| panic!("no {name} in {text}")).rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
        };
        assert_eq!(status, 200);
        assert_eq!(number("overnight_running_jobs"), 1.0);
        assert_eq!(number("overnight_queue_jobs{status=\"running\"}"), 1.0);
        assert_eq!(number("overnight_queue_jobs{status=\"completed\"}"), 1.0);
        assert_eq!(number("overnight_jobs_rested_total{how=\"completed\"}"), 1.0);
        assert_eq!(number("overnight_database_up"), 1.0);
        let turns = number("overnight_turns_total");
        assert_eq!(turns, 8.0);
        assert_eq!(number("overnight_turn_seconds_count"), turns);
        assert!((number("overnight_cost_microusd_total") - turns * 10_000.0).abs() < 0.5);
        assert_eq!(number("overnight_wait_seconds_count"), 2.0);
        stopper.send_replace(true);
    };
    let (summary, ()) = tokio::join!(worker.run(), check);
    assert_eq!(summary.unwrap(), WorkerSummary { given_back: 1, ..ended(&[("completed", 1)]) });
}

/// The time of work ends a call that doesn't come back.
#[tokio::test]
async fn a_call_ends_with_the_time_of_work() {
    let place = crate::support::Place::new().await;
    let (mut instructions, text) = shipped("extract-requirements");
    instructions.limits.wall_clock_ms = Some(300);
    let odd = Odd { ways: vec![("documents", Way::Hangs)], ..Odd::default() };
    let samples = crate::support::samples().join("standards");
    let rested = place.run(instructions, &text, &[samples], Arc::new(odd)).await;
    assert_eq!(rested.outcome, JobOutcome::Held(HoldReason::Limit));
    let Status::Held { detail, .. } = &rested.job.status else { unreachable!("{:?}", rested.job.status) };
    assert_eq!(detail, "300ms of work are used; resume with --wall-clock TIME for more");
    assert!((300..2_000).contains(&rested.job.totals.worked_ms), "{}", rested.job.totals.worked_ms);
}

on_both! {
    a_batch_is_worked_to_its_end
    a_poisonous_job_harms_nobody_else
    a_batch_budget_stops_the_batch_and_not_the_worker
    a_batch_budget_is_used_up_before_it_holds
    a_closed_window_holds_its_batch
    running_jobs_are_cancelled_and_paused
    a_job_counts_by_its_last_rest
    a_stopped_worker_gives_its_jobs_back
    an_outage_of_the_models_server_is_waited_for
    a_blocked_thread_keeps_no_heartbeat_back
    a_hook_keeps_nobody_waiting
    a_waiting_job_holds_nothing_and_another_worker_goes_on
    a_waiting_job_is_paused_resumed_and_cancelled
}
