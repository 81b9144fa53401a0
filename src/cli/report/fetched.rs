//! Fetches deliverables whose workspaces are only in the workspace store into a temporary folder, from which they are collected.

use crate::{
    batch::result_manifest,
    cli::{AppContext, CliError, out, queue::DatabaseJob, workspace_store},
    report::collect::FetchedFolders,
    runner::now,
    workspace::{Workspace, lock::Lock},
    workspace_store::ManifestKey,
};
use overnight_core::job::id::JobId;
use std::path::Path;

/// The fetched deliverables. The folder is locked, so that no sweep removes it.
#[derive(Debug, Default)]
pub(super) struct FetchedDeliverables {
    pub(super) folders: FetchedFolders,
    folder: Option<(Workspace, Lock)>,
}

impl FetchedDeliverables {
    /// Fetches what `jobs`, each with the key of its manifest, delivered, if a store is configured, to beside `collected`, the folder to collect into.
    pub(super) async fn fetch(app: &AppContext, jobs: &[(JobId, String)], collected: &Path) -> Result<Self, CliError> {
        let mut fetched = Self::default();
        let Some(workspace_store) = workspace_store::open(&app.settings)?.filter(|_| !jobs.is_empty()) else {
            return Ok(fetched);
        };
        workspace_store.check_exists().await?;
        let beside = collected.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let failed = |why: &dyn std::fmt::Display| {
            let beside = out::one_line(&beside.display().to_string());
            CliError::failed(format!(
                "deliverables can't be brought to {beside} from {} ({why})",
                workspace_store.shown()
            ))
        };
        let root = Workspace::create_temporary(beside).map_err(|error| failed(&error))?;
        let lock = Lock::acquire(&root, now()).map_err(|error| failed(&error))?;
        for (id, key) in jobs {
            let into = root.path().join(id.to_string());
            let Some(row) = app.store.job(*id).await? else { continue };
            let folders = match ManifestKey::parse(key) {
                Ok(key) => workspace_store.restore_deliverables(&key, &row.state.deliverables, &into, now()).await,
                Err(error) => Err(error),
            };
            let folders = folders.map(|()| into).map_err(|error| error.to_string());
            fetched.folders.insert(*id, folders);
        }
        fetched.folder = Some((root, lock));
        Ok(fetched)
    }

    /// Best effort: leftovers are swept like those of a crash.
    pub(super) fn clear(self) {
        if let Some((root, lock)) = self.folder {
            drop(lock);
            let _ = root.discard();
        }
    }
}

impl AppContext {
    /// The key of the manifest of the workspace with a job's result, if that is in a workspace store.
    pub(super) async fn stored_at(&self, job: &DatabaseJob) -> Result<Option<String>, CliError> {
        Ok(result_manifest(self.store.as_ref(), &job.row).await?)
    }
}
