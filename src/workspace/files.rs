//! The workspace's files. Every path is opened relative to a handle of the folder and confined by the capability
//! library (on Linux by the kernel), so no path and no symbolic link can lead out.
//!
//! Paths here are the runner's own, relative, with `/` between the parts. A path that a model wrote goes through
//! [`super::model_path`] and [`super::known_path`] first.

use super::{
    error::WorkspaceError,
    fsync,
    hash::{self, FileHash},
    packed::{PackedRecord, packed_path},
    private::{FILE_MODE, FOLDER_MODE},
};
use crate::failpoint;
use cap_std::{
    ambient_authority,
    fs::{Dir, DirBuilder, DirBuilderExt, File, OpenOptions, OpenOptionsExt},
};
use overnight_core::job::time::Timestamp;
use std::{
    io::{self, BufWriter, Read, Seek, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};
use uuid::Uuid;
use walkdir::{DirEntry, WalkDir};

/// The name prefix of every unfinished file or folder, to distinguish remains of a crash from a job's files. No path of
/// a model may use it.
pub const TEMPORARY: &str = ".overnight-tmp-";

/// One job's folder.
#[derive(Debug)]
pub struct Workspace {
    pub(super) source: WorkspaceSource,
    pub(super) path: PathBuf,
    /// Under its temporary name no code relies on its content: all of it goes to the disk at once, before it is named.
    pub(super) is_temporary: bool,
}

/// The source of the files.
#[derive(Debug)]
pub(super) enum WorkspaceSource {
    Folder(Dir),
    /// They are read from the job's record, and nothing can be written.
    Packed(Box<PackedRecord>),
}

/// One file of a folder listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Relative to the workspace, `/` between the parts.
    pub path: String,
    pub bytes: u64,
    pub modified: Timestamp,
}

/// The kind of an entry, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    /// A symbolic link, a pipe, a socket, a device: nothing that a job makes.
    Special,
}

/// One file or special thing that a walk meets.
#[derive(Clone, Debug)]
pub(crate) struct WalkedEntry {
    pub(crate) entry: FolderEntry,
    pub(crate) kind: EntryKind,
    /// With the full precision of the file system.
    pub(crate) modified: Option<SystemTime>,
    /// Device and inode; a record has none.
    pub(crate) identity: Option<(u64, u64)>,
}

impl WalkedEntry {
    pub(super) fn packed(entry: FolderEntry) -> Self {
        Self { entry, kind: EntryKind::File, modified: None, identity: None }
    }
}

