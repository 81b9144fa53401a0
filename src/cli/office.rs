//! What every command works with: settings, the database, and the way from a job's name to its workspace.

use super::CliError;
use crate::{
    config::Settings,
    job::id::JobId,
    store::{self, JobRow, Store},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Settings and an open database.
#[derive(Debug)]
pub struct Office {
    pub settings: Settings,
    pub store: Arc<dyn Store>,
}

impl Office {
    /// Opens the database that the settings name.
    pub async fn open(settings: Settings) -> Result<Self, CliError> {
        let store = store::connect(settings.database_url.value.reveal()).await?;
        Ok(Self { settings, store })
    }

    /// The row of the job that a person named: its id, an unambiguous beginning of it, or `last`.
    pub async fn job(&self, name: &str) -> Result<JobRow, CliError> {
        let id = self.store.find(name).await?;
        let row = self.store.job(id).await?;
        row.ok_or_else(|| CliError::usage(format!("there is no job '{name}'")))
    }

    /// The workspace folder of a job: where its row says, else below the configured folder.
    pub fn workspace(&self, row: &JobRow) -> Result<PathBuf, CliError> {
        let id: JobId = row.job.id;
        let here = Path::new(&row.job.workspace).to_owned();
        let configured = self.settings.workspaces.value.join(id.to_string());
        [here, configured].into_iter().find(|path| path.is_dir()).ok_or_else(|| {
            CliError::failed(format!(
                "the workspace of job {id} is not at {}: it was moved or is on another machine",
                row.job.workspace
            ))
        })
    }
}
