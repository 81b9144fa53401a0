//! OpenAI's batches: a file of lines is uploaded, a batch made of it, and its answers stand in two other files. Source: the
//! OpenAPI description of OpenAI's API and openai-python, `resources/batches.py`, `types/batch.py`.

use super::{
    BatchApi, BatchHttp, Found, NotCreated, RefusedBatch, SentCall, Standing, field, items, not_done, primer, safe,
};
use crate::{
    model::Failure,
    store::{HandedEnd, ProviderBatch},
};
use async_trait::async_trait;
use reqwest::{Method, header::HeaderValue};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt::Write, time::Duration};

/// The key of a batch's name in its metadata.
const NAME: &str = "overnight_batch";
/// The most pages of 100 batches that are searched for one.
const MOST_PAGES: usize = 20;
/// Separates the parts of an upload (RFC 2046, section 5.1.1). Lines of JSON never begin like this.
const BOUNDARY: &str = "overnight-batch-2f6d1c0e9b7a4d35";

/// Batches for one of the endpoints.
#[derive(Debug)]
pub(super) struct OpenAiBatches {
    pub(super) endpoint: &'static str,
}

#[async_trait]
impl BatchApi for OpenAiBatches {
    /// (200 MB may be sent; this is the limit of what is held in memory.)
    fn most_bytes(&self) -> u64 {
        48_000_000
    }

    fn expires_after(&self) -> Duration {
        Duration::from_hours(24)
    }

    fn prepare(&self, body: &mut Value, prefix: &str) {
        let Value::Object(fields) = body else { return };
        for name in ["stream", "stream_options"] {
            fields.remove(name);
        }
        // All calls with the same beginning should find in the cache what the first one left there.
        if let Some(key) = fields.get_mut("prompt_cache_key") {
            *key = json!(format!("overnight-{prefix}"));
        }
    }

    fn primer(&self, body: &Value) -> Value {
        primer::of_messages(body, if self.endpoint.ends_with("responses") { "input" } else { "messages" })
    }

    async fn create(&self, http: &BatchHttp<'_>, name: &str, calls: &[SentCall]) -> Result<String, NotCreated> {
        // An upload costs nothing, and the provider deletes the file of a failed attempt.
        let file =
            http.json(Method::POST, "files", Some(self.upload(name, calls))).await.map_err(NotCreated::Surely)?;
        let asked = json!({
            "input_file_id": field(&file, "id"), "endpoint": self.endpoint, "completion_window": "24h",
            "metadata": { NAME: name },
        });
        let made = http.post("batches", Some(asked.to_string().into_bytes())).await?;
        Ok(field(&made, "id").to_owned())
    }

    async fn find(
        &self,
        http: &BatchHttp<'_>,
        batch: &ProviderBatch,
        _: &BTreeSet<String>,
        _: &[String],
    ) -> Result<Found, Failure> {
        let name = batch.id.to_string();
        let mut path = "batches?limit=100".to_owned();
        for _ in 0..MOST_PAGES {
            let page = http.get(&path).await?;
            let listed = items(&page["data"]);
            let ours = |one: &&Value| one.get("metadata").is_some_and(|metadata| field(metadata, NAME) == name);
            if let Some(found) = listed.iter().find(ours) {
                return Ok(Found::There(field(found, "id").to_owned()));
            }
            let more = page.get("has_more").and_then(Value::as_bool).unwrap_or_default();
            let Some(last) = listed.last().filter(|_| more) else { break };
            path = format!("batches?limit=100&after={}", safe(field(last, "id")));
        }
        Ok(Found::NotThere)
    }

    async fn poll(&self, http: &BatchHttp<'_>, handle: &str) -> Result<(Standing, Value), Failure> {
        let batch = http.get(&format!("batches/{}", safe(handle))).await?;
        let standing = match field(&batch, "status") {
            ended @ ("completed" | "expired" | "cancelled") => Standing::Ended { outcome: ended.to_owned() },
            "failed" => Standing::Refused(refused(&batch)),
            _ => Standing::Working,
        };
        Ok((standing, batch))
    }

    async fn cancel(&self, http: &BatchHttp<'_>, handle: &str) -> Result<(), Failure> {
        http.post(&format!("batches/{}/cancel", safe(handle)), None).await.map(drop)
    }

    async fn results(
        &self,
        http: &BatchHttp<'_>,
        polled: &Value,
        _: &[String],
    ) -> Result<Vec<(String, HandedEnd)>, Failure> {
        let mut ends = Vec::new();
        // A batch without failed calls may have an empty name for the second file.
        for file in ["output_file_id", "error_file_id"].map(|name| field(polled, name)) {
            if !file.is_empty() {
                let lines = http.lines(&http.url(&format!("files/{}/content", safe(file)))).await?;
                ends.extend(lines.iter().map(|line| (field(line, "custom_id").to_owned(), end(http, line))));
            }
        }
        Ok(ends)
    }
}

impl OpenAiBatches {
    fn upload(&self, name: &str, calls: &[SentCall]) -> (HeaderValue, Vec<u8>) {
        let mut body = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--{BOUNDARY}\r\n\
             Content-Disposition: form-data; name=\"file\"; filename=\"overnight-{name}.jsonl\"\r\n\
             Content-Type: application/jsonl\r\n\r\n"
        );
        for SentCall { key, body: asked } in calls {
            let (id, url) = (json!(key), json!(self.endpoint));
            // The body is JSON already, and stands as it is. (Writing to a string can't fail.)
            let _ = writeln!(body, "{{\"custom_id\":{id},\"method\":\"POST\",\"url\":{url},\"body\":{asked}}}");
        }
        let _ = write!(body, "\r\n--{BOUNDARY}--\r\n");
        (HeaderValue::from_static("multipart/form-data; boundary=overnight-batch-2f6d1c0e9b7a4d35"), body.into_bytes())
    }
}

/// The result of a line's call.
fn end(http: &BatchHttp<'_>, line: &Value) -> HandedEnd {
    let response = &line["response"];
    let status = response["status_code"].as_u64().and_then(|status| u16::try_from(status).ok());
    match (status, &line["error"]) {
        (Some(200), _) => HandedEnd::Replied(response["body"].to_string()),
        (_, error @ Value::Object(_)) => not_done(match field(error, "code") {
            "" => field(error, "message"),
            code => code,
        }),
        (Some(status @ 400..600), _) => http.refused(status, &response["body"]),
        (Some(status), _) => not_done(&format!("a line with the status {status}")),
        (None, _) => not_done("neither a response nor an error"),
    }
}

/// Why the provider took nothing of a batch.
fn refused(batch: &Value) -> RefusedBatch {
    let errors = items(&batch["errors"]["data"]);
    let is_too_much = errors.iter().any(|error| field(error, "code") == "token_limit_exceeded");
    let line = |error: &Value| {
        let place = error["line"].as_u64().and_then(|line| usize::try_from(line).ok())?.checked_sub(1)?;
        Some((place, field(error, "message").to_owned()))
    };
    let reason = errors.first().map_or("no reason was given", |error| match field(error, "message") {
        "" => field(error, "code"),
        message => message,
    });
    let lines = if is_too_much { Vec::new() } else { errors.iter().filter_map(line).collect() };
    RefusedBatch { reason: reason.to_owned(), is_too_much, lines }
}
