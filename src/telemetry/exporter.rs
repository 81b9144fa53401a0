//! Sends spans to a collector: in batches, on a thread of its own, so that a collector that is slow, hangs or is not there costs
//! the work nothing. What finds no room in the queue, or can't be delivered, is counted and said once, at the end.

use super::{Span, otlp};
use reqwest::{
    Client, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::{sleep, timeout, timeout_at},
};

/// Spans that wait to be sent.
const MOST_WAITING: usize = 2_048;
/// Spans of one request.
const MOST_AT_ONCE: usize = 512;
/// How long a span waits for others to be sent with.
const GATHER: Duration = Duration::from_secs(5);
/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(10);
/// Waits before a batch is sent again that the collector may take later.
const WAITS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];
/// How long the end may take.
const FLUSH: Duration = Duration::from_secs(5);
const SCHEMES: [&str; 2] = ["http", "https"];
/// Bytes of an answer that are read.
const MOST_ANSWER: usize = 64 * 1024;

/// Where spans go, and who they say they are from.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// The whole address of the traces.
    pub url: String,
    /// Names and values; a value is often a key.
    pub headers: Vec<(String, String)>,
    /// Attributes of the sender, `service.name` among them.
    pub resource: Vec<(String, String)>,
}

/// Not derived: address and headers may carry a key.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("url", &self.shown()).finish_non_exhaustive()
    }
}

impl Target {
    /// The address as it may be shown: without user, password and query.
    pub fn shown(&self) -> String {
        let url = Url::parse(&self.url).ok().filter(|url| SCHEMES.contains(&url.scheme()));
        let Some(url) = url else { return "an address that can't be used".to_owned() };
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
    }
}

/// The way to a collector, while there is work.
#[derive(Debug)]
pub struct Exporter {
    feed: Feed,
    done: oneshot::Receiver<()>,
    shown: String,
}

/// Where one of those at work hands its spans over.
#[derive(Clone, Debug)]
pub struct Feed {
    queue: mpsc::Sender<Span>,
    tally: Arc<Tally>,
}

/// What became of the spans.
#[derive(Debug, Default)]
struct Tally {
    handed: AtomicU64,
    arrived: AtomicU64,
    /// Why the first of those that did not arrive didn't.
    fault: Mutex<Option<String>>,
}

impl Tally {
    fn fault(&self, text: &str) {
        let mut fault = self.fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        fault.get_or_insert_with(|| text.to_owned());
    }
}

impl Exporter {
    /// Begins. What is wrong with the target, in a sentence.
    pub fn start(target: &Target) -> Result<Self, String> {
        let shown = target.shown();
        let failed = |what: &str| format!("no traces are sent to {shown}: {what}");
        let post = Post::new(target).map_err(|what| failed(&what))?;
        let (queue, spans) = mpsc::channel(MOST_WAITING);
        let (finished, done) = oneshot::channel();
        let tally = Arc::new(Tally::default());
        let told = tally.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| failed(&format!("the system gives no event loop ({error})")))?;
        std::thread::Builder::new()
            .name("traces".to_owned())
            .spawn(move || {
                runtime.block_on(deliver(&post, spans, &told));
                // Who waits for it may be gone.
                let _ = finished.send(());
            })
            .map_err(|error| failed(&format!("the system gives no thread ({error})")))?;
        Ok(Self { feed: Feed { queue, tally }, done, shown })
    }

    pub fn feed(&self) -> Feed {
        self.feed.clone()
    }

    /// Sends what is left, within a few seconds, when all feeds are gone. What did not arrive, in a sentence.
    pub async fn finish(self) -> Option<String> {
        let Feed { queue, tally } = self.feed;
        drop(queue);
        if timeout(FLUSH, self.done).await.is_err() {
            tally.fault("it did not answer in time");
        }
        let handed = tally.handed.load(Ordering::Acquire);
        let lost = handed.saturating_sub(tally.arrived.load(Ordering::Acquire));
        if lost == 0 {
            return None;
        }
        let fault = tally.fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let why = fault.unwrap_or_else(|| "it is not known why".to_owned());
        Some(format!("{lost} of {handed} spans did not reach {}: {why}", self.shown))
    }
}

