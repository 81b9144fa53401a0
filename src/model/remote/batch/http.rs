//! Requests to a batch endpoint and their answers. Each answer is read whole, in bounds of bytes and time.

use super::super::{address::Address, error_messages::ErrorMessages, key::Secrets, retry_after, shared, wire::Wire};
use crate::{
    model::{Failure, FailureKind},
    store::HandedEnd,
};
use chrono::Utc;
use reqwest::{
    Method, Response,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// The most bytes of an answer; a batch's results are the largest.
const MOST_BYTES: usize = 512 * 1024 * 1024;
/// Until an answer begins, and between two pieces of one.
const IDLE: Duration = Duration::from_mins(2);
/// For a whole request with its answer.
const WHOLE: Duration = Duration::from_mins(20);

/// One server, as used for the batches of one model.
#[derive(Debug)]
pub(in super::super) struct BatchHttp<'a> {
    pub(in super::super) address: &'a Address,
    /// The key, the format's own, the user's.
    pub(in super::super) headers: HeaderMap,
    pub(in super::super) secrets: &'a Secrets,
    pub(in super::super) errors: ErrorMessages<'a>,
    pub(in super::super) wire: &'a dyn Wire,
    pub(in super::super) model: &'a str,
}

/// A body with its type.
pub(super) type Sent = (HeaderValue, Vec<u8>);

impl BatchHttp<'_> {
    /// Gets a JSON answer.
    pub(super) async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.json(Method::GET, path, None).await
    }

    /// Sends JSON, or an empty body.
    pub(in super::super) async fn post(&self, path: &str, body: Option<Vec<u8>>) -> Result<Value, Failure> {
        self.json(Method::POST, path, body.map(|body| (HeaderValue::from_static("application/json"), body))).await
    }

    pub(super) async fn json(&self, method: Method, path: &str, sent: Option<Sent>) -> Result<Value, Failure> {
        let body = self.ask(method, &self.address.url(path), sent).await?;
        serde_json::from_slice(&body)
            .map_err(|error| self.errors.failure(FailureKind::Malformed, None, &format!("answered no JSON ({error})")))
    }

    /// The lines of a file that the provider has made.
    pub(super) async fn lines(&self, url: &str) -> Result<Vec<Value>, Failure> {
        let body = self.ask(Method::GET, url, None).await?;
        let lines = body.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        // An unreadable line means that its call has no answer.
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// The URL of a path.
    pub(super) fn url(&self, path: &str) -> String {
        self.address.url(path)
    }

    /// Whether a URL from the provider is on its own server: the key is sent nowhere else.
    pub(super) fn is_own(&self, url: &str) -> bool {
        url.strip_prefix(self.address.shown()).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Converts the answer to a refused call of a batch into a failure that states the remedy.
    pub(super) fn refused(&self, status: u16, body: &Value) -> HandedEnd {
        let (kind, words) = self.wire.refusal(status, &self.secrets.hide(&body.to_string()));
        super::kept(&self.errors.refused(kind, status, &words))
    }

    async fn ask(&self, method: Method, url: &str, sent: Option<Sent>) -> Result<Vec<u8>, Failure> {
        let asked = timeout(WHOLE, self.exchange(method, url, sent)).await;
        asked
            .unwrap_or_else(|_| {
                let what = format!("did not answer within {} s", WHOLE.as_secs());
                Err(self.errors.failure(FailureKind::TimedOut, None, &what))
            })
            .map_err(|mut failure| {
                self.secrets.hide_in(&mut failure.reason);
                failure
            })
    }

    async fn exchange(&self, method: Method, url: &str, sent: Option<Sent>) -> Result<Vec<u8>, Failure> {
        let client =
            shared::client(self.address).map_err(|error| Failure::new(FailureKind::Unreachable, error.to_string()))?;
        let mut headers = self.headers.clone();
        let mut request = client.request(method, url);
        match sent {
            Some((content_type, body)) => {
                headers.insert(CONTENT_TYPE, content_type);
                request = request.body(body);
            }
            None => drop(headers.remove(CONTENT_TYPE)),
        }
        let executed = timeout(IDLE, request.headers(headers).send()).await;
        let mut response = executed
            .map_err(|_| self.errors.failure(FailureKind::TimedOut, None, "sent no answer"))?
            .map_err(|error| self.errors.transport(&error, None))?;
        let status = response.status().as_u16();
        let body = self.body(&mut response).await?;
        if (200..300).contains(&status) {
            return Ok(body);
        }
        if (300..400).contains(&status) {
            return Err(self.errors.redirected(status, ""));
        }
        let text = String::from_utf8_lossy(&body);
        let (kind, words) = self.wire.refusal(status, &self.secrets.hide(&text));
        let wait = retry_after::from_headers(response.headers(), Utc::now());
        Err(Failure { retry_after: wait, ..self.errors.refused(kind, status, &words) })
    }

    async fn body(&self, response: &mut Response) -> Result<Vec<u8>, Failure> {
        let status = Some(response.status().as_u16());
        let mut body = Vec::new();
        loop {
            let chunk = timeout(IDLE, response.chunk()).await;
            let chunk = chunk
                .map_err(|_| {
                    self.errors.failure(FailureKind::Stalled, status, "began an answer and then sent nothing")
                })?
                .map_err(|error| self.errors.transport(&error, status))?;
            let Some(chunk) = chunk else { return Ok(body) };
            if body.len() + chunk.len() > MOST_BYTES {
                let what = format!("sent an answer of more than {} MiB", MOST_BYTES >> 20);
                return Err(self.errors.failure(FailureKind::Malformed, status, &what));
            }
            body.extend_from_slice(&chunk);
        }
    }
}
