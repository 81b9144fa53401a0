//! The context of every command: the settings, the database, and the lookup of a job's workspace.

use super::{CliError, exit, out, progress::counted, queue::DatabaseJob};
use crate::{
    config::{Origin, Settings},
    runner::{Anchor, adopt, catch_up, load_from, orphans, state_by_journal, workspaces_in},
    store::{self, Store, StoreError},
    workspace::{lock, packed::is_there},
};
use overnight_core::job::{id::JobId, record::JobStatus};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

/// Settings and an open database.
#[derive(Debug)]
pub struct AppContext {
    pub settings: Settings,
    pub store: Arc<dyn Store>,
    /// Nothing may be changed: a need for repair is only reported.
    pub only_reads: bool,
}

/// The open database of this process. It is closed at the end, so that SQLite leaves no file beside it.
static OPENED: OnceLock<Arc<dyn Store>> = OnceLock::new();

pub(super) async fn close() {
    if let Some(store) = OPENED.get() {
        store.close().await;
    }
}

/// Opens the database that the settings name. Its folder is created only if it is the workspaces' folder or a default: a mistyped path stays an error.
pub(super) async fn connect(settings: &Settings) -> Result<Arc<dyn Store>, StoreError> {
    if let Some(missing) = missing_folder(settings) {
        return Err(missing);
    }
    let store = store::connect(settings.database_url.value.reveal()).await?;
    let _ = OPENED.set(store.clone());
    Ok(store)
}

/// The error that no database can be created because its folder doesn't exist.
pub(super) fn missing_folder(settings: &Settings) -> Option<StoreError> {
    let is_named = settings.database_url.origin != Origin::Default;
    let file = store::database_file(settings.database_url.value.reveal()).filter(|_| is_named)?;
    let folder = file.parent().filter(|folder| folder.symlink_metadata().is_err())?;
    let absolute = |path: &Path| std::path::absolute(path).ok();
    let detail = "its folder isn't there: make it, or name another database with --database-url".to_owned();
    (absolute(folder) != absolute(&settings.workspaces.value))
        .then(|| StoreError::Connect { database: file.display().to_string(), detail })
}

impl AppContext {
    /// Opens the database that the settings name.
    pub async fn open(settings: Settings) -> Result<Self, CliError> {
        let store = connect(&settings).await?;
        Ok(Self { settings, store, only_reads: false })
    }

    /// The same for a command that changes existing jobs: no database is created.
    pub(super) async fn of_jobs(settings: Settings) -> Result<Self, CliError> {
        let file = store::database_file(settings.database_url.value.reveal());
        readable(&settings.workspaces.value)?;
        if file.is_some_and(|file| !file.exists()) && workspaces_in(&settings.workspaces.value) == 0 {
            return Err(CliError::usage(no_jobs_yet(&settings)));
        }
        Self::open(settings).await
    }

    /// The same for a command that only shows what exists.
    pub async fn read(settings: Settings) -> Result<Self, CliError> {
        let nothing = no_jobs_yet(&settings);
        Self::read_any(settings).await?.ok_or_else(|| CliError::usage(nothing))
    }

    /// The same; `None` if there is no database yet.
    pub(super) async fn read_any(settings: Settings) -> Result<Option<Self>, CliError> {
        let store = store::connect_to_read(settings.database_url.value.reveal()).await?;
        if store.is_none() {
            readable(&settings.workspaces.value)?;
        }
        if let Some(store) = &store {
            let _ = OPENED.set(store.clone());
        }
        Ok(store.map(|store| Self { settings, store, only_reads: true }))
    }

    /// The job that a person named: its id, an unambiguous beginning of it, or `last`.
    pub async fn job(&self, name: &str) -> Result<DatabaseJob, CliError> {
        self.adopt().await;
        let id = self.store.find(name).await?;
        self.job_with(id).await
    }

    /// The job with this id.
    pub async fn job_with(&self, id: JobId) -> Result<DatabaseJob, CliError> {
        let row = self.store.job(id).await?;
        let row = row.ok_or_else(|| CliError::usage(format!("there is no job {id}")))?;
        self.caught_up(self.database_job(row).await?).await
    }

    /// The job, after its row is brought up to its journal if the process that worked on it died first. A batch's job is left to its workers.
    pub async fn caught_up(&self, job: DatabaseJob) -> Result<DatabaseJob, CliError> {
        if job.queue.is_some() || !self.is_interrupted(&job) {
            return Ok(job);
        }
        let path = self.workspace(&job)?;
        if self.only_reads {
            return Ok(updated_from_journal(job, &path));
        }
        catch_up(self.store.as_ref(), job.id(), &path).await;
        let row = self.store.job(job.id()).await?.unwrap_or(job.row);
        Ok(DatabaseJob { row, queue: job.queue })
    }

    /// Adds rows for workspaces that a killed process left without one; warns if the whole database seems to be lost.
    pub async fn adopt(&self) {
        let workspaces = &self.settings.workspaces.value;
        let unknown = if self.only_reads {
            orphans(self.store.as_ref(), workspaces).await.len()
        } else {
            adopt(self.store.as_ref(), workspaces).await
        };
        if unknown > 0 {
            let shown = out::one_line(&workspaces.display().to_string());
            out::note(&format!(
                "the database doesn't know {} in {shown}: `overnight reindex` brings in what it doesn't know",
                counted(unknown as u64, "workspace")
            ));
        }
    }

