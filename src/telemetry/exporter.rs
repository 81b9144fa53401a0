//! Sends spans to a collector: the OpenTelemetry SDK gathers them and posts them on a thread of its own, so that a collector
//! that is slow, hangs or is not there costs the work nothing. The SDK doesn't say what was lost: spans that find no room in
//! its queue are dropped in silence, and those that a collector refuses of a request count as sent. So what is handed over and
//! what arrives is counted here, and the difference is said once, at the end.

use crate::exposure::{is_exposed, is_plain_nearby};
use opentelemetry::KeyValue;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{BatchConfig, BatchSpanProcessor, SpanData, SpanExporter as Export, SpanProcessor},
};
use prost::Message;
use reqwest::{
    Url,
    blocking::Client,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use std::{
    fmt,
    io::Read,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// How long one request may take, all its attempts together.
const REQUEST: Duration = Duration::from_secs(10);
/// How long the end may take.
const FLUSH: Duration = Duration::from_secs(5);
/// Bytes of an answer that are read.
const MOST_ANSWER: u64 = 64 * 1024;
const SCHEMES: [&str; 2] = ["http", "https"];

/// Where spans go, and who they say they are from.
#[derive(Clone, PartialEq, Eq)]
pub struct TraceTarget {
    /// The whole address of the traces.
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

    fn client(&self) -> Result<Client, String> {
        let url = Url::parse(&self.url).map_err(|error| format!("it is not a URL ({error})"))?;
        if !SCHEMES.contains(&url.scheme()) {
            return Err("it must begin with http:// or https://".to_owned());
        }
        if !self.headers.is_empty() && !self.allows_http && is_exposed(&url) {
            return Err(
                "its headers would go over plain HTTP, for others to read: name an https:// address, or allow it \
                        with --allow-http"
                    .to_owned(),
            );
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let name: HeaderName = name.parse().map_err(|_| "a name among its headers can't be sent".to_owned())?;
            let mut value: HeaderValue =
                value.parse().map_err(|_| format!("the value of its header '{name}' can't be sent"))?;
            value.set_sensitive(true);
            headers.append(name, value);
        }
        let builder = Client::builder();
        // A proxy would see the headers.
        let builder = if is_plain_nearby(&url) { builder.no_proxy() } else { builder };
        builder
            .http1_only()
            .timeout(REQUEST)
            .default_headers(headers)
            // A key that stands in a header is for nobody else.
            .redirect(Policy::none())
            .build()
            .map_err(|error| format!("the HTTP client can't be made ({error})"))
    }

    fn exporter(&self, counts: &Arc<SpanCounts>) -> Result<CountingExporter, String> {
        let retries = RetryPolicy::default().with_max_retries(2).with_initial_delay(Duration::from_millis(500));
        let inner = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(&self.url)
            .with_timeout(REQUEST)
            .with_retry_policy(retries)
            .with_http_client(HttpPost { client: self.client()?, counts: Arc::clone(counts) })
            .build()
            .map_err(|error| error.to_string())?;
        Ok(CountingExporter { inner, counts: Arc::clone(counts) })
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

/// The numbers of spans by what became of them.
#[derive(Debug, Default)]
struct SpanCounts {
    handed: AtomicU64,
    arrived: AtomicU64,
    /// Those that the collector took a request without.
    rejected: AtomicU64,
    /// What went wrong first.
    fault: Mutex<Option<String>>,
}

impl SpanCounts {
    fn fault(&self, text: &str) {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| text.to_owned());
    }
}

/// Why no traces are sent to a target; one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(String);

impl Exporter {
    /// Begins.
    pub fn start(target: &TraceTarget) -> Result<Self, TargetError> {
        let shown = target.shown();
        let counts = Arc::new(SpanCounts::default());
        // A client that blocks can be made and dropped only where nothing is async.
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

    /// Sends what is left, within a few seconds, when all feeds are gone. What did not arrive, in a sentence.
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
    /// Hands spans over; never waits.
    pub fn send(&self, spans: Vec<SpanData>) {
        for span in spans {
            self.counts.handed.fetch_add(1, Ordering::Release);
            self.processor.on_end(span);
        }
    }
}

/// Counts the spans that arrive.
#[derive(Debug)]
struct CountingExporter {
    inner: SpanExporter,
    counts: Arc<SpanCounts>,
}

impl Export for CountingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len() as u64;
        self.inner.export(batch).await?;
        let rejected = self.counts.rejected.swap(0, Ordering::AcqRel);
        self.counts.arrived.fetch_add(count.saturating_sub(rejected), Ordering::Release);
        Ok(())
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// Posts requests, and keeps what the exporter doesn't say: why one failed, and how many spans were refused of one that was taken.
#[derive(Debug)]
struct HttpPost {
    client: Client,
    counts: Arc<SpanCounts>,
}

#[async_trait::async_trait]
impl HttpClient for HttpPost {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let sent = self.client.post(parts.uri.to_string()).headers(parts.headers).body(body).send();
        let answer = sent.inspect_err(|error| {
            self.counts.fault(if error.is_timeout() {
                "it did not answer in time"
            } else if error.is_connect() {
                "no connection"
            } else {
                "the connection broke"
            });
        })?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let mut body = Vec::new();
        answer.take(MOST_ANSWER).read_to_end(&mut body)?;
        if status.is_success() {
            let said = ExportTraceServiceResponse::decode(&body[..]).ok().and_then(|said| said.partial_success);
            let rejected = said.map_or(0, |said| u64::try_from(said.rejected_spans).unwrap_or(0));
            if rejected > 0 {
                self.counts.rejected.store(rejected, Ordering::Release);
                self.counts.fault("it took only a part of them");
            }
        } else {
            let status = status.as_u16();
            self.counts.fault(&format!("it answers with {status} (OTLP as protobuf over HTTP is what is sent)"));
        }
        let mut response = Response::new(Bytes::from(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }
}
