//! Jobs: the list, one of them, its records, doubts and files, and actions on it.

use super::{
    operations::{ApiRoutes, Made, Operation, OperationAnswer, json_answer, schema},
    paging::{ListPart, limit},
};
use crate::{
    export::TableFormat,
    review::{JobReview, ReviewedRecord},
    runner::load,
    store::{JobPageQuery, Role},
    view::{JobListItem, JobView, RequestOutcome},
    web::{
        BulkAction, RequestTarget, WebError, events, files,
        state::{PathOf, WebState},
    },
    workspace::Workspace,
};
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use overnight_core::job::{id::JobId, record::JobStatus, time::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::{collections::BTreeSet, sync::Arc};
use uuid::Uuid;

/// Bytes of a document's text that are sent.
const MOST_TEXT: u64 = 256 << 20;

/// The most letters of a search text.
const MOST_LETTERS: usize = 200;

/// Which jobs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct JobsWanted {
    /// Only those of this batch.
    batch: Option<Uuid>,
    /// Only those that stand so.
    status: Option<JobStatus>,
    /// Only those that are held for a person's review.
    needs_review: bool,
    /// Only those that were made since then.
    since: Option<Timestamp>,
    /// A part of the label, the instructions or the model, or the beginning of the id.
    #[schemars(length(max = 200))]
    text: String,
    /// `next` of the piece before.
    cursor: Option<Uuid>,
    /// Jobs of a piece: 1 to 1,000.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u32>,
}

/// Records of deliverables, as `overnight export --format jsonl` writes them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RecordRows {
    /// The fields of each, and what the program knows of it: document, quote, page, check, who corrected it.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    records: Vec<Box<RawValue>>,
}

