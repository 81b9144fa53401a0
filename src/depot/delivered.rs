//! What a job delivered, out of the store and without the rest of its workspace.

use super::{Depot, DepotError, ManifestKey};
use overnight_core::job::{record::Delivered, time::Timestamp};
use std::path::Path;

/// Where deliverables lie in a workspace.
const OUTPUT: &str = "output/";

impl Depot {
    /// Puts the files that the database names as a job's deliverables, as far as its workspace has them in the store, into
    /// the folder `into`, which must not be there yet. Blocks are checked; whether the files are as they were delivered, who
    /// reads them has to see.
    pub async fn bring_delivered(
        &self,
        key: &ManifestKey,
        delivered: &[Delivered],
        into: &Path,
        at: Timestamp,
    ) -> Result<(), DepotError> {
        let mut manifest = self.manifest(key).await?;
        manifest.files.retain(|path, _| path.starts_with(OUTPUT) && delivered.iter().any(|file| file.path == *path));
        self.restore(&manifest, into, at).await
    }
}
