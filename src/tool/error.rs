//! The failure of a tool, and who can correct it.

use crate::workspace::{ResolveError, WorkspaceError};
use overnight_core::job::{
    event::{CallEnd, ToolResult},
    refused_records::RefusedRecord,
};

/// Told to the model, or the end of the work for now.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// One sentence that says what to do instead.
    #[error("{0}")]
    Tell(String),
    /// None of the records of a call was written: the sentence, and the records.
    #[error("{text}")]
    RecordsRefused { text: String, refused: Vec<RefusedRecord> },
    /// The disk is full, or the workspace can't be written: nothing that a model could correct.
    #[error(transparent)]
    Fatal(WorkspaceError),
}

impl ToolError {
    /// The failed result that tells the model; the error again, where it could correct nothing.
    pub fn told(self) -> Result<ToolResult, WorkspaceError> {
        match self {
            Self::Tell(text) => Ok(ToolResult::plain(CallEnd::Failed, text)),
            Self::RecordsRefused { text, refused } => {
                Ok(ToolResult { refused, ..ToolResult::plain(CallEnd::Failed, text) })
            }
            Self::Fatal(error) => Err(error),
        }
    }
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
