//! A command's failure: one sentence for a person, and the exit code.

use crate::{config::ConfigError, runner::RunError, store::StoreError};

/// Exit codes.
pub mod exit {
    pub const COMPLETED: u8 = 0;
    pub const FAILED: u8 = 1;
    pub const USAGE: u8 = 2;
    pub const PARTIAL_OR_BLOCKED: u8 = 3;
    pub const HELD: u8 = 4;
    pub const CANCELLED: u8 = 5;
    pub const INTERRUPTED: u8 = 130;
}

/// The failure in one sentence.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    pub message: String,
    pub code: u8,
}

impl CliError {
    /// The user's request or configuration is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: exit::USAGE }
    }

    /// The work failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: exit::FAILED }
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => error.into(),
            error if error.is_usage() => Self::usage(error.to_string()),
            error => Self::failed(error.to_string()),
        }
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { .. }
            | StoreError::Ambiguous { .. }
            | StoreError::NoBatch { .. }
            | StoreError::Connect { .. }
            | StoreError::Foreign { .. }
            | StoreError::Development { .. }
            | StoreError::Older { .. }
            | StoreError::Newer { .. } => Self::usage(error.to_string()),
            StoreError::Unreachable { .. }
            | StoreError::Full { .. }
            | StoreError::LeaseLost { .. }
            | StoreError::Ended { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Sql { .. } => Self::failed(error.to_string()),
        }
    }
}
