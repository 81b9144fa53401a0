//! Which job a person means by a name, and where it lies: a workspace folder as it stands, which needs no database, or a job
//! of the database.

use super::{CliError, Office, out};
use crate::{audit::AuditError, config::Settings, job::id::JobId, store::JobRow};
use std::path::{Path, PathBuf};

/// A job that was found.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// As the database has it; none for a folder.
    pub(super) row: Option<JobRow>,
}

impl Place {
    /// A folder that exists is taken as one; everything else is asked of the database.
    pub(super) async fn find(settings: Settings, name: &str) -> Result<Self, CliError> {
        if let Some(path) = folder(name) {
            return Ok(Self { path, row: None });
        }
        // What is written as a path can't be an id, and opening a database for it would only hide the mistake.
        if name.contains(std::path::is_separator) {
            return Err(CliError::usage(format!("there is no workspace folder at {}", out::one_line(name))));
        }
        let office = Office::open(settings).await?;
        let row = office.job(name).await?;
        Ok(Self { path: office.workspace(&row)?, row: Some(row) })
    }

    /// What the job is called in commands that a person may type next.
    pub(super) fn name(&self, id: JobId) -> String {
        match &self.row {
            Some(_) => id.to_string(),
            None => out::one_line(&self.path.display().to_string()),
        }
    }
}

/// The folder that `name` is the path of.
fn folder(name: &str) -> Option<PathBuf> {
    Some(Path::new(name)).filter(|path| path.is_dir()).map(Path::to_owned)
}

impl From<AuditError> for CliError {
    fn from(error: AuditError) -> Self {
        if error.is_usage() { Self::usage(error.to_string()) } else { Self::failed(error.to_string()) }
    }
}
