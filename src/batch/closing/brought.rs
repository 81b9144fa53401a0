//! Deliverables whose workspaces are not on the closing worker's machine: they come out of the workspace store into
//! `delivered/<batch>/<job>/` below the workspaces' folder. The closing job's sources name them there, so that they stay until that job is pruned.

use super::{BatchError, Sources};
use crate::{
    depot::{DepotError, ManifestKey},
    runner::aside,
    store::{JobRow, Store, StoreError},
    workspace::{Workspace, WorkspaceError},
};
use overnight_core::job::{id::JobId, time::Timestamp};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Below the workspaces' folder.
const DELIVERED: &str = "delivered";

/// What was brought for closing jobs below the workspaces' folder: each folder, with the closing job that reads it.
pub fn brought(workspaces: &Path) -> Vec<(PathBuf, JobId)> {
    let folders = std::fs::read_dir(workspaces.join(DELIVERED)).into_iter().flatten().flatten();
    let folders = folders.filter(|folder| folder.file_type().is_ok_and(|kind| kind.is_dir()));
    let named = folders.filter_map(|folder| {
        let batch: Uuid = folder.file_name().to_str()?.parse().ok()?;
        Some((folder.path(), super::closing_ids(batch).1))
    });
    named.collect()
}

/// The folder with what the job of `row` delivered, brought from the store where `here` doesn't have it all; or why it can't
/// be had. `None`: there is no need of it, or no store that has it.
pub(super) async fn bring(
    store: &dyn Store,
    row: &JobRow,
    batch: Uuid,
    sources: Sources<'_>,
    here: Option<&Workspace>,
    now: Timestamp,
) -> Result<Option<Result<Workspace, String>>, BatchError> {
    let Some(depot) = sources.depot.filter(|_| !row.state.deliverables.is_empty() && !aside(|| has_all(here, row)))
    else {
        return Ok(None);
    };
    let Some(key) = result_manifest(store, row).await? else { return Ok(None) };
    let into = place(sources.workspaces, batch, row.job.id);
    if !into.is_dir() {
        let brought = async {
            // What is missing in a store that is not mounted is not left out.
            depot.ready(store).await?;
            depot.bring_delivered(&ManifestKey::parse(&key)?, &row.state.deliverables, &into, now).await
        };
        let brought = brought.await;
        match brought {
            // Another worker with the same folder was first.
            Ok(()) | Err(DepotError::Workspace(WorkspaceError::Exists { .. })) => {}
            Err(error) if error.retryable() || error.is_disk_full() => return Err(error.into()),
            Err(error) => return Ok(Some(Err(error.to_string()))),
        }
    }
    Ok(Some(Workspace::open(&into).map_err(|error| error.to_string())))
}

/// Where they come to lie.
fn place(workspaces: &Path, batch: Uuid, job: JobId) -> PathBuf {
    workspaces.join(DELIVERED).join(batch.to_string()).join(job.to_string())
}

/// Whether all lies there as it was delivered: a machine may still have what it left behind when another went on.
fn has_all(here: Option<&Workspace>, row: &JobRow) -> bool {
    here.is_some_and(|here| {
        row.state.deliverables.iter().all(|file| here.hash(&file.path).is_ok_and(|found| found.sha256 == file.sha256))
    })
}

/// The manifest of the workspace that the result lies in: that of the job that did the work.
pub async fn result_manifest(store: &dyn Store, row: &JobRow) -> Result<Option<String>, StoreError> {
    let Some(queue) = &row.queue else { return Ok(None) };
    let Some(done) = queue.same_as else { return Ok(queue.manifest.clone()) };
    Ok(store.job(done).await?.and_then(|row| row.queue?.manifest))
}
