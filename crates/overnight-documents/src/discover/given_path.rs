//! The meaning of a path given by a user: a folder, a pattern or a file.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::error::DocumentError;
use super::super::source_path::{self, SourceParts};
use super::pattern::GlobPattern;

/// The folder that is searched for documents if `path` is given: the path itself, or the part of a pattern before its
/// first wildcard. The paths of the found documents begin with it. None if the path is a file, or doesn't exist.
pub fn given_folder(path: &Path) -> Option<PathBuf> {
    let (_, given) = GivenPath::of(path).ok()?;
    given.folder().map(Path::to_owned)
}

/// The meaning of a path given by a user.
pub(super) enum GivenPath {
    Folder(PathBuf),
    Pattern(GlobPattern),
    File { path: PathBuf, bytes: u64 },
}

impl GivenPath {
    pub(super) fn of(source: &Path) -> Result<(SourceParts<'_>, Self), DocumentError> {
        let source = source_path::parts(source);
        let path = source.path;
        let meta = match fs::metadata(path) {
            Ok(meta) => meta,
            Err(error) => {
                let given = Self::missing(&source, error)?;
                return Ok((source, given));
            }
        };
        let given = if meta.is_dir() {
            Self::Folder(path.to_owned())
        } else if meta.is_file() {
            Self::File { path: target(path)?, bytes: meta.len() }
        } else {
            return Err(DocumentError::Special { path: path.to_owned() });
        };
        Ok((source, given))
    }

    /// The meaning of a path at which no file exists.
    fn missing(source: &SourceParts<'_>, error: std::io::Error) -> Result<Self, DocumentError> {
        let path = source.path;
        if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename) {
            return Err(unreadable(path, error));
        }
        let pattern = match GlobPattern::of(path) {
            Some(pattern) if source.name.is_none() => pattern?,
            Some(_) | None => return Err(DocumentError::Missing { path: path.to_owned() }),
        };
        if pattern.folder.is_dir() {
            return Ok(Self::Pattern(pattern));
        }
        let why = format!("there is no folder {}", pattern.folder.display());
        Err(DocumentError::NoMatch { pattern: path.to_owned(), why })
    }

    /// The folder to which its documents' names are relative, as it was written.
    pub(super) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Pattern(pattern) => Some(&pattern.folder),
            Self::File { .. } => None,
        }
    }
}

/// The file itself, if a user names a link to it: a link that replaces the file later is not followed.
fn target(path: &Path) -> Result<PathBuf, DocumentError> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    if is_link { fs::canonicalize(path).map_err(|source| unreadable(path, source)) } else { Ok(path.to_owned()) }
}

pub(super) fn unreadable(path: &Path, source: std::io::Error) -> DocumentError {
    DocumentError::Unreadable { path: path.to_owned(), source }
}
