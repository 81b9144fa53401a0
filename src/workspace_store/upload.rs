//! Uploads a workspace at each checkpoint of its job: the blocks that have changed, then the manifest, then the pointer.

use super::{
    WorkspaceStore, WorkspaceStoreError,
    manifest::{BLOCK, JOURNAL_BLOCK, LOCK, ManifestKey, WorkspaceManifest, object},
};
use crate::{
    blocking::run_blocking,
    failpoint,
    store::JobStore,
    workspace::{Workspace, WorkspaceError, chain::LIVE, files::EntryKind, hash::FileHash},
};
use overnight_core::job::id::JobId;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::Read,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};
use tokio::task::JoinSet;

/// Blocks that are uploaded at the same time.
pub(super) const MOST_AT_ONCE: usize = 4;
/// How long an uploaded block is assumed to exist without a valid manifest that has it. Sweeps spare young blocks.
const TRUSTED: Duration = Duration::from_hours(1);

/// The end of a job's journal when its workspace is uploaded.
#[derive(Clone, Copy, Debug)]
pub struct JournalEnd<'e> {
    pub lease: u64,
    /// Number and SHA-256 of the journal's last line.
    pub seq: u64,
    pub head: &'e str,
}

/// Uploads the workspace of one job.
#[derive(Debug)]
pub struct Uploader {
    remote: WorkspaceStore,
    store: Arc<dyn JobStore>,
    id: JobId,
    /// The manifest to which the database points, and its blocks.
    current: Option<ManifestKey>,
    held: HashSet<String>,
    /// Blocks uploaded since, with the time.
    recent: HashMap<String, Instant>,
    /// Files as they were when their blocks were worked out.
    known_files: BTreeMap<String, KnownFile>,
}

/// A file, and the blocks it had.
#[derive(Debug)]
struct KnownFile {
    stamp: FileStamp,
    blocks: Vec<FileHash>,
}

/// The properties that identify an unchanged file: each write creates a new file, except for the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    modified: Option<SystemTime>,
    inode: u64,
}

impl Uploader {
    /// `before` is the manifest to which the database points.
    pub fn new(
        remote: WorkspaceStore,
        store: Arc<dyn JobStore>,
        id: JobId,
        before: Option<(ManifestKey, WorkspaceManifest)>,
    ) -> Self {
        let held =
            before.iter().flat_map(|(_, manifest)| manifest.blocks()).map(|block| block.sha256.clone()).collect();
        let current = before.map(|(key, _)| key);
        Self { remote, store, id, current, held, recent: HashMap::new(), known_files: BTreeMap::new() }
    }

    /// Uploads the workspace as it is, and then points the database to it. Nobody may write in it meanwhile.
    pub async fn upload(&mut self, workspace: &Workspace, end: JournalEnd<'_>) -> Result<(), WorkspaceStoreError> {
        self.remote.ready(self.store.as_ref()).await?;
        let mut manifest = WorkspaceManifest::new(self.id, end.lease, end.seq, end.head);
        let found = run_blocking(|| files(workspace))?;
        let mut uploads = JoinSet::new();
        let uploaded = self.upload_files(workspace, found, &mut manifest, &mut uploads).await;
        // After an error, too, each is awaited: an interrupted upload can't clean up in the place of a lost store.
        let mut ended = Ok(());
        while !uploads.is_empty() {
            ended = ended.and(self.join_upload(&mut uploads).await);
        }
        uploaded.and(ended)?;
        failpoint::hit("workspace_store.blocks");
        let (key, text) = manifest.render();
        if self.current.as_ref() == Some(&key) {
            return Ok(());
        }
        self.remote.put(key.as_str(), text).await?;
        failpoint::hit("workspace_store.manifest");
        // The uploads went into the store, and the pointer leads there.
        self.remote.ready(self.store.as_ref()).await?;
        self.store.set_manifest(self.id, end.lease, key.as_str()).await?;
        failpoint::hit("workspace_store.pointed");
        self.held = manifest.blocks().map(|block| block.sha256.clone()).collect();
        self.current = Some(key);
        self.known_files.retain(|path, _| manifest.files.contains_key(path));
        self.recent.retain(|hash, at| !self.held.contains(hash) && at.elapsed() < TRUSTED);
        Ok(())
    }

