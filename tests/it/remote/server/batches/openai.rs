//! OpenAI's batches: an uploaded file of calls, a batch made of it, and two files of results.
//!
//! Sources: openai-python, resources/batches.py and types/batch.py; BerriAI/litellm#37527 and #37146, openai-python#2084,
//! openai-openapi#302, tobert/kaibo#93 for what is not written there. The codes of faulty lines are from stdapi-ai/stdapi.ai#240,
//! and two of them are guesses.

use super::super::{
    check::{object, unknown},
    format::{Format, Refusal},
    http::Asking,
    serve::Shared,
};
use super::{
    Answered, Batches, Batching, Denied, json_of,
    kept::{BatchState, KeptBatch, Line, LineEnd},
    page, query,
};
use serde_json::{Value, json};

pub(super) const PREFIX: &str = "batch_";
const OUTPUT: &str = "file-output-";
const ERRORS: &str = "file-errors-";
const MOST_CALLS: usize = 50_000;
const DAY_S: i64 = 86_400;

pub(super) fn refusal(denied: &Denied) -> Value {
    let code = if denied.words.starts_with("Missing required parameter") {
        json!("missing_required_parameter")
    } else {
        Value::Null
    };
    let kind = if denied.status >= 500 { "server_error" } else { "invalid_request_error" };
    json!({"error": {"message": denied.words, "type": kind, "param": Value::Null, "code": code}})
}

pub(super) async fn answer(
    asking: &Asking,
    setup: &Batching,
    shared: &Shared,
    batches: &mut Batches,
) -> Result<Answered, Denied> {
    let path: Vec<&str> = asking.path().strip_prefix("/v1/").unwrap_or_default().split('/').collect();
    match (asking.method.as_str(), &path[..]) {
        ("POST", ["files"]) => upload(asking, batches),
        ("GET", ["files", id, "content"]) => content(id, setup, batches),
        ("POST", ["batches"]) => create(asking, setup, shared, batches),
        ("GET", ["batches"]) => list(asking, setup, batches),
        ("GET", ["batches", id]) => Ok(Answered::json(&shown(batches.poll(id, setup, shared).await?))),
        ("POST", ["batches", id, "cancel"]) => {
            batches.cancel(id, 409, shared)?;
            Ok(Answered::json(&shown(batches.get(id)?)))
        }
        _ => Err(Denied::fault(format!("Invalid URL ({} {})", asking.method, asking.path()))),
    }
}

/// Parts of a form by their names, each with the name of its file.
fn form(asking: &Asking) -> Result<Vec<(String, String, String)>, Denied> {
    let wrong = |what: &str| Denied::fault(format!("Could not parse multipart form: {what}"));
    let kind = asking.header("content-type").unwrap_or_default();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").ok_or_else(|| wrong("no boundary"))?;
    let text = std::str::from_utf8(&asking.body).map_err(|_| wrong("no UTF-8"))?;
    let rest = text.strip_prefix(&format!("--{boundary}\r\n")).ok_or_else(|| wrong("it begins with no part"))?;
    let (parts, end) = rest.rsplit_once(&format!("\r\n--{boundary}--")).ok_or_else(|| wrong("it has no end"))?;
    if !end.trim().is_empty() {
        return Err(wrong("something stands behind its end"));
    }
    let mut found = Vec::new();
    for part in parts.split(&format!("\r\n--{boundary}\r\n")) {
        let (head, content) = part.split_once("\r\n\r\n").ok_or_else(|| wrong("a part without a head"))?;
        let field = |name: &str| {
            let quoted = head.split_once(&format!("; {name}=\""))?.1;
            quoted.split_once('"').map(|(value, _)| value.to_owned())
        };
        let name = field("name").ok_or_else(|| wrong("a part without a name"))?;
        found.push((name, field("filename").unwrap_or_default(), content.to_owned()));
    }
    Ok(found)
}

