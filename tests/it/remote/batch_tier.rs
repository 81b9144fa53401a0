//! Queue nights at the tier `batch`, behind the vendors' batch endpoints as `server/batches.rs` has them. Whatever becomes of a
//! batch, the jobs deliver what they deliver without one, no call is answered twice, and no answer is for nothing.
//!
//! - here: a night, and what holds of each
//! - `nights`: those on which all goes well, or is put right by waiting; `trouble`: batches that expire, are given up or refused
//! - `primers`: what is sent ahead of a batch; `crashes`: workers that are killed
//! - `worth`: which calls are handed in at all; `endpoints`: the server's own strictness

#![expect(clippy::unwrap_used, reason = "a test fails by it")]
#![expect(clippy::print_stdout, reason = "it is shown where a test fails")]

#[cfg(feature = "failpoints")]
mod crashes;
mod endpoints;
mod nights;
mod primers;
mod trouble;
mod worth;

use super::server::{Batching, Format, Server, Setup};
use crate::{
    queue::{batch, batch_id, queued},
    store::Place,
    support::{self, events, settings_of, shipped},
};
use async_trait::async_trait;
use overnight::{
    batch::BatchSettings,
    extraction::Extractor,
    model::{
        Model,
        remote::{CallPosting, GatherPace},
        rules::Offline,
        table::ModelTable,
    },
    runner::{ModelOptions, load, now, open_model},
    store::{NewBatch, QueueEntry, QueuedJob, Store},
    worker::{JobModels, Supply, Worker, WorkerConfig, WorkerEvent, WorkerSummary, WorkerTimes},
};
use overnight_core::job::{
    answered::PaidRole, digest::sha256, id::JobId, instructions::BatchUntil, models::Tier, record::JobStatus,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tempfile::TempDir;
use tokio::{sync::watch, task::LocalSet, time::timeout};
use uuid::Uuid;

/// OpenAI with both of its formats.
const VENDORS: [Format; 4] = [Format::Responses, Format::OpenAi, Format::Anthropic, Format::Gemini];
const TASK: &str = "extract-requirements";
const DOCUMENTS: [(&str, &str); 3] = [
    ("a.md", "# A\n\nThe server MUST answer within 2 s.\n"),
    ("b.md", "# B\n\nA client SHOULD wait. It MUST NOT shout.\n"),
    ("c.md", "# C\n\nThe door SHALL be shut at night.\n"),
];
/// Calls are gathered and batches asked about within moments.
const QUICK: GatherPace = GatherPace {
    quiet: Duration::from_millis(100),
    most: Duration::from_millis(400),
    least_poll: Duration::from_millis(30),
    most_poll: Duration::from_millis(100),
};
/// Nothing is sent.
const NEVER: GatherPace = GatherPace { quiet: Duration::from_hours(1), most: Duration::from_hours(1), ..QUICK };
/// No night takes so long.
const PATIENCE: Duration = Duration::from_mins(3);
/// What a primer asks for.
const PRIMER: &str = "Answer with the one word OK.";
/// USD per million tokens at the standard tier: input, output, read from the cache, written to it.
const PRICE: [f64; 4] = [2.0, 10.0, 0.2, 2.5];
const SHARE: f64 = 0.5;

/// Tries a feature with all vendors at the same time: what a night does most is to wait.
async fn with_each_vendor<F: Future<Output = ()> + 'static>(feature: impl Fn(Format) -> F) {
    let local = LocalSet::new();
    let nights = VENDORS.map(|format| (format, local.spawn_local(feature(format))));
    local
        .run_until(async {
            for (format, night) in nights {
                assert!(night.await.is_ok(), "with {}", format.name());
            }
        })
        .await;
}

/// As `--model` has it.
fn model_name(format: Format) -> String {
    let provider = if format == Format::Responses { Format::OpenAi } else { format };
    format!("{}:{}", provider.name(), format.strictest())
}

/// A user's table that knows the tier and a price.
fn table(format: Format) -> ModelTable {
    let [input, output, cached, written] = PRICE;
    let api = if format == Format::Responses { "    api: responses\n" } else { "" };
    let text = format!(
        "version: 1\nmodels:\n  - match: \"{}\"\n{api}    batch: {SHARE}\n    price: {{ dated: 2026-11-22, input: {input}, \
         output: {output}, cached: {cached}, cache_written: {written} }}\n",
        model_name(format)
    );
    ModelTable::parse("models.yaml", &text).unwrap()
}

