//! The judgements on a result: by second readers, by verifiers and by people.

use super::{Job, Status};
use crate::job::{
    finding::{FindingCounts, FindingKind},
    proof::{ProofResult, ReadingResult},
    read_unit::ReadUnit,
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

    /// The second reading and the verdicts for a result, if there were any.
    pub fn proof_result(&self) -> Option<ProofResult> {
        let proof = &self.proof;
        let of = |is_verifiers: bool| {
            FindingCounts::of(proof.findings.iter().filter(|finding| finding.kind.is_verifiers() == is_verifiers))
        };
        let reading = proof.reading.as_ref().and_then(|reading| {
            let comparison = reading.comparison.clone()?;
            Some(ReadingResult {
                seed: reading.seed,
                share: share(&reading.read, self.spec.document_tokens()),
                comparison,
                findings: of(false),
            })
        });
        (reading.is_some() || !proof.verdicts.is_empty()).then(|| ProofResult {
            reading,
            verdicts: proof.verdicts.clone(),
            verifier_findings: of(true),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share for people, of far fewer than 2^52 tokens")]
fn share(read: &[ReadUnit], tokens: u64) -> f64 {
    let of: u64 = read.iter().map(|unit| unit.tokens).sum();
    if tokens == 0 { 1.0 } else { (of as f64 / tokens as f64).min(1.0) }
}
