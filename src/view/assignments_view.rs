//! The readers of a batch's results, their progress, and how far two readers of the same results agree.

use crate::store::ReaderAssignment;
use overnight_core::job::id::JobId;
use overnight_evals::statistics::cohens_kappa;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use uuid::Uuid;

/// People's verdicts on results, by job: whether each person found it right as it was.
pub type ReviewJudgements = BTreeMap<JobId, BTreeMap<String, bool>>;

/// The assignments of a batch. As JSON its fields are a promise.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AssignmentsView {
    pub batch: Uuid,
    /// By name.
    pub reviewers: Vec<ReviewerQueue>,
    /// For each two people who have read the same results.
    pub agreement: Vec<PairAgreement>,
    /// Results that two are to read and only one has.
    pub lack_second: Vec<JobId>,
}

/// The results that one person has to read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReviewerQueue {
    pub name: String,
    /// Results that are assigned to this person.
    pub assigned: u64,
    /// Of them, those that they have approved, corrected or sent back.
    pub judged: u64,
    /// Of those, the results that they approved without a change.
    pub right: u64,
    /// The results that they have not judged yet.
    pub open: Vec<JobId>,
}

/// How far two people agree on the results that both have judged independently.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PairAgreement {
    pub one: String,
    pub other: String,
    /// Results that both have judged.
    pub results: u64,
    /// Of them, those that both found right, or both wrong.
    pub equal: u64,
    /// Cohen's kappa; null if both always gave one and the same verdict, because kappa is undefined then.
    pub kappa: Option<f64>,
}

impl AssignmentsView {
    pub fn of(batch: Uuid, assignments: &[ReaderAssignment], judgements: &ReviewJudgements) -> Self {
        let judged =
            |one: &ReaderAssignment| judgements.get(&one.job).and_then(|people| people.get(&one.reviewer)).copied();
        let mut reviewers: BTreeMap<&str, ReviewerQueue> = BTreeMap::new();
        let mut pairs: BTreeMap<(&str, &str), Vec<(bool, bool)>> = BTreeMap::new();
        let mut twice: BTreeMap<JobId, Vec<&ReaderAssignment>> = BTreeMap::new();
        for one in assignments {
            let name = one.reviewer.as_str();
            let queue = reviewers.entry(name).or_insert_with(|| ReviewerQueue {
                name: name.to_owned(),
                assigned: 0,
                judged: 0,
                right: 0,
                open: Vec::new(),
            });
            queue.assigned += 1;
            match judged(one) {
                Some(right) => {
                    queue.judged += 1;
                    queue.right += u64::from(right);
                }
                None => queue.open.push(one.job),
            }
            if one.twice {
                twice.entry(one.job).or_default().push(one);
            }
        }
        let lack_second = twice.iter().filter(|(_, readers)| readers.len() == 1).map(|(job, _)| *job).collect();
        for readers in twice.values_mut() {
            readers.sort_by(|one, other| one.reviewer.cmp(&other.reviewer));
            if let [one, other] = readers[..]
                && let (Some(first), Some(second)) = (judged(one), judged(other))
            {
                pairs.entry((&one.reviewer, &other.reviewer)).or_default().push((first, second));
            }
        }
        let agreement = pairs.into_iter().map(|((one, other), pairs)| PairAgreement {
            one: one.to_owned(),
            other: other.to_owned(),
            results: pairs.len() as u64,
            equal: pairs.iter().filter(|(one, other)| one == other).count() as u64,
            kappa: cohens_kappa(&pairs),
        });
        Self { batch, agreement: agreement.collect(), lack_second, reviewers: reviewers.into_values().collect() }
    }
}
