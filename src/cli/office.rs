//! What every command works with: settings, the database, and the way from a job's name to its workspace.

use super::{CliError, exit, out, progress::counted, queue::Known};
use crate::{
    config::{Origin, Settings},
    runner::{Anchor, adopt, catch_up, load_from, orphans, standing_by_journal, workspaces_in},
    store::{self, Store, StoreError},
    workspace::lock,
};
use overnight_core::job::{id::JobId, record::JobStatus};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

/// Settings and an open database.
#[derive(Debug)]
pub struct Office {
    pub settings: Settings,
    pub store: Arc<dyn Store>,
    /// Nothing is changed: what needs repair is told.
    pub only_reads: bool,
}

/// The database of this process: closed at its end, so that no file is left beside it.
static OPENED: OnceLock<Arc<dyn Store>> = OnceLock::new();

pub(super) async fn close() {
    if let Some(store) = OPENED.get() {
        store.close().await;
    }
}

/// Opens the database that the settings name. A folder for it is made where that is the workspaces' folder, or where nobody
/// named it: a mistyped one is not made true.
pub(super) async fn connect(settings: &Settings) -> Result<Arc<dyn Store>, StoreError> {
    if let Some(missing) = missing_folder(settings) {
        return Err(missing);
    }
    let store = store::connect(settings.database_url.value.reveal()).await?;
    let _ = OPENED.set(store.clone());
    Ok(store)
}

/// Why no database can be made where the settings name it: its folder isn't there.
pub(super) fn missing_folder(settings: &Settings) -> Option<StoreError> {
    let is_named = settings.database_url.origin != Origin::Default;
    let file = store::database_file(settings.database_url.value.reveal()).filter(|_| is_named)?;
    let folder = file.parent().filter(|folder| folder.symlink_metadata().is_err())?;
    let absolute = |path: &Path| std::path::absolute(path).ok();
    let detail = "its folder isn't there: make it, or name another database with --database-url".to_owned();
    (absolute(folder) != absolute(&settings.workspaces.value))
        .then(|| StoreError::Connect { database: file.display().to_string(), detail })
}

impl Office {
    /// Opens the database that the settings name.
    pub async fn open(settings: Settings) -> Result<Self, CliError> {
        let store = connect(&settings).await?;
        Ok(Self { settings, store, only_reads: false })
    }

    /// The same, where something is to be done to jobs that are there: none are made room for.
    pub(super) async fn of_jobs(settings: Settings) -> Result<Self, CliError> {
        let file = store::database_file(settings.database_url.value.reveal());
        if file.is_some_and(|file| !file.exists()) && workspaces_in(&settings.workspaces.value) == 0 {
            return Err(CliError::usage(no_jobs_yet(&settings)));
        }
        Self::open(settings).await
    }

    /// The same, where something that is there is to be shown.
    pub async fn read(settings: Settings) -> Result<Self, CliError> {
        let nothing = no_jobs_yet(&settings);
        Self::read_any(settings).await?.ok_or_else(|| CliError::usage(nothing))
    }

    /// The same; nothing, where there is no database yet.
    pub(super) async fn read_any(settings: Settings) -> Result<Option<Self>, CliError> {
        let store = store::connect_to_read(settings.database_url.value.reveal()).await?;
        if let Some(store) = &store {
            let _ = OPENED.set(store.clone());
        }
        Ok(store.map(|store| Self { settings, store, only_reads: true }))
    }

    /// The job that a person named: its id, an unambiguous beginning of it, or `last`.
    pub async fn job(&self, name: &str) -> Result<Known, CliError> {
        self.adopt().await;
        let id = self.store.find(name).await?;
        self.job_with(id).await
    }

    /// The job with this id.
    pub async fn job_with(&self, id: JobId) -> Result<Known, CliError> {
        let row = self.store.job(id).await?;
        let row = row.ok_or_else(|| CliError::usage(format!("there is no job {id}")))?;
        self.caught_up(self.known_one(row).await?).await
    }

