//! Whether a result of the cheap model is good enough, as far as the program can tell.

use crate::review::{DoubtKind, JobReview};
use overnight_core::job::{instructions::Acceptance, record::JobStatus};
use std::path::Path;

/// The reason why a job's document goes to the strong model; `None`: its result is accepted.
pub(super) fn why_escalated(status: JobStatus, workspace: &Path, accept: Acceptance) -> Option<String> {
    if status != JobStatus::Completed {
        return Some(format!("it is {status}"));
    }
    let review = match JobReview::read(workspace) {
        Ok(review) => review,
        Err(error) => return Some(format!("its result can't be read here ({error})")),
    };
    let counts = |kind: DoubtKind| match kind {
        DoubtKind::OpenFinding | DoubtKind::FoundByOne => accept.second_reader,
        DoubtKind::Refused
        | DoubtKind::FailedCheck
        | DoubtKind::Value
        | DoubtKind::Unquoted
        | DoubtKind::OneReading
        | DoubtKind::LowConfidence
        | DoubtKind::OverBreak
        | DoubtKind::Recognised => accept.rules,
    };
    if !review.refused.is_empty() && counts(DoubtKind::Refused) {
        return Some("a record was refused, and is in no deliverable".to_owned());
    }
    if let Some(finding) = review.findings.first().filter(|_| counts(DoubtKind::OpenFinding)) {
        return Some(finding.told());
    }
    if let Some(document) = review.unquoted.first().filter(|_| counts(DoubtKind::Unquoted)) {
        return Some(format!("no record quotes {document}"));
    }
    let doubts = review.records.iter().flat_map(|record| &record.doubts);
    doubts.into_iter().find(|doubt| counts(doubt.kind)).map(|doubt| doubt.why.clone())
}
