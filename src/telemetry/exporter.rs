//! Sends spans to a collector: the OpenTelemetry SDK gathers them and posts them on its own thread, so that a collector
//! that is slow, hangs or is missing costs the work nothing. The SDK doesn't report losses: spans that find no room in
//! its queue are silently dropped, and those of a request that a collector rejects count as sent. So the spans passed
//! to it and those that arrive are counted here, and the difference is reported once, at the end.

#[cfg(feature = "network")]
use opentelemetry::KeyValue;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanData, SpanProcessor};
#[cfg(feature = "network")]
use opentelemetry_sdk::{Resource, trace::BatchConfig};
use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use url::Url;

/// The time limit of the end.
const FLUSH: Duration = Duration::from_secs(5);
pub(super) const SCHEMES: [&str; 2] = ["http", "https"];

/// The target of spans, and the sender that they name.
#[derive(Clone, PartialEq, Eq)]
pub struct TraceTarget {
    /// The complete URL for traces.
    pub url: String,
    /// Names and values; a value is often a key.
    pub headers: Vec<(String, String)>,
    /// Headers go over plain HTTP to any address.
    pub allows_http: bool,
    /// Attributes of the sender, `service.name` among them.
    pub resource: Vec<(String, String)>,
}

/// Not derived: address and headers may carry a key.
impl fmt::Debug for TraceTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceTarget").field("url", &self.shown()).finish_non_exhaustive()
    }
}

impl TraceTarget {
    /// The address as it may be shown: without user, password and query.
    pub fn shown(&self) -> String {
        let url = Url::parse(&self.url).ok().filter(|url| SCHEMES.contains(&url.scheme()));
        let Some(url) = url else { return "an address that can't be used".to_owned() };
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
    }
}

/// Exports spans to a collector.
#[derive(Debug)]
pub struct Exporter {
    feed: SpanSender,
    shown: String,
}

/// Hands over the spans of one job.
#[derive(Clone, Debug)]
pub struct SpanSender {
    processor: Arc<BatchSpanProcessor>,
    counts: Arc<SpanCounts>,
}

/// Counts of spans by their fate.
#[derive(Debug, Default)]
pub(super) struct SpanCounts {
    handed: AtomicU64,
    pub(super) arrived: AtomicU64,
    /// Spans that the collector rejected from accepted requests.
    pub(super) rejected: AtomicU64,
    /// The first error.
    fault: Mutex<Option<String>>,
}

impl SpanCounts {
    pub(super) fn fault(&self, text: &str) {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| text.to_owned());
    }
}

/// Why no traces are sent to a target; one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(String);

impl Exporter {
    #[cfg(not(feature = "network"))]
    pub fn start(target: &TraceTarget) -> Result<Self, TargetError> {
        Err(TargetError(format!("no traces are sent to {}: {}", target.shown(), crate::built_without::NO_NETWORK)))
    }

    /// Starts the exporter.
    #[cfg(feature = "network")]
    pub fn start(target: &TraceTarget) -> Result<Self, TargetError> {
        let shown = target.shown();
        let counts = Arc::new(SpanCounts::default());
        // A blocking client can be created and dropped only outside of async code.
        let made = std::thread::scope(|scope| scope.spawn(|| target.exporter(&counts)).join());
        let exporter = made
            .unwrap_or_else(|_| Err("the HTTP client can't be made".to_owned()))
            .map_err(|what| TargetError(format!("no traces are sent to {shown}: {what}")))?;
        let mut processor = BatchSpanProcessor::new(exporter, BatchConfig::default());
        let about = target.resource.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        processor.set_resource(&Resource::builder_empty().with_attributes(about).build());
        Ok(Self { feed: SpanSender { processor: Arc::new(processor), counts }, shown })
    }

    pub fn feed(&self) -> SpanSender {
        self.feed.clone()
    }

    /// Sends the rest within a few seconds, when all senders are gone. Returns a sentence about lost spans.
    pub async fn finish(self) -> Option<String> {
        let SpanSender { processor, counts } = self.feed;
        let flushed = tokio::task::spawn_blocking(move || processor.shutdown_with_timeout(FLUSH)).await;
        if !matches!(flushed, Ok(Ok(()))) {
            counts.fault("it did not answer in time");
        }
        let handed = counts.handed.load(Ordering::Acquire);
        let lost = handed.saturating_sub(counts.arrived.load(Ordering::Acquire));
        if lost == 0 {
            return None;
        }
        let fault = counts.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        let why = fault.unwrap_or_else(|| "more came than it took".to_owned());
        Some(format!("{lost} of {handed} spans did not reach {}: {why}", self.shown))
    }
}

impl SpanSender {
    /// Passes spans on; never waits.
    pub fn send(&self, spans: Vec<SpanData>) {
        for span in spans {
            self.counts.handed.fetch_add(1, Ordering::Release);
            self.processor.on_end(span);
        }
    }
}
