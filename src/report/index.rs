//! The index of a folder of collected deliverables: `index.json`, which identifies the folder in later collections.

use super::facts::FileState;
use overnight_core::job::{id::JobId, time::Timestamp};
use serde::{Deserialize, Serialize};

/// Version of `index.json`.
pub const FORMAT: u32 = 1;
pub const JSON: &str = "index.json";
pub const CSV: &str = "index.csv";

/// The content of `index.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// The kind of writer: a folder with another program's `index.json` is not ours.
    pub kind: IndexKind,
    pub format: u32,
    pub made: Timestamp,
    /// Hash of `index.csv`; `None` until that is written.
    pub csv_sha256: Option<String>,
    /// By job, the oldest first; a job without a deliverable has one entry without a path.
    pub entries: Vec<IndexEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexKind {
    #[serde(rename = "overnight collect")]
    Collect,
}

/// One deliverable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexEntry {
    pub job: JobId,
    /// The label of a batch's job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The status of the job.
    pub status: String,
    pub instructions: String,
    pub documents: Vec<String>,
    /// The copy's path in this folder; `None` if there is no copy.
    pub path: Option<String>,
    /// Hash of the copy.
    pub sha256: Option<String>,
    pub bytes: Option<u64>,
    /// The file's path in the job's workspace; `None` if the job delivered nothing.
    pub delivered_path: Option<String>,
    /// Hash of the file when the job delivered it.
    pub delivered_sha256: Option<String>,
    /// State of the copied file, compared with the delivered one.
    pub state: Option<FileState>,
}

/// The result of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CollectionResult {
    /// An absolute path.
    pub folder: String,
    /// Copies that were made, or already up to date.
    pub files: u64,
    pub bytes: u64,
    /// Sentences on files that differ from what was delivered.
    pub faults: Vec<String>,
}
