//! `/evaluations`: evaluated golden sets with their results. Here a person may also report an error in a set.

use super::{
    WebError,
    access::Visitor,
    backend::EvaluatedSet,
    frame::{Frame, page},
    state::{PathOf, WebState},
};
use crate::eval::{CorrectForm, evaluation_body};
use askama::Template;
use axum::{
    Extension, Form, Router,
    extract::{State, rejection::FormRejection},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "web/evaluations.html")]
struct EvaluationsPage {
    frame: Frame,
    sets: Vec<EvaluatedSet>,
}

#[derive(Template)]
#[template(path = "web/evaluation.html")]
struct LiveEvaluationPage {
    frame: Frame,
    gold: String,
    body: String,
}

/// The form that reports an error in a set.
#[derive(Deserialize)]
pub(super) struct GoldForm {
    token: String,
    case: String,
    /// The deliverable; nothing: the first one.
    file: String,
    place: String,
    value: String,
}

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route("/evaluations", get(all)).route("/evaluations/{id}", get(one).post(correct))
}

async fn all(State(state): State<Arc<WebState>>, Extension(visitor): Extension<Visitor>) -> Result<Response, WebError> {
    let sets = state.backend.evaluated_sets().await?;
    page(&EvaluationsPage { frame: Frame::of(&state, &visitor), sets })
}

async fn one(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
) -> Result<Response, WebError> {
    let found = state.backend.evaluation(&id).await?.ok_or_else(|| WebError::not_found("evaluation"))?;
    let frame = Frame::of(&state, &visitor);
    let form = CorrectForm { action: format!("/evaluations/{id}"), token: frame.form_token.clone() };
    let form = Some(&form).filter(|_| !frame.read_only && frame.reviewer.is_some());
    let body = evaluation_body(&found, form)?;
    page(&LiveEvaluationPage { frame, gold: found.facts.gold, body })
}

async fn correct(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    form: Result<Form<GoldForm>, FormRejection>,
) -> Result<Response, WebError> {
    let GoldForm { token, case, file, place, value } = form?.0;
    visitor.check_form(Some(&token))?;
    let by = visitor.name.ok_or_else(|| WebError::usage("Nobody is named who could say so."))?;
    let file = Some(file.as_str()).filter(|file| !file.is_empty());
    state.backend.correct_gold(&id, (&case, file), (&place, &value), &by).await?;
    Ok(Redirect::to(&format!("/evaluations/{id}")).into_response())
}
