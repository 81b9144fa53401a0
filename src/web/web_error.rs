//! The answers in place of a page.

use crate::{
    audit::AuditError,
    runner::{ReviewError, RunError},
    store::StoreError,
    workspace::{WorkspaceError, lock::LockError},
};
use askama::Template;
use axum::{
    extract::{
        multipart::MultipartError,
        rejection::{FormRejection, JsonRejection, PathRejection, QueryRejection},
    },
    http::{StatusCode, header::CONTENT_TYPE},
    response::{Html, IntoResponse, Response},
};
use serde_json::json;
use std::borrow::Cow;

/// Why there is no page, in one sentence.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct WebError {
    pub(super) status: StatusCode,
    pub(super) sentence: String,
}

#[derive(Template)]
#[template(path = "web/error.html")]
struct ErrorPage<'e> {
    status: StatusCode,
    sentence: &'e str,
}

impl WebError {
    /// The request can't be fulfilled like this; the person can correct it.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, sentence: sentence.into() }
    }

    /// An internal error.
    pub fn failed(sentence: impl Into<String>) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, sentence: sentence.into() }
    }

    pub(super) fn not_found(what: &str) -> Self {
        Self { status: StatusCode::NOT_FOUND, sentence: format!("There is no such {what}.") }
    }

    pub(super) fn too_large(most: usize) -> Self {
        let sentence = format!("What was sent is more than the {} MB that are taken at once.", most / 1_000_000);
        Self { status: StatusCode::PAYLOAD_TOO_LARGE, sentence }
    }

    pub(super) fn forbidden(sentence: &str) -> Self {
        Self { status: StatusCode::FORBIDDEN, sentence: sentence.to_owned() }
    }

    /// For a program that asked: problem details (RFC 9457, <https://www.rfc-editor.org/rfc/rfc9457>).
    pub(super) fn into_problem(self) -> Response {
        let title = self.status.canonical_reason();
        let problem = json!({ "title": title, "status": self.status.as_u16(), "detail": cut(&self.sentence) });
        (self.status, [(CONTENT_TYPE, "application/problem+json")], problem.to_string()).into_response()
    }

    /// There is no room for it now.
    pub(super) fn busy(sentence: &str) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, sentence: sentence.to_owned() }
    }

    /// The request is readable, but can't be performed.
    pub(super) fn unprocessable(sentence: &str) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, sentence: sentence.to_owned() }
    }

    /// It can't be done in the current state.
    pub fn conflict(sentence: impl Into<String>) -> Self {
        Self { status: StatusCode::CONFLICT, sentence: sentence.into() }
    }
}

/// Letters of a sentence that are answered: it may repeat what was sent.
const MOST_LETTERS: usize = 2_000;

fn cut(sentence: &str) -> Cow<'_, str> {
    match sentence.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => format!("{}…", &sentence[..end]).into(),
        None => sentence.into(),
    }
}

impl IntoResponse for WebError {
    fn into_response(self) -> Response {
        let mut answer = match (ErrorPage { status: self.status, sentence: &cut(&self.sentence) }).render() {
            Ok(page) => (self.status, Html(page)).into_response(),
            Err(_) => self.status.into_response(),
        };
        // A program gets it in another form.
        answer.extensions_mut().insert(self);
        answer
    }
}

impl From<askama::Error> for WebError {
    fn from(error: askama::Error) -> Self {
        Self::failed(format!("the page can't be made ({error})"))
    }
}

impl From<StoreError> for WebError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { .. } | StoreError::NoBatch { .. } | StoreError::Ambiguous { .. } => {
                Self { status: StatusCode::NOT_FOUND, sentence: error.to_string() }
            }
            StoreError::Unreachable { .. } => {
                Self { status: StatusCode::SERVICE_UNAVAILABLE, sentence: error.to_string() }
            }
            StoreError::LeaseLost { .. } | StoreError::Ended { .. } => Self::conflict(error.to_string()),
            StoreError::Connect { .. }
            | StoreError::Foreign { .. }
            | StoreError::Development { .. }
            | StoreError::Older { .. }
            | StoreError::Newer { .. }
            | StoreError::Full { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Sql { .. } => Self::failed(error.to_string()),
        }
    }
}

impl From<ReviewError> for WebError {
    fn from(error: ReviewError) -> Self {
        match error {
            ReviewError::NoResult { .. } => Self::conflict(error.to_string()),
            ReviewError::Refused(sentence) => Self::usage(sentence),
            ReviewError::Run(RunError::Store(error)) => error.into(),
            ReviewError::Run(RunError::Lock(LockError::Held { job, .. })) => Self {
                status: StatusCode::LOCKED,
                sentence: format!(
                    "Job {job} is being worked on just now: nothing was recorded, try again in a moment."
                ),
            },
            ReviewError::TakenBack(ref cause) => {
                let status = match cause {
                    RunError::Store(cause) => Self::from(cause.clone()).status,
                    cause if cause.is_usage() => StatusCode::BAD_REQUEST,
                    _ => StatusCode::INTERNAL_SERVER_ERROR,
                };
                Self { status, sentence: error.to_string() }
            }
            ReviewError::Untold { .. } => Self { status: StatusCode::SERVICE_UNAVAILABLE, sentence: error.to_string() },
            ReviewError::Run(error) if error.is_usage() => Self::usage(error.to_string()),
            ReviewError::Run(error) => Self::failed(error.to_string()),
        }
    }
}

impl From<AuditError> for WebError {
    fn from(error: AuditError) -> Self {
        let status = if error.is_usage() { StatusCode::NOT_FOUND } else { StatusCode::INTERNAL_SERVER_ERROR };
        Self { status, sentence: error.to_string() }
    }
}

impl From<WorkspaceError> for WebError {
    fn from(error: WorkspaceError) -> Self {
        let status = if error.is_not_found() { StatusCode::NOT_FOUND } else { StatusCode::INTERNAL_SERVER_ERROR };
        Self { status, sentence: error.to_string() }
    }
}

impl From<tokio::task::JoinError> for WebError {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::failed(error.to_string())
    }
}

/// A path without a route.
impl From<PathRejection> for WebError {
    fn from(_: PathRejection) -> Self {
        Self::not_found("page")
    }
}

impl From<QueryRejection> for WebError {
    fn from(rejection: QueryRejection) -> Self {
        Self::usage(rejection.body_text())
    }
}

impl From<JsonRejection> for WebError {
    fn from(rejection: JsonRejection) -> Self {
        Self { status: rejection.status(), sentence: rejection.body_text() }
    }
}

impl From<FormRejection> for WebError {
    fn from(rejection: FormRejection) -> Self {
        Self { status: rejection.status(), sentence: rejection.body_text() }
    }
}

impl From<MultipartError> for WebError {
    fn from(error: MultipartError) -> Self {
        Self { status: error.status(), sentence: error.body_text() }
    }
}
