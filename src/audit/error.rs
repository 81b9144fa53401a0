//! Why a question about a job can't be answered.

use crate::workspace::{WorkspaceError, journal::JournalError};

/// One sentence each; if a number was asked for that doesn't exist, the sentence names those that do.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{path} holds no job: its journal is empty")]
    Empty { path: String },
    #[error("there is no phase {number}: {}", phases_there(*.last))]
    NoPhase { number: u32, last: Option<u32> },
    #[error("there is no turn {number}: {}", turns_there(*.turns))]
    NoTurn { number: u64, turns: u64 },
}

impl AuditError {
    /// Whether the question was wrong, rather than the record.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Workspace(_) => false,
            Self::Journal(error) => matches!(error, JournalError::OtherFormat { .. }),
            Self::Empty { .. } | Self::NoPhase { .. } | Self::NoTurn { .. } => true,
        }
    }
}

fn phases_there(last: Option<u32>) -> String {
    match last {
        None => "the job has none yet".to_owned(),
        Some(0) => "the job has phase 0 only".to_owned(),
        Some(last) => format!("the job has phases 0 to {last}"),
    }
}

fn turns_there(turns: u64) -> String {
    match turns {
        0 => "the model was not called yet".to_owned(),
        1 => "the job has turn 1 only".to_owned(),
        turns => format!("the job has turns 1 to {turns}"),
    }
}
