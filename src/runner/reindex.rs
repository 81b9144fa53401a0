//! The database from the workspaces: `overnight reindex`. A workspace alone is enough, so a lost database
//! costs nothing but this walk.
//!
//! Limits: a row that saw more than its journal holds is not overwritten, a broken journal is not partly used, a job on
//! which a process works is left to that process, and no workspace is changed.

use super::{
    RunError,
    clock::now,
    open_job::{Anchor, LoadedJob, first_row, load, load_from},
};
use crate::{
    extraction::CACHE_FOLDER,
    store::{JobRow, JobStore, StoreError},
    workspace::{
        Workspace,
        chain::{ARCHIVE, LIVE},
        files::TEMPORARY,
        journal::JournalError,
        known_path::JOB_FILE,
        lock::{InspectionLock, LockError, is_worked_on},
        packed::packed_path,
    },
};
use overnight_core::job::{
    id::JobId,
    record::{Checkpoint, HoldReason, JobStatus, JobSummary, NewJob},
    rows::CheckpointExtent,
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The result of the walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reindexed {
    /// By folder name, which sorts jobs by age.
    pub jobs: Vec<Indexed>,
    /// Folders with a name that no job can have, but with a workspace: a copy, or a renamed one. Not indexed.
    pub misnamed: Vec<MisnamedWorkspace>,
    /// The number of other entries of the folder.
    pub foreign: u64,
    /// The number of unfinished workspaces, left by a crash, that were removed.
    pub swept: u64,
}

/// One workspace and the outcome for its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexed {
    /// The folder's name.
    pub id: JobId,
    pub path: PathBuf,
    pub outcome: IndexOutcome,
    /// The status in the journal; `None` if the journal can't be read.
    pub standing: Option<(JobStatus, Option<HoldReason>)>,
}

/// The outcome for one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexOutcome {
    /// There was none.
    Restored,
    /// It lagged behind the journal, or differed from it.
    Updated,
    /// It agreed.
    Unchanged,
    /// A process works on the job and writes its row itself. One sentence.
    Busy(String),
    /// The database saw lines that the journal does not have: the row is left as it is. One sentence.
    Ahead(String),
    /// The workspace can't be read, or its row can't be written. One sentence.
    Broken(String),
}

impl IndexOutcome {
    /// Whether a person has to look at it.
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Restored | Self::Updated | Self::Unchanged | Self::Busy(_) => false,
            Self::Ahead(_) | Self::Broken(_) => true,
        }
    }
}

/// A workspace in a folder that doesn't have its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MisnamedWorkspace {
    pub path: PathBuf,
    /// The job of the workspace, if that can be read.
    pub job: Option<JobId>,
}

/// Restores every job below `workspaces` to the database.
///
/// An error means that the walk could not continue: the folder can't be listed, or the database is unreachable. A fault
/// of a single workspace is reported with that workspace, and the walk continues.
pub async fn reindex(store: &dyn JobStore, workspaces: &Path) -> Result<Reindexed, RunError> {
    let workspaces = std::path::absolute(workspaces).map_err(|error| unlisted(workspaces, &error))?;
    let swept = Workspace::sweep_unfinished(&workspaces, now())?;
    let mut done = Reindexed { jobs: Vec::new(), misnamed: Vec::new(), foreign: 0, swept };
    for path in folders(&workspaces, &mut done.foreign)? {
        match job_of(&path) {
            // A folder that can't be listed may be a workspace.
            id if !is_workspace(&path) && (id.is_none() || path.read_dir().is_ok()) => done.foreign += 1,
            Some(id) => done.jobs.push(index(store, id, path).await?),
            None => {
                let job = load(&path).ok().map(|loaded| loaded.job.spec.id);
                done.misnamed.push(MisnamedWorkspace { path, job });
            }
        }
    }
    Ok(done)
}

/// The most workspaces that are adopted without a request.
const MOST_ADOPTED: usize = 8;

/// Workspaces of a process that was killed between creating them and writing their rows: jobs newer than the database's
/// newest, with no process at work on them. Best effort.
pub async fn orphans(store: &dyn JobStore, workspaces: &Path) -> Vec<(JobId, PathBuf)> {
    let newest = match store.find("last").await {
        Ok(id) => Some(id),
        Err(StoreError::NotFound { .. }) => None,
        Err(_) => return Vec::new(),
    };
    let Ok(workspaces) = std::path::absolute(workspaces) else { return Vec::new() };
    let Ok(folders) = folders(&workspaces, &mut 0) else { return Vec::new() };
    let mut orphans = Vec::new();
    for path in folders {
        let Some(id) = job_of(&path).filter(|id| newest.is_none_or(|newest| *id > newest)) else { continue };
        if !is_workspace(&path) || is_worked_on(&path) {
            continue;
        }
        // Jobs of a batch have one moment and many ids, so the newest job's id need not be the last. A job with a row
        // is no orphan, and updating its row would take it from its worker.
        if newest.is_none() || matches!(store.job(id).await, Ok(None)) {
            orphans.push((id, path));
        }
    }
    orphans
}