    /// Whether the job's status is running though no process works on it, as after `kill -9` or a power cut. Only the machine with the
    /// workspace can see that. A job without a workspace is about to get one from its worker, and one in a workspace store may run anywhere.
    pub fn is_interrupted(&self, job: &DatabaseJob) -> bool {
        let is_here = job.queue.as_ref().is_none_or(|queue| queue.host.as_deref() == Some(lock::host().as_str()));
        job.status() == JobStatus::Running
            && is_here
            && self.workspace(job).is_ok_and(|path| !lock::is_worked_on(&path))
    }

    /// The workspace folder of a job: the one in its row, else one below the configured folder. A linked job has that of the job that did the work.
    pub fn workspace(&self, job: &DatabaseJob) -> Result<PathBuf, CliError> {
        if let Some(host) = job.elsewhere() {
            return Err(CliError::failed(format!(
                "the workspace of job {} is on {}: look at it, or work on it, there",
                job.id(),
                out::one_line(host)
            )));
        }
        if job.is_unbegun() && job.same_as().is_none() {
            return Err(CliError::usage(unbegun(job)));
        }
        let row = &job.row;
        let here = Path::new(&row.job.workspace).to_owned();
        let configured = self.settings.workspaces.value.join(job.same_as().unwrap_or(row.job.id).to_string());
        // If another machine went on with a job in a workspace store, this one may still have an old copy.
        let is_it = |path: &PathBuf| is_there(path) && (!job.is_stored() || load_from(path, Anchor::of(row)).is_ok());
        [here, configured].into_iter().find(is_it).ok_or_else(|| {
            let id = row.job.id;
            CliError::failed(if job.is_stored() {
                format!(
                    "the workspace of job {id} is in the workspace store: `overnight fetch {id}` brings a copy of it"
                )
            } else {
                format!(
                    "the workspace of job {id} is not at {}: it was moved or is on another machine",
                    out::one_line(&row.job.workspace)
                )
            })
        })
    }

    /// Whether the job can be opened here. A batch's job without a workspace here is left to the queue; for any other, the error names the missing folder.
    pub(super) fn has_workspace(&self, job: &DatabaseJob) -> bool {
        job.queue.is_none() || self.workspace(job).is_ok()
    }

    /// [`Self::workspace`], for reading the job's own record. A linked job has none.
    pub(super) fn own_workspace(&self, job: &DatabaseJob) -> Result<PathBuf, CliError> {
        match job.same_as() {
            Some(done) => Err(CliError::usage(format!(
                "job {} was done before by job {done}: the record is that job's, so name that one",
                job.id()
            ))),
            None => self.workspace(job),
        }
    }
}

/// The job with the status in its journal, for commands that must not correct a row that differs.
fn updated_from_journal(mut job: DatabaseJob, path: &Path) -> DatabaseJob {
    if let Some(state) = state_by_journal(&job.row, path) {
        let id = job.id();
        out::note(&format!(
            "job {id} is further than the database says: `overnight reindex` brings that up, and `overnight resume {id}` goes on with the job"
        ));
        job.row.state = state;
    }
    job
}

/// The message if there is no database.
pub(super) fn no_jobs_yet(settings: &Settings) -> String {
    let database = out::one_line(&settings.database_url.value.to_string());
    let folder = &settings.workspaces.value;
    match workspaces_in(folder) {
        0 => format!("no jobs yet: there is nothing at {database}; `overnight run` and `overnight submit` begin there"),
        found => format!(
            "there is nothing at {database}, and {} in {}: `overnight reindex` brings in what is there",
            counted(found as u64, "workspace"),
            out::one_line(&folder.display().to_string())
        ),
    }
}

/// Refuses a folder of workspaces that exists and can't be read: its jobs are unknown then.
fn readable(folder: &Path) -> Result<(), CliError> {
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            let folder = out::one_line(&folder.display().to_string());
            Err(CliError::usage(format!("the workspaces in {folder} can't be read ({error}); see to its permissions")))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Prints an empty listing, because there is no database.
pub(super) fn list_nothing(no_jobs_yet: &str, as_json: bool) -> Result<u8, CliError> {
    out::note(no_jobs_yet);
    if as_json {
        out::json(&[(); 0])?;
    }
    Ok(exit::COMPLETED)
}

/// One sentence on why a batch's job has no workspace.
fn unbegun(job: &DatabaseJob) -> String {
    let id = job.id();
    match job.status() {
        JobStatus::Queued => format!("job {id} has no workspace yet: it waits for a worker (`overnight work`)"),
        JobStatus::Running | JobStatus::Waiting => {
            format!("job {id} has no workspace yet: a worker is about to make it")
        }
        JobStatus::Held => {
            format!("job {id} has no workspace yet: it is held, and `overnight resume {id}` queues it")
        }
        status @ (JobStatus::Completed
        | JobStatus::Partial
        | JobStatus::Blocked
        | JobStatus::Failed
        | JobStatus::Cancelled) => format!("job {id} has no workspace: it is {status}, and was never begun"),
    }
}
