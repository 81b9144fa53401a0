//! Where a symbolic link in a folder leads. None is followed: what lies in the folder is found under its own name, and
//! what lies outside was not given.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where a link leads, as seen from the folder that was given.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Leads {
    Nowhere,
    Out,
    /// The path is relative to the folder.
    File(PathBuf),
    Folder(PathBuf),
    /// A fragment says what else is wrong.
    Elsewhere(String),
}

/// Follows `link`, with no more than a look. `root` is the folder given, all links in it resolved.
pub(super) fn leads(root: &Path, link: &Path) -> Leads {
    let target = match fs::canonicalize(link) {
        Ok(target) => target,
        Err(error) => {
            return match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Leads::Nowhere,
                _ if rustix::io::Errno::from_io_error(&error) == Some(rustix::io::Errno::LOOP) => Leads::Nowhere,
                _ => Leads::Elsewhere(format!("a symbolic link that can't be followed: {error}")),
            };
        }
    };
    let Ok(relative) = target.strip_prefix(root) else { return Leads::Out };
    match fs::symlink_metadata(&target) {
        Ok(meta) if meta.is_dir() => Leads::Folder(relative.to_owned()),
        Ok(meta) if meta.is_file() => Leads::File(relative.to_owned()),
        Ok(_) => Leads::Elsewhere("a symbolic link to what is not a regular file".to_owned()),
        Err(_) => Leads::Nowhere,
    }
}
