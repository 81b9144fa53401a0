//! Gemini's batches: the calls stand in the request that makes the batch, and their answers in the operation that it is.
//!
//! Sources: python-genai, batches.py; a capture of December 2025 in langchain4j's tests for the operation as it comes;
//! python-genai#2008 for results without keys. What becomes of a batch that is cancelled or expires is a guess: nothing of it
//! is given.

use super::super::{
    check::{Checked, list, object, string, unknown},
    format::Format,
    http::Asking,
    serve::Shared,
};
use super::{
    Answered, Batches, Batching, Denied, json_of,
    kept::{BatchState, KeptBatch, Line, LineEnd},
    page, query,
};
use serde_json::{Map, Value, json};

pub(super) const PREFIX: &str = "batches/";
const KIND: &str = "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch";
/// Bytes of a batch with all that is in it.
const MOST_BYTES: usize = 20_000_000;

pub(super) fn refusal(denied: &Denied) -> Value {
    let name = match denied.status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        400 if !denied.is_fault => "FAILED_PRECONDITION",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    json!({"error": {"code": denied.status, "message": denied.words, "status": name}})
}

pub(super) async fn answer(
    asking: &Asking,
    setup: &Batching,
    shared: &Shared,
    batches: &mut Batches,
) -> Result<Answered, Denied> {
    let path = asking.path().strip_prefix("/v1beta/").unwrap_or_default();
    let model = path.strip_prefix("models/").and_then(|path| path.strip_suffix(":batchGenerateContent"));
    let shown = |batch: &KeptBatch, is_alone: bool| Answered::json(&operation(batch, setup, is_alone));
    match (asking.method.as_str(), model) {
        ("POST", Some(model)) => {
            let (name, lines) = read_batch(asking, model, setup, shared, batches)?;
            let batch = KeptBatch::new(PREFIX, batches.next_number(), Format::Gemini, lines);
            let batch = KeptBatch { name, source: model.to_owned(), ..batch };
            let answered = shown(&batch, true);
            batches.keep(batch, setup, shared)?;
            Ok(answered)
        }
        ("GET", None) if path == "batches" => list_batches(asking, setup, batches),
        ("GET", None) => Ok(shown(batches.poll(path, setup, shared).await?, true)),
        ("POST", None) if path.ends_with(":cancel") => {
            let id = path.strip_suffix(":cancel").unwrap_or_default();
            let place = batches.cancel(id, 400, shared)?;
            // There is no state between.
            batches.end(place, BatchState::Cancelled, shared).await;
            Ok(Answered::json(&json!({})))
        }
        _ => Err(Denied::fault(format!("Invalid URL ({} {})", asking.method, asking.path()))),
    }
}

fn known(value: &Value, names: &[&str], place: &str) -> Checked<()> {
    match unknown(object(value, place)?, names) {
        None => Ok(()),
        Some(name) => {
            Err(format!("Invalid JSON payload received. Unknown name \"{name}\" at '{place}': Cannot find field."))
        }
    }
}

/// The name and the calls of a batch.
fn read_batch(
    asking: &Asking,
    model: &str,
    setup: &Batching,
    shared: &Shared,
    batches: &mut Batches,
) -> Result<(Value, Vec<Line>), Denied> {
    let body = json_of(asking)?;
    if asking.body.len() >= MOST_BYTES {
        return Err(Denied::fault(format!("Request payload size exceeds the limit: {MOST_BYTES} bytes.")));
    }
    let calls = read_calls(&body).map_err(Denied::fault)?;
    let mut alone = asking.clone();
    alone.target = format!("/v1beta/models/{model}:generateContent");
    alone.body.clear();
    let wrong = batches.wrong_line(calls.len(), setup);
    let mut lines: Vec<Line> =
        calls.into_iter().map(|(key, body)| Line::read(Format::Gemini, &alone, &key, body, shared)).collect();
    if let Some(place) = wrong {
        lines[place].asked = Err("This call is not one that can be answered.".to_owned());
    }
    Ok((body["batch"]["displayName"].clone(), lines))
}