fn upload(asking: &Asking, batches: &mut Batches) -> Result<Answered, Denied> {
    let parts = form(asking)?;
    let part = |wanted: &str| {
        let found = parts.iter().find(|(name, ..)| name == wanted);
        found.ok_or_else(|| Denied::fault(format!("Missing required parameter: '{wanted}'.")))
    };
    let (_, _, purpose) = part("purpose")?;
    if purpose != "batch" {
        return Err(Denied::fault(format!("'{purpose}' is not one of ['batch'] - 'purpose'")));
    }
    let (_, filename, text) = part("file")?;
    if filename.rsplit_once('.').is_none_or(|(_, ending)| ending != "jsonl") {
        return Err(Denied::fault("Invalid file format for Batch API. Must be .jsonl"));
    }
    let id = format!("file-input{:04}", batches.files.len() + 1);
    batches.files.insert(id.clone(), text.clone());
    Ok(Answered::json(&json!({
        "id": id, "object": "file", "bytes": text.len(), "created_at": 1_787_176_071, "filename": filename,
        "purpose": "batch", "status": "processed", "expires_at": 1_789_768_071, "status_details": Value::Null,
    })))
}

fn create(asking: &Asking, setup: &Batching, shared: &Shared, batches: &mut Batches) -> Result<Answered, Denied> {
    let body = json_of(asking)?;
    let fields = object(&body, "body").map_err(Denied::fault)?;
    let known = ["input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after"];
    if let Some(name) = unknown(fields, &known) {
        return Err(Denied::fault(format!("Unknown parameter: '{name}'.")));
    }
    let text =
        |name: &str| body[name].as_str().ok_or_else(|| Denied::fault(format!("Missing required parameter: '{name}'.")));
    let (file, endpoint, window) = (text("input_file_id")?, text("endpoint")?, text("completion_window")?);
    let format = match endpoint {
        "/v1/chat/completions" => Format::OpenAi,
        "/v1/responses" => Format::Responses,
        other => return Err(Denied::fault(format!("Invalid value: '{other}' for 'endpoint'."))),
    };
    if window != "24h" {
        return Err(Denied::fault(format!("Invalid value: '{window}'. Supported values are: '24h'.")));
    }
    read_metadata(&body["metadata"])?;
    let Some(calls) = batches.files.get(file).cloned() else {
        return Err(Denied::fault(format!("No such File object: {file}")));
    };
    let (lines, mut errors) = read_lines(&calls, endpoint, format, asking, shared);
    for error in &errors {
        shared.complain(format!("{}, a line of a batch: {error}", format.name()));
    }
    if let Some(place) = batches.wrong_line(lines.len(), setup) {
        errors.push(fault("invalid_request", Some(place + 1), "This request is not one that can be answered."));
    }
    if errors.is_empty() && is_too_much(&lines, setup, batches) {
        let words = "Enqueued token limit reached for this model in organization org-1. Limit: 2,000,000 enqueued tokens. Please \
                     try again once some in_progress batches have been completed.";
        errors.push(fault("token_limit_exceeded", None, words));
    }
    let batch = KeptBatch::new(PREFIX, batches.next_number(), format, lines);
    let batch = KeptBatch { name: body["metadata"].clone(), source: file.to_owned(), errors, ..batch };
    let answered = Answered::json(&shown(&batch));
    batches.keep(batch, setup, shared)?;
    Ok(answered)
}

fn read_metadata(metadata: &Value) -> Result<(), Denied> {
    if metadata.is_null() {
        return Ok(());
    }
    let pairs = object(metadata, "metadata").map_err(Denied::fault)?;
    let is_pair = |(name, value): (&String, &Value)| {
        name.len() <= 64 && value.as_str().is_some_and(|value| value.chars().count() <= 512)
    };
    if pairs.len() > 16 || !pairs.iter().all(is_pair) {
        return Err(Denied::fault("Invalid 'metadata': at most 16 pairs of strings of 64 and 512 letters."));
    }
    Ok(())
}

fn fault(code: &str, line: Option<usize>, message: &str) -> Value {
    json!({"code": code, "message": message, "param": Value::Null, "line": line})
}

