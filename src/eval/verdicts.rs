//! Verdicts on which candidate is better: each against the first one, over the cases that both have run. The verdicts
//! are corrected for multiple comparisons (Holm 1979): those of whole candidates, and separately those of fields.

use super::evaluation::{CandidateDifference, CandidateResult, CaseScore, FieldDifference, JudgedDifference};
use overnight_evals::statistics::{CandidateVerdict, Difference, DocumentScore, difference, holm};
use std::collections::BTreeMap;

/// Compares all with the first.
pub(super) fn compare_all(candidates: &[CandidateResult], seed: u64) -> Vec<CandidateDifference> {
    let Some((first, others)) = candidates.split_first() else { return Vec::new() };
    let pairs: Vec<(Scores<'_>, Scores<'_>)> =
        others.iter().map(|other| (Scores::of(first), Scores::of(other))).collect();
    judged(&pairs, seed)
}

/// The scores of a candidate by case, and by field.
pub(super) struct Scores<'c> {
    pub(super) name: String,
    pub(super) cases: BTreeMap<&'c str, DocumentScore>,
    pub(super) fields: Option<&'c BTreeMap<String, BTreeMap<String, DocumentScore>>>,
}

impl<'c> Scores<'c> {
    pub(super) fn of(result: &'c CandidateResult) -> Self {
        let fields = Some(&result.by_field);
        Self { name: result.candidate.name.clone(), cases: by_case(&result.cases), fields }
    }
}

fn by_name(scores: &BTreeMap<String, DocumentScore>) -> BTreeMap<&str, DocumentScore> {
    scores.iter().map(|(case, score)| (case.as_str(), *score)).collect()
}

pub(super) fn by_case(cases: &[CaseScore]) -> BTreeMap<&str, DocumentScore> {
    cases.iter().map(|case| (case.case.as_str(), case.score())).collect()
}

/// The names of two candidates, their overall difference, and that of each field.
type FoundDifference = (String, String, Difference, Vec<(String, Difference)>);

/// Compares pairs of candidates, and corrects the p-values.
pub(super) fn judged(pairs: &[(Scores<'_>, Scores<'_>)], seed: u64) -> Vec<CandidateDifference> {
    let mut found: Vec<FoundDifference> = Vec::new();
    for (a, b) in pairs {
        let Some(all) = paired(&a.cases, &b.cases, seed) else { continue };
        let mut fields = Vec::new();
        for (field, of_a) in a.fields.into_iter().flatten() {
            let Some(of_b) = b.fields.and_then(|fields| fields.get(field)) else { continue };
            let (a, b) = (by_name(of_a), by_name(of_b));
            fields.extend(paired(&a, &b, seed).map(|difference| (field.clone(), difference)));
        }
        found.push((a.name.clone(), b.name.clone(), all, fields));
    }
    let of_all = holm(&found.iter().map(|(_, _, all, _)| all.p).collect::<Vec<_>>());
    let of_fields =
        holm(&found.iter().flat_map(|(_, _, _, fields)| fields).map(|(_, field)| field.p).collect::<Vec<_>>());
    let [among, fields_among] = [of_all.len(), of_fields.len()].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let mut of_fields = of_fields.into_iter();
    let mut differences = Vec::with_capacity(found.len());
    for ((a, b, all, fields), corrected) in found.into_iter().zip(of_all) {
        let fields = fields.into_iter().zip(of_fields.by_ref());
        let fields = fields.map(|((field, difference), corrected)| FieldDifference {
            field,
            difference: JudgedDifference::of(&difference, corrected, fields_among),
        });
        let fields = fields.collect();
        differences.push(CandidateDifference { a, b, all: JudgedDifference::of(&all, corrected, among), fields });
    }
    differences
}

/// The difference over the cases that both have.
fn paired(a: &BTreeMap<&str, DocumentScore>, b: &BTreeMap<&str, DocumentScore>, seed: u64) -> Option<Difference> {
    let both = a.iter().filter_map(|(case, of_a)| Some((*of_a, *b.get(case)?)));
    let (a, b): (Vec<DocumentScore>, Vec<DocumentScore>) = both.unzip();
    difference(&a, &b, seed)
}

impl JudgedDifference {
    /// `among`: the number of comparisons in its family.
    fn of(found: &Difference, corrected_p: f64, among: u32) -> Self {
        let verdict = CandidateVerdict::of(found, corrected_p, among);
        let enough = if let CandidateVerdict::CannotTell { enough, .. } = verdict { enough } else { None };
        Self {
            difference: found.value,
            low: found.low,
            high: found.high,
            p: found.p,
            corrected_p,
            documents: found.documents,
            verdict,
            enough,
        }
    }
}
