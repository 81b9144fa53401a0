//! The failure of a tool, and who can correct it.

use crate::workspace::{ResolveError, WorkspaceError};
use overnight_core::job::{
    event::{CallEnd, ToolResult},
    refused_records::RefusedRecord,
};

/// An error to report to the model, or one that ends the work for now.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// One sentence that tells the model what to do instead.
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
    /// The failed result for the model; or the error again, if the model can't correct it.
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
