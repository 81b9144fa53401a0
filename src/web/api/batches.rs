//! Batches: the list, one of them, its table and report, and actions on all its jobs.

use super::{
    jobs::{RecordRows, bytes, of_table},
    object_body::ObjectBody,
    operations::{ApiRoutes, Made, Operation, OperationAnswer, json_answer, schema},
    paging::{ListPart, PageWanted, limit},
};
use crate::{
    export::TableFormat,
    review::AssignmentWanted,
    store::{BatchRow, BatchTotals, Role},
    view::{AssignmentsView, BatchView, RequestOutcome},
    web::{
        BulkAction, RequestTarget, WebError,
        state::{PathOf, WebState},
    },
};
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    response::Response,
    routing::{get, post},
};
use overnight_core::job::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// A batch in a list.
#[derive(Debug, Serialize, JsonSchema)]
struct BatchListItem {
    id: Uuid,
    name: Option<String>,
    created: Timestamp,
    /// When all its jobs had ended.
    ended: Option<Timestamp>,
    instructions: String,
    model: String,
    jobs: u64,
    /// How many jobs stand how.
    totals: BatchTotals,
    /// What its jobs have cost so far, as far as prices are known.
    spent_usd: f64,
    /// Jobs with turns whose price isn't known.
    unpriced_jobs: u64,
    budget_usd: Option<f64>,
}

impl BatchListItem {
    fn of(row: BatchRow) -> Self {
        Self {
            id: row.batch.id,
            name: row.batch.name,
            created: row.batch.created,
            ended: row.ended,
            instructions: row.batch.instructions,
            model: row.batch.model,
            jobs: row.totals.all(),
            totals: row.totals,
            spent_usd: row.spent_usd,
            unpriced_jobs: row.unpriced_jobs,
            budget_usd: row.batch.budget_usd,
        }
    }
}

/// The form of a table.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ExportWanted {
    format: TableFormat,
}

const MEDIA_TYPES: [&str; 5] = [
    "text/csv",
    "application/jsonl",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.apache.parquet",
    "application/vnd.sqlite3",
];

fn media_type(format: TableFormat) -> &'static str {
    let [csv, jsonl, xlsx, parquet, sqlite] = MEDIA_TYPES;
    match format {
        TableFormat::Csv => csv,
        TableFormat::Jsonl => jsonl,
        TableFormat::Xlsx => xlsx,
        TableFormat::Parquet => parquet,
        TableFormat::Sqlite => sqlite,
    }
}

pub(super) fn add(api: &mut ApiRoutes) {
    let batches = OperationAnswer::Json(schema::<ListPart<BatchListItem>>());
    api.add(
        Operation::get("/batches", "listBatches", "Batches, the newest first.", batches).with_query::<PageWanted>(),
        get(list),
    );
    let batch = OperationAnswer::Json(schema::<BatchView<'_>>());
    api.add(Operation::get("/batches/{id}", "getBatch", "One batch: how its jobs stand.", batch), get(show));
    let records = OperationAnswer::Json(schema::<RecordRows>());
    api.add(
        Operation::get(
            "/batches/{id}/records",
            "getBatchRecords",
            "The records of all its jobs, with corrections.",
            records,
        ),
        get(all_records),
    );
    let table = OperationAnswer::Bytes(&MEDIA_TYPES);
    api.add(
        Operation::get("/batches/{id}/export", "exportBatch", "The same as a table.", table)
            .with_query::<ExportWanted>(),
        get(export),
    );
    let report = OperationAnswer::Bytes(&["text/html"]);
    api.add(
        Operation::get("/batches/{id}/report", "getBatchReport", "The report, as a page.", report),
        get(report_page),
    );
    let assignments = || OperationAnswer::Json(schema::<AssignmentsView>());
    api.add(
        Operation::get("/batches/{id}/assignments", "getAssignments", "Who reads which of its results.", assignments()),
        get(|State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>| async move {
            assign(&state, &id, &AssignmentWanted::default()).await
        }),
    );
    api.add(
        Operation::post(
            Role::Operator,
            "/batches/{id}/assign",
            "assignBatch",
            "Say who reads which of its results.",
            assignments(),
        )
        .with_body::<AssignmentWanted>(),
        post(
            |State(state): State<Arc<WebState>>,
             PathOf(id): PathOf<String>,
             ObjectBody(wanted): ObjectBody<AssignmentWanted>| async move { assign(&state, &id, &wanted).await },
        ),
    );
    for action in BulkAction::ALL {
        let (path, id, summary) = match action {
            BulkAction::Pause => ("/batches/{id}/pause", "pauseBatch", "Hold its jobs at their next turn."),
            BulkAction::Resume => ("/batches/{id}/resume", "resumeBatch", "Queue its held jobs again."),
            BulkAction::Cancel => {
                ("/batches/{id}/cancel", "cancelBatch", "End its jobs for good; what was made stays.")
            }
            BulkAction::Retry => ("/batches/{id}/retry", "retryBatch", "Queue its failed jobs again."),
        };
        let answer = OperationAnswer::Json(schema::<RequestOutcome>());
        api.add(
            Operation::post(Role::Operator, path, id, summary, answer),
            post(move |State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>| async move {
                let batch = Box::new(state.batch(&id).await?);
                Ok::<_, WebError>(json_answer(state.backend.request(action, RequestTarget::Batch(batch)).await?))
            }),
        );
    }
}

async fn assign(state: &WebState, id: &str, wanted: &AssignmentWanted) -> Result<Response, WebError> {
    let batch = state.batch(id).await?;
    Ok(json_answer(state.backend.assign(&batch, wanted).await?))
}

async fn list(
    State(state): State<Arc<WebState>>,
    wanted: Result<Query<PageWanted>, QueryRejection>,
) -> Result<Response, WebError> {
    let wanted = wanted?.0;
    let most = limit(wanted.limit)?;
    let rows = match wanted.cursor {
        None => state.store.batches(most).await?,
        Some(batch) => state.store.batches_behind(batch, most).await?,
    };
    let next = rows.last().filter(|_| rows.len() == most as usize).map(|row| row.batch.id.to_string());
    Ok(json_answer(ListPart { items: rows.into_iter().map(BatchListItem::of).collect(), next }))
}

async fn show(State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>) -> Result<Made, WebError> {
    let batch = state.batch(&id).await?;
    state.backend.batch_view(&batch).await.map(Made)
}

async fn all_records(State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>) -> Result<Response, WebError> {
    let batch = state.batch(&id).await?.batch.id;
    of_table(state.backend.table(&batch.to_string(), TableFormat::Jsonl).await?.unwrap_or_default())
}

async fn export(
    State(state): State<Arc<WebState>>,
    PathOf(id): PathOf<String>,
    wanted: Result<Query<ExportWanted>, QueryRejection>,
) -> Result<Response, WebError> {
    let format = wanted?.0.format;
    let batch = state.batch(&id).await?.batch.id;
    let table = state.backend.table(&batch.to_string(), format).await?;
    let table = table.ok_or_else(|| WebError::conflict("No job of this batch has a list of records yet."))?;
    Ok(bytes(media_type(format), table))
}

async fn report_page(State(state): State<Arc<WebState>>, PathOf(id): PathOf<String>) -> Result<Response, WebError> {
    let batch = state.batch(&id).await?.batch.id;
    Ok(bytes("text/html; charset=utf-8", state.backend.report(batch).await?))
}
