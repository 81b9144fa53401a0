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
    #[schemars(range(max = 100_000))]
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
    /// At least one, each once.
    pub people: Vec<String>,
    /// So many results, drawn by chance, are read by two people each.
    pub twice: usize,
    /// Of the draw: the same one draws the same results.
    pub seed: u64,
    pub at: Timestamp,
}

impl Dealing {
    /// What is new: those of `jobs` that nobody has in `known` go to who has the fewest, in the order of a draw; the first ones of that
    /// to a second person, too.
    pub fn deal(&self, jobs: &[JobId], known: &[ReaderAssignment]) -> Vec<ReaderAssignment> {
        let taken: BTreeSet<JobId> = known.iter().map(|one| one.job).collect();
        let free: Vec<JobId> = jobs.iter().copied().filter(|job| !taken.contains(job)).collect();
        let mut loads: BTreeMap<&str, usize> = BTreeMap::new();
        for one in known {
            *loads.entry(&one.reviewer).or_default() += 1;
        }
        let mut dealt = Vec::new();
        let order = draw_order(u32::try_from(free.len()).unwrap_or(u32::MAX), self.seed);
        for (nth, job) in order.into_iter().filter_map(|place| free.get(place as usize)).enumerate() {
            let twice = nth < self.twice;
            let mut readers: Vec<&String> = self.people.iter().collect();
            // Who stands earlier goes first among those who have as many.
            readers.sort_by_key(|name| loads.get(name.as_str()).copied().unwrap_or_default());
            for reviewer in readers.into_iter().take(if twice { 2 } else { 1 }) {
                *loads.entry(reviewer).or_default() += 1;
                let (job, batch, reviewer) = (*job, self.batch, reviewer.clone());
                dealt.push(ReaderAssignment { job, batch, reviewer, twice, created: self.at });
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
        let dealt = dealing.deal(&jobs, &[]);
        let of = |dealt: &[ReaderAssignment], name: &str| dealt.iter().filter(|one| one.reviewer == name).count();
        assert_eq!(["Anna", "Ben", "Cem"].map(|name| of(&dealt, name)), [8, 8, 8]);
        let twice: BTreeSet<JobId> = dealt.iter().filter(|one| one.twice).map(|one| one.job).collect();
        assert_eq!((twice.len(), dealt.iter().filter(|one| one.twice).count()), (4, 8));
        assert_eq!(dealt.iter().map(|one| one.job).collect::<BTreeSet<_>>(), jobs.iter().copied().collect());
        assert_eq!(dealing.deal(&jobs, &dealt), []);
        let more: Vec<JobId> = (0..26).map(job).collect();
        let more = Dealing { twice: 0, ..dealing }.deal(&more, &dealt);
        assert_eq!(["Anna", "Ben", "Cem"].map(|name| of(&more, name)), [2, 2, 2]);
    }
}
