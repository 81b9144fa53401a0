//! The check of a deliverable that an earlier job has begun, on the files as they lie in the workspace.

use crate::workspace::Workspace;
use overnight_core::job::{
    contract::{Check, check_kept_fields},
    earlier_result::EarlierResult,
    instructions::Deliverable,
    state::Job,
};
use serde_json::Value;

/// Compares a deliverable's content with the earlier job's copy; none without such a copy, or after a person has sent
/// the job back, who may want any change. Content that is no JSON fails another check.
pub(super) fn check_earlier(
    job: &Job,
    workspace: &Workspace,
    deliverable: &Deliverable,
    content: &[u8],
) -> Option<Check> {
    let earlier =
        job.spec.earlier.as_ref().filter(|earlier| job.feedback.is_empty() && earlier.has(&deliverable.path))?;
    let after: Value = serde_json::from_slice(content).ok()?;
    let copy = workspace.read(&EarlierResult::copy_of(&deliverable.path)).ok();
    let before: Option<Value> = copy.and_then(|copy| serde_json::from_slice(&copy).ok());
    // A lost copy fails the check: there is nothing to compare with.
    Some(check_kept_fields(deliverable, earlier, (&before.unwrap_or_default(), &after)))
}
