//! The difference between two candidates that worked on the same documents.

use super::{
    bootstrap::{self, RESAMPLES, ROUNDING},
    candidate_verdict::SIGNIFICANCE,
    document_score::DocumentScore,
};
use fastrand::Rng;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// The maximum number of documents for which all flips are enumerated.
const MOST_ENUMERATED: usize = 14;
/// The 80 % quantile of the normal distribution, for the power of the planned test.
const POWER: f64 = 0.841_621_233_572_914_3;
/// A number of documents that is larger than any real one.
const MOST: f64 = 1e15;

/// How much better the second of two candidates is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The score of b less that of a, in −1..=1: above 0, b is better.
    pub value: f64,
    /// The lower end of the 95 % interval, in −1..=1.
    pub low: f64,
    /// The upper end of the interval, in −1..=1.
    pub high: f64,
    /// The probability that chance alone gives a difference of at least this size, in 0..=1. It isn't adjusted for
    /// further comparisons: see [`holm`](super::holm).
    pub p: f64,
    /// Documents that were compared.
    pub documents: u64,
    /// The variance of the documents' contributions to the difference; none with only one document.
    pub variance: Option<f64>,
}

impl Difference {
    /// About how many documents such as these show a difference of this size at 5 %, in four of five attempts, with so
    /// many comparisons (5 % divided by their number, as in Holm's first step); rounded up to two figures, and more
    /// than there are now. None without a difference, or with only one document.
    pub fn enough(&self, comparisons: u32) -> Option<u64> {
        let (size, variance) = (self.value.abs(), self.variance?);
        if size < ROUNDING {
            return None;
        }
        let alpha = SIGNIFICANCE / f64::from(comparisons.max(1));
        let quantiles = Normal::standard().inverse_cdf(1.0 - alpha / 2.0) + POWER;
        let by_spread = quantiles.powi(2) * variance / size.powi(2);
        // With fewer documents such a p-value is impossible: the least p-value of n documents is 2/2^n.
        let by_flips = (2.0 / alpha).log2().floor() + 1.0;
        // If all documents are alike, the interval leaves room for others: see `bootstrap`.
        let by_alike = if variance < ROUNDING { (bootstrap::ALPHA / 2.0).ln() / -size.ln_1p() } else { 0.0 };
        let documents = by_spread.max(by_flips).max(by_alike);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 6 and 10^15")]
        (documents < MOST).then(|| two_figures((documents - ROUNDING).ceil() as u64).max(self.documents + 1))
    }
}

/// The difference between two candidates from the scores of the same documents in the same order. None if the numbers
/// of scores differ, or nothing was compared. Documents in which nothing was compared for either don't count.
///
/// - The interval is the paired percentile bootstrap over documents, widened for few of them as for
///   [`score`](super::score()). If it has no spread, it allows for the share of documents about which nothing is known.
/// - `p` comes from a two-sided permutation test (Fisher 1935): if both candidates were equally good, the scores of
///   each document could as well be swapped. All swaps of up to 14 differing documents are enumerated; for more, 10,000
///   random ones, with the correction of Phipson and Smyth 2010 (one is added to both counts).
/// - [`Difference::enough`] follows from the spread of the paired differences by the normal approximation.
pub fn difference(a: &[DocumentScore], b: &[DocumentScore], seed: u64) -> Option<Difference> {
    if a.len() != b.len() {
        return None;
    }
    let pairs = a.iter().copied().zip(b.iter().copied()).map(|(a, b)| ScorePair { a, b });
    let pairs: Vec<ScorePair> = pairs.filter(|pair| pair.a.total > 0.0 || pair.b.total > 0.0).collect();
    let count = u32::try_from(pairs.len()).ok().filter(|count| *count > 0)?;
    let all = ScorePair::sum(pairs.iter());
    let (low, high) = bootstrap::interval(count, seed, (-1.0, 1.0), |drawn| {
        ScorePair::sum(drawn.iter().map(|at| &pairs[*at as usize])).difference()
    });
    Some(Difference {
        value: all.difference(),
        low,
        high,
        p: p_value(&pairs, all, seed),
        documents: u64::from(count),
        variance: variance(&pairs, all, f64::from(count)),
    })
}

/// The scores of one document, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ScorePair {
    a: DocumentScore,
    b: DocumentScore,
}

impl ScorePair {
    fn sum<'p>(pairs: impl Iterator<Item = &'p Self>) -> Self {
        pairs.fold(Self::default(), |mut sum, pair| {
            sum.a += pair.a;
            sum.b += pair.b;
            sum
        })
    }

    fn difference(self) -> f64 {
        self.b.share_or_whole() - self.a.share_or_whole()
    }

    /// Swaps one of the documents in the sums.
    fn swap(&mut self, one: &Self) {
        self.a -= one.a;
        self.a += one.b;
        self.b -= one.b;
        self.b += one.a;
    }
}

fn p_value(pairs: &[ScorePair], all: ScorePair, seed: u64) -> f64 {
    // Swapping the other documents changes nothing.
    let differing: Vec<&ScorePair> = pairs.iter().filter(|pair| pair.a != pair.b).collect();
    let observed = all.difference().abs() - ROUNDING;
    let is_as_large = |mut swapped: ScorePair, is_swapped: &mut dyn FnMut(usize) -> bool| {
        for (_, pair) in differing.iter().enumerate().filter(|(at, _)| is_swapped(*at)) {
            swapped.swap(pair);
        }
        swapped.difference().abs() >= observed
    };
    let mut as_large = 0_u32;
    if differing.len() <= MOST_ENUMERATED {
        let swaps = 1_u32 << differing.len();
        for swap in 0..swaps {
            as_large += u32::from(is_as_large(all, &mut |at| swap >> at & 1 == 1));
        }
        return f64::from(as_large) / f64::from(swaps);
    }
    let mut random = Rng::with_seed(seed);
    for _ in 0..RESAMPLES {
        as_large += u32::from(is_as_large(all, &mut |_| random.bool()));
    }
    f64::from(as_large + 1) / f64::from(RESAMPLES + 1)
}

