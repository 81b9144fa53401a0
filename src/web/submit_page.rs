//! `/submit`: a new batch in two steps. First the instructions and the documents, from which comes what it may cost; then the word
//! to submit it. Both steps are the command `overnight submit`.

use super::{
    WebError,
    access::Visitor,
    backend::WantedBatch,
    frame::{Frame, page},
    state::{PathOf, WebState},
    uploads::{self, UploadFolder},
};
use crate::store::{Role, StoreError};
use askama::Template;
use axum::{
    Extension, Form,
    extract::{Multipart, State, rejection::FormRejection},
    response::{IntoResponse, Redirect, Response},
};
use serde::Deserialize;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use uuid::Uuid;

#[derive(Template)]
#[template(path = "web/submit.html")]
struct SubmitPage<'s> {
    frame: Frame,
    instructions: Vec<String>,
    most_upload_mb: u64,
    documents_root: Option<&'s Path>,
}

#[derive(Template)]
#[template(path = "web/estimate.html")]
struct EstimatePage {
    frame: Frame,
    id: Uuid,
    wanted: WantedForm,
    lines: Vec<String>,
}

/// The fields of both forms.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WantedForm {
    token: String,
    instructions: String,
    name: String,
    budget_usd: String,
    /// `on`, if it is chosen.
    each: String,
    dedupe: String,
    /// Paths below the documents' root, one per line.
    paths: String,
}

pub(super) async fn form(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
) -> Result<Response, WebError> {
    visitor.must_be(Role::Operator)?;
    page(&SubmitPage {
        frame: Frame::of(&state, &visitor),
        instructions: state.backend.instructions(),
        most_upload_mb: state.config.most_upload_mb,
        documents_root: state.config.documents_root.as_deref(),
    })
}

/// Takes the documents, and estimates the cost of the batch.
pub(super) async fn estimate(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    mut parts: Multipart,
) -> Result<Response, WebError> {
    visitor.must_be(Role::Operator)?;
    let id = Uuid::now_v7();
    let mut wanted = WantedForm::default();
    let mut folder: Option<UploadFolder> = None;
    while let Some(field) = parts.next_field().await? {
        let name = field.name().unwrap_or_default().to_owned();
        if name == "token" {
            wanted.token = field.text().await?;
            continue;
        }
        // It is the first field: nothing is written before it was seen.
        visitor.check_form(Some(&wanted.token))?;
        match name.as_str() {
            "files" => {
                if folder.is_none() {
                    folder = Some(UploadFolder::new(&state.config.uploads, id)?);
                }
                if let Some(folder) = &mut folder {
                    folder.add(field).await?;
                }
            }
            "instructions" => wanted.instructions = field.text().await?,
            "name" => wanted.name = field.text().await?,
            "budget_usd" => wanted.budget_usd = field.text().await?,
            "each" => wanted.each = field.text().await?,
            "dedupe" => wanted.dedupe = field.text().await?,
            "paths" => wanted.paths = field.text().await?,
            _ => {}
        }
    }
    visitor.check_form(Some(&wanted.token))?;
    let uploaded = folder.as_ref().filter(|folder| folder.files > 0).map(|folder| folder.path.clone());
    let told = state.backend.dry_run(&wanted.batch(&state, id, uploaded.clone())?).await?;
    if let Some(folder) = folder.filter(|_| uploaded.is_some()) {
        folder.keep();
    }
    // The first line states that nothing was written, as the page does itself.
    let lines = told.lines().skip(1).map(str::to_owned).collect();
    page(&EstimatePage { frame: Frame::of(&state, &visitor), id, wanted, lines })
}

/// Submits the estimated batch. Doing it twice creates one batch.
pub(super) async fn submit(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf(id): PathOf<String>,
    form: Result<Form<WantedForm>, FormRejection>,
) -> Result<Response, WebError> {
    let wanted = form?.0;
    visitor.must_be(Role::Operator)?;
    visitor.check_form(Some(&wanted.token))?;
    let id: Uuid = id.parse().map_err(|_| WebError::not_found("upload"))?;
    match state.store.batch(&id.to_string()).await {
        Ok(_) => {}
        Err(StoreError::NoBatch { .. }) => {
            let uploaded = uploads::folder(&state.config.uploads, id);
            state.backend.submit(&wanted.batch(&state, id, uploaded)?).await?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Redirect::to(&format!("/batches/{id}")).into_response())
}

impl WantedForm {
    /// The requested batch, with the uploaded documents.
    fn batch(&self, state: &WebState, id: Uuid, uploaded: Option<PathBuf>) -> Result<WantedBatch, WebError> {
        let typed = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let known = state.backend.instructions().into_iter().find(|name| *name == self.instructions);
        let instructions = known.ok_or_else(|| WebError::usage("Choose instructions from the list."))?;
        let mut documents = named(state.config.documents_root.as_deref(), &self.paths)?;
        documents.extend(uploaded);
        if documents.is_empty() {
            return Err(WebError::usage("There is no document yet: choose files to upload, or name some."));
        }
        Ok(WantedBatch {
            id,
            instructions,
            documents,
            each: !self.each.is_empty(),
            name: typed(&self.name),
            budget_usd: typed(&self.budget_usd),
            dedupe: !self.dedupe.is_empty(),
        })
    }
}

/// The documents that are named, one a line. Each must really be below the root, wherever links lead.
pub(super) fn named(root: Option<&Path>, paths: &str) -> Result<Vec<PathBuf>, WebError> {
    let lines: Vec<&str> = paths.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let Some(root) = root else {
        return if lines.is_empty() {
            Ok(Vec::new())
        } else {
            Err(WebError::forbidden("This server takes uploads only: it was started without --documents-root."))
        };
    };
    let root = root
        .canonicalize()
        .map_err(|error| WebError::failed(format!("the documents' root can't be read ({error})")))?;
    let path = |line: &&str| {
        let path = root.join(line).canonicalize().ok().filter(|path| path.starts_with(&root));
        path.ok_or_else(|| WebError::usage(format!("There is no file or folder '{line}' below the documents' root.")))
    };
    lines.iter().map(path).collect()
}
