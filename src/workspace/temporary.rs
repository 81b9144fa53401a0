//! A workspace under a temporary name: it gets its own name when it is complete, or is swept when a crash left it.

use super::{
    error::WorkspaceError,
    files::{TEMPORARY, Workspace, temporary_name},
    fsync, placement, private,
};
use crate::failpoint;
use overnight_core::job::time::Timestamp;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};
use uuid::Uuid;

/// The age in milliseconds from which on an unfinished workspace is swept: between its creation and its lock no process
/// holds it.
const UNFINISHED_MS: u64 = 60_000;

impl Workspace {
    /// Makes an empty workspace under a temporary name in `parent` (which is made if need be). It becomes a job's
    /// with [`Self::install`]; a crash before that leaves nothing that looks like a job.
    pub fn create_temporary(parent: &Path) -> Result<Self, WorkspaceError> {
        let path = parent.join(temporary_name());
        private::make_folders(parent)
            .and_then(|()| {
                placement::spread(parent);
                private::make_folders(&path)
            })
            .map_err(|error| WorkspaceError::from_io("create the workspace", &path.display().to_string(), error))?;
        failpoint::hit("workspace.made");
        Ok(Self { is_temporary: true, ..Self::open(&path)? })
    }

    /// Gives a temporary workspace its final name beside it. Never replaces anything.
    pub fn install(self, name: &str) -> Result<Self, WorkspaceError> {
        let path = self.path.with_file_name(name);
        let shown = path.display().to_string();
        if path.symlink_metadata().is_ok() {
            return Err(WorkspaceError::Exists { path: shown });
        }
        let failed = |error| WorkspaceError::from_io("name the workspace", &shown, error);
        self.sync_all()?;
        failpoint::hit("workspace.whole");
        std::fs::rename(&self.path, &path).map_err(failed)?;
        failpoint::hit("workspace.named");
        if let Some(parent) = path.parent() {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            std::fs::File::open(parent).and_then(|folder| fsync::counted(|| folder.sync_all())).map_err(failed)?;
        }
        Ok(Self { source: self.source, path, is_temporary: false })
    }

    /// Removes a temporary workspace that could not be finished. Refuses any other.
    pub fn discard(self) -> Result<(), WorkspaceError> {
        let shown = self.path.display().to_string();
        if !self.name().starts_with(TEMPORARY) {
            return Err(WorkspaceError::Exists { path: shown });
        }
        std::fs::remove_dir_all(&self.path).map_err(|error| WorkspaceError::from_io("remove", &shown, error))
    }

    /// [`Self::sweep_unfinished`] for a process that makes many workspaces in `parent`: it scans the folder, which may
    /// have a hundred thousand entries, once in [`UNFINISHED_MS`]. Best effort: remains of a crash don't matter.
    pub fn sweep_at_times(parent: &Path, now: Timestamp) {
        static SWEPT: Mutex<BTreeMap<PathBuf, Timestamp>> = Mutex::new(BTreeMap::new());
        let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.get(parent).is_none_or(|last| now.millis_since(*last) >= UNFINISHED_MS) {
            swept.insert(parent.to_owned(), now);
            drop(swept);
            let _ = Self::sweep_unfinished(parent, now);
        }
    }

    /// Removes unfinished workspaces and records of a crash in `parent`: those that no process holds and that are older
    /// than [`UNFINISHED_MS`]. Returns their number. `now` is compared with the time in their names.
    pub fn sweep_unfinished(parent: &Path, now: Timestamp) -> Result<u64, WorkspaceError> {
        let failed = |error| WorkspaceError::from_io("sweep", &parent.display().to_string(), error);
        let items = match std::fs::read_dir(parent) {
            Ok(items) => items,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(failed(error)),
        };
        let mut swept = 0;
        for item in items {
            let item = item.map_err(failed)?;
            let name = item.file_name();
            let Some(made) = name.to_str().and_then(made_at) else { continue };
            let kind = item.file_type().map_err(failed)?;
            if now.millis_since(made) < UNFINISHED_MS {
                continue;
            }
            if kind.is_file() {
                swept += u64::from(is_nobodys(&item.path()) && std::fs::remove_file(item.path()).is_ok());
                continue;
            }
            if !kind.is_dir() {
                continue;
            }
            // Removed meanwhile, or no right to open it: not our concern.
            let Ok(workspace) = Self::open(&item.path()) else { continue };
            if let Ok(_hold) = super::lock::InspectionLock::acquire(&workspace)
                && workspace.discard().is_ok()
            {
                swept += 1;
            }
        }
        Ok(swept)
    }
}

/// A record that is being written is held by its writer.
fn is_nobodys(path: &Path) -> bool {
    std::fs::File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// The creation time of the unfinished thing called `name`; `None` for every other name.
fn made_at(name: &str) -> Option<Timestamp> {
    let (seconds, nanos) = Uuid::try_parse(name.strip_prefix(TEMPORARY)?).ok()?.get_timestamp()?.to_unix();
    let moment = chrono::DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanos)?;
    Some(Timestamp::new(moment))
}
