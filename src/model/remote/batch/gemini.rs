//! Gemini's batches, with the requests in the body of their creation. Creation is not idempotent: a batch that may have
//! been created is searched for by its name. Source: python-genai, `batches.py`; an answer may lack its request's key,
//! and then belongs to the request at the same place (python-genai, issue 2008).

use super::super::wire::gemini::escaped;
use super::{BatchApi, BatchHttp, Found, NotCreated, SentCall, Standing, field, items, not_done, primer, safe};
use crate::{
    model::Failure,
    store::{HandedEnd, ProviderBatch},
};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt::Write, time::Duration};

/// The most pages of batches that are searched for one.
const MOST_PAGES: usize = 50;

/// The only endpoint.
#[derive(Debug)]
pub(super) struct GeminiBatches;

#[async_trait]
impl BatchApi for GeminiBatches {
    /// (Less than 20 MB with everything.)
    fn most_bytes(&self) -> u64 {
        18_000_000
    }

    fn expires_after(&self) -> Duration {
        Duration::from_hours(48)
    }

    fn primer(&self, body: &Value) -> Value {
        primer::of_contents(body)
    }

    async fn create(&self, http: &BatchHttp<'_>, name: &str, calls: &[SentCall]) -> Result<String, NotCreated> {
        let mut asked =
            format!("{{\"batch\":{{\"displayName\":{},\"inputConfig\":{{\"requests\":{{\"requests\":[", json!(name));
        for (place, SentCall { key, body }) in calls.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            // Writing to a string can't fail.
            let _ = write!(asked, "{comma}{{\"request\":{body},\"metadata\":{}}}", json!({ "key": key }));
        }
        asked.push_str("]}}}}");
        let path = format!("models/{}:batchGenerateContent", escaped(http.model));
        let made = http.post(&path, Some(asked.into_bytes())).await?;
        Ok(field(&made, "name").to_owned())
    }

    async fn find(
        &self,
        http: &BatchHttp<'_>,
        batch: &ProviderBatch,
        _: &BTreeSet<String>,
        _: &[String],
    ) -> Result<Found, Failure> {
        let name = batch.id.to_string();
        let mut path = "batches?pageSize=100".to_owned();
        for _ in 0..MOST_PAGES {
            let page = http.get(&path).await?;
            let listed = items(&page["operations"]);
            if let Some(found) = listed.iter().find(|one| field(&one["metadata"], "displayName") == name) {
                return Ok(Found::There(field(found, "name").to_owned()));
            }
            match field(&page, "nextPageToken") {
                "" => break,
                token => path = format!("batches?pageSize=100&pageToken={}", safe(token)),
            }
        }
        Ok(Found::NotThere)
    }

    async fn poll(&self, http: &BatchHttp<'_>, handle: &str) -> Result<(Standing, Value), Failure> {
        let batch = http.get(&path(handle)).await?;
        let state = field(&batch["metadata"], "state");
        let state = state.strip_prefix("BATCH_STATE_").or_else(|| state.strip_prefix("JOB_STATE_")).unwrap_or(state);
        let is_done = batch["done"].as_bool().unwrap_or_default();
        let standing = match state {
            "SUCCEEDED" | "PARTIALLY_SUCCEEDED" | "CANCELLED" | "EXPIRED" | "FAILED" => {
                Standing::Ended { outcome: state.to_lowercase() }
            }
            _ if is_done => Standing::Ended { outcome: state.to_lowercase() },
            _ => Standing::Working,
        };
        Ok((standing, batch))
    }

    async fn cancel(&self, http: &BatchHttp<'_>, handle: &str) -> Result<(), Failure> {
        http.post(&format!("{}:cancel", path(handle)), None).await.map(drop)
    }

    async fn results(
        &self,
        http: &BatchHttp<'_>,
        polled: &Value,
        keys: &[String],
    ) -> Result<Vec<(String, HandedEnd)>, Failure> {
        let lists = [&polled["response"], &polled["metadata"]["output"]].map(|output| &output["inlinedResponses"]);
        let list = lists.into_iter().find_map(|list| list.as_array().or_else(|| list["inlinedResponses"].as_array()));
        let told = || {
            let code = polled["error"]["code"].as_u64().unwrap_or_default();
            format!(
                "{} {}",
                field(&polled["metadata"], "state"),
                if code > 0 { code.to_string() } else { String::new() }
            )
        };
        let Some(list) = list else {
            return Ok(keys.iter().map(|key| (key.clone(), not_done(told().trim()))).collect());
        };
        // An answer can be assigned by its place only if every call has one.
        let by_place = |place: usize| keys.get(place).filter(|_| list.len() == keys.len()).cloned();
        let ends = list.iter().enumerate().filter_map(|(place, item)| {
            let named = Some(field(&item["metadata"], "key")).filter(|key| !key.is_empty()).map(str::to_owned);
            Some((named.or_else(|| by_place(place))?, end(http, item)))
        });
        Ok(ends.collect())
    }
}

/// The path `batches/abc`, whatever prefix the provider's name has.
fn path(handle: &str) -> String {
    format!("batches/{}", safe(handle.strip_prefix("batches/").unwrap_or(handle)))
}

/// The result of a call.
fn end(http: &BatchHttp<'_>, item: &Value) -> HandedEnd {
    if item["response"].is_object() {
        return HandedEnd::Replied(item["response"].to_string());
    }
    let error = &item["error"];
    // Codes of google.rpc.Code, and the statuses that stand for them there.
    let (status, name) = match error["code"].as_u64() {
        Some(3) => (400, "INVALID_ARGUMENT"),
        Some(5) => (404, "NOT_FOUND"),
        Some(7) => (403, "PERMISSION_DENIED"),
        Some(8) => (429, "RESOURCE_EXHAUSTED"),
        Some(14) => (503, "UNAVAILABLE"),
        Some(1 | 4) | None => return not_done(field(error, "message")),
        Some(_) => (500, "INTERNAL"),
    };
    http.refused(status, &json!({ "error": { "code": status, "status": name, "message": field(error, "message") } }))
}
