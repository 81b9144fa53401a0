//! An evaluation: candidates' runs compared with a golden set. Its JSON can be the baseline of a later evaluation.

use super::{candidate::Candidate, cell_source::CellSource};
use overnight_evals::{
    comparison::{FieldCell, ListPairing, PairingCounts},
    field_rule::ComparisonKind,
    statistics::{CandidateVerdict, DocumentScore},
};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The version of the JSON.
pub(super) const VERSION: u32 = 1;

/// The whole evaluation. Its fields are a promise.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    pub version: u32,
    #[serde(flatten)]
    pub facts: EvalFacts,
    pub candidates: Vec<CandidateResult>,
    /// Each candidate against the first one.
    pub comparisons: Vec<CandidateDifference>,
    /// Rules of the set that fit no field of any case.
    pub unused_rules: Vec<String>,
}

/// Facts about the evaluation besides its runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EvalFacts {
    /// The set's name, as it was given.
    pub gold: String,
    pub evaluation: String,
    /// Cases that are evaluated.
    pub documents: u64,
    /// The cases are the held-out ones, which were used this many times, including this one.
    pub hold_out: bool,
    pub hold_out_uses: u64,
    /// Seed of the resampling.
    pub seed: u64,
}

/// A share with its interval, 95 %. Its fields are a promise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScoreView {
    /// From 0 to 1, like the bounds.
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Means over the runs of each case, summed over the cases.
    pub right: f64,
    pub total: f64,
}

/// The score of a candidate in one field.
#[derive(Clone, Debug, Serialize)]
pub struct FieldScore {
    /// `$.terms[*].rent`
    pub field: String,
    #[serde(flatten)]
    pub kind: ComparisonKind,
    #[serde(flatten)]
    pub score: ScoreView,
}

/// The scores for a list's records.
#[derive(Clone, Debug, Serialize)]
pub struct ListScore {
    /// `$.terms`
    pub list: String,
    #[serde(flatten)]
    pub counts: PairingCounts,
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

/// A case of a candidate: the mean of its runs.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
pub struct CaseScore {
    pub case: String,
    pub right: f64,
    pub total: f64,
}

/// A run, and what is wrong with it.
#[derive(Clone, Debug, Serialize)]
pub struct RunFault {
    pub case: String,
    pub repeat: u32,
    pub job: String,
    pub why: String,
}

/// The pairing of a list's records in one run.
#[derive(Clone, Debug, Serialize)]
pub struct RunPairing {
    pub case: String,
    pub repeat: u32,
    /// The deliverable's path; none: the first JSON file that the instructions ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliverable: Option<String>,
    #[serde(flatten)]
    pub list: ListPairing,
}

/// A value that is not right.
#[derive(Clone, Debug, Serialize)]
pub struct WrongCell {
    pub case: String,
    pub repeat: u32,
    pub job: String,
    /// The deliverable's path; none: the first JSON file that the instructions ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliverable: Option<String>,
    #[serde(flatten)]
    pub cell: FieldCell,
    /// The place of its record, if known; only for the first wrong values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<CellSource>,
}

/// The result of a candidate. Its fields are a promise.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateResult {
    #[serde(flatten)]
    pub candidate: Candidate,
    /// The share of compared values that are right; none if nothing was compared.
    pub score: Option<ScoreView>,
    pub fields: Vec<FieldScore>,
    pub lists: Vec<ListScore>,
    /// By case.
    pub cases: Vec<CaseScore>,
    /// Runs that ended without a result. They count as completely wrong.
    pub failed: Vec<RunFault>,
    /// Runs that have not ended. They are left out of all numbers.
    pub missing: Vec<RunFault>,
    pub runs: u64,
    /// USD of all runs, including earlier ones that are reused; none if a price is not known.
    pub cost_usd: Option<f64>,
    /// Means of the runs that have ended.
    pub cost_usd_per_run: Option<f64>,
    pub turns_per_run: Option<f64>,
    pub seconds_per_run: Option<f64>,
    /// The share of the quotes that were found.
    pub quotes_found: Option<f64>,
    /// With several runs of a case: the share of values that are the same in any two runs.
    pub same_when_repeated: Option<ScoreView>,
    /// The pairing of found and expected records in each list.
    pub pairings: Vec<RunPairing>,
    /// Each value that is not right.
    pub wrong: Vec<WrongCell>,
    #[serde(skip)]
    pub(super) by_field: BTreeMap<String, BTreeMap<String, DocumentScore>>,
}

/// A candidate against the first one. Its fields are a promise.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateDifference {
    /// The first candidate, and the other.
    pub a: String,
    pub b: String,
    #[serde(flatten)]
    pub all: JudgedDifference,
    pub fields: Vec<FieldDifference>,
}

/// The difference in a field that both have.
#[derive(Clone, Debug, Serialize)]
pub struct FieldDifference {
    pub field: String,
    #[serde(flatten)]
    pub difference: JudgedDifference,
}

/// How much more of the second candidate is right, and whether the difference is significant.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedDifference {
    pub difference: f64,
    /// Bounds of the interval, 95 %.
    pub low: f64,
    pub high: f64,
    /// The p-value of the permutation test: raw, and corrected.
    pub p: f64,
    pub corrected_p: f64,
    /// Cases that both have.
    pub documents: u64,
    /// The verdict on the second candidate: `better`, `worse`, or `cannot_tell`.
    #[serde(serialize_with = "word")]
    pub verdict: CandidateVerdict,
    /// The estimated number of documents that would suffice for a verdict, if these do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enough: Option<u64>,
}

fn word<S: Serializer>(verdict: &CandidateVerdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match verdict {
        CandidateVerdict::Better => "better",
        CandidateVerdict::Worse => "worse",
        CandidateVerdict::CannotTell { .. } => "cannot_tell",
    })
}

impl Evaluation {
    /// Fields × candidates: the score of each, if it was compared.
    pub fn scores_by_field(&self) -> Vec<(&str, Vec<Option<&ScoreView>>)> {
        let mut names: Vec<&str> = Vec::new();
        for field in self.candidates.iter().flat_map(|result| &result.fields) {
            if !names.contains(&field.field.as_str()) {
                names.push(&field.field);
            }
        }
        let of = |result: &'_ CandidateResult, name: &str| result.fields.iter().position(|field| field.field == name);
        let scores = |name: &str| {
            self.candidates.iter().map(|result| of(result, name).map(|at| &result.fields[at].score)).collect()
        };
        names.into_iter().map(|name| (name, scores(name))).collect()
    }
}

impl CaseScore {
    pub(super) fn score(&self) -> DocumentScore {
        DocumentScore { right: self.right, total: self.total }
    }
}
