//! What is found where a user's paths lead.

use std::path::PathBuf;

use super::super::content::Opener;
use super::super::error::DocumentError;
use super::search::Search;

/// One document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file that it is, or is in. No link.
    pub path: PathBuf,
    /// Where in that file, names from outside in; empty: it is the file itself.
    pub inside: Vec<String>,
    /// What it will be called under `documents/`: relative, parts separated by `/`, unique, valid in a workspace.
    pub name: String,
    /// Its size in bytes; 0 for a document inside a file that a queue named, which nobody looked into again.
    pub bytes: u64,
}

impl Found {
    /// Whether both lie inside one and the same file.
    pub fn is_beside(&self, other: &Self) -> bool {
        !self.inside.is_empty() && !other.inside.is_empty() && self.path == other.path
    }
}

/// The documents of a job, by name; and what was passed over without being asked to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Sorted by name.
    pub documents: Vec<Found>,
    /// Path, and why it was left out; sorted. The path goes on inside a file that holds documents.
    pub left_out: Vec<(PathBuf, String)>,
}

/// The documents that `paths` mean. Names are relative to the folder given; where several folders are given, each name
/// begins with its folder's own. The same file named twice is one document. A path may be a pattern, and may carry a name
/// ([`super::super::source`]), which makes it mean this one document and nothing inside it.
pub fn gather(paths: &[PathBuf], opener: &dyn Opener) -> Result<Gathered, DocumentError> {
    Search::new(&|_| true, opener, true).all(paths)
}

/// As [`gather`], for many jobs at once: only documents whose name is `wanted`, and a file that can be no document is left
/// out, with the reason, instead of being in the way of all others. What was left out may be all that there was. An
/// archive whose own name is wanted is wanted with all that is in it.
pub fn survey(
    paths: &[PathBuf],
    wanted: &dyn Fn(&str) -> bool,
    opener: &dyn Opener,
) -> Result<Gathered, DocumentError> {
    Search::new(wanted, opener, false).all(paths)
}