fn read_calls(body: &Value) -> Checked<Vec<(String, Value)>> {
    known(body, &["batch"], "body")?;
    let batch = &body["batch"];
    known(batch, &["displayName", "inputConfig", "priority"], "batch")?;
    if string(&batch["displayName"], "batch.display_name")?.is_empty() {
        return Err("batch.display_name: must not be empty".to_owned());
    }
    known(&batch["inputConfig"], &["requests"], "batch.input_config")?;
    known(&batch["inputConfig"]["requests"], &["requests"], "batch.input_config.requests")?;
    let requests = list(&batch["inputConfig"]["requests"]["requests"], "batch.input_config.requests.requests")?;
    if requests.is_empty() {
        return Err("batch.input_config.requests: must not be empty".to_owned());
    }
    let mut read: Vec<(String, Value)> = Vec::new();
    for (number, one) in requests.iter().enumerate() {
        let place = format!("batch.input_config.requests.requests[{number}]");
        known(one, &["request", "metadata"], &place)?;
        known(&one["metadata"], &["key"], &format!("{place}.metadata"))?;
        let key = string(&one["metadata"]["key"], &format!("{place}.metadata.key"))?;
        if read.iter().any(|(other, _)| other == key) {
            return Err(format!("{place}.metadata.key: '{key}' is there twice"));
        }
        read.push((key.to_owned(), one["request"].clone()));
    }
    Ok(read)
}

fn list_batches(asking: &Asking, setup: &Batching, batches: &Batches) -> Result<Answered, Denied> {
    let most = page(asking, "pageSize", 1_000)?.min(setup.page);
    let from: usize = match query(asking, "pageToken") {
        None => 0,
        Some(token) => {
            let from = token.strip_prefix("from-").and_then(|from| from.parse().ok());
            from.ok_or_else(|| Denied::fault("Page token is invalid."))?
        }
    };
    let all: Vec<&KeptBatch> = batches.newest(PREFIX).collect();
    let listed: Vec<Value> = all.iter().skip(from).take(most).map(|batch| operation(batch, setup, false)).collect();
    let next = from + listed.len();
    let mut answer = json!({});
    // What is empty is left out.
    if !listed.is_empty() {
        answer["operations"] = listed.into();
    }
    if next < all.len() {
        answer["nextPageToken"] = json!(format!("from-{next}"));
    }
    Ok(Answered::json(&answer))
}

/// A batch as an operation; a list shows no results.
fn operation(batch: &KeptBatch, setup: &Batching, is_alone: bool) -> Value {
    let (is_over, created) = (batch.state.is_over(), batch.created_at());
    let (state, code) = match batch.state {
        BatchState::Working if batch.polls == 0 => ("PENDING", 0),
        BatchState::Working | BatchState::Cancelling => ("RUNNING", 0),
        BatchState::Ended => ("SUCCEEDED", 0),
        BatchState::Cancelled => ("CANCELLED", 1),
        BatchState::Expired => ("EXPIRED", 4),
        BatchState::Failed => ("FAILED", 13),
    };
    let pending = if is_over { 0 } else { batch.lines.len() };
    let counts = [
        ("requestCount", batch.lines.len()),
        ("pendingRequestCount", pending),
        ("successfulRequestCount", batch.count(Line::is_done)),
        ("failedRequestCount", batch.count(Line::is_refused)),
    ];
    // Numbers come as texts, and none where it is 0.
    let counted: Map<String, Value> = counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| (name.to_owned(), json!(count.to_string())))
        .collect();
    let mut operation = json!({
        "name": batch.id,
        "metadata": {
            "@type": KIND, "model": format!("models/{}", batch.source), "displayName": batch.name, "createTime": created,
            "updateTime": created, "batchStats": counted, "state": format!("BATCH_STATE_{state}"), "name": batch.id,
        },
    });
    if !is_over {
        return operation;
    }
    operation["done"] = json!(true);
    operation["metadata"]["endTime"] = json!(created);
    if batch.state == BatchState::Ended && is_alone {
        let items: Vec<Value> = batch.lines.iter().map(|line| item(line, setup)).collect();
        // The answers stand in it twice.
        operation["metadata"]["output"] = json!({"inlinedResponses": {"inlinedResponses": items}});
        let kind = format!("{KIND}Output");
        operation["response"] = json!({"@type": kind, "inlinedResponses": {"inlinedResponses": items}});
    } else if code > 0 {
        operation["error"] = json!({"code": code, "message": format!("The batch is {state}.")});
    }
    operation
}

fn item(line: &Line, setup: &Batching) -> Value {
    let mut item = match &line.end {
        Some(LineEnd::Replied(reply)) => json!({"response": reply}),
        Some(LineEnd::Refused(words)) => json!({"error": {"code": 3, "message": words}}),
        Some(LineEnd::Expired | LineEnd::Cancelled) | None => json!({"error": {"code": 1, "message": "not done"}}),
    };
    if !setup.without_keys {
        item["metadata"] = json!({"key": line.key});
    }
    item
}
