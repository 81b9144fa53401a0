//! One attempt over HTTP: sends a request and reads the answer, chunk by chunk, into a reply. Everything that comes is
//! bounded, in bytes and in time.

use super::{
    Timeouts,
    body::{Excerpt, Packed, Unpacking},
    error_messages::ErrorMessages,
    key::Secrets,
    retry_after,
    sse::EventSplitter,
    wire::{Decode, Framing, RawReply, Wire},
};
use crate::model::{Failure, FailureKind, Remedy};
use chrono::Utc;
use reqwest::{
    Response,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION},
};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use tokio::time::{Instant, timeout};

/// Bytes of a reply.
pub(super) const MOST_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of a refusal that are read.
const MOST_REFUSAL: usize = 64 * 1024;
/// The time, and the bytes, for which the end of a complete reply is awaited so that its connection can be reused.
const DRAIN: Duration = Duration::from_millis(500);
const MOST_DRAINED: usize = 64 * 1024;

/// The response as it was observed, for the recorder.
#[derive(Debug, Default)]
pub(super) struct ObservedResponse {
    pub(super) status: Option<u16>,
    pub(super) headers: HeaderMap,
    /// The time until the first word of a reply.
    pub(super) first: Option<Duration>,
    /// The body as it came; `None` if it isn't recorded.
    pub(super) body: Option<Vec<u8>>,
    /// The part of a reply that is kept in any case.
    pub(super) excerpt: Excerpt,
    /// The server's own words for its refusal.
    pub(super) words: String,
}

/// One attempt over HTTP.
#[derive(Debug)]
pub(super) struct HttpAttempt<'a> {
    pub(super) wire: &'a dyn Wire,
    /// Whether a stream was requested.
    pub(super) streams: bool,
    pub(super) errors: ErrorMessages<'a>,
    pub(super) secrets: &'a Secrets,
    pub(super) timeouts: Timeouts,
    pub(super) received: &'a AtomicU64,
    pub(super) began: Instant,
    pub(super) observed: ObservedResponse,
}

/// The way in which a body is read.
enum BodyReader {
    /// Its first byte has not come.
    Unknown,
    Stream(EventSplitter),
    Whole(Vec<u8>),
}

