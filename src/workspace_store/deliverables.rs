//! Downloads the deliverables of a job without the rest of its workspace.

use super::{ManifestKey, WorkspaceStore, WorkspaceStoreError};
use overnight_core::job::{record::Delivered, time::Timestamp};
use std::path::Path;

/// The folder of deliverables in a workspace.
const OUTPUT: &str = "output/";

impl WorkspaceStore {
    /// Downloads the files that the database lists as a job's deliverables, as far as the store has them, into the
    /// folder `into`, which must not exist yet. Blocks are verified; whether the files are as delivered must be checked
    /// by the reader.
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
