//! The list that `submit --json --ids` prints: each document with its job.

use crate::{
    batch::Document,
    store::{JobStands, QueuedJob},
};
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
};
use serde::{Serialize, Serializer, ser::SerializeSeq};

/// Each document with its job, written one after the other.
#[derive(Debug)]
pub(super) struct Manifest<'s> {
    pub(super) jobs: &'s [QueuedJob],
    /// The documents of each job.
    pub(super) documents: &'s [Vec<Document>],
    /// By id, which is the order of the jobs.
    pub(super) standing: &'s [JobStands],
}

impl Serialize for Manifest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(None)?;
        let mut standing = self.standing;
        for (job, documents) in self.jobs.iter().zip(self.documents) {
            let Some(place) = standing.iter().position(|stands| stands.id == job.id) else { continue };
            for document in documents {
                rows.serialize_element(&row(job, &standing[place], document))?;
            }
            standing = &standing[place + 1..];
        }
        rows.end()
    }
}

/// A document of the manifest, and its job.
#[derive(Debug, Serialize)]
struct ManifestRow<'s> {
    job: JobId,
    /// The label of the job.
    label: &'s str,
    document: &'s str,
    path: &'s str,
    sha256: &'s str,
    bytes: u64,
    status: JobStatus,
    hold_reason: Option<HoldReason>,
    /// The job that did the work before.
    linked_to: Option<JobId>,
}

fn row<'s>(job: &'s QueuedJob, stands: &JobStands, document: &'s Document) -> ManifestRow<'s> {
    ManifestRow {
        job: job.id,
        label: &job.label,
        document: &document.name,
        path: &document.path,
        sha256: &document.sha256,
        bytes: document.bytes,
        status: stands.status,
        hold_reason: stands.hold_reason,
        linked_to: stands.same_as,
    }
}
