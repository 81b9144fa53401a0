//! `/jobs/{id}/review`: the records beside their sources, and their review. The page is that of `overnight review`,
//! with forms; reviews are recorded as by the commands `approve`, `correct`, `settle` and `feedback`.

use super::{
    WebError,
    access::Visitor,
    backend::FoundJob,
    state::{PathOf, WebState},
};
use crate::{
    review::{
        JobReview, Mode, PageImageError, ReviewedRecord, content_policy, page_image, page_query, record_anchor,
        render_job,
    },
    runner::{CorrectedValue, ReviewAction, now},
    store::Role,
};
use askama::Template;
use axum::{
    Extension, Form, Json, Router,
    extract::{
        Query, State,
        rejection::{FormRejection, QueryRejection},
    },
    http::{
        HeaderMap, StatusCode,
        header::{ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    },
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use overnight_core::job::{json_path::within, seen_result::ApprovalWay};
use serde::Deserialize;
use std::{path::Path, sync::Arc, time::Duration};
use tokio::time::Instant;
use uuid::Uuid;

/// The time for which a decision waits for another one on the same job to be written, and the interval of its checks.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);
/// The most milliseconds that one view of a page counts: no one looks at it for longer.
const LONGEST_VIEW_MS: u64 = 12 * 60 * 60 * 1000;

/// The page of the review.
#[derive(Clone, Copy, Debug, Deserialize)]
struct PageQuery {
    page: Option<usize>,
    /// Its reader goes through the queue of the job's batch.
    queue: Option<u8>,
}

impl PageQuery {
    /// From 1.
    fn number(self) -> usize {
        self.page.unwrap_or(1).max(1)
    }

    /// The batch whose queue the reader goes through.
    fn queue(self, found: &FoundJob) -> Option<Uuid> {
        self.queue.and(found.row.queue.as_ref()).map(|queue| queue.batch)
    }
}

/// The fields of all forms of the page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ReviewForm {
    token: String,
    /// How often the job had been sent back when the page was made.
    result: Option<usize>,
    /// The number of corrections of the record, or of the whole result, when the page was made.
    corrections: Option<usize>,
    file: String,
    record: String,
    place: String,
    value: String,
    finding: String,
    reason: String,
    text: String,
    comment: Option<String>,
    /// For how long the page was in view, in milliseconds, and the elements of its records that were, by a script.
    seen_ms: Option<u64>,
    seen: String,
}

/// The answer to a refused form: the reason, and the form as it was filled in.
#[derive(Template)]
#[template(path = "web/again.html")]
struct AgainPage<'f> {
    sentence: &'f str,
    /// The URL of the form, whose last word is the action.
    action: String,
    act: &'f str,
    /// The page that contained the form.
    review: String,
    form: &'f ReviewForm,
}

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/jobs/{id}/review", get(review))
        .route("/jobs/{id}/pages/{document}/{page}", get(picture))
        .route("/jobs/{id}/{act}", post(act))
}