impl HttpAttempt<'_> {
    /// Sends `request` and reads the answer. The result contains no secret.
    pub(super) async fn run(
        &mut self,
        client: &reqwest::Client,
        request: reqwest::Request,
    ) -> Result<RawReply, Failure> {
        let whole = self.timeouts.whole;
        let ended = timeout(whole, self.exchange(client, request)).await.unwrap_or_else(|_| {
            let what = format!("did not finish its reply within {}", seconds(whole));
            Err(self.errors.failure(FailureKind::TimedOut, self.observed.status, &what))
        });
        match ended {
            Ok(mut heard) => {
                heard.join_halves();
                self.hide(&mut heard);
                Ok(heard)
            }
            Err(mut failure) => {
                // The format's errors don't name the server.
                if !failure.reason.contains(self.errors.url) {
                    failure.reason = format!("{}: {}", self.errors.url, failure.reason);
                }
                self.secrets.hide_in(&mut failure.reason);
                failure.status = failure.status.or(self.observed.status);
                if failure.kind.remedy() == Remedy::AskAgain {
                    failure.received = Some(self.observed.excerpt.shown(self.secrets));
                }
                Err(failure)
            }
        }
    }

    /// Hides the key if the server repeats it to us, even piece by piece.
    fn hide(&self, heard: &mut RawReply) {
        self.secrets.hide_in(&mut heard.text);
        self.secrets.hide_in(&mut heard.model);
        for call in &mut heard.calls {
            for text in [&mut call.id, &mut call.name, &mut call.arguments] {
                self.secrets.hide_in(text);
            }
        }
        if let Some(carried) = &mut heard.carried {
            self.secrets.hide_in_value(carried);
        }
    }

    /// The timeout of the first byte: a reply that isn't streamed is generated completely before it.
    fn first_byte(&self) -> Duration {
        if self.streams { self.timeouts.first_byte } else { self.timeouts.first_byte * 2 }
    }

    async fn exchange(&mut self, client: &reqwest::Client, request: reqwest::Request) -> Result<RawReply, Failure> {
        let first_byte = self.first_byte();
        let mut response = match timeout(first_byte, client.execute(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.errors.transport(&error, None)),
            Err(_) => {
                let what = format!("sent no answer within {}", seconds(first_byte));
                return Err(self.errors.failure(FailureKind::TimedOut, None, &what));
            }
        };
        let status = response.status().as_u16();
        self.observed.status = Some(status);
        self.observed.headers = response.headers().clone();
        match status {
            200..=299 => self.read(response).await,
            300..=399 => Err(self.errors.redirected(status, self.header(&LOCATION))),
            _ => {
                let body = self.refusal(&mut response).await;
                let text = String::from_utf8_lossy(&body);
                // Before anybody shortens it: half a key would not be found.
                let (kind, words) = self.wire.refusal(status, &self.secrets.hide(&text));
                let failure = self.errors.refused(kind, status, &words);
                self.observed.words = words;
                let retry_after = retry_after::from_headers(&self.observed.headers, Utc::now())
                    .or_else(|| self.wire.retry_after(&text));
                Err(Failure { retry_after, ..failure })
            }
        }
    }

    fn header(&self, name: &reqwest::header::HeaderName) -> &str {
        self.observed.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The beginning of a refusal's body. A missing body does no harm: the status is the most important part.
    async fn refusal(&mut self, response: &mut Response) -> Vec<u8> {
        let mut body = Vec::new();
        let mut unpacking = Unpacking::new(self.header(&CONTENT_ENCODING));
        let _ = timeout(self.timeouts.idle, async {
            while let Ok(Some(chunk)) = response.chunk().await {
                self.received.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                let Ok(chunk) = unpacking.take(&chunk) else { break };
                body.extend_from_slice(&chunk[..chunk.len().min(MOST_REFUSAL - body.len())]);
                if body.len() == MOST_REFUSAL {
                    break;
                }
            }
        })
        .await;
        self.note(&body);
        body
    }

    fn note(&mut self, bytes: &[u8]) {
        if let Some(body) = &mut self.observed.body {
            body.extend_from_slice(bytes);
        }
    }

    /// Reads the body of a reply.
    async fn read(&mut self, mut response: Response) -> Result<RawReply, Failure> {
        let mut decoder = self.wire.decoder();
        let mut body = BodyReader::Unknown;
        let mut unpacking = Unpacking::new(self.header(&CONTENT_ENCODING));
        let (mut total, mut unpacked) = (0_usize, 0_usize);
        let mut heard_at = Instant::now();
        let mut is_heard = false;
        let broken = loop {
            let wait = if total == 0 { self.first_byte() } else { self.timeouts.idle };
            let chunk = match timeout(wait, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break None,
                Ok(Err(error)) => break Some(self.errors.transport(&error, self.observed.status)),
                Err(_) if total == 0 => {
                    let what = format!("sent no byte of a reply within {}", seconds(wait));
                    break Some(self.errors.failure(FailureKind::TimedOut, self.observed.status, &what));
                }
                Err(_) => {
                    break Some(self.stalled(&format!("began a reply and then sent nothing for {}", seconds(wait))));
                }
            };
            total += chunk.len();
            self.received.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            let chunk = unpacking.take(&chunk).map_err(|error| self.packed(&error))?;
            unpacked += chunk.len();
            self.note(&chunk);
            self.observed.excerpt.take(&chunk);
            if total.max(unpacked) > MOST_BYTES {
                let what = format!("sent a reply of more than {} MiB", MOST_BYTES >> 20);
                return Err(self.errors.failure(FailureKind::Malformed, self.observed.status, &what));
            }
            if let (BodyReader::Unknown, Some(first)) = (&body, chunk.iter().find(|byte| !byte.is_ascii_whitespace())) {
                body = self.kind_of_body(*first)?;
            }
            match &mut body {
                BodyReader::Unknown => {}
                BodyReader::Whole(bytes) => {
                    self.observed.first.get_or_insert_with(|| self.began.elapsed());
                    bytes.extend_from_slice(&chunk);
                }
                BodyReader::Stream(splitter) => {
                    splitter.take(&chunk, &mut |name, data| {
                        heard_at = Instant::now();
                        is_heard = true;
                        // Anything after the end of a reply is ignored.
                        if decoder.is_complete() { Ok(()) } else { decoder.event(name, &self.secrets.hide(data)) }
                    })?;
                    if is_heard && self.observed.first.is_none() {
                        self.observed.first = Some(self.began.elapsed());
                    }
                    if decoder.is_complete() {
                        drain(response);
                        return finished(decoder, 0);
                    }
                    // Comments keep the connection alive, but are no sign of progress.
                    if heard_at.elapsed() > self.timeouts.first_byte {
                        let waited = seconds(self.timeouts.first_byte);
                        break Some(self.stalled(&format!("sent nothing but signs of life for {waited}")));
                    }
                }
            }
        };
        self.end(decoder, body, broken)
    }

    /// The reply, if it ended before the connection did.
    fn end(
        &self,
        mut decoder: Box<dyn Decode>,
        body: BodyReader,
        broken: Option<Failure>,
    ) -> Result<RawReply, Failure> {
        match (body, broken) {
            (BodyReader::Unknown | BodyReader::Whole(_), Some(failure)) => Err(failure),
            (BodyReader::Stream(_), Some(failure)) => decoder.finish().map_err(|_| failure),
            (BodyReader::Whole(bytes), None) => {
                let text = String::from_utf8_lossy(&bytes);
                if !is_lines(&text) {
                    decoder.whole(&self.secrets.hide(&text))?;
                    return finished(decoder, 0);
                }
                for line in text.lines().filter(|line| !line.trim().is_empty()) {
                    if !decoder.is_complete() {
                        decoder.event(None, &self.secrets.hide(line))?;
                    }
                }
                finished(decoder, 0)
            }
            (BodyReader::Stream(mut splitter), None) => {
                let mut is_heard = self.observed.first.is_some();
                let left = splitter.end(&mut |name, data| {
                    is_heard = true;
                    if decoder.is_complete() { Ok(()) } else { decoder.event(name, &self.secrets.hide(data)) }
                })?;
                // A complete answer without a single event was not cut off.
                if !is_heard && !begins_an_event(self.observed.excerpt.head(), self.wire.framing()) {
                    let what =
                        "answered with what is no reply: check --base-url, and what stands between here and there";
                    return Err(self.errors.failure(FailureKind::Malformed, self.observed.status, what));
                }
                finished(decoder, left)
            }
            (BodyReader::Unknown, None) => finished(decoder, 0),
        }
    }

    fn packed(&self, error: &Packed) -> Failure {
        let what = match error {
            Packed::Unknown(name) => {
                format!(
                    "sent a reply that is packed ({name}), which it was not asked for and can't be read: check what stands between here and there"
                )
            }
            Packed::Torn(error) => format!("sent a packed reply that can't be unpacked ({error})"),
        };
        self.errors.failure(FailureKind::Malformed, self.observed.status, &what)
    }

    fn stalled(&self, what: &str) -> Failure {
        self.errors.failure(FailureKind::Stalled, self.observed.status, what)
    }

    /// How to read a body with this `first` byte. Servers state wrong content types, and stream without being asked to,
    /// or don't stream when asked.
    fn kind_of_body(&self, first: u8) -> Result<BodyReader, Failure> {
        let said = self.header(&CONTENT_TYPE).to_lowercase();
        let kind = said.split(';').next().unwrap_or_default().trim();
        if first == b'<' || kind.contains("html") {
            let what = "answered with a page, not with a reply: check --base-url";
            return Err(self.errors.failure(FailureKind::Malformed, self.observed.status, what));
        }
        let framing = self.wire.framing();
        let is_whole = match framing {
            // No line of server-sent events begins like this, whatever the type says.
            Framing::ServerSentEvents => first == b'{' || first == b'[',
            Framing::Lines => !self.streams && !kind.contains("ndjson"),
        };
        Ok(if is_whole { BodyReader::Whole(Vec::new()) } else { BodyReader::Stream(EventSplitter::new(framing)) })
    }
}