/// The number of workspaces in the folder.
pub fn workspaces_in(folder: &Path) -> usize {
    let found = folders(folder, &mut 0).unwrap_or_default();
    found.iter().filter(|path| job_of(path).is_some() && is_workspace(path)).count()
}

/// Adopts [`orphans`]. Returns how many there are if they are more than a crash leaves: then the database was lost, and
/// a person should run `reindex`. Those that can't be adopted stay unknown.
pub async fn adopt(store: &dyn JobStore, workspaces: &Path) -> usize {
    let orphans = orphans(store, workspaces).await;
    if orphans.len() > MOST_ADOPTED {
        return orphans.len();
    }
    for (id, path) in orphans {
        let _ = index(store, id, path).await;
    }
    0
}

/// The state of a job by its workspace at `path`, where the row differs: the process that worked on it may have died before
/// it could write the row.
pub fn state_by_journal(row: &JobRow, path: &Path) -> Option<JobSummary> {
    let facts = read_facts(row.job.id, path).ok()?;
    (!row_agrees(row, &facts) && why_ahead(path, row, &facts).is_none()).then_some(facts.checkpoint.state)
}

/// Brings the row of a job on which no process works up to date: the last process may have died before it could. Best effort.
pub async fn catch_up(store: &dyn JobStore, id: JobId, path: &Path) {
    let _ = index(store, id, path.to_owned()).await;
}

/// The job named by the folder, in the exact spelling that the runner uses: any other spelling is another folder.
fn job_of(path: &Path) -> Option<JobId> {
    let name = path.file_name()?.to_str()?;
    name.parse::<JobId>().ok().filter(|id| id.to_string() == name)
}

/// The folders in `workspaces`, sorted; other things are counted.
fn folders(workspaces: &Path, foreign: &mut u64) -> Result<Vec<PathBuf>, RunError> {
    let failed = |error: io::Error| unlisted(workspaces, &error);
    let mut folders = Vec::new();
    for item in std::fs::read_dir(workspaces).map_err(failed)? {
        let path = item.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == CACHE_FOLDER {
            continue;
        }
        if !name.starts_with(TEMPORARY) && path.is_dir() {
            folders.push(path);
        } else if let Some(folder) = packed_folder(&path) {
            // If both exist, the folder counts.
            folders.extend((!folder.is_dir()).then_some(folder));
        } else {
            *foreign += 1;
        }
    }
    folders.sort();
    Ok(folders)
}

/// The place of the folder of the packed workspace at `path`.
fn packed_folder(path: &Path) -> Option<PathBuf> {
    let folder = path.with_extension("");
    (job_of(&folder).is_some() && path.is_file() && packed_path(&folder) == path).then_some(folder)
}

fn unlisted(workspaces: &Path, error: &io::Error) -> RunError {
    let shown = workspaces.display();
    RunError::Request(match error.kind() {
        io::ErrorKind::NotFound => {
            format!("there is no workspaces folder at {shown}: name it with --workspaces")
        }
        _ => format!("the workspaces folder {shown} can't be listed ({error})"),
    })
}

/// Whether anything in the folder speaks of a job: one that lost its `job.yaml` is a workspace all the same.
pub fn is_workspace(path: &Path) -> bool {
    let has = |name: &&str| path.join(name).symlink_metadata().is_ok();
    [JOB_FILE, LIVE, ARCHIVE].iter().any(has) || packed_path(path).is_file()
}

