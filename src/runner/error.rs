//! Why a job can't be made, opened or driven.

use crate::{
    model::ModelError,
    store::StoreError,
    workspace::{
        WorkspaceError, archive::ArchiveError, error::is_out_of_reach, journal::JournalError, lock::LockError,
    },
    workspace_store::WorkspaceStoreError,
};
use overnight_core::job::instructions::InstructionsError;
use overnight_documents::DocumentError;
use std::{error::Error, io};

/// What stops the runner; each is one sentence.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error(transparent)]
    Instructions(#[from] InstructionsError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The workspace store did not do what it was asked.
    #[error(transparent)]
    WorkspaceStore(WorkspaceStoreError),
    /// Nothing is wrong with the record; this program is.
    #[error(
        "{file} line {line} can't be read by overnight {}: overnight {version} has worked on this job since ({what}); use that version",
        env!("CARGO_PKG_VERSION")
    )]
    OtherVersion { file: String, line: u64, version: String, what: String },
    /// The model's key, name or address is wrong: a person must change it.
    #[error("{0}")]
    Configuration(String),
    /// The request itself can't be met.
    #[error("{0}")]
    Request(String),
    /// The machine had no decision for an answer: a defect of the program, told rather than looped on.
    #[error("the job can't go on: no decision follows from {0}; please report this with the job's journal")]
    NoDecision(String),
}

/// `ENFILE` and `EMFILE`, of the machine and of the process.
const OUT_OF_FILES: [i32; 2] = [23, 24];

impl RunError {
    /// Whether it is room on the disk, and nothing else, that is missing.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Workspace(error) => error.is_disk_full(),
            Self::Journal(error) => error.is_disk_full(),
            Self::Archive(error) => error.is_disk_full(),
            Self::Store(error) => matches!(error, StoreError::Full { .. }),
            Self::WorkspaceStore(error) => error.is_disk_full(),
            Self::Document(_)
            | Self::Instructions(_)
            | Self::Model(_)
            | Self::Lock(_)
            | Self::OtherVersion { .. }
            | Self::Configuration(_)
            | Self::Request(_)
            | Self::NoDecision(_) => false,
        }
    }

    /// Whether this process, or the machine, has too many files open: nothing is wrong with the job.
    pub fn is_out_of_files(&self) -> bool {
        self.of_system().and_then(io::Error::raw_os_error).is_some_and(|code| OUT_OF_FILES.contains(&code))
    }

    /// Whether the system refuses the workspace's files: a folder that can only be read, a permission, a failing disk.
    pub fn is_out_of_reach(&self) -> bool {
        let is_of_workspace = matches!(self, Self::Workspace(_) | Self::Journal(_) | Self::Archive(_) | Self::Lock(_));
        is_of_workspace && self.of_system().is_some_and(is_out_of_reach)
    }

    /// What the system said, where it is at the bottom of this.
    fn of_system(&self) -> Option<&io::Error> {
        let mut next: Option<&dyn Error> = Some(self);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            next = error.source();
        }
        None
    }

    /// Whether what is elsewhere, and can't be reached, is all that is missing.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Store(error) => error.retryable(),
            Self::WorkspaceStore(error) => error.retryable(),
            Self::Document(_)
            | Self::Instructions(_)
            | Self::Model(_)
            | Self::Workspace(_)
            | Self::Journal(_)
            | Self::Archive(_)
            | Self::Lock(_)
            | Self::OtherVersion { .. }
            | Self::Configuration(_)
            | Self::Request(_)
            | Self::NoDecision(_) => false,
        }
    }

    /// Whether the user's request or configuration is what is wrong, rather than the job or the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Document(_)
            | Self::Instructions(_)
            | Self::Model(_)
            | Self::OtherVersion { .. }
            | Self::Configuration(_)
            | Self::Request(_) => true,
            Self::Workspace(_)
            | Self::Journal(_)
            | Self::Archive(_)
            | Self::Lock(_)
            | Self::Store(_)
            | Self::WorkspaceStore(_)
            | Self::NoDecision(_) => false,
        }
    }
}

/// The database is the database, whoever asked it.
impl From<WorkspaceStoreError> for RunError {
    fn from(error: WorkspaceStoreError) -> Self {
        match error {
            WorkspaceStoreError::Database(error) => Self::Store(error),
            error => Self::WorkspaceStore(error),
        }
    }
}
