//! Walks a folder completely.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::super::error::DocumentError;
use super::given_path::unreadable;
use super::links;
use super::pattern::GlobPattern;
use super::search::{FolderSelection, Search};

/// The file in which a folder names what isn't a document.
pub(super) const IGNORE_FILE: &str = ".overnightignore";

impl Search<'_> {
    /// Takes the files in `folder` that are meant, in order.
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
            // For example, a line in an ignore file that isn't a pattern: skipping what a user wrote would be worse.
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
                // The user didn't name the link.
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

    /// The caller's own files and folders in `folder`, with the paths that the walk gives them.
    fn own_in(&self, folder: &Path) -> HashSet<PathBuf> {
        let Ok(root) = fs::canonicalize(folder) else { return HashSet::new() };
        let relative = self.own.iter().filter_map(|own| own.strip_prefix(&root).ok());
        relative.filter(|own| !own.as_os_str().is_empty()).map(|own| folder.join(own)).collect()
    }
}

/// Converts the walker's error, in which the path and the system's error are nested.
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
    // The system's message, without the path around it.
    let bare = (source.raw_os_error().is_none() && source.kind() != std::io::ErrorKind::Other)
        .then(|| std::io::Error::from(source.kind()));
    unreadable(&at, bare.unwrap_or(source))
}