/// One model for all jobs.
#[derive(Debug)]
struct Only(Arc<dyn Model>);

#[async_trait]
impl Supply for Only {
    async fn models(&self, _: &str, _: &BatchSettings) -> Result<JobModels, String> {
        Ok(JobModels { first: self.0.clone(), others: Vec::new(), named: BTreeMap::new() })
    }
}

/// What a worker needs.
#[derive(Clone, Debug)]
struct Desk {
    store: Arc<dyn Store>,
    workspaces: PathBuf,
    /// Of the model server.
    url: String,
    format: Format,
}

impl Desk {
    fn model(&self, tier: Tier, pace: GatherPace) -> Arc<dyn Model> {
        let options = ModelOptions {
            base_url: Some(self.url.clone()),
            models: Some(table(self.format)),
            tier,
            posting: Some(CallPosting { store: self.store.clone(), pace }),
            ..ModelOptions::default()
        };
        open_model(&model_name(self.format), &options).unwrap()
    }

    fn worker(&self, model: Arc<dyn Model>, until_empty: bool, stop: watch::Receiver<bool>) -> Worker {
        let config = WorkerConfig {
            traces: None,
            extractor: Arc::new(Extractor::in_process()),
            concurrency: 6,
            window: None,
            batches: Vec::new(),
            until_empty,
            drain_after: None,
            workspaces: self.workspaces.clone(),
            workspace_store: None,
            host: "here".to_owned(),
            notices: Vec::new(),
            times: WorkerTimes {
                heartbeat: Duration::from_millis(200),
                signals: Duration::from_millis(100),
                sweep: Duration::from_millis(50),
                poll: Duration::from_millis(50),
                ..WorkerTimes::default()
            },
        };
        let format = self.format;
        let tell = Arc::new(move |event: WorkerEvent<'_>| println!("{}: {event:?}", format.name()));
        Worker::new(self.store.clone(), Arc::new(Only(model)), config, stop, tell)
    }

    /// Works until nothing is left that needs no person.
    async fn work(&self, tier: Tier) -> WorkerSummary {
        let (_keep, stop) = watch::channel(false);
        let worker = self.worker(self.model(tier, QUICK), true, stop);
        timeout(PATIENCE, worker.run()).await.unwrap().unwrap()
    }
}

fn completed(jobs: u64) -> WorkerSummary {
    WorkerSummary { ended: BTreeMap::from([("completed", jobs)]), ..WorkerSummary::default() }
}

/// A reply, as the journal tells of it.
#[derive(Debug)]
struct ToldReply {
    conversation: u64,
    /// At which it was answered.
    tier: Tier,
    /// The vendor's name of the batch in which it was answered.
    batch: Option<String>,
    cost: f64,
    /// What it would have cost at the standard tier, where that is told.
    standard: Option<f64>,
    /// The same, by its tokens.
    usual: f64,
    /// Its cost has that of a primer in it.
    is_primed: bool,
}

/// All replies of a job in their order.
fn replies(workspace: &Path) -> Vec<ToldReply> {
    let tier_of = |value: &Value| value.as_str().and_then(Tier::parse);
    let mut asked_at = Tier::Standard;
    let mut replies = Vec::new();
    for event in events(workspace) {
        if event["type"] == "tier_changed" {
            asked_at = tier_of(&event["tier"]).unwrap();
        } else if event["type"] == "model_replied" {
            let of = |field: &str| event["usage"][field].as_f64().unwrap_or_default();
            let fresh = of("input") - of("cached") - of("cache_written");
            let [input, output, cached, written] = PRICE;
            let usual = fresh * input + of("output") * output + of("cached") * cached + of("cache_written") * written;
            replies.push(ToldReply {
                conversation: event["conversation"].as_u64().unwrap(),
                tier: tier_of(&event["tier"]).unwrap_or(asked_at),
                batch: event["batch"].as_str().map(str::to_owned),
                cost: event["cost_usd"].as_f64().unwrap(),
                standard: event["standard_usd"].as_f64(),
                usual: usual / 1e6,
                is_primed: event["mended"].to_string().contains("primer"),
            });
        }
    }
    replies
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

/// Each reply costs what its tier costs, and the job's sums are those of its replies.
fn check_costs(label: &str, replies: &[ToldReply], paid: &[PaidRole]) {
    for reply in replies {
        let (share, standard) = if reply.tier == Tier::Batch { (SHARE, Some(reply.usual)) } else { (1.0, None) };
        let is_right =
            if reply.is_primed { reply.cost > reply.usual * share } else { is_near(reply.cost, reply.usual * share) };
        let is_told = match (reply.standard, standard) {
            (Some(told), Some(standard)) => is_near(told, standard),
            (told, standard) => told.is_none() && standard.is_none(),
        };
        assert!(is_right && is_told, "{label}: {reply:?}");
    }
    for tier in Tier::ALL {
        let of_tier = || replies.iter().filter(|reply| reply.tier == tier);
        let rows = || paid.iter().filter(|row| row.tier == tier);
        assert_eq!(rows().map(|row| row.turns).sum::<u64>(), of_tier().count() as u64, "{label}: {paid:?}");
        let sums = [
            (rows().map(|row| row.priced_usd).sum::<f64>(), of_tier().map(|reply| reply.cost).sum::<f64>()),
            (
                rows().map(|row| row.standard_usd).sum::<f64>(),
                of_tier().map(|reply| reply.standard.unwrap_or(reply.cost)).sum::<f64>(),
            ),
        ];
        assert!(sums.iter().all(|(row, sum)| is_near(*row, *sum)), "{label}: {sums:?} of {paid:?}");
    }
    assert!(paid.iter().all(|row| row.unpriced_turns == 0), "{label}: {paid:?}");
}

/// Files that jobs have delivered, by the jobs' labels.
type Delivered = BTreeMap<String, BTreeMap<String, Vec<u8>>>;

/// A database, jobs, and a server.
struct Night {
    #[cfg_attr(not(feature = "failpoints"), expect(dead_code, reason = "it is there for as long as the night"))]
    place: Place,
    server: Server,
    desk: Desk,
    folder: TempDir,
    has_batches: bool,
}

impl Night {
    async fn new(place: Place, format: Format, setup: Setup) -> Self {
        let folder = TempDir::new().unwrap();
        let has_batches = setup.batching.is_some();
        let server = Server::start(Setup { thinks: true, ..setup });
        let desk = Desk {
            store: place.store().await,
            workspaces: folder.path().join("workspaces"),
            url: server.base_url(format),
            format,
        };
        Self { place, server, desk, folder, has_batches }
    }

    async fn of(format: Format, batching: Batching) -> Self {
        Self::new(Place::sqlite(), format, Setup { batching: Some(batching), ..Setup::default() }).await
    }

    /// A batch with one job for each document.
    async fn submit_all(&self, documents: &[(&str, &str)], until: Option<BatchUntil>) {
        let (mut instructions, text) = shipped(TASK);
        instructions.batch_until = until;
        let new = NewBatch {
            created: now(),
            name: Some("night".to_owned()),
            instructions: TASK.to_owned(),
            instructions_text: text.clone(),
            instructions_sha256: sha256(text.as_bytes()),
            model: model_name(self.desk.format),
            settings: serde_json::to_value(settings_of(instructions)).unwrap(),
            budget_usd: None,
            time_window: None,
            ..batch(1)
        };
        let jobs: Vec<QueuedJob> = documents
            .iter()
            .map(|(name, text)| {
                let path = self.folder.path().join(name);
                std::fs::write(&path, text).unwrap();
                QueuedJob {
                    id: JobId(Uuid::now_v7()),
                    label: (*name).to_owned(),
                    sources: vec![path.display().to_string()],
                    documents: 1,
                    documents_sha256: None,
                    max_attempts: 9,
                    ..queued(1)
                }
            })
            .collect();
        self.desk.store.submit(&new, &jobs, false).await.unwrap();
    }

    async fn submit(&self) {
        self.submit_all(&DOCUMENTS, None).await;
    }

    /// The jobs by label.
    async fn entries(&self) -> BTreeMap<String, QueueEntry> {
        let entries = self.desk.store.batch_entries(batch_id(1)).await.unwrap();
        entries.into_iter().map(|entry| (entry.job.label.clone(), entry)).collect()
    }

    /// Works until the first call of each job is handed in, with nothing sent: the next worker sends them all together.
    async fn gather(&self) {
        let (stopper, stop) = watch::channel(false);
        let worker = self.desk.worker(self.desk.model(Tier::Batch, NEVER), false, stop);
        let wait = async {
            while !self.entries().await.values().all(|entry| entry.status == JobStatus::Waiting) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            stopper.send_replace(true);
        };
        let (summary, ()) = timeout(PATIENCE, async { tokio::join!(worker.run(), wait) }).await.unwrap();
        let waiting = self.entries().await.len() as u64;
        assert_eq!(summary.unwrap(), WorkerSummary { waiting, ..WorkerSummary::default() });
        assert_eq!(self.server.batches().created, Vec::<usize>::new());
    }

    async fn delivered(&self) -> Delivered {
        let files = |entry: &QueueEntry| support::files(&Path::new(&entry.workspace).join("output"));
        self.entries().await.iter().map(|(label, entry)| (label.clone(), files(entry))).collect()
    }

    /// What the same jobs deliver with the server's model at hand.
    async fn delivered_without_server(&self) -> Delivered {
        let alone = support::Place::new().await;
        let mut delivered = Delivered::new();
        for label in self.entries().await.into_keys() {
            let (instructions, text) = shipped(TASK);
            let document = self.folder.path().join(&label);
            let rested = alone.run(instructions, &text, &[document], Arc::new(Offline(None))).await;
            delivered.insert(label, support::files(&rested.path.join("output")));
        }
        delivered
    }

    /// What holds of every night: all jobs are completed and deliver what they deliver elsewhere; the server had nothing to
    /// complain of; no call was answered twice, and each answer is in a journal; and costs are those of the tiers. The replies
    /// of the jobs by their labels.
    async fn ended_well(&self) -> BTreeMap<String, Vec<ToldReply>> {
        let counts = self.server.batches();
        println!("{}: {counts:#?}", self.desk.format.name());
        assert_eq!(self.server.counts().complaints, Vec::<String>::new());
        assert_eq!(counts.answered_twice(), Vec::<String>::new());
        let mut all = BTreeMap::new();
        for (label, entry) in self.entries().await {
            assert_eq!(entry.status, JobStatus::Completed, "{label}: {:?}", entry.reason);
            let replies = replies(Path::new(&entry.workspace));
            check_costs(&label, &replies, &load(Path::new(&entry.workspace)).unwrap().job.answered.paid);
            all.insert(label, replies);
        }
        if self.has_batches {
            let of = |tier: Tier| all.values().flatten().filter(|reply: &&ToldReply| reply.tier == tier).count() as u64;
            let primers = counts.live.iter().filter(|(call, _)| call.contains(PRIMER)).map(|(_, times)| times);
            let live = counts.live.values().sum::<u64>() - primers.sum::<u64>();
            assert_eq!([counts.in_batches.values().sum::<u64>(), live], [Tier::Batch, Tier::Standard].map(of));
        }
        assert_eq!(self.delivered().await, self.delivered_without_server().await);
        all
    }

    /// Why the tier was left, by the labels of the jobs that did.
    async fn why_left(&self) -> BTreeMap<String, String> {
        let mut left = BTreeMap::new();
        for (label, entry) in self.entries().await {
            let models = load(Path::new(&entry.workspace)).unwrap().job.answered.models;
            if let Some(why) = models.into_iter().find_map(|model| model.left_flex) {
                left.insert(label, why);
            }
        }
        left
    }
}

/// At which tier the first reply of each job was given, in the order of their labels.
fn firsts(replies: &BTreeMap<String, Vec<ToldReply>>) -> Vec<Tier> {
    replies.values().map(|replies| replies[0].tier).collect()
}

/// How many of those are in batches.
fn firsts_in_batches(replies: &BTreeMap<String, Vec<ToldReply>>) -> usize {
    firsts(replies).into_iter().filter(|tier| *tier == Tier::Batch).count()
}
