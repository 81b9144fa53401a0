//! Opens the workspace of a claimed job: the local one, the one in the workspace store, or a new one.

use super::{batches::Batch, context::WorkerContext};
use crate::{
    batch::hash_of,
    blocking::run_blocking,
    runner::{Anchor, NewJobRequest, OpenJob, RunError, create_as, load_from, now},
    store::{ClaimedJob, JobRow},
    workspace::{
        lock::{LockError, is_worked_on},
        packed::is_there,
        private,
    },
    workspace_store::{ManifestKey, Uploader, WorkspaceManifest, WorkspaceStore},
};
use overnight_core::job::record::JobStatus;
use std::path::{Path, PathBuf};

/// The folder of earlier tries' workspaces, below the workspaces folder.
const EARLIER: &str = "earlier-tries";

/// An opened workspace, and the uploader that keeps it for other machines.
pub(super) struct OpenedWorkspace {
    pub(super) opened: OpenJob,
    pub(super) uploader: Option<Uploader>,
}

impl WorkerContext {
    /// The place of the workspace, now or later. It is recorded before the workspace is made, so that a crash leaves
    /// nothing unknown. With a workspace store, each worker has its own folders; a job that was bound to this machine
    /// before no longer is once the store has it.
    pub(super) async fn locate(&self, claimed: &ClaimedJob, row: &JobRow) -> Result<PathBuf, RunError> {
        let here = self.config.workspaces.join(claimed.id.to_string());
        let shown = here.display().to_string();
        let is_new = claimed.host.is_none() && row.state.journal_seq == 0;
        match &self.config.workspace_store {
            Some(_) if claimed.manifest.is_some() || is_new => {
                if claimed.workspace != shown || claimed.host.is_some() {
                    self.store.set_workspace(claimed.id, claimed.lease, &shown, None).await?;
                }
                return Ok(here);
            }
            None if claimed.manifest.is_some() => {
                return Err(RunError::Configuration(format!(
                    "its workspace is in a workspace store, and the worker on {} has none: start it with --workspace-store, and resume the job",
                    self.config.host
                )));
            }
            Some(_) | None => {}
        }
        if claimed.workspace.is_empty() {
            self.store.set_workspace(claimed.id, claimed.lease, &shown, Some(&self.config.host)).await?;
            return Ok(here);
        }
        let placed = PathBuf::from(&claimed.workspace);
        if is_there(&placed) || (row.state.journal_seq == 0 && placed == here) {
            return Ok(placed);
        }
        if is_there(&here) || row.state.journal_seq == 0 {
            self.store.set_workspace(claimed.id, claimed.lease, &shown, Some(&self.config.host)).await?;
            return Ok(here);
        }
        Err(RunError::Configuration(format!(
            "its workspace is not at {}: put it back there and resume the job, or `overnight retry {}` has it done from its beginning",
            claimed.workspace, claimed.id
        )))
    }

    /// Opens the workspace: from the store if that is further on, a new one if there is none yet. A workspace whose end
    /// as failed is in the database belongs to an earlier try: it is moved aside.
    pub(super) async fn open(
        &self,
        claimed: &ClaimedJob,
        batch: &Batch,
        path: &Path,
        row: &JobRow,
    ) -> Result<OpenedWorkspace, RunError> {
        let before = match (&self.config.workspace_store, &claimed.manifest) {
            (Some(workspace_store), Some(key)) => {
                Some(self.restore_newer(workspace_store, key, claimed, path, row).await?)
            }
            (Some(_) | None, None) | (None, Some(_)) => None,
        };
        let uploader = self
            .config
            .workspace_store
            .clone()
            .map(|workspace_store| Uploader::new(workspace_store, self.store.clone(), claimed.id, before));
        self.make(claimed, batch, path)?;
        let opened = run_blocking(|| OpenJob::open(path, Anchor::of(row)))?;
        if opened.job.spec.id != claimed.id {
            let other = opened.job.spec.id;
            return Err(RunError::Configuration(format!(
                "{} holds job {other}: put the right workspace there",
                path.display()
            )));
        }
        if row.state.journal_seq == 0
            && let Err(refused) = check_documents(claimed, &opened)
        {
            drop(opened);
            // Nothing was done in it; it is made anew when the documents are what they were.
            set_aside(path)?;
            return Err(refused);
        }
        let has_failed = opened.job.ended().is_some_and(|ending| ending.status == JobStatus::Failed);
        if !(has_failed && opened.is_recorded()) {
            return Ok(OpenedWorkspace { opened, uploader });
        }
        drop(opened);
        set_aside(path)?;
        self.make(claimed, batch, path)?;
        Ok(OpenedWorkspace { opened: run_blocking(|| OpenJob::open(path, None))?, uploader })
    }

