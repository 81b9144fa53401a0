//! An earlier evaluation, as written with `--json`: a later one may not be worse.

use super::{
    evaluation::{CandidateDifference, CaseScore, Evaluation, VERSION},
    verdicts::{Scores, by_case, judged},
};
use serde::Deserialize;

/// The parts of it that are read.
#[derive(Clone, Debug, Deserialize)]
pub struct Baseline {
    version: u32,
    candidates: Vec<BaselineCandidate>,
}

#[derive(Clone, Debug, Deserialize)]
struct BaselineCandidate {
    name: String,
    cases: Vec<CaseScore>,
}

impl Baseline {
    /// Reads it. The error is a clause.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let read: Self = serde_json::from_slice(text).map_err(|error| format!("it is no evaluation: {error}"))?;
        match read.version {
            VERSION if !read.candidates.is_empty() => Ok(read),
            VERSION => Err("it has no candidate".to_owned()),
            other => Err(format!("its version is {other}, and this program reads version {VERSION}")),
        }
    }

    /// Compares each candidate of `now` with the one of the same name, or else with the first one of the baseline.
    pub fn compare(&self, now: &Evaluation) -> Vec<CandidateDifference> {
        let pairs: Vec<(Scores<'_>, Scores<'_>)> = now
            .candidates
            .iter()
            .filter_map(|candidate| {
                let same = self.candidates.iter().find(|known| known.name == candidate.candidate.name);
                let BaselineCandidate { name, cases } = same.or(self.candidates.first())?;
                let before = Scores { name: format!("{name} of the baseline"), cases: by_case(cases), fields: None };
                Some((before, Scores::of(candidate)))
            })
            .collect();
        judged(&pairs, now.facts.seed)
    }
}
