//! The failure of a tool, and who can correct it.

use crate::workspace::{ResolveError, WorkspaceError};

/// Told to the model, or the end of the work for now.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// One sentence that says what to do instead.
    #[error("{0}")]
    Tell(String),
    /// The disk is full, or the workspace can't be written: nothing that a model could correct.
    #[error(transparent)]
    Fatal(WorkspaceError),
}

impl From<WorkspaceError> for ToolError {
    fn from(error: WorkspaceError) -> Self {
        if error.is_disk_full() || error.is_out_of_reach() { Self::Fatal(error) } else { Self::Tell(error.to_string()) }
    }
}

impl From<ResolveError> for ToolError {
    fn from(error: ResolveError) -> Self {
        match error {
            ResolveError::Refused(refusal) => Self::Tell(refusal.to_string()),
            ResolveError::Workspace(error) => error.into(),
        }
    }
}
