//! The content of a workspace: its files and folders, one after the other, in a folder or in a record.

use super::{
    error::WorkspaceError,
    files::{EntryKind, FolderEntry, TEMPORARY, WalkedEntry, Workspace, WorkspaceSource, entry, is_unfinished},
};
use std::{io, os::unix::fs::MetadataExt, path::Path};
use walkdir::WalkDir;

impl Workspace {
    /// All files in `folder` (`.` for the whole workspace) and below it, sorted by path. Links are neither followed
    /// nor listed, unfinished files are left out; a folder that isn't there is an empty one.
    pub fn list(&self, folder: &str) -> Result<Vec<FolderEntry>, WorkspaceError> {
        let mut entries = Vec::new();
        self.walk(folder, &mut |found| match found.kind {
            EntryKind::File => entries.push(found.entry),
            EntryKind::Special => {}
        })?;
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    /// Calls `each` for everything in `folder` and below that isn't a folder itself, in no order. Unfinished entries
    /// are left out, and entries removed meanwhile are skipped.
    pub(crate) fn walk(&self, folder: &str, each: &mut dyn FnMut(WalkedEntry)) -> Result<(), WorkspaceError> {
        let failed = |error: io::Error| WorkspaceError::from_io("list", folder, error);
        let root = match &self.source {
            WorkspaceSource::Folder(root) => root,
            WorkspaceSource::Packed(record) => {
                let entries = record.list(folder);
                entries.for_each(|entry| each(WalkedEntry::packed(entry)));
                return Ok(());
            }
        };
        // The capability library decides where the folder is; below it no link is followed.
        let start = match root.open_dir(folder).and_then(|_| root.canonicalize(folder)) {
            Ok(start) => self.path.join(start),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        let above = if folder == "." { Path::new("") } else { Path::new(folder) };
        let items = WalkDir::new(&start).follow_root_links(folder == ".").min_depth(1).into_iter();
        for item in items.filter_entry(|item| !is_unfinished(item)) {
            let found = item.and_then(|item| item.metadata().map(|metadata| (item, metadata))).map_err(io::Error::from);
            let (item, metadata) = match found {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            if !metadata.is_dir() {
                let path = above.join(item.path().strip_prefix(&start).unwrap_or(item.path()));
                let kind = if metadata.is_file() { EntryKind::File } else { EntryKind::Special };
                let entry = entry(path.to_string_lossy().into_owned(), metadata.len(), metadata.modified());
                let identity = Some((metadata.dev(), metadata.ino()));
                each(WalkedEntry { entry, kind, modified: metadata.modified().ok(), identity });
            }
        }
        Ok(())
    }

    /// Names of the folders directly in `folder`, sorted, unfinished ones left out.
    pub(crate) fn folders(&self, folder: &str) -> Result<Vec<String>, WorkspaceError> {
        let failed = |error| WorkspaceError::from_io("list", folder, error);
        let root = match &self.source {
            WorkspaceSource::Folder(root) => root,
            WorkspaceSource::Packed(record) => return Ok(record.folders(folder)),
        };
        let items = match root.read_dir(folder) {
            Ok(items) => items,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut names = Vec::new();
        for item in items {
            let item = item.map_err(failed)?;
            let name = item.file_name().to_string_lossy().into_owned();
            if !name.starts_with(TEMPORARY) && item.file_type().map_err(failed)?.is_dir() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Folders with nothing in them, sorted.
    pub(crate) fn empty_folders(&self) -> Result<Vec<String>, WorkspaceError> {
        let failed = |error: io::Error| WorkspaceError::from_io("list", ".", error);
        if let WorkspaceSource::Packed(record) = &self.source {
            return Ok(record.empty_folders());
        }
        let mut empty = Vec::new();
        for item in WalkDir::new(&self.path).min_depth(1).sort_by_file_name() {
            let item = item.map_err(|error| failed(error.into()))?;
            if item.file_type().is_dir() && item.path().read_dir().map_err(failed)?.next().is_none() {
                let path = item.path().strip_prefix(&self.path).unwrap_or(item.path());
                empty.push(path.to_string_lossy().into_owned());
            }
        }
        Ok(empty)
    }
}
