//! The documents that a user's paths lead to.

use chrono::NaiveDate;
use std::path::PathBuf;

use super::search::Search;
use crate::container;
use crate::content::{ContainerOpener, ReadFileError, whole};
use crate::error::DocumentError;
use crate::format::MAX_BYTES;
use crate::refusal::Refusal;

/// One document that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDocument {
    /// The file that it is, or is in. No link.
    pub path: PathBuf,
    /// Where in that file, names from outside in; empty: it is the file itself.
    pub inside: Vec<String>,
    /// What it is called among those found: relative, parts separated by `/`, unique, valid by [`check_name`](crate::check_name).
    pub name: String,
    /// Its size in bytes; 0 for a document inside a file that [`source`](crate::source) named: nobody looked into it again.
    pub bytes: u64,
    /// The user named this very file, so it is meant; others were met in a folder, under a pattern or in a file.
    pub is_named: bool,
    /// Its day: of a survey, the one on which it was last changed, in UTC, or as its archive has it; else the one that its
    /// [`source`](crate::source) carries.
    pub dated: Option<NaiveDate>,
    /// Why no text can be got from it, a fragment, where that showed when it was found.
    pub fault: Option<String>,
}

impl FoundDocument {
    /// Whether both lie inside one and the same file, and can be taken out of it.
    pub fn is_beside(&self, other: &Self) -> bool {
        let can_be_taken = |found: &Self| !found.inside.is_empty() && found.fault.is_none();
        can_be_taken(self) && can_be_taken(other) && self.path == other.path
    }

    /// Its bytes, wherever it is.
    pub fn content(&self) -> Result<Vec<u8>, DocumentError> {
        let file = self.file()?;
        if self.inside.is_empty() {
            return Ok(file);
        }
        let own = self.path.file_name().unwrap_or_default().to_string_lossy();
        container::take(&own, &file, &self.inside)
            .map_err(|refusal| DocumentError::Refused { name: self.name.clone(), refusal })
    }

    /// The bytes of the file that it is, or lies in.
    pub fn file(&self) -> Result<Vec<u8>, DocumentError> {
        whole(&self.path).map_err(|error| match error {
            ReadFileError::TooLarge(bytes) => {
                let refusal = Refusal::TooLarge { bytes, limit: MAX_BYTES };
                DocumentError::Refused { name: self.name.clone(), refusal }
            }
            ReadFileError::System(source) => DocumentError::Unreadable { path: self.path.clone(), source },
        })
    }
}

/// Documents by name, and what was passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundDocuments {
    /// Sorted by name; those that were given by [`source`](crate::source), behind all others, in the order in which they were given.
    pub documents: Vec<FoundDocument>,
    /// Path, and why it doesn't count, by rules that a user knows: links, what is hidden in an archive, our own files.
    /// Sorted. The path goes on inside a file that holds documents.
    pub left_out: Vec<(PathBuf, String)>,
    /// What was meant and can be no document, because it has no name that one may have, or can't be got at; as above.
    pub unfit: Vec<(PathBuf, String)>,
}

/// Files and folders of the calling program itself, such as its database, which are no documents where a folder given holds
/// them. Who names a file or a folder in them means it.
pub type OwnPaths<'o> = &'o [PathBuf];

/// The documents that `paths` mean. Names are relative to the folder given; where several folders are given, each name
/// begins with its folder's own. The same file named twice is one document. A path may be a pattern, and may carry a name
/// ([`source`](crate::source)), which makes it mean this one document and nothing inside it. A file that can't be had is an
/// error where it was named, and in nobody's way where it was met.
pub fn discover(
    paths: &[PathBuf],
    own: OwnPaths<'_>,
    opener: &dyn ContainerOpener,
) -> Result<FoundDocuments, DocumentError> {
    Search::new(&|_| true, own, opener, true).all(paths)
}

/// As [`discover`], where each document is used by itself: only those whose name is `wanted`, and none is in the way of
/// others, also where it was named. What was left out may be all that there was. An archive whose own name is wanted is wanted with all
/// that is in it.
pub fn survey(
    paths: &[PathBuf],
    wanted: &dyn Fn(&str) -> bool,
    own: OwnPaths<'_>,
    opener: &dyn ContainerOpener,
) -> Result<FoundDocuments, DocumentError> {
    Search::new(wanted, own, opener, false).all(paths)
}
