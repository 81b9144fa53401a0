//! The index of a folder of collected deliverables: `index.json`, by which the folder is recognised later.

use super::facts::FileState;
use overnight_core::job::{id::JobId, time::Timestamp};
use serde::{Deserialize, Serialize};

/// Version of `index.json`.
pub const FORMAT: u32 = 1;
pub const JSON: &str = "index.json";
pub const CSV: &str = "index.csv";

/// `index.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// What wrote it: a folder with another program's `index.json` is not ours.
    pub kind: IndexKind,
    pub format: u32,
    pub made: Timestamp,
    /// Of `index.csv`; none before that is written.
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
    /// Of a job of a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How the job stood.
    pub status: String,
    pub instructions: String,
    pub documents: Vec<String>,
    /// Where the copy lies in this folder; none where there is no copy.
    pub path: Option<String>,
    /// Of the copy.
    pub sha256: Option<String>,
    pub bytes: Option<u64>,
    /// Where it lay in the job's workspace; none where the job delivered nothing.
    pub delivered_path: Option<String>,
    /// As it was when the job delivered it.
    pub delivered_sha256: Option<String>,
    /// Of what was copied, against what was delivered.
    pub state: Option<FileState>,
}

/// What a collection did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CollectionResult {
    /// Absolute.
    pub folder: String,
    /// Copies made, or found as they should be.
    pub files: u64,
    pub bytes: u64,
    /// What wasn't copied as it was delivered, in sentences.
    pub faults: Vec<String>,
}
