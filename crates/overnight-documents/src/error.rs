//! Errors in a user's documents. Each message is one sentence: what, where, what to do.

use super::refusal::Refusal;
use std::path::PathBuf;

/// A document or a path that can't be used. The user can correct all of these errors; none goes away by trying again.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The document gives no text.
    #[error("{name} {refusal}")]
    Refused {
        /// The document's name.
        name: String,
        /// The reason.
        refusal: Refusal,
    },
    /// A path given by the user that doesn't exist.
    #[error("{} doesn't exist: check the path", path.display())]
    Missing {
        /// The path as given.
        path: PathBuf,
    },
    /// The system doesn't let us read it.
    #[error("{} can't be read ({source}): {}, or leave it out", path.display(), remedy(source))]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Neither a file nor a folder: a socket, a pipe, a device.
    #[error("{} is neither a file nor a folder: give a document's path", path.display())]
    Special {
        /// The path as given.
        path: PathBuf,
    },
    /// A folder without a document.
    #[error("{} has no documents: {why}", path.display())]
    Empty {
        /// The folder, or the first path given.
        path: PathBuf,
        /// The content found instead, and what to do.
        why: String,
    },
    /// A path with `*` that nothing matches.
    #[error("{} matches no document: {why}", pattern.display())]
    NoMatch {
        /// The pattern as given.
        pattern: PathBuf,
        /// A clause: the reason, or a hint about patterns.
        why: String,
    },
    /// No path was given at all.
    #[error("no documents were named: give files or folders")]
    Nothing,
    /// A file name that isn't UTF-8.
    #[error("the name of {} isn't valid UTF-8: rename it", path.display())]
    NotUtf8 {
        /// The file; its odd bytes are replaced when shown.
        path: PathBuf,
    },
    /// A name that [`check_name`](crate::check_name) refuses.
    #[error("{name:?} can't be a document's name, because {why}: rename it")]
    BadName {
        /// The name that the document would have had.
        name: String,
        /// The rule it breaks.
        why: String,
    },
    /// Two files would get one name.
    #[error("{} and {} would both be called {name}: rename one, or give their common folder", first.display(), second.display())]
    SameName {
        /// The name that both would have.
        name: String,
        /// The first one by path.
        first: PathBuf,
        /// The second one.
        second: PathBuf,
    },
}

/// Advice for a file that the system doesn't let us read.
fn remedy(source: &std::io::Error) -> &'static str {
    if source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        "it is a link that leads back to itself: name the file that is meant"
    } else {
        "check its permissions"
    }
}

impl DocumentError {
    /// The error for a reader who knows the file already: "a PDF file, which can't be read yet: …".
    pub fn fragment(&self) -> String {
        match self {
            Self::Refused { refusal, .. } => refusal.fragment(),
            Self::Missing { .. } => "doesn't exist".to_owned(),
            Self::Unreadable { source, .. } => format!("can't be read: {source}"),
            Self::Special { .. } => "neither a file nor a folder".to_owned(),
            Self::Empty { why, .. } => format!("no documents: {why}"),
            Self::NoMatch { why, .. } => format!("it matches no document: {why}"),
            Self::Nothing => "no documents".to_owned(),
            Self::NotUtf8 { .. } => "its name isn't valid UTF-8: rename it".to_owned(),
            Self::BadName { why, .. } => format!("no name for a document, because {why}: rename it"),
            Self::SameName { name, .. } => format!("another one would be called {name} as well"),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_link_that_leads_back_to_itself_is_told_so() {
        let root = tempfile::tempdir().unwrap();
        let link = root.path().join("loop");
        std::os::unix::fs::symlink("loop", &link).unwrap();
        let opener = &crate::InProcess;
        let said = crate::discover(std::slice::from_ref(&link), &[], opener).unwrap_err().to_string();
        let why = "it is a link that leads back to itself: name the file that is meant, or leave it out";
        let system = "Too many levels of symbolic links (os error 40)";
        assert_eq!(said, format!("{} can't be read ({system}): {why}", link.display()));
    }
}
