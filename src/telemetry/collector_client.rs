//! Sends spans to a collector: the SDK's exporter over an HTTP client that keeps what the exporter doesn't report.

use super::exporter::{SCHEMES, SpanCounts, TraceTarget};
use crate::exposure::{is_exposed, is_plain_nearby};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SpanData, SpanExporter as Export},
};
use prost::Message;
use reqwest::{
    blocking::Client,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use std::{
    io::Read,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use url::Url;

/// The time limit of one request, including all its attempts.
const REQUEST: Duration = Duration::from_secs(10);
/// Bytes of an answer that are read.
const MOST_ANSWER: u64 = 64 * 1024;

impl TraceTarget {
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
            // A key in a header must not be sent to another server.
            .redirect(Policy::none())
            .build()
            .map_err(|error| format!("the HTTP client can't be made ({error})"))
    }

    /// The exporter that sends there.
    pub(super) fn exporter(&self, counts: &Arc<SpanCounts>) -> Result<CountingExporter, String> {
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

/// Counts the spans that arrive.
#[derive(Debug)]
pub(super) struct CountingExporter {
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
