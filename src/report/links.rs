//! Addresses of deliverables and of review pages, relative to the report's folder: a folder that is moved with its
//! report keeps its links.

use super::facts::{FileFacts, FileState, JobFacts};
use crate::workspace::packed::packed_path;
use overnight_core::job::id::JobId;
use std::path::{Path, PathBuf};
use url::Url;

/// The base and the targets of a report's links.
#[derive(Clone, Debug, Default)]
pub struct ReportLinks {
    /// The folder of the report.
    folder: Option<Url>,
    /// The folder of the review pages, or the base address of them.
    review: Option<Url>,
}

impl ReportLinks {
    /// For a report that lies in `folder`. `review` is a folder that `overnight review` has written, or the address of one.
    pub fn new(folder: &Path, review: Option<&str>) -> Self {
        let review = review.and_then(|place| match Url::parse(place) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => {
                Url::parse(&format!("{}/", place.trim_end_matches('/'))).ok()
            }
            Ok(_) | Err(_) => Url::from_directory_path(whole(Path::new(place))).ok(),
        });
        Self { folder: Url::from_directory_path(whole(folder)).ok(), review }
    }

    /// The link to a deliverable on this machine; for a packed job, to the record that contains it.
    pub fn file(&self, job: &JobFacts, file: &FileFacts) -> Option<String> {
        match file.state {
            FileState::AsDelivered | FileState::Changed => {}
            FileState::Missing | FileState::Unreadable | FileState::Elsewhere | FileState::Stored => return None,
        }
        let workspace = whole(Path::new(&job.workspace));
        let place = if job.packed { packed_path(&workspace) } else { workspace.join(&file.path) };
        self.address(&Url::from_file_path(place).ok()?)
    }

    /// The page on which a person reviews the job.
    pub fn review(&self, job: JobId) -> Option<String> {
        self.address(&self.review.as_ref()?.join(&format!("{job}.html")).ok()?)
    }

    fn address(&self, target: &Url) -> Option<String> {
        let address = match self.folder.as_ref()?.make_relative(target) {
            // A colon in the first name would make it a URL scheme.
            Some(relative) if relative.starts_with("..") => relative,
            Some(relative) => format!("./{relative}"),
            None => target.to_string(),
        };
        // Characters that Markdown would interpret within an address, or as the end of a table's cell.
        Some(address.replace('|', "%7C").replace('&', "%26").replace('(', "%28").replace(')', "%29"))
    }
}

/// `path` without links and `..`, if it exists.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}
