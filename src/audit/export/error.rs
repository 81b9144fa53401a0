//! Why a record can't be made.

use crate::{audit::AuditError, workspace::WorkspaceError};
use std::io;

/// One sentence each.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error("there is already something at {path}: name a new file, or delete that one")]
    Exists { path: String },
    #[error("the record can't be written to {path} ({cause})")]
    Write { path: String, cause: io::Error },
    #[error("a page of the record can't be made ({0})")]
    Page(#[from] askama::Error),
    #[error("{0}")]
    Sign(String),
    #[error("{0}")]
    TimeStamp(String),
}

impl RecordError {
    /// Whether the request was wrong, rather than the record or the disk.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Audit(error) => error.is_usage(),
            Self::Exists { .. } => true,
            Self::Workspace(_) | Self::Write { .. } | Self::Page(_) | Self::Sign(_) | Self::TimeStamp(_) => false,
        }
    }
}
