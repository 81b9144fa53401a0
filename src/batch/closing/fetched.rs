//! Fetches deliverables from the workspace store into `delivered/<batch>/<job>/` below the workspaces' folder, where they stay as the
//! sources of the closing job until that is pruned.

use super::{BatchError, DeliverableSources};
use crate::{
    blocking::run_blocking,
    store::{JobRow, JobStore, StoreError},
    workspace::{Workspace, WorkspaceError},
    workspace_store::{ManifestKey, WorkspaceStoreError},
};
use overnight_core::job::{id::JobId, time::Timestamp};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Below the workspaces' folder.
const DELIVERED: &str = "delivered";

/// The folders of fetched deliverables below the workspaces' folder, each with the closing job that reads it.
pub fn fetched_folders(workspaces: &Path) -> Vec<(PathBuf, JobId)> {
    let folders = std::fs::read_dir(workspaces.join(DELIVERED)).into_iter().flatten().flatten();
    let folders = folders.filter(|folder| folder.file_type().is_ok_and(|kind| kind.is_dir()));
    let named = folders.filter_map(|folder| {
        let batch: Uuid = folder.file_name().to_str()?.parse().ok()?;
        Some((folder.path(), super::closing_ids(batch).1))
    });
    named.collect()
}

/// The folder with the deliverables of `row`'s job, fetched from the store, or why there is none. `None`: `here` has them all, or no store does.
pub(super) async fn fetch_deliverables(
    store: &dyn JobStore,
    row: &JobRow,
    batch: Uuid,
    sources: DeliverableSources<'_>,
    here: Option<&Workspace>,
    now: Timestamp,
) -> Result<Option<Result<Workspace, String>>, BatchError> {
    let Some(workspace_store) =
        sources.workspace_store.filter(|_| !row.state.deliverables.is_empty() && !run_blocking(|| has_all(here, row)))
    else {
        return Ok(None);
    };
    let Some(key) = result_manifest(store, row).await? else { return Ok(None) };
    let into = target_folder(sources.workspaces, batch, row.job.id);
    if !into.is_dir() {
        let fetched = async {
            // A store that is not mounted is an error here, so that its files are not left out.
            workspace_store.ready(store).await?;
            workspace_store.restore_deliverables(&ManifestKey::parse(&key)?, &row.state.deliverables, &into, now).await
        };
        let fetched = fetched.await;
        match fetched {
            // Another worker with the same folder was first.
            Ok(()) | Err(WorkspaceStoreError::Workspace(WorkspaceError::Exists { .. })) => {}
            Err(error) if error.retryable() || error.is_disk_full() => return Err(error.into()),
            Err(error) => return Ok(Some(Err(error.to_string()))),
        }
    }
    Ok(Some(Workspace::open(&into).map_err(|error| error.to_string())))
}

/// The folder for the fetched deliverables of a job.
fn target_folder(workspaces: &Path, batch: Uuid, job: JobId) -> PathBuf {
    workspaces.join(DELIVERED).join(batch.to_string()).join(job.to_string())
}

/// Whether all deliverables are here unchanged: if another machine went on with the job, this one may have an old copy.
fn has_all(here: Option<&Workspace>, row: &JobRow) -> bool {
    here.is_some_and(|here| {
        row.state.deliverables.iter().all(|file| here.hash(&file.path).is_ok_and(|found| found.sha256 == file.sha256))
    })
}

/// The key of the manifest of the workspace with the result, which is that of the job that did the work.
pub async fn result_manifest(store: &dyn JobStore, row: &JobRow) -> Result<Option<String>, StoreError> {
    let Some(queue) = &row.queue else { return Ok(None) };
    let Some(done) = queue.same_as else { return Ok(queue.manifest.clone()) };
    Ok(store.job(done).await?.and_then(|row| row.queue?.manifest))
}
