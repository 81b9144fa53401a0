//! A worker's metrics for Prometheus, and its health. Names and labels are stable.
//!
//! The numbers are those of this process, from its start; only the states of the queue are the whole database's.

use super::claim_outcome::ClaimOutcome;
use crate::{runner::RunReport, store::ClaimedJob};
use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use overnight_core::job::{
    event::{ConversationEvent, Event},
    failure::FailureKind,
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Upper bounds for the duration of a claim, in seconds.
const CLAIM_BOUNDS: [f64; 9] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0];
/// Upper bounds of what a job waits before it is claimed, in seconds.
const WAIT_BOUNDS: [f64; 10] = [0.01, 0.05, 0.25, 1.0, 10.0, 60.0, 600.0, 3_600.0, 21_600.0, 86_400.0];
/// Upper bounds of a model call, in seconds.
const TURN_BOUNDS: [f64; 11] = [0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0];

static META: Metadata<'static> = Metadata::new(module_path!(), Level::INFO, None);

/// All numbers of a worker.
pub(super) struct Metrics {
    recorder: PrometheusRecorder,
    pub(super) handle: PrometheusHandle,
    /// The time of the last successful heartbeat, in milliseconds after `begun`.
    heartbeat_ms: AtomicU64,
    begun: Instant,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let recorder = builder().build_recorder();
        let handle = recorder.handle();
        let metrics = Self { recorder, handle, heartbeat_ms: AtomicU64::new(0), begun: Instant::now() };
        metrics.describe();
        metrics
    }
}

fn builder() -> PrometheusBuilder {
    use metrics_exporter_prometheus::Matcher::Full;
    let bounds: [(&str, &[f64]); 3] = [
        ("overnight_claim_seconds", &CLAIM_BOUNDS),
        ("overnight_wait_seconds", &WAIT_BOUNDS),
        ("overnight_turn_seconds", &TURN_BOUNDS),
    ];
    bounds.into_iter().fold(PrometheusBuilder::new(), |builder, (name, bounds)| {
        // Only an empty list is refused; then the numbers are a summary.
        builder.set_buckets_for_metric(Full(name.to_owned()), bounds).unwrap_or_else(|_| PrometheusBuilder::new())
    })
}

impl Metrics {
    fn describe(&self) {
        let counters = [
            ("overnight_jobs_rested_total", "Jobs that came to rest here, by how"),
            ("overnight_turns_total", "Replies of models"),
            ("overnight_tokens_total", "Tokens, by kind"),
            (
                "overnight_cost_microusd_total",
                "What the replies cost, in millionths of a USD, where the price is known",
            ),
            ("overnight_call_failures_total", "Attempts at model calls that failed, by kind"),
            ("overnight_leases_lost_total", "Jobs that another worker took"),
        ];
        for (name, what) in counters {
            self.recorder.describe_counter(name.into(), None, what.into());
        }
        let gauges = [
            ("overnight_queue_jobs", "Jobs of all batches, by status"),
            ("overnight_running_jobs", "Jobs that this worker drives"),
            ("overnight_endpoint_down", "1 where the circuit breaker of a model's server is open"),
            ("overnight_database_up", "1 while heartbeats are taken"),
        ];
        for (name, what) in gauges {
            self.recorder.describe_gauge(name.into(), None, what.into());
        }
        let histograms = [
            ("overnight_claim_seconds", "What a claim took"),
            ("overnight_wait_seconds", "How long jobs had waited when they were claimed for the first time"),
            ("overnight_turn_seconds", "What a model call took, waits for its server included"),
        ];
        for (name, what) in histograms {
            self.recorder.describe_histogram(name.into(), None, what.into());
        }
    }

    fn counter(&self, name: &'static str, labels: Vec<Label>) -> Counter {
        self.recorder.register_counter(&Key::from_parts(name, labels), &META)
    }

    pub(super) fn gauge(&self, name: &'static str, labels: Vec<Label>) -> Gauge {
        self.recorder.register_gauge(&Key::from_parts(name, labels), &META)
    }

    fn histogram(&self, name: &'static str) -> Histogram {
        self.recorder.register_histogram(&Key::from_name(name), &META)
    }

    pub(super) fn claimed(&self, took: Duration, jobs: &[ClaimedJob]) {
        if jobs.is_empty() {
            return;
        }
        self.histogram("overnight_claim_seconds").record(took);
        let now = crate::runner::now();
        for job in jobs.iter().filter(|job| job.workspace.is_empty()) {
            self.histogram("overnight_wait_seconds").record(Duration::from_millis(now.millis_since(job.created)));
        }
    }

    pub(super) fn on_heartbeat(&self) {
        let passed = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heartbeat_ms.store(passed, Ordering::Relaxed);
    }

    pub(super) fn rested(&self, rest: &ClaimOutcome) {
        if let ClaimOutcome::Lost(_) = rest {
            self.counter("overnight_leases_lost_total", Vec::new()).increment(1);
        }
        self.counter("overnight_jobs_rested_total", vec![Label::new("how", rest.name())]).increment(1);
    }

    /// A counter of one job's turns.
    pub(super) fn for_job(self: &Arc<Self>) -> JobMetrics {
        JobMetrics { metrics: self.clone(), called: Mutex::new(BTreeMap::new()) }
    }

    /// Whether a heartbeat succeeded recently.
    pub(super) fn is_well(&self, within: Duration) -> bool {
        let heartbeat = Duration::from_millis(self.heartbeat_ms.load(Ordering::Relaxed));
        self.begun.elapsed().saturating_sub(heartbeat) < within
    }
}

/// Counts the events of one job.
#[derive(Debug)]
pub(super) struct JobMetrics {
    metrics: Arc<Metrics>,
    called: Mutex<BTreeMap<u32, Instant>>,
}

impl JobMetrics {
    pub(super) fn on(&self, report: &RunReport<'_>) {
        let mut called = self.called.lock().unwrap_or_else(PoisonError::into_inner);
        match report {
            RunReport::Calling(conversation) => drop(called.insert(*conversation, Instant::now())),
            RunReport::Note(_) => {}
            RunReport::Decided(decision) => {
                for event in &decision.events {
                    self.count(event, &mut called);
                }
            }
        }
    }

    fn count(&self, event: &Event, called: &mut BTreeMap<u32, Instant>) {
        let metrics = &self.metrics;
        if let Event::Conversation(ConversationEvent::ModelReplied { conversation, usage, cost_usd, .. }) = event {
            if let Some(called) = called.remove(conversation) {
                metrics.histogram("overnight_turn_seconds").record(called.elapsed());
            }
            metrics.counter("overnight_turns_total", Vec::new()).increment(1);
            for (kind, tokens) in [("input", usage.input), ("output", usage.output), ("cached", usage.cached)] {
                metrics.counter("overnight_tokens_total", vec![Label::new("kind", kind)]).increment(tokens);
            }
            metrics.counter("overnight_cost_microusd_total", Vec::new()).increment(micro(cost_usd.unwrap_or(0.0)));
        } else if let Event::Conversation(ConversationEvent::AttemptFailed { kind, .. }) = event {
            metrics.counter("overnight_call_failures_total", vec![Label::new("kind", name(*kind))]).increment(1);
        }
    }
}

/// USD in millionths.
fn micro(usd: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates, which is enough here")]
    let micro = (usd * 1e6).round() as u64;
    micro
}

/// The kind's name in events.
fn name(kind: FailureKind) -> String {
    serde_json::to_value(kind).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}