async fn review(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    page: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, WebError> {
    let (found, page) = (state.find(&id).await?, page?.0);
    let queue = page.queue(&found).map(|batch| format!("/batches/{batch}/queue"));
    let (status, next) = (found.row.state.status, state.next_step(&found.row).await?);
    let review = state.review_for(found, page.number(), visitor.name.as_deref()).await?;
    if let Some(name) = &visitor.name {
        state.viewings.opened(&review, name, now());
    }
    let mode = Mode::Live {
        queue,
        status,
        next,
        read_only: !visitor.may(Role::Reviewer),
        reviewer: visitor.name,
        form_token: visitor.form_token,
    };
    // The page's own style and script are known by their hashes.
    let policy = format!("{}; frame-ancestors 'none'", content_policy(&mode));
    let html = tokio::task::spawn_blocking(move || render_job(&review, &mode)).await?;
    Ok(([(CONTENT_SECURITY_POLICY, policy)], Html(html)).into_response())
}

/// A page of a PDF as an image, `3.png`, or where its quotes stand on it, `3.json`.
async fn picture(
    State(state): State<Arc<WebState>>,
    PathOf((id, document, page)): PathOf<(String, usize, String)>,
    of: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, WebError> {
    let (page, form) = page.split_once('.').ok_or_else(|| WebError::not_found("page"))?;
    let page: u64 = page.parse().map_err(|_| WebError::not_found("page"))?;
    let is_image = match form {
        "png" => true,
        "json" => false,
        _ => return Err(WebError::not_found("page")),
    };
    let review = state.records.review(state.find(&id).await?, of?.0.number()).await?;
    let extractor = state.backend.extractor()?;
    // Each is rendered by a separate process.
    let _room = state.pictures.acquire().await;
    let image = tokio::task::spawn_blocking(move || page_image(&review, &extractor, document, page)).await?;
    let image = image.map_err(|error| match error {
        PageImageError::NoSuchPage => WebError::not_found("page"),
        PageImageError::Workspace(_) | PageImageError::Refused(_) => WebError::failed(error.to_string()),
    })?;
    // Documents of a job never change, but marks on them do.
    let cached = [(CACHE_CONTROL, "private, max-age=60")];
    if is_image {
        return Ok((cached, [(CONTENT_TYPE, "image/png")], image.png).into_response());
    }
    Ok((cached, Json(image.boxes)).into_response())
}

/// Records a person's review, and redirects to the place where that person was.
async fn act(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf((id, act)): PathOf<(String, String)>,
    page: Result<Query<PageQuery>, QueryRejection>,
    headers: HeaderMap,
    form: Result<Form<ReviewForm>, FormRejection>,
) -> Result<Response, WebError> {
    let form = form?.0.with_own_breaks();
    visitor.check_form(Some(&form.token))?;
    let found = state.find(&id).await?;
    let job = format!("/jobs/{}", found.row.job.id);
    let page = page?.0;
    let batch = page.queue(&found);
    let (page, query) = (page.number(), page_query(page.number(), batch.is_some()));
    let review = format!("{job}/review{query}");
    if act == "seen" {
        let by = visitor.named()?;
        let review = state.review_for(found, page, Some(&by)).await?;
        form.note_seen(&state, &review, &by);
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    match decide(&state, visitor, found, &act, (&form, page)).await {
        Ok(_) if act == "approve" && batch.is_some() => {
            let next = batch.map(|batch| format!("/batches/{batch}/next?after={id}")).unwrap_or_default();
            Ok(Redirect::to(&next).into_response())
        }
        // Only the statement about the job changes on the page.
        Ok(_) if act == "feedback" => Ok(Redirect::to(&format!("{review}#next")).into_response()),
        Ok(place) => Ok(Redirect::to(&format!("{review}{place}")).into_response()),
        // The page's script keeps the typed text.
        Err(error) if headers.get(ACCEPT).is_some_and(|kind| kind == "application/json") => Ok(error.into_problem()),
        Err(WebError { status, sentence }) if status.is_client_error() && status != StatusCode::NOT_FOUND => {
            let page = AgainPage {
                sentence: &sentence,
                action: format!("{job}/{act}{query}"),
                act: &act,
                review,
                form: &form,
            };
            Ok((status, Html(page.render()?)).into_response())
        }
        Err(error) => Err(error),
    }
}

/// Records a review by `by`. While another decision on the job is being written, this one waits.
pub(super) async fn record_patiently(
    state: &WebState,
    found: &FoundJob,
    path: &Path,
    by: &str,
    action: ReviewAction,
) -> Result<(), WebError> {
    let begun = Instant::now();
    loop {
        match state.backend.review(found, path, by, action.clone()).await {
            Err(error) if error.status == StatusCode::LOCKED && begun.elapsed() < PATIENCE => {
                tokio::time::sleep(PAUSE).await;
            }
            recorded => return recorded,
        }
    }
}

/// Records a decision, and returns its place on the page. While another one on the job is being written, it waits.
async fn decide(
    state: &WebState,
    visitor: Visitor,
    found: FoundJob,
    act: &str,
    (form, page): (&ReviewForm, usize),
) -> Result<String, WebError> {
    let by = visitor.named()?;
    let path = WebState::own_workspace(&found)?;
    let begun = Instant::now();
    form.note_seen(state, &*state.review_for(found.clone(), page, Some(&by)).await?, &by);
    loop {
        let review = state.review_for(found.clone(), page, Some(&by)).await?;
        form.check_is_current(&review)?;
        let mut action = form.action(act)?;
        if let ReviewAction::Approve { seen, .. } = &mut action {
            *seen = Some(Box::new(state.viewings.told(&review, &by, ApprovalWay::Page)));
        }
        match state.backend.review(&found, &path, &by, action).await {
            Ok(()) => return Ok(form.anchor(&review)),
            Err(error) if error.status == StatusCode::LOCKED && begun.elapsed() < PATIENCE => {
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
}

impl ReviewForm {
    /// Browsers end the lines of a text with two characters; people don't type the first of them.
    fn with_own_breaks(mut self) -> Self {
        let texts = [&mut self.value, &mut self.reason, &mut self.text];
        for text in texts.into_iter().chain(&mut self.comment) {
            *text = text.replace("\r\n", "\n");
        }
        self
    }

    /// The review action of the form with this name.
    fn action(&self, act: &str) -> Result<ReviewAction, WebError> {
        let Self { file, record, place, value, finding, reason, text, comment, .. } = self.clone();
        Ok(match act {
            "approve" => ReviewAction::Approve { comment, seen: None },
            "approve-record" => ReviewAction::ApproveRecord { file, record, comment },
            "correct" => ReviewAction::Correct { file, place, value: CorrectedValue::Typed(value), comment },
            "settle" => ReviewAction::Settle { finding, reason },
            "feedback" => ReviewAction::SendBack { text },
            _ => return Err(WebError::not_found("page")),
        })
    }

    /// Stores what was in view according to the page's script.
    fn note_seen(&self, state: &WebState, review: &JobReview, by: &str) {
        if let Some(visible_ms) = self.seen_ms {
            let anchors: Vec<&str> = self.seen.split(' ').filter(|anchor| !anchor.is_empty()).collect();
            state.viewings.seen(review, by, &anchors, visible_ms.min(LONGEST_VIEW_MS));
        }
    }

    /// Refuses a review of something that the person has not seen in its current state.
    fn check_is_current(&self, review: &JobReview) -> Result<(), WebError> {
        if self.result.is_some_and(|result| result != review.feedback.len()) {
            return Err(WebError::conflict("The job was sent back since you opened the page: look at its new result."));
        }
        let corrections = self.record(review).map_or(review.corrections as usize, |record| record.corrections.len());
        if self.corrections.is_some_and(|seen| seen != corrections) {
            return Err(WebError::conflict("A field was corrected since you opened the page: look at it first."));
        }
        Ok(())
    }

    /// The hidden fields of the form.
    fn meant(&self) -> Vec<(&str, String)> {
        let Self { token, result, corrections, file, record, place, finding, .. } = self;
        let texts = [("token", token), ("file", file), ("record", record), ("place", place), ("finding", finding)];
        let seen = [("result", result), ("corrections", corrections)];
        let seen = seen.into_iter().filter_map(|(name, count)| Some((name, (*count)?.to_string())));
        texts.map(|(name, text)| (name, text.clone())).into_iter().chain(seen).collect()
    }

    /// The typed fields of the form with this name: name, label and text of each.
    fn typed(&self, act: &str) -> Vec<(&str, &str, &str)> {
        let comment = ("comment", "Comment", self.comment.as_deref().unwrap_or_default());
        match act {
            "correct" => vec![("value", "New value", &self.value), comment],
            "settle" => vec![("reason", "Why it is no fault", &self.reason)],
            "feedback" => vec![("text", "What is to be changed", &self.text)],
            _ => vec![comment],
        }
    }

    /// The record under review.
    fn record<'r>(&self, review: &'r JobReview) -> Option<&'r ReviewedRecord> {
        let is_it = |place: &str| self.record == place || within(&self.place, place).is_some();
        review.records.iter().find(|record| {
            let is_named = record.file == self.file && is_it(&record.place);
            is_named || record.findings.iter().any(|finding| finding.id == self.finding)
        })
    }

    /// The place of the reviewed item on the page.
    fn anchor(&self, review: &JobReview) -> String {
        match self.record(review) {
            Some(record) => format!("#{}", record_anchor(&record.file, &record.place)),
            // It has just been added.
            None if self.place.ends_with(']') => format!("#{}", record_anchor(&self.file, &self.place)),
            None if self.finding.is_empty() => String::new(),
            None => "#findings-name".to_owned(),
        }
    }
}