    /// Brings the workspace at `path` to the store's state, or keeps it if it is further on the same chain. Any other
    /// existing one was left behind when another machine continued the job: it is moved aside.
    async fn restore_newer(
        &self,
        workspace_store: &WorkspaceStore,
        key: &str,
        claimed: &ClaimedJob,
        path: &Path,
        row: &JobRow,
    ) -> Result<(ManifestKey, WorkspaceManifest), RunError> {
        let key = ManifestKey::parse(key)?;
        if key.job != claimed.id {
            return Err(RunError::Configuration(format!(
                "the database says that its workspace is {key}, which is another job's"
            )));
        }
        workspace_store.ready(self.store.as_ref()).await?;
        let manifest = workspace_store.manifest(&key).await?;
        let end = Anchor { seq: manifest.seq, head: manifest.head.clone() };
        let recorded = Anchor::of(row).filter(|recorded| recorded.seq > manifest.seq);
        if path.is_dir() {
            if is_worked_on(path) {
                return Err(RunError::Lock(LockError::Held { job: claimed.id.to_string(), holder: None }));
            }
            if contains(path, recorded.clone().unwrap_or(end))? {
                return Ok((key, manifest));
            }
        }
        if let Some(recorded) = recorded {
            // It must not be continued: more was done on it without the store.
            return Err(RunError::Configuration(format!(
                "the database saw line {} of its journal, and the workspace store has it up to {}: bring the workspace that has it to {}",
                recorded.seq,
                manifest.seq,
                path.display()
            )));
        }
        if path.is_dir() {
            set_aside(path)?;
        }
        workspace_store.restore(&manifest, path, now()).await?;
        Ok((key, manifest))
    }

    /// Makes the workspace. One that a worker left which died before it could record it is used as it is.
    fn make(&self, claimed: &ClaimedJob, batch: &Batch, path: &Path) -> Result<(), RunError> {
        if is_there(path) {
            return Ok(());
        }
        let documents: Vec<PathBuf> = claimed.sources.iter().map(PathBuf::from).collect();
        let settings = &batch.settings;
        let eyes = batch.models.eyes(&settings.instructions, self.config.extractor.vision());
        let new_job = NewJobRequest {
            instructions: settings.instructions.clone(),
            instructions_text: &batch.instructions_text,
            documents: &documents,
            own: &[],
            extractor: &self.config.extractor,
            model: batch.models.first.as_ref(),
            eyes: eyes.map_err(RunError::Request)?,
            base_url: settings.base_url.as_deref(),
            api_key_env: settings.api_key_env.as_deref(),
            models: settings.models.as_deref(),
            earlier: settings
                .only
                .as_ref()
                .and_then(|only| Some((&only.fields[..], only.of(claimed.documents_sha256.as_deref())?))),
        };
        let workspaces = path.parent().unwrap_or(&self.config.workspaces);
        run_blocking(|| create_as(claimed.id, claimed.created, workspaces, &new_job)).map(drop)
    }
}

/// Moves the workspace of a failed job aside: the next try begins anew, and the earlier work is kept.
fn set_aside(path: &Path) -> Result<(), RunError> {
    let failed =
        |error: std::io::Error| RunError::Request(format!("{} can't be moved aside ({error})", path.display()));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.with_file_name(EARLIER);
    private::make_folders(&folder).map_err(failed)?;
    let aside = folder.join(format!("{name}-{}", now().to_string().replace(':', "-")));
    std::fs::rename(path, aside).map_err(failed)
}

/// The documents must be those that were submitted: otherwise results of something else would count as this batch's.
fn check_documents(claimed: &ClaimedJob, opened: &OpenJob) -> Result<(), RunError> {
    let documents = &opened.job.spec.documents;
    let found = hash_of(documents.iter().map(|document| (document.name.as_str(), document.sha256.as_str())));
    if claimed.documents_sha256.is_none() || claimed.documents_sha256 == found {
        return Ok(());
    }
    Err(RunError::Configuration(format!(
        "what lies at {} was changed since it was submitted: put it back as it was and resume the job, or submit it again",
        claimed.sources.first().map_or("its place", |source| source.split('\0').nth(1).unwrap_or(source))
    )))
}

/// Whether the workspace's chain contains `end`.
fn contains(path: &Path, end: Anchor) -> Result<bool, RunError> {
    match run_blocking(|| load_from(path, Some(end))) {
        Ok(_) => Ok(true),
        Err(RunError::Journal(_) | RunError::Request(_)) => Ok(false),
        Err(error) => Err(error),
    }
}
