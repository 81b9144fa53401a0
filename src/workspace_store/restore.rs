//! Downloads a workspace: it is built under a temporary name, every block is checked, and then it gets its name.

use super::{
    WorkspaceStore, WorkspaceStoreError,
    manifest::{WorkspaceManifest, object},
    upload::MOST_AT_ONCE,
};
use crate::{
    failpoint,
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

impl WorkspaceStore {
    /// Downloads the workspace of `manifest` into the folder `into`, which must not exist yet.
    pub async fn restore(
        &self,
        manifest: &WorkspaceManifest,
        into: &Path,
        at: Timestamp,
    ) -> Result<(), WorkspaceStoreError> {
        let parent = into.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = into.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if into.symlink_metadata().is_ok() {
            return Err(WorkspaceError::Exists { path: into.display().to_string() }.into());
        }
        let _ = private::make_folders(parent);
        Workspace::sweep_at_times(parent, at);
        let workspace = Arc::new(Workspace::create_temporary(parent)?);
        // For cleanups after crashes: this workspace is in use.
        let lock = Lock::acquire(&workspace, at);
        let filled = match lock {
            Ok(lock) => self.fill(&workspace, manifest).await.map(|()| lock),
            Err(error) => Err(error.into()),
        };
        failpoint::hit("workspace_store.restored");
        // All writers have finished.
        let workspace = Arc::try_unwrap(workspace).map_err(|_| self.stopped())?;
        match filled {
            Ok(lock) => {
                let installed = tokio::task::spawn_blocking(move || workspace.install(&name)).await;
                installed.map_err(|_| self.stopped())??;
                drop(lock);
                Ok(())
            }
            Err(error) => {
                // Best effort: the first error is the one to report.
                let _ = workspace.discard();
                Err(error)
            }
        }
    }

    fn stopped(&self) -> WorkspaceStoreError {
        let detail = "the program was stopped meanwhile".to_owned();
        WorkspaceStoreError::Unreachable { store: self.shown().to_owned(), detail }
    }

    async fn fill(&self, workspace: &Arc<Workspace>, manifest: &WorkspaceManifest) -> Result<(), WorkspaceStoreError> {
        let mut downloads = JoinSet::new();
        let mut filled = Ok(());
        for (path, blocks) in &manifest.files {
            while filled.is_ok() && downloads.len() >= MOST_AT_ONCE {
                filled = self.join_download(&mut downloads).await;
            }
            if filled.is_err() {
                break;
            }
            let (remote, workspace) = (self.clone(), workspace.clone());
            let (path, blocks) = (path.clone(), blocks.clone());
            downloads.spawn(async move { remote.restore_file(workspace, path, blocks).await });
        }
        // Wait for all of them, so that none writes in a folder that is being removed.
        while !downloads.is_empty() {
            let result = self.join_download(&mut downloads).await;
            filled = filled.and(result);
        }
        filled
    }

    async fn join_download(
        &self,
        downloads: &mut JoinSet<Result<(), WorkspaceStoreError>>,
    ) -> Result<(), WorkspaceStoreError> {
        downloads.join_next().await.unwrap_or(Ok(Ok(()))).unwrap_or_else(|_| Err(self.stopped()))
    }

    /// Downloads one file.
    async fn restore_file(
        &self,
        workspace: Arc<Workspace>,
        path: String,
        blocks: Vec<FileHash>,
    ) -> Result<(), WorkspaceStoreError> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let writing = tokio::task::spawn_blocking(move || {
            workspace.write_from(&path, &mut BlockReader { blocks: receiver, block: Vec::new(), read: 0 })
        });
        let mut brought = Ok(());
        for block in &blocks {
            match self.block(block).await {
                // If the receiver is gone, the file could not be written: that is reported below.
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

    /// One block, verified.
    async fn block(&self, block: &FileHash) -> Result<Vec<u8>, WorkspaceStoreError> {
        let name = object(&block.sha256);
        let content = self.get(&name, block.bytes).await?;
        if FileHash::of(&content) == *block {
            Ok(content)
        } else {
            Err(self.corrupt(&name, "its hash is not the one in its name"))
        }
    }
}

/// The blocks of a file as they arrive, for the thread that writes them.
struct BlockReader {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    read: usize,
}

impl Read for BlockReader {
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
