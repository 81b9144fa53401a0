//! Anthropic's Message Batches: the calls stand in the request that makes the batch, which has no name of the client's.
//!
//! Sources: anthropic-sdk-python, resources/messages/batches.py and types/messages/message_batch.py;
//! platform.claude.com/docs/en/build-with-claude/batch-processing for what a batch doesn't take.

use super::super::{
    check::{is_name, list, object, only},
    format::Format,
    http::Asking,
    serve::Shared,
};
use super::{
    Answered, Batches, Batching, Denied, json_of,
    kept::{BatchState, KeptBatch, Line, LineEnd},
    page, query,
};
use serde_json::{Value, json};

pub(super) const PREFIX: &str = "msgbatch_";
const MOST_CALLS: usize = 100_000;
/// Fields of a call that are no batch's.
const NOT_HERE: [&str; 3] = ["stream", "speed", "store"];

fn error(kind: &str, words: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"})
}

pub(super) fn refusal(denied: &Denied) -> Value {
    let kind = match denied.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    error(kind, &denied.words)
}

pub(super) async fn answer(
    asking: &Asking,
    setup: &Batching,
    shared: &Shared,
    batches: &mut Batches,
) -> Result<Answered, Denied> {
    if asking.header("anthropic-version") != Some("2023-06-01") {
        return Err(Denied::fault("anthropic-version: header is required"));
    }
    let host = asking.header("host").unwrap_or_default();
    let rest = asking.path().strip_prefix("/v1/messages/batches").unwrap_or_default();
    let path: Vec<&str> = rest.split('/').skip(1).collect();
    match (asking.method.as_str(), &path[..]) {
        ("POST", []) => create(asking, setup, shared, batches, host),
        ("GET", []) => list_batches(asking, batches, host),
        ("GET", [id]) => Ok(Answered::json(&shown(batches.poll(id, setup, shared).await?, host))),
        ("POST", [id, "cancel"]) => {
            batches.cancel(id, 400, shared)?;
            Ok(Answered::json(&shown(batches.get(id)?, host)))
        }
        ("GET", [id, "results"]) => results(id, setup, batches),
        _ => Err(Denied::fault(format!("Not found: {} {}", asking.method, asking.path()))),
    }
}

fn create(
    asking: &Asking,
    setup: &Batching,
    shared: &Shared,
    batches: &mut Batches,
    host: &str,
) -> Result<Answered, Denied> {
    let body = json_of(asking)?;
    let read = read_requests(&body).map_err(Denied::fault)?;
    let wrong = batches.wrong_line(read.len(), setup);
    let mut lines: Vec<Line> =
        read.into_iter().map(|(key, params)| Line::read(Format::Anthropic, asking, &key, params, shared)).collect();
    if let Some(place) = wrong {
        lines[place].asked = Err("messages: this request is not one that can be answered".to_owned());
    }
    let batch = KeptBatch::new(PREFIX, batches.next_number(), Format::Anthropic, lines);
    let answered = Answered::json(&shown(&batch, host));
    batches.keep(batch, setup, shared)?;
    Ok(answered)
}

/// The calls by their names. What is wrong with one in itself is told with the results, and not here.
fn read_requests(body: &Value) -> Result<Vec<(String, Value)>, String> {
    only(object(body, "body")?, &["requests"], "body")?;
    let requests = list(&body["requests"], "requests")?;
    if requests.is_empty() || requests.len() > MOST_CALLS {
        return Err(format!("requests: List should have from 1 to {MOST_CALLS} items"));
    }
    let mut read: Vec<(String, Value)> = Vec::new();
    for (number, request) in requests.iter().enumerate() {
        let place = format!("requests.{number}");
        only(object(request, &place)?, &["custom_id", "params"], &place)?;
        let key = request["custom_id"].as_str().unwrap_or_default();
        if !is_name(key, 64) {
            return Err(format!("{place}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"));
        }
        if read.iter().any(|(other, _)| other == key) {
            return Err(format!("{place}.custom_id: custom_id must be unique within a batch"));
        }
        let params = object(&request["params"], &format!("{place}.params"))?;
        if let Some(name) = NOT_HERE.iter().find(|name| params.contains_key(**name)) {
            return Err(format!("{place}.params.{name}: not supported in batches"));
        }
        if let Some(name) = ["model", "max_tokens", "messages"].iter().find(|name| !params.contains_key(**name)) {
            return Err(format!("{place}.params.{name}: Field required"));
        }
        read.push((key.to_owned(), request["params"].clone()));
    }
    Ok(read)
}

