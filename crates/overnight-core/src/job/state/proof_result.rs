//! The second reading and the verdicts, as a result reports them.

use super::Job;
use crate::job::{
    finding::FindingCounts,
    proof::{ProofResult, ReadingResult},
    read_unit::ReadUnit,
};

impl Job {
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