/// Indexes one job. It is first read without the lock: most rows agree, and an unneeded lock would obstruct others.
async fn index(store: &dyn JobStore, id: JobId, path: PathBuf) -> Result<Indexed, RunError> {
    let facts = match read_facts(id, &path).or_else(|what| read_facts_at_rest(id, &path, what)) {
        Ok(facts) => facts,
        Err(outcome) => return Ok(Indexed { id, path, outcome, standing: None }),
    };
    let standing = Some(facts.standing);
    let outcome = match bring_up(store, id, &path, &facts).await {
        Ok(outcome) => outcome,
        Err(error) if is_one_rows_fault(&error) => IndexOutcome::Broken(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    Ok(Indexed { id, path, outcome, standing })
}

/// Whether the database works, and only this row or the data for it is wrong.
fn is_one_rows_fault(error: &StoreError) -> bool {
    match error {
        StoreError::LeaseLost { .. }
        | StoreError::Ended { .. }
        | StoreError::NotFound { .. }
        | StoreError::Ambiguous { .. }
        | StoreError::NoBatch { .. }
        | StoreError::Corrupt { .. }
        | StoreError::Sql { .. } => true,
        StoreError::Connect { .. }
        | StoreError::Unreachable { .. }
        | StoreError::Full { .. }
        | StoreError::Foreign { .. }
        | StoreError::Development { .. }
        | StoreError::Older { .. }
        | StoreError::Newer { .. } => false,
    }
}

/// The rows of a job according to its workspace.
struct WorkspaceFacts {
    job: NewJob,
    checkpoint: Checkpoint,
    /// The largest lease number in the journal.
    lease: u64,
    standing: (JobStatus, Option<HoldReason>),
}

/// Reads the rows from the workspace of job `id` at `path`; an error is one sentence.
fn read_facts(id: JobId, path: &Path) -> Result<WorkspaceFacts, String> {
    let LoadedJob { job, seq, head, lease } = load(path).map_err(|error| error.to_string())?;
    if job.spec.id != id {
        return Err(format!("it holds job {}: put the right workspace there, or rename this one", job.spec.id));
    }
    let (status, hold, _) = job.job_status();
    Ok(WorkspaceFacts {
        job: first_row(&job, path),
        checkpoint: job.checkpoint(CheckpointExtent::All, seq, &head),
        lease,
        standing: (status, hold),
    })
}

/// Repeats, under the lock, a read that failed (`what`): a process may have been archiving at that moment.
fn read_facts_at_rest(id: JobId, path: &Path, what: String) -> Result<WorkspaceFacts, IndexOutcome> {
    match Workspace::open(path).map_err(LockError::from).and_then(|workspace| InspectionLock::acquire(&workspace)) {
        Ok(_hold) => read_facts(id, path).map_err(IndexOutcome::Broken),
        Err(error @ (LockError::Held { .. } | LockError::Taken { .. })) => Err(IndexOutcome::Busy(error.to_string())),
        Err(LockError::Workspace(_)) => Err(IndexOutcome::Broken(what)),
    }
}

async fn bring_up(
    store: &dyn JobStore,
    id: JobId,
    path: &Path,
    facts: &WorkspaceFacts,
) -> Result<IndexOutcome, StoreError> {
    if agrees(store, id, facts).await? {
        return Ok(IndexOutcome::Unchanged);
    }
    let workspace = match Workspace::open(path) {
        Ok(workspace) => workspace,
        Err(error) => return Ok(IndexOutcome::Broken(error.to_string())),
    };
    let _hold = match InspectionLock::acquire(&workspace) {
        Ok(hold) => hold,
        Err(error @ (LockError::Held { .. } | LockError::Taken { .. })) => {
            return Ok(IndexOutcome::Busy(error.to_string()));
        }
        Err(LockError::Workspace(error)) => return Ok(IndexOutcome::Broken(error.to_string())),
    };
    // The previous holder of the lock may have written journal and row since.
    let facts = match self::read_facts(id, path) {
        Ok(facts) => facts,
        Err(what) => return Ok(IndexOutcome::Broken(what)),
    };
    let row = store.job(id).await?;
    if let Some(what) = row.as_ref().and_then(|row| why_ahead(path, row, &facts)) {
        return Ok(IndexOutcome::Ahead(what));
    }
    if agrees(store, id, &facts).await? {
        return Ok(IndexOutcome::Unchanged);
    }
    store.restore(&facts.job, &facts.checkpoint, facts.lease).await?;
    Ok(if row.is_some() { IndexOutcome::Updated } else { IndexOutcome::Restored })
}

/// Why the row can't be of this journal: its anchor is not in the chain.
fn why_ahead(path: &Path, row: &JobRow, facts: &WorkspaceFacts) -> Option<String> {
    let (state, facts) = (&row.state, &facts.checkpoint.state);
    // Before the first checkpoint the database has seen no line.
    if state.journal_seq == 0 || (state.journal_seq, &state.journal_head) == (facts.journal_seq, &facts.journal_head) {
        return None;
    }
    let anchor = Anchor { seq: state.journal_seq, head: state.journal_head.clone() };
    match load_from(path, Some(anchor)) {
        Err(RunError::Journal(JournalError::Broken { file, line, what })) => {
            Some(format!("{file} line {line} is not what the database has: {what}"))
        }
        Err(error) => Some(error.to_string()),
        Ok(_) => None,
    }
}

/// Whether all rows of the job agree with its workspace.
async fn agrees(store: &dyn JobStore, id: JobId, facts: &WorkspaceFacts) -> Result<bool, StoreError> {
    let Some(row) = store.job(id).await? else {
        return Ok(false);
    };
    Ok(row_agrees(&row, facts)
        && store.phases(id).await? == facts.checkpoint.phases
        && sorted(store.todos(id).await?) == sorted(facts.checkpoint.todos.clone()))
}

fn row_agrees(row: &JobRow, facts: &WorkspaceFacts) -> bool {
    let mut state = row.state.clone();
    let expected = &facts.checkpoint.state;
    // The reason why a process stopped is not always in the journal: a full disk accepts no further line. Nor does the
    // journal record that the job waits in the queue for its next worker, or for an answer.
    let rests = match state.status {
        JobStatus::Held | JobStatus::Waiting => true,
        JobStatus::Queued => row.queue.is_some(),
        _ => false,
    };
    if rests && expected.status == JobStatus::Running {
        (state.status, state.hold_reason) = (expected.status, expected.hold_reason);
        state.reason.clone_from(&expected.reason);
    }
    state == *expected && row.job == facts.job && row.lease >= facts.lease
}

fn sorted(mut todos: Vec<overnight_core::job::record::TodoRow>) -> Vec<overnight_core::job::record::TodoRow> {
    todos.sort_by_key(|row| (row.phase, row.attempt, row.todo.id));
    todos
}
