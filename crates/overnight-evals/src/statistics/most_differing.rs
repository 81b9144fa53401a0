//! An upper bound for the number of differing documents in a finite population, from random draws without replacement.
//! It holds at every look: a caller may look after each draw, and stop at any time.
//!
//! Of A documents an unknown, fixed number K differs. They are drawn in a random order, and of n drawn ones d differ.
//! If K is k, the chance of exactly these outcomes in exactly this order is
//!
//! ```text
//! L(k) = k (k−1) … (k−d+1) · (A−k) (A−k−1) … (A−k−n+d+1) / (A (A−1) … (A−n+1))
//! ```
//!
//! A bet against k assigns each outcome a probability in advance: as if each document differed with a share drawn from
//! a beta distribution. Then the number of differing documents is beta-binomial, and the same outcomes get
//!
//! ```text
//! M(k) = B(a+d, b+n−d) / B(a, b)
//! ```
//!
//! M(k)/L(k) begins at 1 and, if K is k, its mean stays at 1 from each draw to the next (or below, where k leaves one
//! outcome only). By Ville's inequality (1939) such a martingale ever reaches 1/alpha with a chance of alpha at most.
//! So k is refuted while it is reached, and with a chance of 1 − alpha the true K never is, however often one looks.
//!
//! This is the prior-posterior-ratio martingale of Waudby-Smith and Ramdas, "Confidence sequences for sampling without
//! replacement" (NeurIPS 2020, arXiv 2006.04347) with a beta-binomial prior, except for two things. Only an upper bound
//! is needed: the largest k that is not refuted. (It is never below the most probable k, which no bet refutes: M(k) is
//! a mean of L.) And the prior depends on k, which is allowed: each k has its own martingale, and only that of the true
//! K has to be one.
//!
//! Numbers that an earlier look refuted aren't kept, though that would save about 3 % of the draws: then three
//! differing documents, after fifty that don't differ, could make a certificate hold, as they are found and replaced,
//! and the order of outcomes within a round would count. So the bound only depends on n and d. This gives away some
//! confidence: for 500 documents at worst 3.0 % of the certificates of 95 % are false.
//!
//! The prior is the same for all nights: a is 2 and b is 8·A/k, which gives a mean of about a quarter of the share k/A.
//! `crates/overnight-evals/examples/certificate.rs` shows the draws. It was chosen by simulation, for 100 to 10,000
//! documents of which 96 to 100 % agree. Others (a from 0.5 to 4, means from an eighth to a third), a point at 0, one
//! prior for all k, and the bets of "ALPHA" (Stark 2023) need a few draws less in some cases and more in others. Limits
//! for one goal alone, by spending alpha over the differing documents found, need about an eighth fewer draws for 500
//! documents; but then bound and verdict would be two statements, which don't hold jointly with that confidence.

use statrs::function::gamma::ln_gamma;

/// The first parameter of the beta distribution of a bet.
const PRIOR_DIFFERING: f64 = 2.0;
/// The second parameter, divided by the ratio of all documents to the differing documents of the hypothesis.
const PRIOR_EQUAL: f64 = 8.0;
/// A generous limit for rounding errors of a logarithm: a ratio must exceed its limit by this much.
const ROUNDING: f64 = 1e-6;

/// The bound after some draws.
#[derive(Clone, Copy, Debug)]
pub(super) struct MostDiffering {
    population: u32,
    drawn: u32,
    differing: u32,
    /// The least logarithm of a ratio that refutes a hypothesis.
    refuting: f64,
}

impl MostDiffering {
    /// The state before the first draw, for a confidence in 0..1.
    pub(super) fn new(population: u32, confidence: f64) -> Self {
        Self { population, drawn: 0, differing: 0, refuting: ROUNDING - (1.0 - confidence).ln() }
    }

    /// Adds the draw of one further document.
    pub(super) fn draw(&mut self, differs: bool) {
        self.drawn += 1;
        self.differing += u32::from(differs);
    }

    pub(super) fn drawn(&self) -> u32 {
        self.drawn
    }

    /// The number of drawn documents that differ.
    pub(super) fn differing(&self) -> u32 {
        self.differing
    }

    /// The upper bound for the differing documents that were not drawn: any larger number is refuted.
    pub(super) fn left(&self) -> u32 {
        let possible = self.differing + 1..=self.possible();
        possible.rev().find(|most| !self.is_refuted(*most)).map_or(0, |most| most - self.differing)
    }

    /// Whether the bound is at most `left`. This is faster than computing the bound.
    pub(super) fn leaves_at_most(&self, left: u32) -> bool {
        (self.differing + left + 1..=self.possible()).all(|larger| self.is_refuted(larger))
    }

    /// The largest number of differing documents that is possible after the draws.
    fn possible(&self) -> u32 {
        self.population - (self.drawn - self.differing)
    }

    /// Whether a possible number of differing documents is refuted.
    fn is_refuted(&self, hypothesis: u32) -> bool {
        self.log_ratio(hypothesis) >= self.refuting
    }

    /// The logarithm of M(k)/L(k), for a possible number k.
    fn log_ratio(&self, hypothesis: u32) -> f64 {
        let [population, k] = [self.population, hypothesis].map(f64::from);
        let [drawn, differing] = [self.drawn, self.differing].map(f64::from);
        let (a, b) = (PRIOR_DIFFERING, PRIOR_EQUAL * population / k);
        let equal = drawn - differing;
        let bet = log_rising(a, differing) + log_rising(b, equal) - log_rising(a + b, drawn);
        let chance = log_falling(k, differing) + log_falling(population - k, equal) - log_falling(population, drawn);
        bet - chance
    }
}

