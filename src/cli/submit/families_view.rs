//! The number of families in a submission, and the largest: this reveals a pattern that joins too many documents.

use super::ReadySubmission;
use crate::{
    batch::{Document, JobUnit, job_label},
    cli::out,
};
use serde::Serialize;

/// The families of a submission, in `--json`.
#[derive(Debug, Serialize)]
pub(super) struct FamiliesView {
    families: usize,
    /// The label of the job with the most documents.
    largest: String,
    largest_documents: usize,
    /// Tokens of its documents' text.
    largest_tokens: u64,
}

impl FamiliesView {
    /// `None` if the submission has no job for each family.
    pub(super) fn of(ready: &ReadySubmission) -> Option<Self> {
        let selection = &ready.selection;
        if !matches!(selection.unit, JobUnit::Family { .. }) {
            return None;
        }
        let size =
            |documents: &[Document]| (documents.len(), documents.iter().map(|document| document.tokens).sum::<u64>());
        let sizes = selection.documents.iter().map(|documents| (documents, size(documents)));
        // The first of equals: `max_by_key` takes the last.
        let (documents, (largest_documents, largest_tokens)) = sizes.rev().max_by_key(|(_, size)| *size)?;
        let families = selection.documents.len();
        Some(Self { families, largest: job_label(documents), largest_documents, largest_tokens })
    }

    /// `3 of 7 documents; the largest has 4: lease.md and 3 more`.
    pub(super) fn text(&self, documents: usize) -> String {
        let of = if documents == 1 { "document" } else { "documents" };
        let largest = out::one_line(&self.largest);
        format!("{} of {documents} {of}; the largest has {}: {largest}", self.families, self.largest_documents)
    }
}
