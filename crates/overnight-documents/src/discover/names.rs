//! Converts names of folders and files to names of documents: in UTF-8, with `/` between the parts.

use std::fs;
use std::path::Path;

use super::super::error::DocumentError;

/// The name of the folder itself, also for `.` and `docs/..`; none for the root of the file system.
pub(super) fn own_name(folder: &Path) -> Result<Option<String>, DocumentError> {
    let whole =
        fs::canonicalize(folder).map_err(|source| DocumentError::Unreadable { path: folder.to_owned(), source })?;
    // The user typed the link's own name.
    let name = folder.file_name().or_else(|| whole.file_name());
    name.map(|name| utf_8(Path::new(name), folder).map(str::to_owned)).transpose()
}

pub(super) fn slashed(relative: &Path, whole: &Path) -> Result<String, DocumentError> {
    let parts: Result<Vec<&str>, _> = relative.iter().map(|part| utf_8(Path::new(part), whole)).collect();
    Ok(parts?.join("/"))
}

pub(super) fn utf_8<'a>(name: &'a Path, whole: &Path) -> Result<&'a str, DocumentError> {
    name.to_str().ok_or_else(|| DocumentError::NotUtf8 { path: whole.to_owned() })
}
