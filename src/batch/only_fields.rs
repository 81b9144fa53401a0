//! Fields that are extracted again from documents with an earlier result: each job begins with that result.

use overnight_core::job::id::JobId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The requested fields, and the earlier results by the documents of the new jobs (`documents_sha256`). They are in the
/// batch's row, so a worker on any machine has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnlyFields {
    /// Keys of records.
    pub fields: Vec<String>,
    pub earlier: BTreeMap<String, EarlierJob>,
}

/// The deliverables of an earlier job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierJob {
    pub job: JobId,
    /// Its deliverables by their paths, as people have corrected them.
    pub files: BTreeMap<String, Value>,
}

impl OnlyFields {
    /// The earlier result of the documents with this hash.
    pub fn of(&self, documents_sha256: Option<&str>) -> Option<&EarlierJob> {
        self.earlier.get(documents_sha256?)
    }
}
