//! Anthropic's Message Batches. They can't be named by the client: a batch whose creation was not answered is
//! identified by its time and size, and, once it has ended, by the names of its calls. Source: anthropic-sdk-python,
//! `resources/messages/batches.py`, `types/messages/message_batch.py`.

use super::{BatchApi, BatchHttp, Found, NotCreated, SentCall, Standing, field, items, not_done, primer, safe};
use crate::{
    model::Failure,
    store::{HandedEnd, ProviderBatch},
};
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt::Write, time::Duration};

const PATH: &str = "v1/messages/batches";
/// The most by which clocks are assumed to differ.
const SKEW: TimeDelta = TimeDelta::minutes(5);

/// The only endpoint.
#[derive(Debug)]
pub(super) struct AnthropicBatches;

#[async_trait]
impl BatchApi for AnthropicBatches {
    /// (256 MB may be sent; this is the limit of what is held in memory.)
    fn most_bytes(&self) -> u64 {
        48_000_000
    }

    fn expires_after(&self) -> Duration {
        Duration::from_hours(24)
    }

    fn unmark(&self, body: &mut Value) {
        for block in body["system"].as_array_mut().into_iter().flatten() {
            if let Value::Object(fields) = block {
                fields.remove("cache_control");
            }
        }
    }

    fn primer(&self, body: &Value) -> Value {
        primer::of_messages(body, "messages")
    }

    async fn create(&self, http: &BatchHttp<'_>, _: &str, calls: &[SentCall]) -> Result<String, NotCreated> {
        let mut asked = "{\"requests\":[".to_owned();
        for (place, SentCall { key, body }) in calls.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            // Writing to a string can't fail.
            let _ = write!(asked, "{comma}{{\"custom_id\":{},\"params\":{body}}}", json!(key));
        }
        asked.push_str("]}");
        let made = http.post(PATH, Some(asked.into_bytes())).await?;
        Ok(field(&made, "id").to_owned())
    }

    async fn find(
        &self,
        http: &BatchHttp<'_>,
        batch: &ProviderBatch,
        known: &BTreeSet<String>,
        keys: &[String],
    ) -> Result<Found, Failure> {
        let listed = http.get(&format!("{PATH}?limit=1000")).await?;
        let listed = items(&listed["data"]);
        let earliest = batch.intended.utc() - SKEW;
        let may_be = |one: &&Value| {
            let counts = one["request_counts"].as_object();
            let calls: u64 = counts.into_iter().flat_map(serde_json::Map::values).filter_map(Value::as_u64).sum();
            let created = DateTime::parse_from_rfc3339(field(one, "created_at"));
            calls == batch.calls
                && created.is_ok_and(|created| created >= earliest)
                && !known.contains(field(one, "id"))
        };
        let mut open = Vec::new();
        for one in listed.iter().filter(may_be) {
            if field(one, "processing_status") != "ended" {
                open.push(field(one, "id"));
                continue;
            }
            let ends = self.results(http, one, keys).await?;
            if ends.iter().any(|(key, _)| keys.contains(key)) {
                return Ok(Found::There(field(one, "id").to_owned()));
            }
        }
        Ok(match open[..] {
            [] => Found::NotThere,
            // If it turns out to be another client's, the names of its calls will show that.
            [only] => Found::There(only.to_owned()),
            _ => Found::Unsure,
        })
    }

    async fn poll(&self, http: &BatchHttp<'_>, handle: &str) -> Result<(Standing, Value), Failure> {
        let batch = http.get(&format!("{PATH}/{}", safe(handle))).await?;
        let standing = match field(&batch, "processing_status") {
            "ended" => Standing::Ended { outcome: "ended".to_owned() },
            _ => Standing::Working,
        };
        Ok((standing, batch))
    }

    async fn cancel(&self, http: &BatchHttp<'_>, handle: &str) -> Result<(), Failure> {
        http.post(&format!("{PATH}/{}/cancel", safe(handle)), None).await.map(drop)
    }

    async fn results(
        &self,
        http: &BatchHttp<'_>,
        polled: &Value,
        _: &[String],
    ) -> Result<Vec<(String, HandedEnd)>, Failure> {
        let usual = || http.url(&format!("{PATH}/{}/results", safe(field(polled, "id"))));
        let told = Some(field(polled, "results_url")).filter(|url| http.is_own(url));
        let lines = http.lines(&told.map_or_else(usual, str::to_owned)).await?;
        Ok(lines.iter().map(|line| (field(line, "custom_id").to_owned(), end(http, &line["result"]))).collect())
    }
}

/// The result of a call.
fn end(http: &BatchHttp<'_>, result: &Value) -> HandedEnd {
    match field(result, "type") {
        "succeeded" => HandedEnd::Replied(result["message"].to_string()),
        "errored" => {
            // The error is wrapped as in a refused request, or stands alone.
            let error = Some(&result["error"]["error"]).filter(|error| error.is_object()).unwrap_or(&result["error"]);
            let status = match field(error, "type") {
                "invalid_request_error" => 400,
                "authentication_error" => 401,
                "billing_error" => 402,
                "permission_error" => 403,
                "not_found_error" => 404,
                "request_too_large" => 413,
                "rate_limit_error" => 429,
                "overloaded_error" => 529,
                _ => 500,
            };
            http.refused(status, &json!({ "type": "error", "error": error }))
        }
        other => not_done(other),
    }
}