/// The calls of a file, and what is wrong with its lines.
fn read_lines(text: &str, endpoint: &str, format: Format, asking: &Asking, shared: &Shared) -> (Vec<Line>, Vec<Value>) {
    let (mut lines, mut errors): (Vec<Line>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut model = Value::Null;
    for (number, line) in (1_usize..).zip(text.lines()) {
        match read_line(line, endpoint, &lines, &mut model) {
            Ok((key, body)) => lines.push(Line::read(format, asking, &key, body, shared)),
            Err((code, words)) => errors.push(fault(code, Some(number), &words)),
        }
    }
    if lines.is_empty() && errors.is_empty() {
        errors.push(fault("empty_file", None, "The batch input file is empty."));
    }
    if lines.len() > MOST_CALLS {
        errors.push(fault("too_many_tasks", None, "The batch input file contains too many requests."));
    }
    (lines, errors)
}

/// The name and the body of a call, or what is wrong with it.
fn read_line(
    line: &str,
    endpoint: &str,
    before: &[Line],
    model: &mut Value,
) -> Result<(String, Value), (&'static str, String)> {
    let Ok(mut line) = serde_json::from_str::<Value>(line) else {
        return Err(("invalid_json_line", "This line is not parseable as valid JSON.".to_owned()));
    };
    for name in ["custom_id", "method", "url", "body"] {
        if line[name].is_null() {
            return Err(("missing_required_parameter", format!("Missing required parameter: '{name}'.")));
        }
    }
    let known = ["custom_id", "method", "url", "body"];
    if let Some(name) = line.as_object().and_then(|fields| unknown(fields, &known)) {
        return Err(("invalid_request", format!("Unknown parameter: '{name}'.")));
    }
    let Some(key) = line["custom_id"].as_str().filter(|key| !key.is_empty() && key.len() <= 64).map(str::to_owned)
    else {
        return Err(("invalid_request", "The custom_id must be a text of 1 to 64 letters.".to_owned()));
    };
    if before.iter().any(|other| other.key == key) {
        return Err(("duplicate_custom_id", format!("The custom_id '{key}' for this request is a duplicate.")));
    }
    if line["method"] != "POST" {
        return Err(("invalid_method", "The method must be POST.".to_owned()));
    }
    if line["url"] != endpoint {
        return Err(("mismatched_url", format!("The URL of this request must be '{endpoint}'.")));
    }
    let body = line["body"].take();
    if body.get("stream").is_some() {
        return Err(("invalid_request", "Streaming is not supported in the Batch API.".to_owned()));
    }
    if model.is_null() {
        *model = body["model"].clone();
    } else if *model != body["model"] {
        return Err(("mismatched_model", "All requests of a batch must be for one model.".to_owned()));
    }
    Ok((key, body))
}

fn is_too_much(lines: &[Line], setup: &Batching, batches: &Batches) -> bool {
    let in_line = batches.newest(PREFIX).filter(|batch| !batch.state.is_over() && batch.errors.is_empty());
    let tokens = in_line.flat_map(|batch| &batch.lines).chain(lines).map(Line::tokens).sum::<u64>();
    setup.most_calls.is_some_and(|most| lines.len() > most) || setup.most_tokens.is_some_and(|most| tokens > most)
}

fn list(asking: &Asking, setup: &Batching, batches: &Batches) -> Result<Answered, Denied> {
    let most = page(asking, "limit", 100)?.min(setup.page);
    let all: Vec<&KeptBatch> = batches.newest(PREFIX).collect();
    let from = match query(asking, "after") {
        None => 0,
        Some(after) => {
            let place = all.iter().position(|batch| batch.id == after);
            place.ok_or_else(|| Denied::fault(format!("Invalid 'after': {after}")))? + 1
        }
    };
    let listed: Vec<Value> = all[from..].iter().take(most).map(|batch| shown(batch)).collect();
    let id = |batch: Option<&Value>| batch.map_or(Value::Null, |batch| batch["id"].clone());
    Ok(Answered::json(&json!({
        "object": "list", "first_id": id(listed.first()), "last_id": id(listed.last()),
        "has_more": all.len() > from + listed.len(), "data": listed,
    })))
}

fn shown(batch: &KeptBatch) -> Value {
    let status = match batch.state {
        BatchState::Working if batch.polls == 0 => "validating",
        BatchState::Working => "in_progress",
        BatchState::Cancelling => "cancelling",
        BatchState::Ended => "completed",
        BatchState::Expired => "expired",
        BatchState::Cancelled => "cancelled",
        BatchState::Failed => "failed",
    };
    let (total, done) = (batch.lines.len(), batch.count(Line::is_done));
    let failed = batch.count(|line| line.end.is_some() && !line.is_done());
    let total = if batch.state == BatchState::Working && batch.polls == 0 { 0 } else { total };
    let (created, is_over) = (batch.created_s(), batch.state.is_over());
    let at = |is_so: bool| if is_so { json!(created + 60) } else { Value::Null };
    // Where nothing failed, the name of the file of errors may be empty.
    let errors = if is_over && failed == 0 { json!("") } else { Value::Null };
    let list = json!({"object": "list", "data": batch.errors});
    json!({
        "id": batch.id, "object": "batch",
        "endpoint": if batch.format == Format::Responses { "/v1/responses" } else { "/v1/chat/completions" },
        "errors": if batch.state == BatchState::Failed { list } else { Value::Null },
        "input_file_id": batch.source, "completion_window": "24h", "status": status,
        "output_file_id": if done > 0 { json!(format!("{OUTPUT}{}", batch.id)) } else { Value::Null },
        "error_file_id": if failed > 0 { json!(format!("{ERRORS}{}", batch.id)) } else { errors },
        "created_at": created, "in_progress_at": at(batch.polls > 0), "expires_at": created + DAY_S,
        "finalizing_at": at(batch.state == BatchState::Ended), "completed_at": at(batch.state == BatchState::Ended),
        "failed_at": at(batch.state == BatchState::Failed), "expired_at": at(batch.state == BatchState::Expired),
        "cancelling_at": at(matches!(batch.state, BatchState::Cancelling | BatchState::Cancelled)),
        "cancelled_at": at(batch.state == BatchState::Cancelled),
        "request_counts": {"total": total, "completed": done, "failed": failed}, "metadata": batch.name,
    })
}

/// A file's bytes: what was uploaded, or results.
fn content(id: &str, setup: &Batching, batches: &mut Batches) -> Result<Answered, Denied> {
    if let Some(text) = batches.files.get(id) {
        return Ok(Answered { status: 200, mime: "application/octet-stream", body: text.clone() });
    }
    if batches.is_too_early(setup) {
        return Err(Denied::now(403, "You are not allowed to download this file yet."));
    }
    if let Some(rubbish) = batches.rubbish(setup) {
        return Ok(rubbish);
    }
    let (of, is_output) = match (id.strip_prefix(OUTPUT), id.strip_prefix(ERRORS)) {
        (Some(of), _) => (of, true),
        (None, of) => (of.unwrap_or(id), false),
    };
    let batch = batches.get(of)?;
    let lines = batch.lines.iter().zip(1_usize..).filter(|(line, _)| line.end.is_some() && line.is_done() == is_output);
    let mut lines: Vec<Value> = lines.map(|(line, number)| result(batch, line, number)).collect();
    if setup.foreign {
        for line in &mut lines {
            line["custom_id"] = json!("nobodys");
        }
    }
    Ok(Answered::lines("application/octet-stream", lines.into_iter()))
}

fn result(batch: &KeptBatch, line: &Line, number: usize) -> Value {
    let whole =
        |status: u16, body: Value| json!({"status_code": status, "request_id": format!("req_{number}"), "body": body});
    let ended = |code: &str, message: &str| (Value::Null, json!({"code": code, "message": message}));
    let (response, error) = match &line.end {
        Some(LineEnd::Replied(reply)) => (whole(200, reply.clone()), Value::Null),
        Some(LineEnd::Refused(words)) => (whole(400, batch.format.refusal(Refusal::BadRequest, words)), Value::Null),
        Some(LineEnd::Expired) => {
            ended("batch_expired", "This request could not be executed before the completion window expired.")
        }
        Some(LineEnd::Cancelled) | None => {
            ended("batch_cancelled", "This request was not executed before the batch was cancelled.")
        }
    };
    json!({"id": format!("batch_req_{number}"), "custom_id": line.key, "response": response, "error": error})
}
