//! Where a symbolic link in a folder leads. No link is followed: files in the folder are found under their own names,
//! and files outside were not given.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Why `link` is no document. `root` is the folder given, all links in it resolved.
pub(super) fn why(root: &Path, link: &Path) -> String {
    match fs::canonicalize(link) {
        Ok(target) => match target.strip_prefix(root) {
            Ok(to) if to.as_os_str().is_empty() => "a symbolic link to the folder itself".to_owned(),
            Ok(to) => format!("a symbolic link to {}, not followed", to.display()),
            Err(_) => "a symbolic link out of the folder, refused".to_owned(),
        },
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => "a symbolic link that leads nowhere".to_owned(),
            _ if rustix::io::Errno::from_io_error(&error) == Some(rustix::io::Errno::LOOP) => {
                "a symbolic link that leads nowhere".to_owned()
            }
            _ => format!("a symbolic link that can't be followed: {error}"),
        },
    }
}
