//! A person's verdict on a drawn result: an approval counts as a reading, and earlier corrections count as differences.

use super::{cascade_state::DrawnJob, same_result::differing};
use crate::{runner::load, workspace::Workspace};
use overnight_core::job::{id::JobId, instructions::Instructions, time::Timestamp};
use std::path::Path;

/// The verdict on the drawn job in a workspace; `None`: nobody has reviewed the whole result since the draw.
pub(super) fn person_reading(
    instructions: &Instructions,
    first: JobId,
    workspace: &Path,
    settled: Timestamp,
) -> Option<DrawnJob> {
    let job = load(workspace).ok()?.job;
    let files = Workspace::open(workspace).ok()?;
    // A result that was sent back was not right, whatever happens to it later.
    if !job.feedback.is_empty() {
        return Some(DrawnJob { first, differs: Some("it was sent back".to_owned()), by: None });
    }
    let approval = job.reviewed.approvals.iter().rev().find(|approval| approval.at >= settled)?;
    let differs = differing(instructions, &files, |path, given| {
        let mut corrected = given.clone();
        let deleted = job.correct_whole(path, &mut corrected);
        deleted.remove_from(&mut corrected);
        Some(corrected)
    });
    Some(DrawnJob { first, differs, by: Some(approval.name()) })
}
