//! A new workspace goes to the disk as a whole, before it gets its name. Thousands of documents one after the other, each with
//! its folder, would take the better part of a minute.

use super::{error::WorkspaceError, files::Workspace, fsync};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The number of files of a new workspace that are synced at the same time.
const SYNCED_AT_ONCE: usize = 16;

impl Workspace {
    /// Has every file and folder on the disk: files first, several at a time, because a disk that is asked for one after
    /// the other waits for each.
    pub(super) fn sync_all(&self) -> Result<(), WorkspaceError> {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for item in WalkDir::new(&self.path) {
            let item = item.map_err(|error| WorkspaceError::from_io("list", ".", error.into()))?;
            let path = Path::new(".").join(item.path().strip_prefix(&self.path).unwrap_or(item.path()));
            if item.file_type().is_dir() { &mut folders } else { &mut files }.push(path);
        }
        for paths in [files, folders] {
            let share = paths.len().div_ceil(SYNCED_AT_ONCE).max(1);
            std::thread::scope(|scope| {
                let parts: Vec<_> = paths.chunks(share).map(|part| scope.spawn(|| self.sync_each(part))).collect();
                parts
                    .into_iter()
                    .try_for_each(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            })?;
        }
        Ok(())
    }

    fn sync_each(&self, paths: &[PathBuf]) -> Result<(), WorkspaceError> {
        paths.iter().try_for_each(|path| {
            let opened =
                self.root().and_then(|root| root.open(path)).and_then(|file| fsync::counted(|| file.sync_all()));
            opened.map_err(|error| WorkspaceError::from_io("write", &path.display().to_string(), error))
        })
    }
}
