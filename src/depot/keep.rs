//! A workspace that goes up at each checkpoint of its job: what has changed, in blocks; the manifest; the pointer.

use super::{
    Depot, DepotError,
    manifest::{BLOCK, JOURNAL_BLOCK, LOCK, Manifest, ManifestKey, object},
};
use crate::{
    crash,
    runner::aside,
    store::Store,
    workspace::{Workspace, WorkspaceError, chain::LIVE, hash::FileHash, rooted::Kind},
};
use overnight_core::job::id::JobId;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::Read,
    os::unix::fs::MetadataExt,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};
use tokio::task::JoinSet;

/// Blocks on their way at the same time.
pub(super) const AT_ONCE: usize = 4;
/// How long a block that went up is taken to be there though no manifest that counts has it. A sweep takes nothing so young.
const TRUSTED: Duration = Duration::from_hours(1);

/// Where a job stands when it is kept.
#[derive(Clone, Copy, Debug)]
pub struct End<'e> {
    pub lease: u64,
    /// Number and SHA-256 of the journal's last line.
    pub seq: u64,
    pub head: &'e str,
}

/// Keeps the workspace of one job.
#[derive(Debug)]
pub struct Keeper {
    depot: Depot,
    store: Arc<dyn Store>,
    id: JobId,
    /// What the database points to, and its blocks.
    pointed: Option<ManifestKey>,
    held: HashSet<String>,
    /// Blocks that went up since, and when.
    recent: HashMap<String, Instant>,
    /// Files as they were when their blocks were worked out.
    seen: BTreeMap<String, Seen>,
}

/// A file, and the blocks it had.
#[derive(Debug)]
struct Seen {
    mark: Mark,
    blocks: Vec<FileHash>,
}

/// By what a file is known to be as it was: each writing of a file but the journal makes a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    bytes: u64,
    modified: Option<SystemTime>,
    inode: u64,
}

impl Keeper {
    /// `before` is what the database points to.
    pub fn new(depot: Depot, store: Arc<dyn Store>, id: JobId, before: Option<(ManifestKey, Manifest)>) -> Self {
        let held =
            before.iter().flat_map(|(_, manifest)| manifest.blocks()).map(|block| block.sha256.clone()).collect();
        let pointed = before.map(|(key, _)| key);
        Self { depot, store, id, pointed, held, recent: HashMap::new(), seen: BTreeMap::new() }
    }

    /// Has the store, and then the database, know the workspace as it is. Nobody may write in it meanwhile.
    pub async fn keep(&mut self, workspace: &Workspace, end: End<'_>) -> Result<(), DepotError> {
        self.depot.ready(self.store.as_ref()).await?;
        let mut manifest = Manifest::new(self.id, end.lease, end.seq, end.head);
        let found = aside(|| files(workspace))?;
        let mut rising = JoinSet::new();
        let mut sent = HashSet::new();
        for (path, mark) in found {
            let known =
                self.seen.get(&path).filter(|seen| seen.mark == mark && seen.blocks.iter().all(|it| self.has(it)));
            let blocks = match known {
                Some(seen) => seen.blocks.clone(),
                None => self.raise(workspace, &path, mark, &mut rising, &mut sent).await?,
            };
            self.seen.insert(path.clone(), Seen { mark, blocks: blocks.clone() });
            manifest.files.insert(path, blocks);
        }
        while !rising.is_empty() {
            self.risen(&mut rising).await?;
        }
        crash::point("depot.blocks");
        let (key, text) = manifest.render();
        if self.pointed.as_ref() == Some(&key) {
            return Ok(());
        }
        self.depot.put(key.as_str(), text).await?;
        crash::point("depot.manifest");
        // What went up, went into the store, and the pointer leads there.
        self.depot.ready(self.store.as_ref()).await?;
        self.store.point(self.id, end.lease, key.as_str()).await?;
        crash::point("depot.pointed");
        self.held = manifest.blocks().map(|block| block.sha256.clone()).collect();
        self.pointed = Some(key);
        self.seen.retain(|path, _| manifest.files.contains_key(path));
        self.recent.retain(|hash, at| !self.held.contains(hash) && at.elapsed() < TRUSTED);
        Ok(())
    }

    fn has(&self, block: &FileHash) -> bool {
        self.held.contains(&block.sha256) || self.recent.get(&block.sha256).is_some_and(|at| at.elapsed() < TRUSTED)
    }

    /// Reads a file and sends up what the store may not have of it. Its blocks.
    async fn raise(
        &mut self,
        workspace: &Workspace,
        path: &str,
        mark: Mark,
        rising: &mut JoinSet<Result<String, DepotError>>,
        sent: &mut HashSet<String>,
    ) -> Result<Vec<FileHash>, DepotError> {
        let size = if path.rsplit('/').next() == Some(LIVE) { JOURNAL_BLOCK } else { BLOCK };
        let (mut file, _) = workspace.stream(path)?;
        let (mut blocks, mut left) = (Vec::new(), mark.bytes);
        while left > 0 {
            let bytes = usize::try_from(left).map_or(size, |left| left.min(size));
            let mut content = vec![0; bytes];
            let read = aside(|| file.read_exact(&mut content).map(|()| FileHash::of(&content)));
            let block = read.map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => DepotError::Changed { path: path.to_owned() },
                _ => WorkspaceError::from_io("read", path, error).into(),
            })?;
            left -= bytes as u64;
            if !self.has(&block) && sent.insert(block.sha256.clone()) {
                while rising.len() >= AT_ONCE {
                    self.risen(rising).await?;
                }
                let (depot, hash) = (self.depot.clone(), block.sha256.clone());
                rising.spawn(async move { depot.put(&object(&hash), content).await.map(|()| hash) });
            }
            blocks.push(block);
        }
        Ok(blocks)
    }

    /// Waits for one block.
    async fn risen(&mut self, rising: &mut JoinSet<Result<String, DepotError>>) -> Result<(), DepotError> {
        match rising.join_next().await {
            Some(Ok(risen)) => {
                self.recent.insert(risen?, Instant::now());
                Ok(())
            }
            // The runtime is going down: what has come of it isn't known.
            Some(Err(error)) => {
                Err(DepotError::Unreachable { store: self.depot.shown().to_owned(), detail: error.to_string() })
            }
            None => Ok(()),
        }
    }
}

/// Every file that belongs to the workspace.
fn files(workspace: &Workspace) -> Result<BTreeMap<String, Mark>, DepotError> {
    let mut found = BTreeMap::new();
    workspace.walk(".", &mut |path, kind, metadata| match kind {
        Kind::File if path != LOCK => {
            let modified = metadata.modified().ok();
            found.insert(path, Mark { bytes: metadata.len(), modified, inode: metadata.ino() });
        }
        Kind::File | Kind::Special => {}
    })?;
    Ok(found)
}
