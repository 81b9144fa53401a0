//! Facts on readings, checks and findings.

use crate::job::{
    comparison::Comparison,
    contract::Check,
    finding::{Finding, Settlement},
    part_reading::DoubledRecord,
    proof::Verdict,
    read_unit::ReadUnit,
    scans::PageOutcome,
    spec::DocumentEntry,
};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// Readings, checks and findings: whether the result holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, VariantNames)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "a field is a key of the journal, named for what it holds")]
pub enum ProofEvent {
    /// The checks of the contract as they were at the review's beginning.
    ChecksMade { checks: Vec<Check> },
    /// The claim of `job_complete` did not hold.
    CompletionRefused { checks: Vec<Check> },
    /// The documents are read side by side, in these parts: one for each todo of the phase.
    PartReadingBegun { parts: Vec<Vec<ReadUnit>> },
    /// All parts are read; these records of several readers quote the same place.
    PartsRead { doubled: Vec<DoubledRecord> },
    /// Scanned pages are read and compared: their documents as they are now, and the outcome for each page.
    PagesRead { documents: Vec<DocumentEntry>, pages: Vec<PageOutcome> },
    /// The documents are read a second time: these parts of them, drawn by `seed`.
    SecondReadingBegun { seed: u64, units: Vec<ReadUnit> },
    /// Both lists were compared.
    ListsCompared { comparison: Comparison, findings: Vec<Finding> },
    /// The verifier has judged, or ended without a verdict.
    VerdictGiven { conversation: u32, round: u32, verdict: Verdict, findings: Vec<Finding> },
    /// A finding is not open any more.
    FindingSettled { id: String, settlement: Settlement, by: String },
}
