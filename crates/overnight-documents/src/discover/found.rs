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
    /// The file that is the document or contains it; never a link.
    pub path: PathBuf,
    /// The names inside the file, from outside in; empty if the document is the file itself.
    pub inside: Vec<String>,
    /// The name: relative, parts separated by `/`, unique, valid by [`check_name`](crate::check_name).
    pub name: String,
    /// The size in bytes; 0 for a document inside a file that [`source`](crate::source) named: it isn't opened again.
    pub bytes: u64,
    /// The user named this very file; other documents were found in a folder, by a pattern or in a file.
    pub is_named: bool,
    /// The document's day: in a survey, the day of its last change, in UTC or as its archive has it; otherwise the day
    /// that its [`source`](crate::source) carries.
    pub dated: Option<NaiveDate>,
    /// Why it has no text, as a fragment, if that was noticed when it was found.
    pub fault: Option<String>,
}

impl FoundDocument {
    /// Whether both lie in the same file and can be unpacked from it.
    pub fn is_beside(&self, other: &Self) -> bool {
        let can_be_taken = |found: &Self| !found.inside.is_empty() && found.fault.is_none();
        can_be_taken(self) && can_be_taken(other) && self.path == other.path
    }

    /// The bytes of the document, from a file or from inside one.
    pub fn content(&self) -> Result<Vec<u8>, DocumentError> {
        let file = self.file()?;
        if self.inside.is_empty() {
            return Ok(file);
        }
        let own = self.path.file_name().unwrap_or_default().to_string_lossy();
        container::take(&own, &file, &self.inside)
            .map_err(|refusal| DocumentError::Refused { name: self.name.clone(), refusal })
    }

    /// The bytes of the file that is the document or contains it.
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

/// The found documents by name, and the paths that were passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundDocuments {
    /// Sorted by name; documents given by [`source`](crate::source) follow all others, in the given order.
    pub documents: Vec<FoundDocument>,
    /// Paths that don't count, by rules that a user knows, each with the reason: links, hidden entries of archives, our
    /// own files. Sorted. The path continues inside a file that holds documents.
    pub left_out: Vec<(PathBuf, String)>,
    /// Paths that were meant but can't be documents, because their names are invalid or they can't be opened; as above.
    pub unfit: Vec<(PathBuf, String)>,
}

/// Files and folders of the calling program itself, such as its database. They are not documents if a given folder
/// contains them, but a user who names one of them, or a file in them, means it.
pub type OwnPaths<'o> = &'o [PathBuf];

/// The documents that `paths` mean. Names are relative to the given folder; with several folders, each name begins with
/// its folder's own name. A file that is named twice is one document. A path may be a pattern, and may carry a name
/// ([`source`](crate::source)); then it means this one document and nothing inside it. A file that can't be opened is
/// an error if it was named, and is passed over if it was only found.
pub fn discover(
    paths: &[PathBuf],
    own: OwnPaths<'_>,
    opener: &dyn ContainerOpener,
) -> Result<FoundDocuments, DocumentError> {
    Search::new(&|_| true, own, opener, true).all(paths)
}

/// Like [`discover`], for documents that are used one by one: only documents whose names are `wanted`, and none stops
/// the others, even if it was named. It is no error if everything was left out. An archive whose own name is wanted is
/// wanted with everything in it.
pub fn survey(
    paths: &[PathBuf],
    wanted: &dyn Fn(&str) -> bool,
    own: OwnPaths<'_>,
    opener: &dyn ContainerOpener,
) -> Result<FoundDocuments, DocumentError> {
    Search::new(wanted, own, opener, false).all(paths)
}
