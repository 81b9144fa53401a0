//! Reviews of a result, recorded as by the commands `approve`, `correct`, `settle` and `feedback`.

use super::{
    object_body::ObjectBody,
    operations::{ApiRoutes, Made, Operation, OperationAnswer, schema},
};
use crate::{
    review::JobReview,
    runner::{CorrectedValue, ReviewAction},
    store::Role,
    view::JobView,
    web::{
        WebError,
        access::Visitor,
        review_page::record_patiently,
        state::{PathOf, WebState},
    },
};
use axum::{Extension, extract::State, routing::post};
use overnight_core::job::seen_result::ApprovalWay;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// Accepts a result, or one record of it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ApprovalBody {
    /// One record, `$.requirements[3]`; null: the whole result.
    record: Option<String>,
    /// The deliverable that the record is in; null: the first one with records.
    file: Option<String>,
    comment: Option<String>,
    /// In whose name: operators only.
    #[serde(rename = "as")]
    name: Option<String>,
}

/// Another value for a field, or a record; null deletes a record.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CorrectionBody {
    /// The field, `$.requirements[3].text`, or a record.
    place: String,
    #[schemars(schema_with = "any_value")]
    value: Value,
    /// The deliverable; null: the first one with records.
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    comment: Option<String>,
    /// In whose name: operators only.
    #[serde(default, rename = "as")]
    name: Option<String>,
}

/// Sends the result back: the job goes on with this among its instructions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FeedbackBody {
    /// What is to be changed.
    text: String,
    /// In whose name: operators only.
    #[serde(default, rename = "as")]
    name: Option<String>,
}

/// Says why a finding is no fault.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SettledBody {
    /// Such as `r3`.
    finding: String,
    reason: String,
    /// In whose name: operators only.
    #[serde(default, rename = "as")]
    name: Option<String>,
}

fn any_value(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "description": "As it is to stand in the deliverable; null deletes a record." })
}

pub(super) fn add(api: &mut ApiRoutes) {
    let job = || OperationAnswer::Json(schema::<JobView<'_>>());
    let operation = |path, id, summary| Operation::post(Role::Reviewer, path, id, summary, job());
    api.add(
        operation("/jobs/{id}/approve", "approveJob", "Accept a result, or one record of it.")
            .with_body::<ApprovalBody>(),
        post(approve),
    );
    api.add(
        operation("/jobs/{id}/correct", "correctJob", "Give a field another value, beside the model's.")
            .with_body::<CorrectionBody>(),
        post(correct),
    );
    api.add(
        operation("/jobs/{id}/settle", "settleFinding", "Say why a finding is no fault.").with_body::<SettledBody>(),
        post(settle),
    );
    api.add(
        operation("/jobs/{id}/feedback", "sendBackJob", "Send a result back: the job goes on with what is said.")
            .with_body::<FeedbackBody>(),
        post(feedback),
    );
}

async fn approve(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    ObjectBody(body): ObjectBody<ApprovalBody>,
) -> Result<Made, WebError> {
    let ApprovalBody { record, file, comment, name } = body;
    record_act(&state, visitor, &id, name, |review| match record {
        None => Ok(ReviewAction::Approve { comment, seen: None }),
        Some(record) => Ok(ReviewAction::ApproveRecord { file: deliverable(review, file)?, record, comment }),
    })
    .await
}

async fn correct(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    ObjectBody(body): ObjectBody<CorrectionBody>,
) -> Result<Made, WebError> {
    let CorrectionBody { place, value, file, comment, name } = body;
    let value = CorrectedValue::Exact(value);
    record_act(&state, visitor, &id, name, |review| {
        Ok(ReviewAction::Correct { file: deliverable(review, file)?, place, value, comment })
    })
    .await
}

async fn settle(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    ObjectBody(body): ObjectBody<SettledBody>,
) -> Result<Made, WebError> {
    let SettledBody { finding, reason, name } = body;
    record_act(&state, visitor, &id, name, |_| Ok(ReviewAction::Settle { finding, reason })).await
}

async fn feedback(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    ObjectBody(body): ObjectBody<FeedbackBody>,
) -> Result<Made, WebError> {
    let FeedbackBody { text, name } = body;
    record_act(&state, visitor, &id, name, |_| Ok(ReviewAction::SendBack { text })).await
}

/// The deliverable that is meant: the named one, else that of the first record.
fn deliverable(review: &JobReview, named: Option<String>) -> Result<String, WebError> {
    let first = || review.records.first().map(|record| record.file.clone());
    named
        .or_else(first)
        .ok_or_else(|| WebError::usage("No deliverable of this job has records: name the one that is meant, `file`."))
}

/// Records an action, and shows the resulting state of the job.
async fn record_act(
    state: &WebState,
    visitor: Visitor,
    id: &str,
    name: Option<String>,
    action: impl FnOnce(&JobReview) -> Result<ReviewAction, WebError>,
) -> Result<Made, WebError> {
    if name.is_some() {
        visitor.must_be(Role::Operator)?;
    }
    let by = match name {
        Some(name) => name,
        None => visitor.named()?,
    };
    let found = state.find(id).await?;
    let path = WebState::own_workspace(&found)?;
    let read = path.clone();
    let review = tokio::task::spawn_blocking(move || JobReview::read_records(&read)).await?;
    let review = review.map_err(|error| WebError::conflict(error.to_string()))?;
    let mut action = action(&review)?;
    if let ReviewAction::Approve { seen, .. } = &mut action {
        *seen = Some(Box::new(state.viewings.told(&review, &by, ApprovalWay::Api)));
    }
    record_patiently(state, &found, &path, &by, action).await?;
    state.backend.job_view(found.row.job.id).await.map(Made)
}
