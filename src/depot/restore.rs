//! A workspace that comes down: built under a temporary name, every block checked, and then named as a whole.

use super::{
    Depot, DepotError,
    keep::AT_ONCE,
    manifest::{Manifest, object},
};
use crate::{
    crash,
    workspace::{Workspace, WorkspaceError, hash::FileHash, lock::Lock, private},
};
use overnight_core::job::time::Timestamp;
use std::{
    io::{self, Read},
    path::Path,
    sync::Arc,
};
use tokio::{
    sync::mpsc::{self, Receiver},
    task::JoinSet,
};

/// Blocks of a file that wait to be written.
const WAITING: usize = 2;

impl Depot {
    /// Puts the workspace as `manifest` has it into the folder `into`, which must not be there yet.
    pub async fn restore(&self, manifest: &Manifest, into: &Path, at: Timestamp) -> Result<(), DepotError> {
        let parent = into.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = into.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if into.symlink_metadata().is_ok() {
            return Err(WorkspaceError::Exists { path: into.display().to_string() }.into());
        }
        let _ = private::make_folders(parent);
        // Best effort: what another crash left is no reason not to begin.
        let _ = Workspace::sweep_unfinished(parent, at);
        let workspace = Arc::new(Workspace::create_temporary(parent)?);
        // For who sweeps what a crash left: this one is alive.
        let lock = Lock::acquire(&workspace, at);
        let filled = match lock {
            Ok(lock) => self.fill(&workspace, manifest).await.map(|()| lock),
            Err(error) => Err(error.into()),
        };
        crash::point("depot.restored");
        // All who wrote in it are done.
        let workspace = Arc::try_unwrap(workspace).map_err(|_| self.stopped())?;
        match filled {
            Ok(lock) => {
                let installed = tokio::task::spawn_blocking(move || workspace.install(&name)).await;
                installed.map_err(|_| self.stopped())??;
                drop(lock);
                Ok(())
            }
            Err(error) => {
                // Best effort: the first error is the one to tell.
                let _ = workspace.discard();
                Err(error)
            }
        }
    }

    fn stopped(&self) -> DepotError {
        let detail = "the program was stopped meanwhile".to_owned();
        DepotError::Unreachable { store: self.shown().to_owned(), detail }
    }

    async fn fill(&self, workspace: &Arc<Workspace>, manifest: &Manifest) -> Result<(), DepotError> {
        let mut coming = JoinSet::new();
        let mut filled = Ok(());
        for (path, blocks) in &manifest.files {
            while filled.is_ok() && coming.len() >= AT_ONCE {
                filled = self.come(&mut coming).await;
            }
            if filled.is_err() {
                break;
            }
            let (depot, workspace) = (self.clone(), workspace.clone());
            let (path, blocks) = (path.clone(), blocks.clone());
            coming.spawn(async move { depot.bring(workspace, path, blocks).await });
        }
        // To the last, so that nobody writes in a folder that is removed.
        while !coming.is_empty() {
            let come = self.come(&mut coming).await;
            filled = filled.and(come);
        }
        filled
    }

    async fn come(&self, coming: &mut JoinSet<Result<(), DepotError>>) -> Result<(), DepotError> {
        coming.join_next().await.unwrap_or(Ok(Ok(()))).unwrap_or_else(|_| Err(self.stopped()))
    }

    /// Brings one file.
    async fn bring(&self, workspace: Arc<Workspace>, path: String, blocks: Vec<FileHash>) -> Result<(), DepotError> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let writing = tokio::task::spawn_blocking(move || {
            workspace.write_from(&path, &mut Coming { blocks: receiver, block: Vec::new(), read: 0 })
        });
        let mut brought = Ok(());
        for block in &blocks {
            match self.block(block).await {
                // Where nobody takes it, the file could not be written: that is told below.
                Ok(content) => {
                    if sender.send(Ok(content)).await.is_err() {
                        break;
                    }
                }
                Err(error) => {
                    let _ = sender.send(Err(io::Error::other("a block of it can't be had"))).await;
                    brought = Err(error);
                    break;
                }
            }
        }
        drop(sender);
        let written = writing.await.map_err(|_| self.stopped())?;
        brought?;
        written?;
        Ok(())
    }

    /// One block, checked.
    async fn block(&self, block: &FileHash) -> Result<Vec<u8>, DepotError> {
        let name = object(&block.sha256);
        let content = self.get(&name, block.bytes).await?;
        if FileHash::of(&content) == *block {
            Ok(content)
        } else {
            Err(self.corrupt(&name, "its hash is not the one in its name"))
        }
    }
}

/// The blocks of a file as they come, for who writes them.
struct Coming {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    read: usize,
}

impl Read for Coming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.block.len() {
            match self.blocks.blocking_recv() {
                None => return Ok(0),
                Some(block) => (self.block, self.read) = (block?, 0),
            }
        }
        let count = buffer.len().min(self.block.len() - self.read);
        buffer[..count].copy_from_slice(&self.block[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}