/// The logarithm of x (x+1) … (x+count−1).
fn log_rising(x: f64, count: f64) -> f64 {
    ln_gamma(x + count) - ln_gamma(x)
}

/// The logarithm of x (x−1) … (x−count+1).
fn log_falling(x: f64, count: f64) -> f64 {
    log_rising(x - count + 1.0, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ratio, draw by draw, from the probabilities under the bet and the hypothesis; none if it is impossible.
    fn ratio(population: u32, hypothesis: u32, differs: impl IntoIterator<Item = bool>) -> Option<f64> {
        let (a, b) = (2.0, 8.0 * f64::from(population) / f64::from(hypothesis));
        let (mut ratio, mut differing, mut equal) = (1.0, 0.0, 0.0);
        for differs in differs {
            let left = f64::from(population) - differing - equal;
            let chance = (f64::from(hypothesis) - differing) / left;
            let bet = (a + differing) / (a + b + differing + equal);
            let (chance, bet) = if differs { (chance, bet) } else { (1.0 - chance, 1.0 - bet) };
            ratio *= (chance > 0.0).then_some(bet / chance)?;
            *(if differs { &mut differing } else { &mut equal }) += 1.0;
        }
        Some(ratio)
    }

    fn orders(population: u32, differing: u32) -> impl Iterator<Item = Vec<bool>> {
        let masks = (0..1_u32 << population).filter(move |mask| mask.count_ones() == differing);
        masks.map(move |mask| (0..population).map(|at| mask >> at & 1 == 1).collect())
    }

    fn after(population: u32, confidence: f64, differs: &[bool]) -> MostDiffering {
        let mut bound = MostDiffering::new(population, confidence);
        for differs in differs {
            bound.draw(*differs);
        }
        bound
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9 * other.abs().max(1.0)
    }

    /// All orders of all populations of up to ten documents: the closed form equals the product over the draws. Its
    /// mean is 1, and less if all differing documents may have been drawn, or all equal ones.
    #[test]
    fn the_ratio_is_a_martingale() {
        for (population, hypothesis) in (1..=10).flat_map(|all| (1..=all).map(move |k| (all, k))) {
            for drawn in 0..=population {
                let (mut sum, mut count) = (0.0, 0.0);
                for order in orders(population, hypothesis) {
                    let order = &order[..drawn as usize];
                    let found = after(population, 0.95, order).log_ratio(hypothesis).exp();
                    let expected = ratio(population, hypothesis, order.iter().copied()).unwrap();
                    assert!(close(found, expected), "{population} {hypothesis} {order:?}: {found} {expected}");
                    (sum, count) = (sum + found, count + 1.0);
                }
                let mean: f64 = sum / count;
                let is_one = drawn <= hypothesis.min(population - hypothesis);
                assert!(
                    if is_one { close(mean, 1.0) } else { mean < 1.0 },
                    "{population} {hypothesis} {drawn}: {mean}"
                );
            }
        }
    }

    /// All outcomes of small populations: each possible number is tested by itself.
    #[test]
    fn the_bound_is_that_of_all_hypotheses_one_by_one() {
        for (population, confidence) in [(8, 0.8), (9, 0.5), (10, 0.95), (11, 0.9)] {
            for order in (0..=population).flat_map(|differing| orders(population, differing)) {
                for drawn in 0..=population {
                    let looked = &order[..drawn as usize];
                    let differing = u32::try_from(looked.iter().filter(|differs| **differs).count()).unwrap();
                    let is_refuted = |k: u32| {
                        let ratio = ratio(population, k, looked.iter().copied());
                        let is_few = differing * population < k * drawn;
                        ratio.is_none_or(|ratio| is_few && ratio >= 1.000_001 / (1.0 - confidence))
                    };
                    let most = (differing + 1..=population).rev().find(|k| !is_refuted(*k)).unwrap_or(differing);
                    let bound = after(population, confidence, looked);
                    assert_eq!(bound.left(), most - differing, "{population} {looked:?}");
                    let said = |left: u32| bound.leaves_at_most(left) == (left >= bound.left());
                    assert!((0..population - differing).all(said), "{population} {looked:?}");
                }
            }
        }
    }

    /// A draw that differs leaves no fewer than one that agrees; and in the first half, if less than a fifth of the
    /// drawn documents differ, no fewer than before it.
    #[test]
    fn more_found_mean_more_left() {
        for (population, confidence) in [(30, 0.8), (85, 0.95), (85, 0.5), (425, 0.95)] {
            let left = |drawn, differing| {
                MostDiffering { drawn, differing, ..MostDiffering::new(population, confidence) }.left()
            };
            let step = population as usize / 28;
            for drawn in (0..population).step_by(step) {
                for differing in (0..=drawn).step_by(step) {
                    let [before, equal, differs] =
                        [(0, 0), (1, 0), (1, 1)].map(|(more, differ)| left(drawn + more, differing + differ));
                    let shown = format!("{population} {drawn} {differing}: {before} {equal} {differs}");
                    assert!(equal <= before && equal <= differs, "{shown}");
                    let are_few = differing * 5 < drawn && drawn * 2 <= population;
                    assert!(before <= differs || !are_few, "{shown}");
                }
            }
        }
    }

    #[test]
    fn logarithms_are_right_for_many_documents() {
        let sum = |from: u32, count: u32| (from..from + count).map(|number| f64::from(number).ln()).sum::<f64>();
        for (from, count) in [(1, 100_000), (2, 85_000), (680_000, 85_000), (85_000, 1)] {
            let found = log_rising(f64::from(from), f64::from(count));
            assert!((found - sum(from, count)).abs() < ROUNDING / 10.0, "{from} {count}: {found}");
        }
    }
}
