//! Errors of files of the workspace, in sentences that can be shown to a person or to the model.

use std::io;

/// The system's error code for a failing disk.
const EIO: i32 = 5;

/// The error of every operation on a workspace's files.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("there is no workspace folder at {path}")]
    NoWorkspace { path: String },
    #[error("'{path}' does not exist in the workspace")]
    NotFound { path: String },
    #[error("'{path}' is a folder, not a file: name a file in it")]
    IsFolder { path: String },
    #[error("'{path}' can't be opened: something before the last '/' is a file, not a folder")]
    NotAFolder { path: String },
    #[error("'{path}' is neither a file nor a folder and can't be opened")]
    NotAFile { path: String },
    #[error("'{path}' is not UTF-8 text")]
    NotText { path: String },
    #[error(
        "'{path}' has {bytes} bytes, more than the {max} that can be read at once: search it, or read a smaller file"
    )]
    TooLarge { path: String, bytes: u64, max: u64 },
    #[error("'{path}' exists already and is never overwritten")]
    Exists { path: String },
    #[error(
        "'{path}' is a symbolic link, or leads over one, out of the workspace: put what belongs there in its place"
    )]
    LeadsOut { path: String },
    /// Calls for a hold with reason `disk`: nothing was lost, and nothing was written.
    #[error("failed to {action} '{path}': the disk is full ({cause})")]
    DiskFull {
        action: &'static str,
        path: String,
        #[source]
        cause: io::Error,
    },
    #[error("failed to {action} '{path}': {cause}")]
    Io {
        action: &'static str,
        path: String,
        #[source]
        cause: io::Error,
    },
}

impl WorkspaceError {
    /// Adds the file and the action to an operating system's error.
    pub(crate) fn from_io(action: &'static str, path: &str, cause: io::Error) -> Self {
        let path = path.to_owned();
        match cause.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::IsADirectory => Self::IsFolder { path },
            io::ErrorKind::NotADirectory => Self::NotAFolder { path },
            // The capability library's own word, without a code of the system, because the system was never asked.
            io::ErrorKind::PermissionDenied if cause.raw_os_error().is_none() => Self::LeadsOut { path },
            _ if is_full(&cause) => Self::DiskFull { action, path, cause },
            _ => Self::Io { action, path, cause },
        }
    }

    /// Whether the only problem is a lack of space.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::DiskFull { .. })
    }

    /// Whether the system itself refuses: a folder that can only be read, a permission, a failing disk. A path that the
    /// capability library refuses carries no code of the system's.
    pub fn is_out_of_reach(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if is_out_of_reach(cause))
    }

    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }
}

/// Whether the system refuses, and not this program.
pub(crate) fn is_out_of_reach(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| {
        matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied) || code == EIO
    })
}

/// No space, quota used up, or a file-size limit of the process: all three go away when a person makes room.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}
