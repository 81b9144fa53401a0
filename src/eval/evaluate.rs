//! Makes an evaluation from runs.

use super::{
    candidate::Candidate,
    evaluation::{CandidateResult, EvalFacts, Evaluation, VERSION},
    run::EvalRun,
    scores::ExpectedCase,
    verdicts,
};
use crate::gold::{GoldError, GoldenCase, GoldenSet, Judgements};

/// Checks that all expected results of the cases can be read.
pub fn check_expected(set: &GoldenSet, cases: &[&GoldenCase]) -> Result<(), GoldError> {
    cases.iter().try_for_each(|case| ExpectedCase::read(set, case).map(|_| ()))
}

/// Compares the runs of each candidate with the expected results. Unanswered questions are kept in `judgements`.
pub fn evaluate(
    facts: EvalFacts,
    set: &GoldenSet,
    cases: &[&GoldenCase],
    candidates: Vec<(Candidate, Vec<EvalRun>)>,
    judgements: Option<&Judgements>,
) -> Result<Evaluation, GoldError> {
    let expected: Vec<ExpectedCase> =
        cases.iter().map(|case| ExpectedCase::read(set, case)).collect::<Result<_, _>>()?;
    let candidates: Vec<CandidateResult> = candidates
        .into_iter()
        .map(|(candidate, runs)| CandidateResult::of(candidate, (&expected, judgements), &runs, facts.seed))
        .collect();
    // A rule is used if it fits a field in any file.
    let unused = expected.iter().flat_map(ExpectedCase::unused_rules);
    let unused = unused.reduce(|all, more| all.into_iter().filter(|rule| more.contains(rule)).collect());
    let comparisons = verdicts::compare_all(&candidates, facts.seed);
    Ok(Evaluation { version: VERSION, facts, candidates, comparisons, unused_rules: unused.unwrap_or_default() })
}