/// Whether a body may be the beginning of an event that was cut off, or has nothing in it.
fn begins_an_event(body: &[u8], framing: Framing) -> bool {
    let body = body.trim_ascii_start();
    // The fields of an event, and comments (WHATWG HTML, section 9.2.6).
    let fields: &[&str] = match framing {
        Framing::ServerSentEvents => &["data", "event", "id", "retry", ":"],
        Framing::Lines => &["{"],
    };
    fields.iter().any(|field| body.starts_with(&field.as_bytes()[..field.len().min(body.len())]))
}

/// Whether a body is one JSON object per line, like a stream without event marks.
fn is_lines(body: &str) -> bool {
    let mut lines = body.lines().filter(|line| !line.trim().is_empty());
    let is_json = |line: &str| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
    lines.next().is_some_and(is_json) && lines.next().is_some()
}

/// Finishes the reply. If it has no end mark, but no truncated rest either, it was not cut off on the way: the server
/// omitted the mark.
fn finished(decoder: Box<dyn Decode>, left: usize) -> Result<RawReply, Failure> {
    decoder.finish().map_err(|failure| {
        let is_ended = failure.kind == FailureKind::BrokenStream && left == 0;
        Failure { kind: if is_ended { FailureKind::Unfinished } else { failure.kind }, ..failure }
    })
}

/// Reads the rest of a complete reply in the background: then its connection can serve the next call.
fn drain(mut response: Response) {
    tokio::spawn(timeout(DRAIN, async move {
        let mut left = MOST_DRAINED;
        while let Ok(Some(chunk)) = response.chunk().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                break;
            }
        }
    }));
}

/// `300 s`, `0.05 s`
fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}
