//! Which job a person means by a name, and where it lies: a workspace folder as it stands, which needs no database, or a job
//! of the database.

use super::{CliError, Office, out, queue::Known};
use crate::{audit::AuditError, config::Settings};
use overnight_core::job::id::JobId;
use std::path::{Path, PathBuf};

/// A job that was found.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// As the database has it; none for a folder.
    pub(super) job: Option<Known>,
}

impl Place {
    /// A path, which has a slash, is that of a folder; everything else is a name, and asked of the database.
    pub(super) async fn find(settings: Settings, name: &str) -> Result<Self, CliError> {
        if let Some(place) = Self::folder(name)? {
            return Ok(place);
        }
        let office = Office::read(settings).await?;
        let job = office.job(name).await?;
        Ok(Self { path: office.own_workspace(&job)?, job: Some(job) })
    }

    /// The folder that `name` is the path of.
    pub(super) fn folder(name: &str) -> Result<Option<Self>, CliError> {
        let path = Path::new(name);
        match name.contains(std::path::is_separator) {
            true if path.is_dir() => Ok(Some(Self { path: path.to_owned(), job: None })),
            true => Err(CliError::usage(format!("there is no workspace folder at {}", out::one_line(name)))),
            false => Ok(None),
        }
    }

    /// What the job is called in commands that a person may type next.
    pub(super) fn name(&self, id: JobId) -> String {
        match &self.job {
            Some(_) => id.to_string(),
            None => out::one_line(&self.path.display().to_string()),
        }
    }
}

impl From<AuditError> for CliError {
    fn from(error: AuditError) -> Self {
        if error.is_usage() { Self::usage(error.to_string()) } else { Self::failed(error.to_string()) }
    }
}
