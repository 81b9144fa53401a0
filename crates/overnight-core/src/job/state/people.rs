//! People's judgements on a result, and whether there is a result to judge.

use super::{Job, Status};
use crate::job::{
    finding::FindingKind,
    record::{HoldReason, JobStatus},
};
use std::collections::BTreeMap;

impl Job {
    /// Each person's judgement on the result, by name: whether it was right as it was. A person who corrected something
    /// or sent it back found it wrong; one who approved it and did neither found it right.
    pub fn judgements(&self) -> BTreeMap<&str, bool> {
        let approvals = self.reviewed.approvals.iter().filter_map(|approval| approval.by.as_deref());
        let objectors = self.reviewed.objectors.iter().map(|name| (name.as_str(), false));
        approvals.map(|name| (name, true)).chain(objectors).collect()
    }

    /// Removes the reviews of the present result by others than `name`, for a person who is to judge it independently.
    pub fn hide_others(&mut self, name: &str) {
        self.reviewed.approvals.retain(|approval| approval.by.as_deref() == Some(name));
        self.reviewed.records.retain(|approval| approval.by == name);
        let is_own = |by: Option<&str>| by == Some(name);
        self.proof.findings.retain(|finding| {
            finding.kind != FindingKind::Correction
                || is_own(finding.settled.as_ref().map(|settled| settled.by.as_str()))
        });
        self.reviewed.corrections = u32::try_from(self.corrections().count()).unwrap_or(u32::MAX);
    }

    /// Whether people may say something of a result: it is held for that, or the job has ended with one.
    pub fn has_result(&self) -> bool {
        match &self.status {
            Status::Running => false,
            Status::Held { reason, .. } => *reason == HoldReason::Review,
            Status::Ended(ending) => {
                matches!(ending.status, JobStatus::Completed | JobStatus::Partial | JobStatus::Blocked)
            }
        }
    }
}
