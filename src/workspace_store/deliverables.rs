//! Downloads the deliverables of a job without the rest of its workspace.

use super::{ManifestKey, WorkspaceStore, WorkspaceStoreError};
use overnight_core::job::{record::Delivered, time::Timestamp};
use std::path::Path;

/// Where deliverables lie in a workspace.
const OUTPUT: &str = "output/";

impl WorkspaceStore {
    /// Puts the files that the database names as a job's deliverables, as far as its workspace has them in the store, into
    /// the folder `into`, which must not be there yet. Blocks are checked; whether the files are as they were delivered, who
    /// reads them has to see.
    pub async fn restore_deliverables(
        &self,
        key: &ManifestKey,
        delivered: &[Delivered],
        into: &Path,
        at: Timestamp,
    ) -> Result<(), WorkspaceStoreError> {
        let mut manifest = self.manifest(key).await?;
        manifest.files.retain(|path, _| path.starts_with(OUTPUT) && delivered.iter().any(|file| file.path == *path));
        self.restore(&manifest, into, at).await
    }
}