fn list_batches(asking: &Asking, batches: &Batches, host: &str) -> Result<Answered, Denied> {
    let most = page(asking, "limit", 1_000)?;
    let all: Vec<&KeptBatch> = batches.newest(PREFIX).collect();
    let from = match query(asking, "after_id") {
        None => 0,
        Some(after) => {
            let place = all.iter().position(|batch| batch.id == after);
            place.ok_or_else(|| Denied::fault(format!("after_id: {after}")))? + 1
        }
    };
    let listed: Vec<Value> = all[from..].iter().take(most).map(|batch| shown(batch, host)).collect();
    let id = |batch: Option<&Value>| batch.map_or(Value::Null, |batch| batch["id"].clone());
    Ok(Answered::json(&json!({
        "first_id": id(listed.first()), "last_id": id(listed.last()),
        "has_more": all.len() > from + listed.len(), "data": listed,
    })))
}

fn shown(batch: &KeptBatch, host: &str) -> Value {
    let is_over = batch.state.is_over();
    let status = match batch.state {
        BatchState::Working => "in_progress",
        BatchState::Cancelling => "canceling",
        _ => "ended",
    };
    let created = batch.created_at();
    // Until the whole batch has ended, all of it counts as being worked on.
    let counted = |is_counted: fn(&Line) -> bool| if is_over { batch.count(is_counted) } else { 0 };
    let url = format!("http://{host}/v1/messages/batches/{}/results", batch.id);
    json!({
        "id": batch.id, "type": "message_batch", "processing_status": status,
        "request_counts": {
            "processing": if is_over { 0 } else { batch.lines.len() },
            "succeeded": counted(Line::is_done), "errored": counted(Line::is_refused),
            "canceled": counted(Line::is_cancelled), "expired": counted(Line::is_expired),
        },
        "ended_at": if is_over { json!(created) } else { Value::Null },
        "created_at": created, "expires_at": created, "archived_at": Value::Null,
        "cancel_initiated_at": if batch.state == BatchState::Cancelling { json!(created) } else { Value::Null },
        "results_url": if is_over { json!(url) } else { Value::Null },
    })
}

fn results(id: &str, setup: &Batching, batches: &mut Batches) -> Result<Answered, Denied> {
    if batches.is_too_early(setup) {
        return Err(Denied::now(403, "The results are not available yet."));
    }
    if let Some(rubbish) = batches.rubbish(setup) {
        return Ok(rubbish);
    }
    let batch = batches.get(id)?;
    if !batch.state.is_over() {
        return Err(Denied { status: 404, words: format!("{id} has no results yet"), is_fault: true });
    }
    let result = |line: &Line| {
        let result = match &line.end {
            Some(LineEnd::Replied(reply)) => {
                let mut message = reply.clone();
                message["usage"]["service_tier"] = json!("batch");
                json!({"type": "succeeded", "message": message})
            }
            Some(LineEnd::Refused(words)) => json!({"type": "errored", "error": error("invalid_request_error", words)}),
            Some(LineEnd::Expired) => json!({"type": "expired"}),
            Some(LineEnd::Cancelled) | None => json!({"type": "canceled"}),
        };
        json!({"custom_id": if setup.foreign { "nobodys" } else { &line.key }, "result": result})
    };
    Ok(Answered::lines("application/x-jsonl", batch.lines.iter().map(result)))
}