/// The variance of the documents' contributions to the difference: two ratios to first order (Cochran 1977, chapter 6).
fn variance(pairs: &[ScorePair], all: ScorePair, count: f64) -> Option<f64> {
    if count < 2.0 {
        return None;
    }
    let of_ratio = |one: DocumentScore, all: DocumentScore| {
        if all.total > 0.0 { count * (one.right - all.share_or_whole() * one.total) / all.total } else { 0.0 }
    };
    // The mean of the contributions is 0.
    let squares: f64 = pairs.iter().map(|pair| (of_ratio(pair.b, all.b) - of_ratio(pair.a, all.a)).powi(2)).sum();
    Some(squares / (count - 1.0))
}

/// Rounds up to two figures.
fn two_figures(number: u64) -> u64 {
    let unit = 10_u64.pow(number.max(1).ilog10().saturating_sub(1));
    number.div_ceil(unit) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(right: &[u8]) -> Vec<DocumentScore> {
        right.iter().map(|right| DocumentScore { right: f64::from(*right), total: 6.0 }).collect()
    }

    /// `enough` has the expected values for one comparison and for two.
    fn assert_close(found: Option<Difference>, expected: Difference, enough: [Option<u64>; 2]) {
        let found = found.unwrap();
        let figures = |one: Difference| [one.value, one.low, one.high, one.p];
        let is_close = figures(found).iter().zip(figures(expected)).all(|(one, other)| (one - other).abs() < 1e-8);
        assert!(is_close && found.documents == expected.documents, "{found:?}");
        assert_eq!([1, 2].map(|comparisons| found.enough(comparisons)), enough);
    }

    /// The random numbers come from a Python version of `fastrand`, the rest from `numpy.quantile` and scipy; `p` from
    /// all 256 flips of the signs, 48 of which have a mean of at least 5/48; `enough` is ((1.96 + 0.84) · 0.152688 /
    /// 0.104167)² = 16.9, and for two comparisons ((2.24 + 0.84) · 0.152688 / 0.104167)² = 20.4.
    #[test]
    fn few_documents_are_swapped_in_all_ways() {
        let a = scores(&[3, 4, 5, 4, 6, 2, 5, 4]);
        let b = scores(&[4, 5, 5, 6, 6, 3, 4, 5]);
        let (low, high) = (-0.020_833_333, 0.229_166_667);
        let expected = Difference { value: 5.0 / 48.0, low, high, p: 0.1875, documents: 8, variance: None };
        assert_close(difference(&a, &b, 1), expected, [Some(17), Some(21)]);
        let (low, high) = (-0.229_166_667, 0.020_833_333);
        assert_close(
            difference(&b, &a, 1),
            Difference { value: -5.0 / 48.0, low, high, ..expected },
            [Some(17), Some(21)],
        );
        assert_eq!(difference(&a, &b[1..], 1), None);
        assert_eq!(difference(&[], &[], 1), None);
    }

    /// As above; 912 of 10,000 random swaps of the 16 differing documents are as large, and the spread of the ratios to
    /// first order requires 37.9 documents.
    #[test]
    fn many_documents_are_swapped_at_random() {
        let a = scores(&[0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5]);
        let mut b = scores(&[0, 2, 3, 4, 5, 4, 6, 0, 2, 3, 2, 5, 6, 6, 0, 0, 3, 4, 5, 6]);
        b.iter_mut().step_by(4).for_each(|score| score.total = 7.0);
        let (low, high) = (-0.003_805_96, 0.105_574_16);
        let expected = Difference { value: 0.053, low, high, p: 913.0 / 10_001.0, documents: 20, variance: None };
        assert_close(difference(&a, &b, 3), expected, [Some(38), Some(46)]);
    }

    /// By hand: at least 0.025^(1/10) = 0.6915029 of all documents are like these, the others anything in −1..=1.
    #[test]
    fn equal_differences_leave_room_for_others() {
        let [a, b] = [5, 6].map(|right| scores(&[right; 10]));
        let (low, high) = (-0.308_497_108, 0.308_497_108);
        let same = Difference { value: 0.0, low, high, p: 1.0, documents: 10, variance: None };
        assert_close(difference(&a, &a, 1), same, [None; 2]);
        let (value, p) = (1.0 / 6.0, 2.0 / 1024.0);
        let (low, high) = (0.691_502_892 * value - 0.308_497_108, 0.691_502_892 * value + 0.308_497_108);
        // ln 0.025 / ln(6/7) = 23.9.
        let found = Difference { value, low, high, p, documents: 10, variance: None };
        assert_close(difference(&a, &b, 1), found, [Some(24); 2]);
        let [none, all] = [0, 6].map(|right| scores(&[right; 4]));
        assert_eq!(
            difference(&none, &all, 1).map(|found| [1, 2, 10].map(|among| found.enough(among))),
            Some([Some(6), Some(7), Some(9)])
        );
    }

    #[test]
    fn figures() {
        let rounded = [1, 9, 10, 11, 99, 100, 101, 110, 1234, 99_001].map(two_figures);
        assert_eq!(rounded, [1, 9, 10, 11, 99, 100, 110, 110, 1300, 100_000]);
    }
}
