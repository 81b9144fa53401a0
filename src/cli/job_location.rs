//! Finds the workspace of the job that a person names: the path of a folder, which needs no database, or the name of a job in the database.

use super::{AppContext, CliError, out, queue::DatabaseJob};
use crate::{
    audit::{AuditError, damage::ReadExtent},
    config::Settings,
    workspace::{lock::is_worked_on, packed::is_there},
};
use overnight_core::job::id::JobId;
use std::path::{Path, PathBuf};

/// A job that was found, and its workspace.
#[derive(Debug)]
pub(super) struct JobLocation {
    pub(super) path: PathBuf,
    /// The database's facts about the job; `None` for a folder.
    pub(super) job: Option<DatabaseJob>,
}

impl JobLocation {
    /// A name with a slash is the path of a folder; any other name is looked up in the database.
    pub(super) async fn find(settings: Settings, name: &str) -> Result<Self, CliError> {
        if let Some(location) = Self::folder(name)? {
            return Ok(location);
        }
        let app = AppContext::read(settings).await?;
        let job = app.job(name).await?;
        Ok(Self { path: app.own_workspace(&job)?, job: Some(job) })
    }

    /// The folder that `name` is the path of.
    pub(super) fn folder(name: &str) -> Result<Option<Self>, CliError> {
        let path = Path::new(name);
        match name.contains(std::path::is_separator) {
            true if is_there(path) || path.is_file() => Ok(Some(Self { path: path.to_owned(), job: None })),
            true => Err(CliError::usage(format!("there is no workspace folder at {}", out::one_line(name)))),
            false => Ok(None),
        }
    }

    /// The damage at the end of its journal, which was read up to `end`.
    pub(super) fn damage(&self, end: ReadExtent<'_>) -> Option<String> {
        let known = self.job.as_ref().map(|job| (job.row.state.journal_seq, job.row.state.journal_head.as_str()));
        end.damage(known, is_worked_on(&self.path))
    }

    /// The job's name in suggested commands.
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
