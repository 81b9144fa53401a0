//! The score of a candidate, with its interval.

use super::{bootstrap, document_score::DocumentScore};
use serde::{Deserialize, Serialize};

/// How good a candidate is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The share of all values that are right, in 0..=1: the right values of all documents, divided by all their
    /// values. A document counts by its number of values.
    pub value: f64,
    /// The lower end of the 95 % interval, in 0..=1.
    pub low: f64,
    /// The upper end of the interval, in 0..=1.
    pub high: f64,
}

/// The score of a candidate from the scores of its documents; none if nothing was compared in any of them. Documents in
/// which nothing was compared don't count.
///
/// The interval is the percentile bootstrap over documents with 10,000 resamples, widened for few documents (Hesterberg
/// 2015). If all documents have the same share, it has no spread; then it allows for the documents about which nothing
/// is known: if all are right, or all wrong, it is the exact binomial interval (Clopper and Pearson 1934).
pub fn score(documents: &[DocumentScore], seed: u64) -> Option<Score> {
    let compared: Vec<DocumentScore> = documents.iter().copied().filter(|one| one.total > 0.0).collect();
    let value = compared.iter().copied().sum::<DocumentScore>().share()?;
    let (low, high) = bootstrap::interval(u32::try_from(compared.len()).ok()?, seed, (0.0, 1.0), |drawn| {
        drawn.iter().map(|at| compared[*at as usize]).sum::<DocumentScore>().share_or_whole()
    });
    Some(Score { value, low, high })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// Documents of six values, each right with the same chance.
    fn documents(random: &mut Rng, count: usize, share: f64) -> Vec<DocumentScore> {
        let document = |random: &mut Rng| {
            let right = (0..6).map(|_| f64::from(u8::from(random.f64() < share))).sum();
            DocumentScore { right, total: 6.0 }
        };
        (0..count).map(|_| document(random)).collect()
    }

    #[test]
    fn intervals_hold_the_truth() {
        for (count, share) in [(40, 0.95), (40, 0.90), (10, 0.95), (10, 0.90)] {
            let holds = |seed: &u64| {
                let score = score(&documents(&mut Rng::with_seed(*seed), count, share), *seed).unwrap();
                (score.low..=score.high).contains(&share)
            };
            let holding = (0..100).filter(holds).count();
            assert!(holding >= 90, "{holding} of 100 with {count} documents, {share} right");
        }
    }

    #[test]
    fn equal_documents_leave_room_for_others() {
        let of = |right: f64, count: usize| score(&vec![DocumentScore { right, total: 6.0 }; count], 1).unwrap();
        // `stats.binomtest(n, n).proportion_ci(method="exact")`, and the same for 0 of n, with scipy 1.17.
        let close = |score: Score, low: f64, high: f64| {
            assert!((score.low - low).abs() < 1e-8 && (score.high - high).abs() < 1e-8, "{score:?}");
        };
        close(of(6.0, 10), 0.691_502_892, 1.0);
        close(of(6.0, 40), 0.911_902_697, 1.0);
        close(of(0.0, 10), 0.0, 0.308_497_108);
        // By hand: at least 0.025^(1/10) = 0.6915029 of the documents have 5 of 6 values right, the others none or all.
        close(of(5.0, 10), 0.576_252_410, 0.884_749_518);
        close(of(6.0, 1), 0.025, 1.0);
    }

    /// The random numbers come from a Python version of `fastrand`, the rest from `numpy.quantile` and scipy.
    #[test]
    fn a_score_is_the_same_for_the_same_seed() {
        let document = |at: u32| DocumentScore { right: f64::from(at % 7), total: f64::from(6 + at % 3) };
        let all: Vec<DocumentScore> = (0..20).map(document).collect();
        let found = score(&all, 7).unwrap();
        let expected = Score { value: 57.0 / 139.0, low: 0.278_571_43, high: 0.550_724_64 };
        let [of_found, of_expected] = [found, expected].map(|score| [score.value, score.low, score.high]);
        assert!(of_found.iter().zip(of_expected).all(|(one, other)| (one - other).abs() < 1e-8), "{found:?}");
        let nothing = DocumentScore::default();
        let with_nothing: Vec<DocumentScore> = all.iter().copied().chain([nothing]).collect();
        assert_eq!(score(&with_nothing, 7), Some(found));
        assert_eq!([score(&[], 1), score(&[nothing], 1)], [None, None]);
    }
}
