//! A workspace under a temporary name: it gets its own name when it is complete, or is swept when a crash left it.

use super::{
    error::WorkspaceError,
    files::{TEMPORARY, Workspace, temporary_name},
    fsync, placement, private,
};
use crate::failpoint;
use overnight_core::job::time::Timestamp;
use std::{io, path::Path};
use uuid::Uuid;

/// How old an unfinished workspace must be before it is swept, in milliseconds: between its making and its lock it is
/// nobody's.
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

    /// Removes the unfinished workspaces in `parent` that a crash left: those that nobody holds and that are older than
    /// [`UNFINISHED_MS`]. Says how many. `now` is compared with the time in their names.
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
            if !kind.is_dir() || now.millis_since(made) < UNFINISHED_MS {
                continue;
            }
            // Gone meanwhile, or not ours to open: somebody else's business.
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

/// When the unfinished thing called `name` was made; `None` for every other name.
fn made_at(name: &str) -> Option<Timestamp> {
    let (seconds, nanos) = Uuid::try_parse(name.strip_prefix(TEMPORARY)?).ok()?.get_timestamp()?.to_unix();
    let moment = chrono::DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanos)?;
    Some(Timestamp::new(moment))
}