/// What a person should look at.
#[derive(Debug, Serialize, JsonSchema)]
struct JobDoubts {
    /// There is a result of which something can be said.
    has_result: bool,
    /// Records in doubt, the gravest first.
    records: Vec<DoubtfulRecord>,
    /// Open findings that belong to no record, a sentence each.
    findings: Vec<String>,
    /// Records that were refused and are in no deliverable.
    refused: u64,
    /// Documents, of several, that no record quotes.
    unquoted: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DoubtfulRecord {
    /// The deliverable, and the place in it: `$.requirements[3]`.
    file: String,
    place: String,
    /// By which a person knows it.
    name: String,
    document: String,
    /// The gravest first.
    doubts: Vec<DoubtOfRecord>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DoubtOfRecord {
    /// `check`, `value`, `finding`, `one`, `confidence`, …: as the review page knows it.
    kind: &'static str,
    /// Null: the record as a whole.
    field: Option<String>,
    why: String,
}

/// A file of a job.
#[derive(Debug, Serialize, JsonSchema)]
struct JobFile {
    /// Relative to the workspace.
    path: String,
    bytes: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct JobFiles {
    files: Vec<JobFile>,
}

/// Which changes.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it tells the parameters, which the events of the pages read")]
struct EventsWanted {
    /// Only those of this job.
    job: Option<Uuid>,
    /// Only those of this batch.
    batch: Option<Uuid>,
}

pub(super) fn add(api: &mut ApiRoutes) {
    let answer = OperationAnswer::Json;
    let operation =
        Operation::get("/jobs", "listJobs", "Jobs, the newest first.", answer(schema::<ListPart<JobListItem<'_>>>()));
    api.add(operation.with_query::<JobsWanted>(), get(list));
    let told = "One job: where it stands, or what came of it.";
    api.add(Operation::get("/jobs/{id}", "getJob", told, answer(schema::<JobView<'_>>())), get(show));
    let told = "The records of a job, with corrections.";
    api.add(Operation::get("/jobs/{id}/records", "getJobRecords", told, answer(schema::<RecordRows>())), get(records));
    let told = "What of a job's result a person should look at.";
    api.add(Operation::get("/jobs/{id}/doubts", "getJobDoubts", told, answer(schema::<JobDoubts>())), get(doubts));
    let told = "The files of a job's workspace.";
    api.add(Operation::get("/jobs/{id}/files", "listJobFiles", told, answer(schema::<JobFiles>())), get(list_files));
    let (path, bytes) = ("/jobs/{id}/files/{*path}", OperationAnswer::Bytes(&["application/octet-stream"]));
    api.add(Operation::get(path, "getJobFile", "One of them.", bytes), get(file));
    let (path, text) = ("/jobs/{id}/documents/{*path}", OperationAnswer::Bytes(&["text/plain"]));
    api.add(
        Operation::get(path, "getDocumentText", "The text of a document, as it was read.", text),
        get(document_text),
    );
    let told = "A line for each change of jobs (server-sent events).";
    let operation = Operation::get("/events", "watch", told, OperationAnswer::Events);
    api.add(operation.with_query::<EventsWanted>(), get(events::events));
    for action in BulkAction::ALL {
        let (path, id, summary) = match action {
            BulkAction::Pause => ("/jobs/{id}/pause", "pauseJob", "Hold a job at its next turn."),
            BulkAction::Resume => ("/jobs/{id}/resume", "resumeJob", "Queue a job of a batch again that was paused."),
            BulkAction::Cancel => ("/jobs/{id}/cancel", "cancelJob", "End a job for good; what was made stays."),
            BulkAction::Retry => ("/jobs/{id}/retry", "retryJob", "Queue a failed job of a batch again."),
        };
        let answer = OperationAnswer::Json(schema::<RequestOutcome>());
        api.add(
            Operation::post(Role::Operator, path, id, summary, answer),
            post(move |State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>| async move {
                let found = state.find(&id).await?;
                Ok::<_, WebError>(json_answer(
                    state.backend.request(action, RequestTarget::Job(found.row.job.id)).await?,
                ))
            }),
        );
    }
}

async fn list(
    State(state): State<Arc<WebState>>,
    wanted: Result<Query<JobsWanted>, QueryRejection>,
) -> Result<Response, WebError> {
    let wanted = wanted?.0;
    if wanted.text.chars().count() > MOST_LETTERS {
        return Err(WebError::usage(format!("text has at most {MOST_LETTERS} letters.")));
    }
    let most = limit(wanted.limit)?;
    let query = JobPageQuery {
        batch: wanted.batch,
        status: wanted.status,
        needs_review: wanted.needs_review,
        since: wanted.since,
        text: wanted.text,
        behind: wanted.cursor.map(JobId),
        skipped: 0,
        most,
    };
    let (rows, _) = state.store.job_page(&query).await?;
    let next = rows.last().filter(|_| rows.len() == most as usize).map(|row| row.job.id.to_string());
    let of_batches: BTreeSet<Uuid> = rows.iter().filter_map(|row| Some(row.queue.as_ref()?.batch)).collect();
    let heads = state.store.batch_heads(of_batches.into_iter().collect()).await?;
    let running = rows.iter().filter(|row| row.state.status == JobStatus::Running).cloned().collect();
    let interrupted: BTreeSet<JobId> = state.backend.interrupted(running).await?.into_iter().collect();
    let items = rows.iter().map(|row| {
        let batch = row.queue.as_ref().and_then(|queue| heads.get(&queue.batch));
        JobListItem::of(row, batch.and_then(|head| head.name.as_deref()), interrupted.contains(&row.job.id))
    });
    Ok(json_answer(ListPart { items: items.collect(), next }))
}

async fn show(State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>) -> Result<Made, WebError> {
    let found = state.find(&id).await?;
    state.backend.job_view(found.row.job.id).await.map(Made)
}

async fn records(State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>) -> Result<Response, WebError> {
    let found = state.find(&id).await?;
    of_table(state.backend.table(&found.row.job.id.to_string(), TableFormat::Jsonl).await?.unwrap_or_default())
}

/// The rows of a table with one JSON object per line.
pub(super) fn of_table(lines: Vec<u8>) -> Result<Response, WebError> {
    let text = String::from_utf8(lines).map_err(|error| WebError::failed(error.to_string()))?;
    let rows = text.lines().map(|line| RawValue::from_string(line.to_owned()));
    let records = rows.collect::<Result<_, _>>().map_err(|error| WebError::failed(error.to_string()))?;
    Ok(json_answer(RecordRows { records }))
}

async fn doubts(State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>) -> Result<Response, WebError> {
    let found = state.find(&id).await?;
    let path = WebState::own_workspace(&found)?;
    let review = tokio::task::spawn_blocking(move || JobReview::read_records(&path)).await?;
    let review = review.map_err(|error| WebError::conflict(error.to_string()))?;
    Ok(json_answer(JobDoubts::of(&review)))
}

impl JobDoubts {
    fn of(review: &JobReview) -> Self {
        Self {
            has_result: review.has_result,
            records: review.records.iter().filter(|record| record.is_doubtful()).map(DoubtfulRecord::of).collect(),
            findings: review.findings.iter().map(crate::review::JobFinding::told).collect(),
            refused: review.refused.len() as u64,
            unquoted: review.unquoted.clone(),
        }
    }
}

impl DoubtfulRecord {
    fn of(record: &ReviewedRecord) -> Self {
        let doubts = record.doubts.iter().map(|doubt| DoubtOfRecord {
            kind: doubt.kind.key(),
            field: doubt.field.clone(),
            why: doubt.why.clone(),
        });
        Self {
            file: record.file.clone(),
            place: record.place.clone(),
            name: record.name(),
            document: record.document().to_owned(),
            doubts: doubts.collect(),
        }
    }
}

async fn list_files(State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>) -> Result<Response, WebError> {
    let workspace = WebState::workspace(&state.find(&id).await?)?;
    let listed = tokio::task::spawn_blocking(move || files::all(&Workspace::open(&workspace)?)).await??;
    let files = listed.into_iter().map(|entry| JobFile { path: entry.path, bytes: entry.bytes });
    Ok(json_answer(JobFiles { files: files.collect() }))
}

async fn document_text(
    State(state): State<Arc<WebState>>,
    PathOf((id, name)): PathOf<(String, String)>,
) -> Result<Response, WebError> {
    let workspace = WebState::workspace(&state.find(&id).await?)?;
    tokio::task::spawn_blocking(move || {
        let job = load(&workspace).map_err(|error| WebError::conflict(error.to_string()))?.job;
        let document = job.spec.document(&name).ok_or_else(|| WebError::not_found("document"))?;
        let text = Workspace::open(&workspace)?.read_at_most(&document.text_path(), MOST_TEXT)?;
        Ok(bytes("text/plain; charset=utf-8", text))
    })
    .await?
}

async fn file(
    State(state): State<Arc<WebState>>,
    PathOf((id, path)): PathOf<(String, String)>,
) -> Result<Response, WebError> {
    let workspace = WebState::workspace(&state.find(&id).await?)?;
    tokio::task::spawn_blocking(move || files::download(&workspace, &path)).await?
}

/// Bytes of a media type.
pub(super) fn bytes(kind: &'static str, content: Vec<u8>) -> Response {
    ([(CONTENT_TYPE, kind)], content).into_response()
}
