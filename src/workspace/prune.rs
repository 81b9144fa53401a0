//! An old workspace that gives its room back, but for what is named.

use super::{
    error::WorkspaceError,
    rooted::{self, Workspace},
};
use cap_std::fs::Metadata;

impl Workspace {
    /// Removes everything that doesn't lie in the workspace's own folder under one of these names; `dry`: nothing. How many
    /// bytes that frees. Only for who holds the lock.
    pub fn prune(&self, kept: &[&str], dry: bool) -> Result<u64, WorkspaceError> {
        let failed = |error| WorkspaceError::from_io("remove", ".", error);
        let mut freed = 0;
        let mut count = |_: &str, metadata: &Metadata| freed += metadata.len();
        let mut gone = Vec::new();
        for item in self.root.entries().map_err(failed)? {
            let item = item.map_err(failed)?;
            let name = item.file_name().to_string_lossy().into_owned();
            if kept.contains(&name.as_str()) {
                continue;
            }
            let metadata = item.metadata().map_err(failed)?;
            if metadata.is_dir() {
                self.walk(&name, &mut |path, _, metadata| count(&path, metadata))?;
            } else {
                count(&name, &metadata);
            }
            gone.push((name, metadata.is_dir()));
        }
        if dry {
            return Ok(freed);
        }
        for (name, is_folder) in gone {
            let removed = if is_folder { self.root.remove_dir_all(&name) } else { self.root.remove_file(&name) };
            removed.map_err(|error| WorkspaceError::from_io("remove", &name, error))?;
        }
        rooted::sync(&self.root).map_err(failed)?;
        Ok(freed)
    }
}
