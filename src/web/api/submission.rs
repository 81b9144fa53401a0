//! Submits a batch: uploaded documents, or documents below the server's documents folder. A key makes repeating safe.

use super::operations::{ApiRoutes, Made, Operation, OperationAnswer, OperationBody, json_answer, schema};
use crate::{
    store::{Role, StoreError},
    view::BatchView,
    web::{
        WebError, access::Visitor, backend::WantedBatch, state::WebState, submit_page::named, uploads::UploadFolder,
    },
};
use axum::{
    Extension, Json,
    extract::{FromRequest, Multipart, Request, State},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use overnight_core::job::digest::sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// Paths of a submission; a folder is one.
const MOST_PATHS: usize = 10_000;
/// Bytes of a key.
const LONGEST_KEY: usize = 200;

/// What is to be submitted, of documents that lie on the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WantedSubmission {
    /// One of `/instructions`.
    instructions: String,
    /// Files and folders below the server's documents folder.
    #[serde(default)]
    #[schemars(length(max = MOST_PATHS))]
    paths: Vec<String>,
    /// Of the batch.
    #[serde(default)]
    name: Option<String>,
    /// One job for each document, in place of one for all.
    #[serde(default)]
    each: bool,
    /// Link documents that were done before to the job that did them.
    #[serde(default)]
    dedupe: bool,
    /// USD that the jobs may spend together.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    budget_usd: Option<f64>,
}

/// The same with files, as a form. Flags are `true` or `false`.
#[derive(JsonSchema)]
#[schemars(transform = without_budget)]
#[expect(dead_code, reason = "it tells the form, which is read part by part")]
struct SubmissionForm {
    instructions: String,
    /// The documents.
    #[schemars(schema_with = "binaries")]
    files: Vec<String>,
    #[schemars(default)]
    name: String,
    #[schemars(default)]
    each: bool,
    #[schemars(default)]
    dedupe: bool,
    #[schemars(schema_with = "amount")]
    #[schemars(default)]
    budget_usd: f64,
}

fn amount(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "number", "exclusiveMinimum": 0})
}

/// Who names no budget sends none.
fn without_budget(form: &mut schemars::Schema) {
    if let Some(budget) = form.pointer_mut("/properties/budget_usd").and_then(Value::as_object_mut) {
        budget.remove("default");
    }
}

fn binaries(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "array", "items": {"type": "string", "format": "binary"}, "minItems": 1})
}

/// The names of instructions.
#[derive(Debug, Serialize, JsonSchema)]
struct InstructionNames {
    instructions: Vec<String>,
}

/// Who asks.
#[derive(Debug, Serialize, JsonSchema)]
struct Caller {
    /// Null: the proxy that should name the person has not.
    name: Option<String>,
    /// `reader`, `reviewer` or `operator`.
    role: &'static str,
    /// The server only shows.
    read_only: bool,
}

