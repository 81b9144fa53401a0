//! Frees the disk space of an old workspace except for the names to keep, and records what was removed, so that it
//! doesn't look like tampering.

use super::{
    error::WorkspaceError,
    files::{self, Workspace},
};
use overnight_core::job::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The record's name.
pub const PRUNED: &str = "pruned.json";
/// The only format.
const FORMAT: u32 = 1;
/// Bytes of a record that is read.
const MOST_RECORD: u64 = 256 * 1024;
/// Names that are never pruned, whatever a record lists.
const NEVER: [&str; 3] = ["output", "job.yaml", ".lock"];

/// The record that a workspace was pruned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PruneRecord {
    format: u32,
    /// The time of the last pruning.
    pub at: Timestamp,
    /// Names in the workspace's own folder, sorted.
    pub removed: BTreeSet<String>,
}

impl PruneRecord {
    /// The record of a workspace, if it has a readable one.
    pub fn read(workspace: &Workspace) -> Option<Self> {
        let text = workspace.read_text_at_most(PRUNED, MOST_RECORD).ok()?;
        let record: Self = serde_json::from_str(&text).ok()?;
        let is_ours = record.format == FORMAT && !record.removed.iter().any(|name| NEVER.contains(&name.as_str()));
        is_ours.then_some(record)
    }

    /// Whether this path was removed.
    pub fn has(&self, path: &str) -> bool {
        self.removed.contains(path.split('/').next().unwrap_or(path))
    }
}

impl Workspace {
    /// Removes everything that isn't in the workspace's own folder under one of these names, and records that first;
    /// `dry`: removes nothing. Returns the number of bytes freed. Only for the holder of the lock.
    pub fn prune(&self, kept: &[&str], now: Timestamp, dry: bool) -> Result<u64, WorkspaceError> {
        let failed = |error| WorkspaceError::from_io("remove", ".", error);
        let root = self.root().map_err(failed)?;
        let mut freed = 0;
        let mut gone = Vec::new();
        for item in root.entries().map_err(failed)? {
            let item = item.map_err(failed)?;
            let name = item.file_name().to_string_lossy().into_owned();
            if name == PRUNED || kept.contains(&name.as_str()) {
                continue;
            }
            let metadata = item.metadata().map_err(failed)?;
            if metadata.is_dir() {
                self.walk(&name, &mut |found| freed += found.entry.bytes)?;
            } else {
                freed += metadata.len();
            }
            gone.push((name, metadata.is_dir()));
        }
        if dry || gone.is_empty() {
            return Ok(freed);
        }
        let mut removed = PruneRecord::read(self).map(|before| before.removed).unwrap_or_default();
        removed.extend(gone.iter().map(|(name, _)| name.clone()));
        // Names and a moment only: it can always be written.
        let record = serde_json::to_vec_pretty(&PruneRecord { format: FORMAT, at: now, removed }).unwrap_or_default();
        self.write(PRUNED, &record)?;
        for (name, is_folder) in gone {
            let removed = if is_folder { root.remove_dir_all(&name) } else { root.remove_file(&name) };
            removed.map_err(|error| WorkspaceError::from_io("remove", &name, error))?;
        }
        files::sync(root).map_err(failed)?;
        Ok(freed)
    }
}
