//! Where the workspace of a batch's job is.

use crate::{store::QueueEntry, workspace::packed::is_there};
use std::path::{Path, PathBuf};

/// The workspace of a job: the path in its row, else the folder below `workspaces` of the job that did the work.
pub fn workspace_of(entry: &QueueEntry, workspaces: &Path) -> PathBuf {
    let said = Path::new(&entry.workspace);
    if !entry.workspace.is_empty() && is_there(said) {
        return said.to_owned();
    }
    workspaces.join(entry.same_as.unwrap_or(entry.job.id).to_string())
}
