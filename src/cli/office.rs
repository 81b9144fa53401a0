//! What every command works with: settings, the database, and the way from a job's name to its workspace.

use super::{CliError, out};
use crate::{
    config::Settings,
    job::{id::JobId, record::JobStatus},
    runner::{adopt, catch_up},
    store::{self, JobRow, Store},
    workspace::lock::is_worked_on,
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
        self.adopt().await;
        let id = self.store.find(name).await?;
        let row = self.store.job(id).await?;
        let row = row.ok_or_else(|| CliError::usage(format!("there is no job '{name}'")))?;
        self.caught_up(row).await
    }

    /// The row, brought up first where the process that worked on the job died before it could.
    pub async fn caught_up(&self, row: JobRow) -> Result<JobRow, CliError> {
        if !self.is_interrupted(&row) {
            return Ok(row);
        }
        catch_up(self.store.as_ref(), row.job.id, &self.workspace(&row)?).await;
        Ok(self.store.job(row.job.id).await?.unwrap_or(row))
    }

    /// Takes in what a killed process left without a row; says so where a whole database seems to be lost.
    pub async fn adopt(&self) {
        let workspaces = &self.settings.workspaces.value;
        let unknown = adopt(self.store.as_ref(), workspaces).await;
        if unknown > 0 {
            let shown = out::one_line(&workspaces.display().to_string());
            out::talk(&format!(
                "the database doesn't know {unknown} workspaces in {shown}: `overnight reindex` brings them in"
            ));
        }
    }

    /// Whether the job stands as running, and no process works on it: `kill -9`, or a machine that went off.
    pub fn is_interrupted(&self, row: &JobRow) -> bool {
        row.state.status == JobStatus::Running && self.workspace(row).is_ok_and(|path| !is_worked_on(&path))
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
