//! An evaluation: candidates' runs compared with a golden set. Written as JSON it is what a later one is compared with.

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

/// All of it. Its fields are a promise.
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

/// What is known of it beside the runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EvalFacts {
    /// As it was named.
    pub gold: String,
    pub evaluation: String,
    /// Cases that are evaluated.
    pub documents: u64,
    /// They are those that are kept back, which were used so often, this time included.
    pub hold_out: bool,
    pub hold_out_uses: u64,
    /// Of the resampling.
    pub seed: u64,
}

/// A share with its interval, 95 %. Its fields are a promise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScoreView {
    /// From 0 to 1, as the bounds.
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Means over the runs of each case, summed over the cases.
    pub right: f64,
    pub total: f64,
}

/// A field of a candidate.
#[derive(Clone, Debug, Serialize)]
pub struct FieldScore {
    /// `$.terms[*].rent`
    pub field: String,
    #[serde(flatten)]
    pub kind: ComparisonKind,
    #[serde(flatten)]
    pub score: ScoreView,
}

/// The records of a list.
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

/// The records of a list of a run, one to one.
#[derive(Clone, Debug, Serialize)]
pub struct RunPairing {
    pub case: String,
    pub repeat: u32,
    /// Of which file; none: the first one that the instructions ask for.
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
    /// Of which file; none: the first one that the instructions ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliverable: Option<String>,
    #[serde(flatten)]
    pub cell: FieldCell,
    /// Where its record stands, as far as that is known; of the first ones only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<CellSource>,
}

/// What a candidate comes to. Its fields are a promise.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateResult {
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Of all values that are compared, those that are right; none where nothing was compared.
    pub score: Option<ScoreView>,
    pub fields: Vec<FieldScore>,
    pub lists: Vec<ListScore>,
    /// By case.
    pub cases: Vec<CaseScore>,
    /// Runs that ended without a result. All of each is wrong.
    pub failed: Vec<RunFault>,
    /// Runs that have not ended. They count nowhere.
    pub missing: Vec<RunFault>,
    pub runs: u64,
    /// USD of all runs, whenever they were paid; none where a price is not known.
    pub cost_usd: Option<f64>,
    /// Means of the runs that have ended.
    pub cost_usd_per_run: Option<f64>,
    pub turns_per_run: Option<f64>,
    pub seconds_per_run: Option<f64>,
    /// Of the quotes that were to be found, those that were.
    pub quotes_found: Option<f64>,
    /// With several runs of a case: how much of it is the same in any two.
    pub same_when_repeated: Option<ScoreView>,
    /// Which record of each list was taken for which.
    pub pairings: Vec<RunPairing>,
    /// Each value that is not right.
    pub wrong: Vec<WrongCell>,
    #[serde(skip)]
    pub(super) by_field: BTreeMap<String, BTreeMap<String, DocumentScore>>,
}

/// A candidate against the first one. Its fields are a promise.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateDifference {
    /// The first one, and the other.
    pub a: String,
    pub b: String,
    #[serde(flatten)]
    pub all: JudgedDifference,
    pub fields: Vec<FieldDifference>,
}

/// A field of both.
#[derive(Clone, Debug, Serialize)]
pub struct FieldDifference {
    pub field: String,
    #[serde(flatten)]
    pub difference: JudgedDifference,
}

/// How much more of the second one is right, and whether that is more than chance.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedDifference {
    pub difference: f64,
    /// Of the interval, 95 %.
    pub low: f64,
    pub high: f64,
    /// Of the permutation test; as it is, and corrected.
    pub p: f64,
    pub corrected_p: f64,
    /// Cases that both have.
    pub documents: u64,
    /// Of the second one: `better`, `worse`, or `cannot_tell`.
    #[serde(serialize_with = "word")]
    pub verdict: CandidateVerdict,
    /// About so many documents would do, where it can't be told with these.
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
    /// Fields × candidates: the score of each, where it was compared.
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