    /// The job, its row brought up first where the process that worked on it died before it could. A job of a batch is left
    /// alone: its worker may be about to open it, and if that has died, the next one brings the row up.
    pub async fn caught_up(&self, job: Known) -> Result<Known, CliError> {
        if job.queue.is_some() || !self.is_interrupted(&job) {
            return Ok(job);
        }
        let path = self.workspace(&job)?;
        if self.only_reads {
            return Ok(told_by_journal(job, &path));
        }
        catch_up(self.store.as_ref(), job.id(), &path).await;
        let row = self.store.job(job.id()).await?.unwrap_or(job.row);
        Ok(Known { row, queue: job.queue })
    }

    /// Takes in what a killed process left without a row; says so where a whole database seems to be lost.
    pub async fn adopt(&self) {
        let workspaces = &self.settings.workspaces.value;
        let unknown = if self.only_reads {
            orphans(self.store.as_ref(), workspaces).await.len()
        } else {
            adopt(self.store.as_ref(), workspaces).await
        };
        if unknown > 0 {
            let shown = out::one_line(&workspaces.display().to_string());
            out::talk(&format!(
                "the database doesn't know {} in {shown}: `overnight reindex` brings in what it doesn't know",
                counted(unknown as u64, "workspace")
            ));
        }
    }

    /// Whether the job stands as running, and no process works on it: `kill -9`, or a machine that went off. Only where its
    /// workspace is can that be seen. Of a batch's job that means: on the machine that its row names. One without a workspace
    /// is with a worker that is about to make it one, and one whose workspace is on no single machine may be worked on
    /// anywhere.
    pub fn is_interrupted(&self, job: &Known) -> bool {
        let is_here = job.queue.as_ref().is_none_or(|queue| queue.host.as_deref() == Some(lock::host().as_str()));
        job.status() == JobStatus::Running
            && is_here
            && self.workspace(job).is_ok_and(|path| !lock::is_worked_on(&path))
    }

    /// The workspace folder of a job: where its row says, else below the configured folder. Of a linked job it is that of the
    /// job that did the work.
    pub fn workspace(&self, job: &Known) -> Result<PathBuf, CliError> {
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
        // Of a job in a workspace store, a machine may still have what it left behind when another went on.
        let is_it = |path: &PathBuf| path.is_dir() && (!job.is_stored() || load_from(path, Anchor::of(row)).is_ok());
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

    /// Whether the job can be opened here. What a batch has elsewhere, or not yet, is left to the queue; for a job of its own
    /// there is nobody else, so that it is told where its workspace was.
    pub(super) fn has_workspace(&self, job: &Known) -> bool {
        job.queue.is_none() || self.workspace(job).is_ok()
    }

    /// [`Self::workspace`], where the job's own record is to be read. A linked job has none.
    pub(super) fn own_workspace(&self, job: &Known) -> Result<PathBuf, CliError> {
        match job.same_as() {
            Some(done) => Err(CliError::usage(format!(
                "job {} was done before by job {done}: the record is that job's, so name that one",
                job.id()
            ))),
            None => self.workspace(job),
        }
    }
}

/// The job as its journal tells it, where its row says otherwise and is to be left as it is.
fn told_by_journal(mut job: Known, path: &Path) -> Known {
    if let Some(state) = standing_by_journal(&job.row, path) {
        let id = job.id();
        out::talk(&format!(
            "job {id} is further than the database says: `overnight reindex` brings that up, and `overnight resume {id}` goes on with the job"
        ));
        job.row.state = state;
    }
    job
}

/// What is said where there is no database.
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

/// The listing of a database that isn't there.
pub(super) fn list_nothing(no_jobs_yet: &str, as_json: bool) -> Result<u8, CliError> {
    out::talk(no_jobs_yet);
    if as_json {
        out::json(&[(); 0])?;
    }
    Ok(exit::COMPLETED)
}

/// Why a job of a batch has no workspace, in one sentence.
fn unbegun(job: &Known) -> String {
    let id = job.id();
    match job.status() {
        JobStatus::Queued => format!("job {id} has no workspace yet: it waits for a worker (`overnight work`)"),
        JobStatus::Running => format!("job {id} has no workspace yet: a worker is about to make it"),
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
