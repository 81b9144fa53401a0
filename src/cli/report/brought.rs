//! Deliverables whose workspaces are not here any more, out of the workspace store and into a folder that is gone when
//! they were collected.

use crate::{
    batch::result_manifest,
    cli::{CliError, Office, depot, out, queue::Known},
    depot::ManifestKey,
    report::collect::Brought,
    runner::now,
    workspace::{Workspace, lock::Lock},
};
use std::path::Path;

/// The folder that they are brought into; nobody sweeps it while this is there.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pub(super) brought: Brought,
    folder: Option<(Workspace, Lock)>,
}

impl Shelf {
    /// Brings what `jobs` delivered, where a store is configured; `key` is each one's manifest. `collected` is the folder
    /// that it is to be collected into.
    pub(super) async fn fill(office: &Office, jobs: &[(Known, String)], collected: &Path) -> Result<Self, CliError> {
        let mut shelf = Self::default();
        let Some(depot) = depot::open(&office.settings)?.filter(|_| !jobs.is_empty()) else { return Ok(shelf) };
        depot.look().await?;
        let beside = collected.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let failed = |why: &dyn std::fmt::Display| {
            let beside = out::one_line(&beside.display().to_string());
            CliError::failed(format!("deliverables can't be brought to {beside} from {} ({why})", depot.shown()))
        };
        let root = Workspace::create_temporary(beside).map_err(|error| failed(&error))?;
        let lock = Lock::acquire(&root, now()).map_err(|error| failed(&error))?;
        for (job, key) in jobs {
            let into = root.path().join(job.id().to_string());
            let brought = match ManifestKey::parse(key) {
                Ok(key) => depot.bring_delivered(&key, &job.row.state.deliverables, &into, now()).await,
                Err(error) => Err(error),
            };
            let brought = brought.map(|()| into).map_err(|error| error.to_string());
            shelf.brought.insert(job.id(), brought);
        }
        shelf.folder = Some((root, lock));
        Ok(shelf)
    }

    /// Best effort: what is left is swept as what a crash leaves.
    pub(super) fn clear(self) {
        if let Some((root, lock)) = self.folder {
            drop(lock);
            let _ = root.discard();
        }
    }
}

impl Office {
    /// The manifest of the workspace that a job's result lies in, where that is in a workspace store.
    pub(super) async fn stored_at(&self, job: &Known) -> Result<Option<String>, CliError> {
        Ok(result_manifest(self.store.as_ref(), &job.row).await?)
    }
}
