//! The workspace of a claimed job, opened: where it lies here, as the workspace store has it, or made anew.

use super::{
    batches::Batch,
    make::{self, make, set_aside},
    work::{Desk, Refused},
};
use crate::{
    batch::hash_of,
    depot::{Depot, Keeper, Manifest, ManifestKey},
    runner::{Anchor, RunError, Session, aside, load_from, now},
    store::{ClaimedJob, JobRow},
    workspace::lock::{LockError, is_worked_on},
};
use overnight_core::job::record::JobStatus;
use std::path::{Path, PathBuf};

/// A workspace that is worked on, and what keeps it for other machines.
pub(super) struct Opened {
    pub(super) session: Session,
    pub(super) keeper: Option<Keeper>,
}

impl Desk {
    /// Where the workspace is or will be. It is said before it is made, so that a crash leaves nothing that nobody knows of.
    /// With a workspace store, each worker has its own folders; a job that was bound to this machine before is no longer so
    /// once the store has it.
    pub(super) async fn place(&self, claimed: &ClaimedJob, row: &JobRow) -> Result<PathBuf, Refused> {
        let here = self.terms.workspaces.join(claimed.id.to_string());
        let shown = here.display().to_string();
        let is_new = claimed.host.is_none() && row.state.journal_seq == 0;
        match &self.terms.depot {
            Some(_) if claimed.manifest.is_some() || is_new => {
                if claimed.workspace != shown || claimed.host.is_some() {
                    self.store.place(claimed.id, claimed.lease, &shown, None).await?;
                }
                return Ok(here);
            }
            None if claimed.manifest.is_some() => {
                return Err(Refused::Person(format!(
                    "its workspace is in a workspace store, and the worker on {} has none: start it with --workspace-store, and resume the job",
                    self.terms.host
                )));
            }
            Some(_) | None => {}
        }
        if claimed.workspace.is_empty() {
            self.store.place(claimed.id, claimed.lease, &shown, Some(&self.terms.host)).await?;
            return Ok(here);
        }
        let placed = PathBuf::from(&claimed.workspace);
        if placed.is_dir() || (row.state.journal_seq == 0 && placed == here) {
            return Ok(placed);
        }
        if here.is_dir() || row.state.journal_seq == 0 {
            self.store.place(claimed.id, claimed.lease, &shown, Some(&self.terms.host)).await?;
            return Ok(here);
        }
        Err(Refused::Person(format!(
            "its workspace is not at {}: put it back there and resume the job, or `overnight retry {}` has it done from its beginning",
            claimed.workspace, claimed.id
        )))
    }

    /// Opens the workspace: as it is in the store where that is further on, made where there is none yet. One whose end as
    /// failed the database knew is that of an earlier try: it is moved aside.
    pub(super) async fn open(
        &self,
        claimed: &ClaimedJob,
        batch: &Batch,
        path: &Path,
        row: &JobRow,
    ) -> Result<Opened, Refused> {
        let before = match (&self.terms.depot, &claimed.manifest) {
            (Some(depot), Some(key)) => Some(self.bring(depot, key, claimed, path, row).await?),
            (Some(_) | None, None) | (None, Some(_)) => None,
        };
        let keeper = self.terms.depot.clone().map(|depot| Keeper::new(depot, self.store.clone(), claimed.id, before));
        if !path.is_dir() {
            self.make(claimed, batch, path)?;
        }
        let session = aside(|| Session::open(path, Anchor::of(row)))?;
        if session.job.spec.id != claimed.id {
            let other = session.job.spec.id;
            return Err(Refused::Person(format!(
                "{} holds job {other}: put the right workspace there",
                path.display()
            )));
        }
        if row.state.journal_seq == 0
            && let Err(refused) = check_documents(claimed, &session)
        {
            drop(session);
            // Nothing was done in it; it is made anew when the documents are what they were.
            set_aside(path, now())?;
            return Err(refused);
        }
        let has_failed = session.job.ended().is_some_and(|ending| ending.status == JobStatus::Failed);
        if !(has_failed && session.is_told()) {
            return Ok(Opened { session, keeper });
        }
        drop(session);
        set_aside(path, now())?;
        self.make(claimed, batch, path)?;
        Ok(Opened { session: aside(|| Session::open(path, None))?, keeper })
    }

    /// Has the workspace at `path` be as far as the store's, or further on the same chain. What is there and is neither was
    /// left behind when another machine went on: it is moved aside.
    async fn bring(
        &self,
        depot: &Depot,
        key: &str,
        claimed: &ClaimedJob,
        path: &Path,
        row: &JobRow,
    ) -> Result<(ManifestKey, Manifest), Refused> {
        let key = ManifestKey::parse(key).map_err(RunError::from)?;
        if key.job != claimed.id {
            return Err(Refused::Person(format!(
                "the database says that its workspace is {key}, which is another job's"
            )));
        }
        depot.ready(self.store.as_ref()).await.map_err(RunError::from)?;
        let manifest = depot.manifest(&key).await.map_err(RunError::from)?;
        let end = Anchor { seq: manifest.seq, head: manifest.head.clone() };
        let told = Anchor::of(row).filter(|told| told.seq > manifest.seq);
        if path.is_dir() {
            if is_worked_on(path) {
                return Err(RunError::Lock(LockError::Held { job: claimed.id.to_string(), holder: None }).into());
            }
            if has(path, told.clone().unwrap_or(end))? {
                return Ok((key, manifest));
            }
        }
        if let Some(told) = told {
            // Never gone on with: somebody has done more without the store.
            return Err(Refused::Person(format!(
                "the database saw line {} of its journal, and the workspace store has it up to {}: bring the workspace that has it to {}",
                told.seq,
                manifest.seq,
                path.display()
            )));
        }
        if path.is_dir() {
            set_aside(path, now())?;
        }
        depot.restore(&manifest, path, now()).await.map_err(RunError::from)?;
        Ok((key, manifest))
    }

    fn make(&self, claimed: &ClaimedJob, batch: &Batch, path: &Path) -> Result<(), RunError> {
        let workspaces = path.parent().unwrap_or(&self.terms.workspaces);
        let order = make::Order { claimed, batch, extractor: &self.terms.extractor, workspaces };
        aside(|| make(&order)).map(drop)
    }
}

/// What was submitted must be what is worked on: results of something else would be called this batch's.
fn check_documents(claimed: &ClaimedJob, session: &Session) -> Result<(), Refused> {
    let documents = &session.job.spec.documents;
    let found = hash_of(documents.iter().map(|document| (document.name.as_str(), document.sha256.as_str())));
    if claimed.documents_sha256.is_none() || claimed.documents_sha256 == found {
        return Ok(());
    }
    Err(Refused::Person(format!(
        "what lies at {} was changed since it was submitted: put it back as it was and resume the job, or submit it again",
        claimed.sources.first().map_or("its place", |source| source.split('\0').nth(1).unwrap_or(source))
    )))
}

/// Whether the workspace's chain contains `end`.
fn has(path: &Path, end: Anchor) -> Result<bool, RunError> {
    match aside(|| load_from(path, Some(end))) {
        Ok(_) => Ok(true),
        Err(RunError::Journal(_) | RunError::Request(_)) => Ok(false),
        Err(error) => Err(error),
    }
}