impl Feed {
    /// Hands spans over; never waits.
    pub fn send(&self, spans: Vec<Span>) {
        for span in spans {
            self.tally.handed.fetch_add(1, Ordering::Release);
            if self.queue.try_send(span).is_err() {
                self.tally.fault("more came than it took");
            }
        }
    }
}

/// Gathers and sends until nobody hands spans over any more and all are sent.
async fn deliver(post: &Post, mut spans: mpsc::Receiver<Span>, tally: &Tally) {
    while let Some(first) = spans.recv().await {
        let mut batch = vec![first];
        let until = tokio::time::Instant::now() + GATHER;
        while batch.len() < MOST_AT_ONCE {
            match timeout_at(until, spans.recv()).await {
                Ok(Some(span)) => batch.push(span),
                Ok(None) | Err(_) => break,
            }
        }
        let body = otlp::request(&post.resource, &batch).to_string();
        let count = batch.len() as u64;
        let mut waits = WAITS.iter();
        loop {
            match post.send(body.clone()).await {
                Ok(rejected) => {
                    tally.arrived.fetch_add(count.saturating_sub(rejected), Ordering::Release);
                    if rejected > 0 {
                        tally.fault("it took only a part of them");
                    }
                    break;
                }
                Err(fault) => {
                    // At the end nothing is waited for.
                    let wait = waits.next().filter(|_| fault.may_pass && !spans.is_closed());
                    let Some(wait) = wait else {
                        tally.fault(&fault.what);
                        break;
                    };
                    sleep(*wait).await;
                }
            }
        }
    }
}

/// What it takes to send one batch.
struct Post {
    client: Client,
    url: Url,
    headers: HeaderMap,
    resource: Vec<(String, String)>,
}

/// Why a batch was not taken.
struct Fault {
    what: String,
    may_pass: bool,
}

impl Post {
    fn new(target: &Target) -> Result<Self, String> {
        let url = Url::parse(&target.url).map_err(|error| format!("it is not a URL ({error})"))?;
        if !SCHEMES.contains(&url.scheme()) {
            return Err("it must begin with http:// or https://".to_owned());
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &target.headers {
            let name: HeaderName = name.parse().map_err(|_| "a name among its headers can't be sent".to_owned())?;
            let mut value: HeaderValue =
                value.parse().map_err(|_| format!("the value of its header '{name}' can't be sent"))?;
            value.set_sensitive(true);
            headers.append(name, value);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let client = Client::builder()
            .http1_only()
            .user_agent(concat!("overnight/", env!("CARGO_PKG_VERSION")))
            .timeout(REQUEST)
            // A key that stands in a header is for nobody else.
            .redirect(Policy::none())
            .build()
            .map_err(|error| format!("the HTTP client can't be made ({error})"))?;
        Ok(Self { client, url, headers, resource: target.resource.clone() })
    }

    /// Sends a batch; how many of it were refused.
    async fn send(&self, body: String) -> Result<u64, Fault> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let mut response = request.send().await.map_err(|error| {
            let what = if error.is_timeout() {
                "it did not answer in time"
            } else if error.is_connect() {
                "no connection"
            } else {
                "the connection broke"
            };
            Fault { what: what.to_owned(), may_pass: true }
        })?;
        let status = response.status();
        if !status.is_success() {
            let may_pass = [
                StatusCode::TOO_MANY_REQUESTS,
                StatusCode::BAD_GATEWAY,
                StatusCode::SERVICE_UNAVAILABLE,
                StatusCode::GATEWAY_TIMEOUT,
            ]
            .contains(&status);
            let what = format!("it answers with {} (OTLP as JSON over HTTP is what is sent)", status.as_u16());
            return Err(Fault { what, may_pass });
        }
        let mut answer = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            answer.extend_from_slice(&chunk[..chunk.len().min(MOST_ANSWER - answer.len())]);
            if answer.len() == MOST_ANSWER {
                break;
            }
        }
        Ok(rejected(&answer))
    }
}

/// Spans that the collector took the request without.
fn rejected(answer: &[u8]) -> u64 {
    let answer: serde_json::Value = serde_json::from_slice(answer).unwrap_or_default();
    let number = &answer["partialSuccess"]["rejectedSpans"];
    // 64 bits are text in this JSON; not everybody knows.
    number.as_u64().or_else(|| number.as_str().and_then(|text| text.parse().ok())).unwrap_or(0)
}
