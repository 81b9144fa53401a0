//! `/jobs/{id}/review`: the records beside their sources, and what a person says of them. The page is that of `overnight review`,
//! with forms; what is said is recorded as by the commands `approve`, `correct`, `settle` and `feedback`.

use super::{
    WebError,
    access::Visitor,
    server::{PathOf, WebState},
};
use crate::{
    review::{JobReview, Mode, PageImageError, content_policy, page_image, record_anchor, render_job},
    runner::ReviewAction,
};
use askama::Template;
use axum::{
    Extension, Form, Router,
    extract::{State, rejection::FormRejection},
    http::{
        StatusCode,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    },
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use serde::Deserialize;
use std::sync::Arc;

/// The fields of all forms of the page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ReviewForm {
    token: String,
    file: String,
    record: String,
    place: String,
    value: String,
    finding: String,
    reason: String,
    text: String,
    comment: Option<String>,
}

/// What is answered to a form that was refused: why, and the form again as it was filled in.
#[derive(Template)]
#[template(path = "web/again.html")]
struct AgainPage<'f> {
    sentence: &'f str,
    /// Where the form is posted to, and which word of that is what was meant.
    action: String,
    act: &'f str,
    /// The page that the form stood on.
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
) -> Result<Response, WebError> {
    let found = state.find(&id).await?;
    let review = state.records.review(found).await?;
    let mode = Mode::Live {
        read_only: state.config.read_only,
        reviewer: visitor.name,
        form_token: state.access.form_token().to_owned(),
    };
    // The page's own style and script are known by their hashes.
    let policy = format!("{}; frame-ancestors 'none'", content_policy(&mode));
    let html = tokio::task::spawn_blocking(move || render_job(&review, &mode)).await?;
    Ok(([(CONTENT_SECURITY_POLICY, policy)], Html(html)).into_response())
}

/// A page of a PDF as an image, `3.png`.
async fn picture(
    State(state): State<Arc<WebState>>,
    PathOf((id, document, page)): PathOf<(String, usize, String)>,
) -> Result<Response, WebError> {
    let page: Option<u64> = page.strip_suffix(".png").and_then(|page| page.parse().ok());
    let page = page.ok_or_else(|| WebError::not_found("page"))?;
    let review = state.records.review(state.find(&id).await?).await?;
    let extractor = state.backend.extractor()?;
    // Each is painted by a process of its own.
    let _room = state.pictures.acquire().await;
    let image = tokio::task::spawn_blocking(move || page_image(&review, &extractor, document, page)).await?;
    let image = image.map_err(|error| match error {
        PageImageError::NoSuchPage => WebError::not_found("page"),
        PageImageError::Workspace(_) | PageImageError::Refused(_) => WebError::failed(error.to_string()),
    })?;
    // Documents of a job never change, but marks on them do.
    Ok(([(CONTENT_TYPE, "image/png"), (CACHE_CONTROL, "private, max-age=60")], image.png).into_response())
}

/// Records what a person says, and leads back to where that person was.
async fn act(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf((id, act)): PathOf<(String, String)>,
    form: Result<Form<ReviewForm>, FormRejection>,
) -> Result<Response, WebError> {
    let form = form?.0.with_own_breaks();
    state.access.check_form(&visitor, Some(&form.token))?;
    let found = state.find(&id).await?;
    let by =
        visitor.name.ok_or_else(|| WebError::forbidden("The proxy doesn't say who you are: nothing is recorded."))?;
    let anchor = form.anchor(&*state.records.review(found.clone()).await?);
    let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
    let review = format!("/jobs/{}/review{anchor}", found.row.job.id);
    let action = form.action(&act)?;
    let path = WebState::own_workspace(&found)?;
    match state.backend.review(&found, &path, &by, action).await {
        Ok(()) => Ok(Redirect::to(&review).into_response()),
        Err(WebError { status, sentence }) if status != StatusCode::INTERNAL_SERVER_ERROR => {
            let action = format!("/jobs/{}/{act}", found.row.job.id);
            let page = AgainPage { sentence: &sentence, action, act: &act, review, form: &form };
            Ok((status, Html(page.render()?)).into_response())
        }
        Err(error) => Err(error),
    }
}

impl ReviewForm {
    /// Browsers end the lines of a text with two characters; nobody typed the first of them.
    fn with_own_breaks(mut self) -> Self {
        let texts = [&mut self.value, &mut self.reason, &mut self.text];
        for text in texts.into_iter().chain(&mut self.comment) {
            *text = text.replace("\r\n", "\n");
        }
        self
    }

    /// What the form of this name says.
    fn action(&self, act: &str) -> Result<ReviewAction, WebError> {
        let Self { file, record, place, value, finding, reason, text, comment, .. } = self.clone();
        Ok(match act {
            "approve" => ReviewAction::Approve { comment },
            "approve-record" => ReviewAction::ApproveRecord { file, record, comment },
            "correct" => ReviewAction::Correct { file, place, value, comment },
            "settle" => ReviewAction::Settle { finding, reason },
            "feedback" => ReviewAction::SendBack { text },
            _ => return Err(WebError::not_found("page")),
        })
    }

    /// What it is about, which nobody types.
    fn meant(&self) -> [(&str, &str); 5] {
        let Self { token, file, record, place, finding, .. } = self;
        [("token", token), ("file", file), ("record", record), ("place", place), ("finding", finding)]
    }

    /// What was typed into the form of this name: name, label and text of each field.
    fn typed(&self, act: &str) -> Vec<(&str, &str, &str)> {
        let comment = ("comment", "Comment", self.comment.as_deref().unwrap_or_default());
        match act {
            "correct" => vec![("value", "Value", &self.value), comment],
            "settle" => vec![("reason", "Why it is no fault", &self.reason)],
            "feedback" => vec![("text", "What is to be changed", &self.text)],
            _ => vec![comment],
        }
    }

    /// The record that is spoken of, on the page.
    fn anchor(&self, review: &JobReview) -> Option<String> {
        let is_it = |place: &str| self.record == place || self.place.starts_with(place);
        let mut records = review.records.iter();
        let record = records.find(|record| {
            let is_named = record.file == self.file && is_it(&record.place);
            is_named || record.findings.iter().any(|finding| finding.id == self.finding)
        });
        record.map(|record| record_anchor(&record.file, &record.place))
    }
}
