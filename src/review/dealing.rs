//! Deals results out to people: each result to one of them, or some, drawn by chance, to two.

use crate::store::ReaderAssignment;
use overnight_core::job::{id::JobId, time::Timestamp};
use overnight_evals::statistics::draw_order;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Whom the results of a batch are assigned to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct AssignmentWanted {
    /// Who is to read them, each once; none: nothing is assigned
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub to: Vec<String>,
    /// So many results, drawn by chance, go to two of them each
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub twice: u32,
    /// Seed of the draw: the same one draws the same results [default: another one for each batch]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// What this person has and hasn't judged yet is dealt out again
    #[arg(long, value_name = "NAME")]
    pub from: Option<String>,
}

/// How results are dealt out.
#[derive(Clone, Debug)]
pub struct Dealing {
    pub batch: Uuid,
    /// At least one person, without duplicates.
    pub people: Vec<String>,
    /// The number of results, drawn by chance, that two people each read.
    pub twice: usize,
    /// Seed of the draw: the same seed draws the same results.
    pub seed: u64,
    pub at: Timestamp,
}

impl Dealing {
    /// The new assignments beside `known`: unassigned `jobs` go, in drawn order, to the person with the fewest, the
    /// first ones to two people. A result that was for two (`twice_before`) is for two again, even if nobody has it.
    pub fn deal(
        &self,
        jobs: &[JobId],
        known: &[ReaderAssignment],
        twice_before: &BTreeSet<JobId>,
    ) -> Vec<ReaderAssignment> {
        let mut readers_of: BTreeMap<JobId, Vec<&ReaderAssignment>> = BTreeMap::new();
        let mut loads: BTreeMap<&str, usize> = BTreeMap::new();
        for one in known {
            readers_of.entry(one.job).or_default().push(one);
            *loads.entry(&one.reviewer).or_default() += 1;
        }
        let is_free = |job: &JobId| !readers_of.contains_key(job) && !twice_before.contains(job);
        let free: Vec<JobId> = jobs.iter().copied().filter(is_free).collect();
        let order = draw_order(u32::try_from(free.len()).unwrap_or(u32::MAX), self.seed);
        let drawn = order.into_iter().filter_map(|place| free.get(place as usize).copied()).enumerate();
        let drawn = drawn.map(|(nth, job)| (job, nth < self.twice));
        let lacking = jobs.iter().filter(|job| twice_before.contains(job)).map(|job| (*job, true));
        let mut dealt = Vec::new();
        for (job, twice) in lacking.chain(drawn) {
            let has = readers_of.get(&job).map_or(&[][..], Vec::as_slice);
            let has_it = |name: &String| has.iter().any(|one| one.reviewer == *name);
            let mut others: Vec<&String> = self.people.iter().filter(|name| !has_it(name)).collect();
            // Of people with equally many results, the one who is named first comes first.
            others.sort_by_key(|name| loads.get(name.as_str()).copied().unwrap_or_default());
            let lacks = if twice { 2 } else { 1_usize }.saturating_sub(has.len());
            for reviewer in others.into_iter().take(lacks) {
                *loads.entry(reviewer).or_default() += 1;
                dealt.push(ReaderAssignment {
                    job,
                    batch: self.batch,
                    reviewer: reviewer.clone(),
                    twice,
                    created: self.at,
                });
            }
        }
        dealt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: u128) -> JobId {
        JobId(Uuid::from_u128(number))
    }

    #[test]
    fn everybody_has_as_many_and_what_is_dealt_stays() {
        let people = ["Anna", "Ben", "Cem"].map(str::to_owned).to_vec();
        let dealing = Dealing { batch: Uuid::nil(), people, twice: 4, seed: 7, at: Timestamp::default() };
        let jobs: Vec<JobId> = (0..20).map(job).collect();
        let dealt = dealing.deal(&jobs, &[], &BTreeSet::new());
        let of = |dealt: &[ReaderAssignment], name: &str| dealt.iter().filter(|one| one.reviewer == name).count();
        assert_eq!(["Anna", "Ben", "Cem"].map(|name| of(&dealt, name)), [8, 8, 8]);
        let twice: BTreeSet<JobId> = dealt.iter().filter(|one| one.twice).map(|one| one.job).collect();
        assert_eq!((twice.len(), dealt.iter().filter(|one| one.twice).count()), (4, 8));
        assert_eq!(dealt.iter().map(|one| one.job).collect::<BTreeSet<_>>(), jobs.iter().copied().collect());
        assert_eq!(dealing.deal(&jobs, &dealt, &twice), []);
        let more: Vec<JobId> = (0..26).map(job).collect();
        let more = Dealing { twice: 0, ..dealing }.deal(&more, &dealt, &twice);
        assert_eq!(["Anna", "Ben", "Cem"].map(|name| of(&more, name)), [2, 2, 2]);
    }

    #[test]
    fn what_is_taken_from_one_of_two_goes_to_a_third() {
        let deal = |people: &[&str], twice, known: &[ReaderAssignment], gone: &[ReaderAssignment]| {
            let people = people.iter().map(|name| (*name).to_owned()).collect();
            let dealing = Dealing { batch: Uuid::nil(), people, twice, seed: 7, at: Timestamp::default() };
            let twice_before = known.iter().chain(gone).filter(|one| one.twice).map(|one| one.job).collect();
            dealing.deal(&[job(1), job(2)], known, &twice_before)
        };
        let all = deal(&["Anna", "Ben"], 2, &[], &[]);
        let (bens, annas): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.reviewer == "Ben");
        assert_eq!(deal(&["Ben"], 0, &bens, &annas), []);
        let names = |new: Vec<ReaderAssignment>| {
            let new = new.into_iter().map(|one| (one.job, one.reviewer, one.twice));
            new.collect::<BTreeSet<_>>()
        };
        let one = |number, name: &str| (job(number), name.to_owned(), true);
        let cems = BTreeSet::from([one(1, "Cem"), one(2, "Cem")]);
        assert_eq!(names(deal(&["Ben", "Cem"], 0, &bens, &annas)), cems);
        // A result that nobody else has is still for two.
        let both = BTreeSet::from([one(1, "Anna"), one(2, "Anna")]).union(&cems).cloned().collect();
        assert_eq!(names(deal(&["Anna", "Cem"], 0, &[], &bens)), both);
    }
}