pub(super) fn add(api: &mut ApiRoutes) {
    let names = OperationAnswer::Json(schema::<InstructionNames>());
    api.add(
        Operation::get("/instructions", "listInstructions", "What a batch can be submitted for.", names),
        get(instructions),
    );
    let caller = OperationAnswer::Json(schema::<Caller>());
    api.add(Operation::get("/me", "whoAmI", "In whose name this token acts, and what it allows.", caller), get(me));
    let made = OperationAnswer::Created(schema::<BatchView<'_>>());
    let submit = Operation::post(
        Role::Operator,
        "/batches",
        "submitBatch",
        "Put documents into the queue as a batch of jobs.",
        made,
    );
    let body = OperationBody::JsonOrForm(schema::<WantedSubmission>(), schema::<SubmissionForm>());
    api.add(Operation { body, ..submit }, post(submit_batch));
}

async fn instructions(State(state): State<Arc<WebState>>) -> Response {
    json_answer(InstructionNames { instructions: state.backend.instructions() })
}

async fn me(State(state): State<Arc<WebState>>, Extension(visitor): Extension<Visitor>) -> Response {
    json_answer(Caller { name: visitor.name, role: visitor.role.name(), read_only: state.config.read_only })
}

async fn submit_batch(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, WebError> {
    let key = key(&headers, &visitor)?;
    let id = Uuid::now_v7();
    let (wanted, folder) = read(&state, id, request).await?;
    // A fingerprint of the submission: using the same key for another one is an error.
    let content = folder.as_ref().map(UploadFolder::fingerprint).transpose()?;
    let fingerprint = sha256(json!([wanted, content]).to_string().as_bytes());
    // Two requests with the same key come one after the other.
    let place =
        usize::from_str_radix(&sha256(key.as_deref().unwrap_or_default().as_bytes())[..1], 16).unwrap_or_default();
    let _one_at_a_time = if key.is_some() { Some(state.submissions[place].lock().await) } else { None };
    let id = match &key {
        None => id,
        Some(key) => {
            let (known, of) = state.store.claim_request(key, id, &fingerprint).await?;
            if of != fingerprint {
                return Err(WebError::unprocessable(
                    "This Idempotency-Key was used for another submission: send a new one.",
                ));
            }
            known
        }
    };
    match state.store.batch(&id.to_string()).await {
        Ok(batch) => return Ok((StatusCode::OK, Made(state.backend.batch_view(&batch).await?)).into_response()),
        Err(StoreError::NoBatch { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    if let Err(refused) = submit(&state, id, wanted, folder).await {
        // A failed request has not used its key. If the key can't be freed, it stays taken for that request.
        if let Some(key) = key.filter(|_| refused.status.is_client_error()) {
            let _ = state.store.free_request(&key).await;
        }
        return Err(refused);
    }
    let made = state.store.batch(&id.to_string()).await?;
    Ok((StatusCode::CREATED, Made(state.backend.batch_view(&made).await?)).into_response())
}

/// Submits the batch `id`, with the files that were sent.
async fn submit(
    state: &WebState,
    id: Uuid,
    wanted: WantedSubmission,
    folder: Option<UploadFolder>,
) -> Result<(), WebError> {
    if wanted.paths.len() > MOST_PATHS {
        return Err(WebError::usage(format!(
            "At most {MOST_PATHS} paths are taken at once; name their folder instead."
        )));
    }
    let mut documents = Vec::new();
    for path in &wanted.paths {
        documents.extend(named(state.config.documents_root.as_deref(), path)?);
    }
    // If an earlier request was cut off after its upload, this one completes it.
    let uploaded = folder.map(|folder| folder.rename(&state.config.uploads, id)).transpose()?;
    documents.extend(uploaded.as_ref().map(|folder| folder.path.clone()));
    if documents.is_empty() {
        return Err(WebError::usage(
            "There is no document: send `files`, or `paths` below the server's documents folder.",
        ));
    }
    if !state.backend.instructions().contains(&wanted.instructions) {
        return Err(WebError::usage("There are no such instructions: GET /api/v1/instructions names all."));
    }
    let batch = WantedBatch {
        id,
        instructions: wanted.instructions,
        documents,
        each: wanted.each,
        name: wanted.name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()),
        budget_usd: wanted.budget_usd.map(|usd| usd.to_string()),
        dedupe: wanted.dedupe,
    };
    state.backend.submit(&batch).await?;
    if let Some(folder) = uploaded {
        folder.keep();
    }
    Ok(())
}

/// The request's key, combined with its sender.
fn key(headers: &HeaderMap, visitor: &Visitor) -> Result<Option<String>, WebError> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let key = key.to_str().unwrap_or_default();
    if key.is_empty() || key.len() > LONGEST_KEY {
        return Err(WebError::usage(format!("An Idempotency-Key has 1 to {LONGEST_KEY} letters, digits and signs.")));
    }
    Ok(Some(format!("{}\n{key}", visitor.name.as_deref().unwrap_or_default())))
}

/// Reads the request and the uploaded files.
async fn read(
    state: &WebState,
    id: Uuid,
    request: Request,
) -> Result<(WantedSubmission, Option<UploadFolder>), WebError> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("multipart/form-data") {
        let Json(wanted) = Json::<WantedSubmission>::from_request(request, &()).await?;
        return Ok((wanted, None));
    }
    let mut parts = Multipart::from_request(request, &()).await.map_err(|error| WebError::usage(error.body_text()))?;
    let (mut wanted, mut folder) = (WantedSubmission::default(), UploadFolder::new(&state.config.uploads, id)?);
    while let Some(part) = parts.next_field().await? {
        let name = part.name().unwrap_or_default().to_owned();
        if name == "files" {
            folder.add(part).await?;
            continue;
        }
        let text = part.text().await?;
        let flag = || match text.trim().to_lowercase().as_str() {
            "true" => Ok(true),
            "false" | "" => Ok(false),
            _ => Err(WebError::usage(format!("{name} is true or false."))),
        };
        match name.as_str() {
            "instructions" => wanted.instructions.clone_from(&text),
            "name" => wanted.name = Some(text.clone()),
            "each" => wanted.each = flag()?,
            "dedupe" => wanted.dedupe = flag()?,
            "paths" => wanted.paths.extend(text.lines().map(str::to_owned)),
            "budget_usd" => {
                let usd = text.trim().parse().map_err(|_| WebError::usage("budget_usd is a number of USD."))?;
                wanted.budget_usd = Some(usd);
            }
            _ => return Err(WebError::usage(format!("There is no field '{name}' in this form."))),
        }
    }
    let folder = Some(folder).filter(|folder| folder.files > 0);
    Ok((wanted, folder))
}
