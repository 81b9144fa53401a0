//! A folder, walked to the end.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::super::error::DocumentError;
use super::given_path::unreadable;
use super::links;
use super::pattern::GlobPattern;
use super::search::{FolderSelection, Search};

/// Where a folder says what in it is no document.
pub(super) const IGNORE_FILE: &str = ".overnightignore";

impl Search<'_> {
    /// Takes what is meant of the files in `folder`, in order.
    pub(super) fn walk(&mut self, folder: &Path, part: FolderSelection<'_>) -> Result<(), DocumentError> {
        let own = self.own_in(folder);
        let walk = WalkBuilder::new(folder)
            .standard_filters(false)
            .hidden(true)
            .add_custom_ignore_filename(IGNORE_FILE)
            .follow_links(false)
            .max_depth(part.pattern.and_then(GlobPattern::deepest))
            .filter_entry(move |entry| !own.contains(entry.path()))
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .build();
        for entry in walk {
            let entry = match entry.map_err(|error| of_walk(folder, error)) {
                Ok(entry) => entry,
                Err(error) => {
                    // The folder itself was named.
                    let is_file = matches!(&error, DocumentError::Unreadable { path, .. } if path == folder);
                    self.unfit(folder, error, FolderSelection { is_file, ..part })?;
                    continue;
                }
            };
            // Such as a line in an ignore file that isn't a pattern: ignoring what a user wrote would be worse.
            if let Some(error) = entry.error() {
                return Err(unreadable(entry.path(), std::io::Error::other(error.to_string())));
            }
            let Some(kind) = entry.file_type().filter(|_| entry.depth() > 0) else {
                continue;
            };
            if kind.is_dir() {
                continue;
            }
            let relative = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            if kind.is_file() {
                self.take(entry.path(), relative, part)?;
            } else if !self.tells_of(relative, part) {
                // Nobody asked for it.
            } else if kind.is_symlink() {
                let root = fs::canonicalize(folder).map_err(|source| unreadable(folder, source))?;
                let why = links::why(&root, entry.path());
                self.left_out.push((entry.into_path(), why));
            } else {
                self.left_out.push((entry.into_path(), "not a regular file".to_owned()));
            }
        }
        Ok(())
    }

    /// Which of our own files and folders are in `folder`, as its walk names them.
    fn own_in(&self, folder: &Path) -> HashSet<PathBuf> {
        let Ok(root) = fs::canonicalize(folder) else { return HashSet::new() };
        let relative = self.own.iter().filter_map(|own| own.strip_prefix(&root).ok());
        relative.filter(|own| !own.as_os_str().is_empty()).map(|own| folder.join(own)).collect()
    }
}

/// The walker's error, which wraps the path and the system's error in each other.
fn of_walk(path: &Path, error: ignore::Error) -> DocumentError {
    let mut inner = &error;
    let mut at = path.to_owned();
    loop {
        match inner {
            ignore::Error::WithPath { path, err } => {
                at.clone_from(path);
                inner = err;
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => inner = err,
            _ => break,
        }
    }
    let source = error.into_io_error().unwrap_or_else(|| std::io::Error::other("the folder can't be walked"));
    // What the system said, without the path around it.
    let bare = (source.raw_os_error().is_none() && source.kind() != std::io::ErrorKind::Other)
        .then(|| std::io::Error::from(source.kind()));
    unreadable(&at, bare.unwrap_or(source))
}
