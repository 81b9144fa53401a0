//! Makes the workspace of a claimed job, and moves an old one aside.

use super::batches::Batch;
use crate::{
    extraction::Extractor,
    runner::{NewJobRequest, RunError, create_as},
    store::ClaimedJob,
    workspace::private,
};
use overnight_core::job::time::Timestamp;
use std::path::{Path, PathBuf};

/// What a job needs of its claim and its batch to be made.
#[derive(Clone, Debug)]
pub(super) struct WorkspaceRequest<'b> {
    pub(super) claimed: &'b ClaimedJob,
    pub(super) batch: &'b Batch,
    pub(super) extractor: &'b Extractor,
    /// Below which the workspace is made.
    pub(super) workspaces: &'b Path,
}

/// Makes the workspace, and gives its path. What stands there from a worker that died before it could say so is taken as it is.
pub(super) fn make_workspace(request: &WorkspaceRequest<'_>) -> Result<PathBuf, RunError> {
    let WorkspaceRequest { claimed, batch, extractor, workspaces } = request;
    let path = workspaces.join(claimed.id.to_string());
    if path.is_dir() {
        return Ok(path);
    }
    let documents: Vec<PathBuf> = claimed.sources.iter().map(PathBuf::from).collect();
    let settings = &batch.settings;
    let new_job = NewJobRequest {
        instructions: settings.instructions.clone(),
        instructions_text: &batch.instructions_text,
        documents: &documents,
        own: &[],
        extractor,
        model: batch.models.first.as_ref(),
        base_url: settings.base_url.as_deref(),
        api_key_env: settings.api_key_env.as_deref(),
        models: settings.models.as_deref(),
    };
    create_as(claimed.id, claimed.created, workspaces, &new_job).map(|created| created.path)
}

/// Where the workspaces of earlier tries are kept, below the workspaces folder.
const EARLIER: &str = "earlier-tries";

/// Moves the workspace of a job that has failed aside: what is tried again begins anew, and what was done is kept.
pub(super) fn set_aside(path: &Path, at: Timestamp) -> Result<PathBuf, RunError> {
    let failed =
        |error: std::io::Error| RunError::Request(format!("{} can't be moved aside ({error})", path.display()));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.with_file_name(EARLIER);
    private::make_folders(&folder).map_err(failed)?;
    let aside = folder.join(format!("{name}-{}", at.to_string().replace(':', "-")));
    std::fs::rename(path, &aside).map_err(failed)?;
    Ok(aside)
}