    /// Uploads the files that the store may not have, and enters all of them into the manifest. Some uploads may still be
    /// on their way at the end.
    async fn upload_files(
        &mut self,
        workspace: &Workspace,
        found: BTreeMap<String, FileStamp>,
        manifest: &mut WorkspaceManifest,
        uploads: &mut JoinSet<Result<String, WorkspaceStoreError>>,
    ) -> Result<(), WorkspaceStoreError> {
        let mut sent = HashSet::new();
        for (path, stamp) in found {
            let known = self
                .known_files
                .get(&path)
                .filter(|file| file.stamp == stamp && file.blocks.iter().all(|it| self.has_block(it)));
            let blocks = match known {
                Some(file) => file.blocks.clone(),
                None => self.upload_file(workspace, &path, stamp, uploads, &mut sent).await?,
            };
            self.known_files.insert(path.clone(), KnownFile { stamp, blocks: blocks.clone() });
            manifest.files.insert(path, blocks);
        }
        Ok(())
    }

    fn has_block(&self, block: &FileHash) -> bool {
        self.held.contains(&block.sha256) || self.recent.get(&block.sha256).is_some_and(|at| at.elapsed() < TRUSTED)
    }

    /// Reads a file and uploads the blocks that the store may not have. Returns all its blocks.
    async fn upload_file(
        &mut self,
        workspace: &Workspace,
        path: &str,
        stamp: FileStamp,
        uploads: &mut JoinSet<Result<String, WorkspaceStoreError>>,
        sent: &mut HashSet<String>,
    ) -> Result<Vec<FileHash>, WorkspaceStoreError> {
        let size = if path.rsplit('/').next() == Some(LIVE) { JOURNAL_BLOCK } else { BLOCK };
        let (mut file, _) = workspace.stream(path)?;
        let (mut blocks, mut left) = (Vec::new(), stamp.bytes);
        while left > 0 {
            let bytes = usize::try_from(left).map_or(size, |left| left.min(size));
            let mut content = vec![0; bytes];
            let read = run_blocking(|| file.read_exact(&mut content).map(|()| FileHash::of(&content)));
            let block = read.map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => WorkspaceStoreError::Changed { path: path.to_owned() },
                _ => WorkspaceError::from_io("read", path, error).into(),
            })?;
            left -= bytes as u64;
            if !self.has_block(&block) && sent.insert(block.sha256.clone()) {
                while uploads.len() >= MOST_AT_ONCE {
                    self.join_upload(uploads).await?;
                }
                let (remote, hash) = (self.remote.clone(), block.sha256.clone());
                uploads.spawn(async move { remote.put(&object(&hash), content).await.map(|()| hash) });
            }
            blocks.push(block);
        }
        Ok(blocks)
    }

    /// Waits for one block.
    async fn join_upload(
        &mut self,
        uploads: &mut JoinSet<Result<String, WorkspaceStoreError>>,
    ) -> Result<(), WorkspaceStoreError> {
        match uploads.join_next().await {
            Some(Ok(uploaded)) => {
                self.recent.insert(uploaded?, Instant::now());
                Ok(())
            }
            // The runtime is shutting down: the outcome is unknown.
            Some(Err(error)) => Err(WorkspaceStoreError::Unreachable {
                store: self.remote.shown().to_owned(),
                detail: error.to_string(),
            }),
            None => Ok(()),
        }
    }
}

/// Every file that belongs to the workspace.
fn files(workspace: &Workspace) -> Result<BTreeMap<String, FileStamp>, WorkspaceStoreError> {
    let mut found = BTreeMap::new();
    workspace.walk(".", &mut |met| match met.kind {
        EntryKind::File if met.entry.path != LOCK => {
            let inode = met.identity.map_or(0, |(_, inode)| inode);
            found.insert(met.entry.path, FileStamp { bytes: met.entry.bytes, modified: met.modified, inode });
        }
        EntryKind::File | EntryKind::Special => {}
    })?;
    Ok(found)
}