impl Workspace {
    /// Opens the workspace at `path`: its folder, or else its record, beside that place or at it. Changes nothing:
    /// remains of a crash are swept by the process that takes the lock.
    pub fn open(path: &Path) -> Result<Self, WorkspaceError> {
        let shown = path.display().to_string();
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                WorkspaceError::NoWorkspace { path: shown.clone() }
            }
            _ => WorkspaceError::from_io("open the workspace", &shown, error),
        };
        let source = match Dir::open_ambient_dir(path, ambient_authority()) {
            Ok(root) => WorkspaceSource::Folder(root),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                WorkspaceSource::Packed(Box::new(PackedRecord::open(&packed_path(path)).map_err(failed)?))
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory && path.is_file() => {
                WorkspaceSource::Packed(Box::new(PackedRecord::open(path).map_err(failed)?))
            }
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { source, path: path.to_owned(), is_temporary: false })
    }

    /// The folder's handle; an error where the workspace is packed, so that nothing in it can be changed.
    pub(super) fn root(&self) -> io::Result<&Dir> {
        match &self.source {
            WorkspaceSource::Folder(root) => Ok(root),
            WorkspaceSource::Packed(_) => Err(io::Error::other(format!(
                "the job is packed into its record: `overnight prune --unpack {}` brings its folder back",
                self.name()
            ))),
        }
    }

    /// Whether the files are read from the job's record.
    pub fn is_packed(&self) -> bool {
        match &self.source {
            WorkspaceSource::Folder(_) => false,
            WorkspaceSource::Packed(_) => true,
        }
    }

    /// The path of the workspace, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder's own name: the job's id.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The whole of a file.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, WorkspaceError> {
        self.read_at_most(path, u64::MAX)
    }

    /// The whole of a file of no more than `max` bytes; larger ones are refused before anything is read.
    pub fn read_at_most(&self, path: &str, max: u64) -> Result<Vec<u8>, WorkspaceError> {
        let (file, len) = self.stream(path)?;
        let mut content = Vec::new();
        if len <= max {
            content.reserve(usize::try_from(len).unwrap_or(0));
            // One byte more than allowed is enough to see that the file has grown since its size was taken.
            file.take(max.saturating_add(1))
                .read_to_end(&mut content)
                .map_err(|error| WorkspaceError::from_io("read", path, error))?;
        }
        let bytes = len.max(content.len() as u64);
        if bytes > max {
            return Err(WorkspaceError::TooLarge { path: path.to_owned(), bytes, max });
        }
        Ok(content)
    }

    /// The whole of a file as UTF-8 text.
    pub fn read_text(&self, path: &str) -> Result<String, WorkspaceError> {
        self.read_text_at_most(path, u64::MAX)
    }

    /// [`Self::read_at_most`] as UTF-8 text.
    pub fn read_text_at_most(&self, path: &str, max: u64) -> Result<String, WorkspaceError> {
        String::from_utf8(self.read_at_most(path, max)?).map_err(|_| WorkspaceError::NotText { path: path.to_owned() })
    }

    /// Whether there is something at `path`.
    pub fn exists(&self, path: &str) -> Result<bool, WorkspaceError> {
        match &self.source {
            WorkspaceSource::Folder(root) => {
                root.try_exists(path).map_err(|error| WorkspaceError::from_io("look at", path, error))
            }
            WorkspaceSource::Packed(record) => Ok(record.exists(path)),
        }
    }

    /// Size and time of one file.
    pub fn metadata(&self, path: &str) -> Result<FolderEntry, WorkspaceError> {
        let failed = |error| WorkspaceError::from_io("look at", path, error);
        let metadata = match &self.source {
            WorkspaceSource::Folder(root) => root.metadata(path).map_err(failed)?,
            WorkspaceSource::Packed(record) => return record.entry(path).map_err(failed),
        };
        if metadata.is_dir() {
            return Err(WorkspaceError::IsFolder { path: path.to_owned() });
        }
        Ok(entry(path.to_owned(), metadata.len(), metadata.modified().map(cap_std::time::SystemTime::into_std)))
    }

    /// A file's hash, read as a stream.
    pub fn hash(&self, path: &str) -> Result<FileHash, WorkspaceError> {
        let (mut file, _) = self.stream(path)?;
        hash::copy(&mut file, &mut io::sink()).map_err(|error| WorkspaceError::from_io("read", path, error))
    }

    /// Replaces or makes a file: temporary file in the same folder, fsync, rename, fsync of the folder. Missing
    /// folders are made. After a failure or a crash, the old content or the new is there, never a part.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<FileHash, WorkspaceError> {
        self.write_from(path, &mut &*content)
    }

    /// [`Self::write`] for the output of `content`, which may be large.
    pub fn write_as(
        &self,
        path: &str,
        content: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<FileHash, WorkspaceError> {
        let aside = tempfile::tempfile_in(self.path()).map(BufWriter::new).and_then(|mut aside| {
            content(&mut aside)?;
            let mut aside = aside.into_inner().map_err(io::IntoInnerError::into_error)?;
            aside.rewind()?;
            Ok(aside)
        });
        self.write_from(path, &mut aside.map_err(|error| WorkspaceError::from_io("write", path, error))?)
    }

    /// [`Self::write`] from a stream.
    pub fn write_from(&self, path: &str, content: &mut dyn Read) -> Result<FileHash, WorkspaceError> {
        let (parent, name) = split(path);
        let failed = |error| WorkspaceError::from_io("write", path, error);
        let folder = self.make_folder(parent).map_err(failed)?;
        let temporary = temporary_name();
        let result = if self.is_temporary { write_unsynced } else { write_new }(&folder, &temporary, content);
        let result = result.and_then(|hash| {
            folder.rename(&temporary, &folder, name)?;
            failpoint::hit("file.renamed");
            if !self.is_temporary {
                sync(&folder)?;
            }
            failpoint::hit("file.done");
            Ok(hash)
        });
        if result.is_err() {
            // Best effort: the next process with the lock sweeps it, and the first error is the one to report.
            let _ = folder.remove_file(&temporary);
        }
        result.map_err(failed)
    }

    /// [`Self::write`] for several files of the workspace's own folder, which goes to the disk once for all of them.
    pub fn write_together(&self, files: &[(&str, String)]) -> Result<(), WorkspaceError> {
        let root = self.root().map_err(|error| WorkspaceError::from_io("write", ".", error))?;
        for (name, text) in files {
            let temporary = temporary_name();
            let result =
                write_new(root, &temporary, &mut text.as_bytes()).and_then(|_| root.rename(&temporary, root, name));
            if let Err(error) = result {
                // Best effort, as in `write_from`.
                let _ = root.remove_file(&temporary);
                return Err(WorkspaceError::from_io("write", name, error));
            }
            failpoint::hit("file.renamed");
        }
        if let Some((name, _)) = files.last() {
            sync(root).map_err(|error| WorkspaceError::from_io("write", name, error))?;
            failpoint::hit("file.done");
        }
        Ok(())
    }

    /// Removes a file; a missing file is an error.
    pub fn remove(&self, path: &str) -> Result<(), WorkspaceError> {
        let (parent, name) = split(path);
        self.root()
            .and_then(|root| root.open_dir(parent))
            .and_then(|folder| {
                folder.remove_file(name)?;
                sync(&folder)
            })
            .map_err(|error| WorkspaceError::from_io("remove", path, error))
    }

    /// Removes unfinished files of a crash. Only for the holder of the lock: those of other processes are in use.
    pub(crate) fn sweep(&self) -> Result<u64, WorkspaceError> {
        let failed = |error| WorkspaceError::from_io("sweep", ".", error);
        let root = self.root().map_err(failed)?;
        let mut swept = 0;
        let mut items = WalkDir::new(&self.path).min_depth(1).into_iter();
        while let Some(item) = items.next() {
            let item = item.map_err(|error| failed(error.into()))?;
            if !is_unfinished(&item) {
                continue;
            }
            let path = item.path().strip_prefix(&self.path).unwrap_or(item.path());
            let removed = if item.file_type().is_dir() {
                items.skip_current_dir();
                root.remove_dir_all(path)
            } else {
                root.remove_file(path)
            };
            removed.map_err(failed)?;
            failpoint::hit("sweep.removed");
            swept += 1;
        }
        Ok(swept)
    }

    /// A regular file as a stream, with its size. A pipe would wait for ever for its other end, so the kind is looked at
    /// first.
    pub(crate) fn stream(&self, path: &str) -> Result<(std::fs::File, u64), WorkspaceError> {
        let failed = |error| WorkspaceError::from_io("read", path, error);
        let root = match &self.source {
            WorkspaceSource::Folder(root) => root,
            WorkspaceSource::Packed(record) => return record.stream(path).map_err(failed),
        };
        let metadata = root.metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            return Err(WorkspaceError::IsFolder { path: path.to_owned() });
        }
        if !metadata.is_file() {
            return Err(WorkspaceError::NotAFile { path: path.to_owned() });
        }
        Ok((root.open(path).map_err(failed)?.into_std(), metadata.len()))
    }

    /// Opens `path`, durably creating missing parts of it.
    pub(crate) fn make_folder(&self, path: &str) -> io::Result<Dir> {
        let root = self.root()?;
        match root.open_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => return result,
        }
        let mut at = root.try_clone()?;
        for name in path.split('/') {
            match at.create_dir_with(name, DirBuilder::new().mode(FOLDER_MODE)) {
                Ok(()) => {
                    failpoint::hit("folder.made");
                    if !self.is_temporary {
                        sync(&at)?;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            at = at.open_dir(name)?;
        }
        Ok(at)
    }
}

/// A name that nothing else has.
pub(crate) fn temporary_name() -> String {
    format!("{TEMPORARY}{}", Uuid::now_v7().simple())
}

/// Writes a new file in `folder` and syncs it to the disk.
pub(crate) fn write_new(folder: &Dir, name: &str, content: &mut dyn Read) -> io::Result<FileHash> {
    let (file, hash) = fill_new(folder, name, content)?;
    fsync::counted(|| file.sync_all())?;
    failpoint::hit("file.new.synced");
    Ok(hash)
}

/// Writes a new file, without syncing it to the disk.
fn write_unsynced(folder: &Dir, name: &str, content: &mut dyn Read) -> io::Result<FileHash> {
    fill_new(folder, name, content).map(|(_, hash)| hash)
}

fn fill_new(folder: &Dir, name: &str, content: &mut dyn Read) -> io::Result<(File, FileHash)> {
    let mut file = folder.open_with(name, OpenOptions::new().write(true).create_new(true).mode(FILE_MODE))?;
    failpoint::hit("file.new.made");
    failpoint::half_of("file.new.half", &mut file, content);
    let hash = hash::copy(content, &mut file)?;
    file.flush()?;
    failpoint::hit("file.new.written");
    Ok((file, hash))
}

/// Syncs a folder's names to the disk.
pub(crate) fn sync(folder: &Dir) -> io::Result<()> {
    let folder = folder.open(".")?;
    fsync::counted(|| folder.sync_all())
}

pub(super) fn is_unfinished(item: &DirEntry) -> bool {
    item.file_name().to_string_lossy().starts_with(TEMPORARY)
}

/// Folder (`.` for the root) and name of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or((".", path))
}

pub(super) fn entry(path: String, bytes: u64, modified: io::Result<SystemTime>) -> FolderEntry {
    let modified = modified.map_or_else(|_| Timestamp::default(), |time| Timestamp::new(time.into()));
    FolderEntry { path, bytes, modified }
}

#[cfg(test)]
mod tests;
