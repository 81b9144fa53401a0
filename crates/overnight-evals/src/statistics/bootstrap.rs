//! Intervals by resampling documents.

use fastrand::Rng;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The number of resamples for an interval, and of flips in a permutation test.
pub(super) const RESAMPLES: u32 = 10_000;
/// The error probability of an interval, for both sides together.
pub(super) const ALPHA: f64 = 0.05;
/// Smaller differences are due to rounding.
pub(super) const ROUNDING: f64 = 1e-12;

/// The 95 % interval of a statistic of documents; the statistic receives the places of documents, with repetitions.
///
/// The percentile bootstrap (Efron 1979) is too narrow for few documents. Hesterberg 2015 widens it ("What Teachers
/// Should Know About the Bootstrap", expanded percentile interval): the bounds are the resamples' quantile at
/// Φ(−√(n/(n−1))·t) and its counterpart; t is the 97.5 % quantile of Student's distribution with n−1 degrees.
///
/// If all resamples are the same, as with documents that are all right, they show no spread. Then the bound of Clopper
/// and Pearson 1934 is used over documents: if n documents are all alike, at least the share 0.025^(1/n) of all
/// documents is like them, and the rest may be anything in `possible`. For documents that are all right, or all wrong,
/// that is the exact binomial interval.
pub(super) fn interval(
    documents: u32,
    seed: u64,
    possible: (f64, f64),
    mut statistic: impl FnMut(&[u32]) -> f64,
) -> (f64, f64) {
    let mut random = Rng::with_seed(seed);
    let mut drawn = vec![0; usize::try_from(documents).unwrap_or_default()];
    let mut values: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            drawn.fill_with(|| random.u32(0..documents));
            statistic(&drawn)
        })
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    if let [low, .., high] = values[..]
        && high - low < ROUNDING
    {
        let alike = rounded((ALPHA / 2.0).powf(1.0 / f64::from(documents)));
        let bound = |other: f64| alike * low + (1.0 - alike) * other;
        return (bound(possible.0), bound(possible.1));
    }
    let tail = expanded_tail(documents);
    (quantile(&values, tail), quantile(&values, 1.0 - tail))
}

/// The share of resamples beyond each end of an interval.
fn expanded_tail(documents: u32) -> f64 {
    let (count, degrees) = (f64::from(documents), f64::from(documents) - 1.0);
    let Ok(student) = StudentsT::new(0.0, 1.0, degrees) else { return 0.0 };
    let t = student.inverse_cdf(1.0 - ALPHA / 2.0);
    rounded(Normal::standard().cdf(-(count / degrees).sqrt() * t))
}

/// Rounds a share, because the last digits of powers and quantiles differ between machines.
fn rounded(share: f64) -> f64 {
    (share * 1e9).round() / 1e9
}

/// The quantile of sorted values, by linear interpolation (definition 7 of Hyndman and Fan 1996).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    #[expect(clippy::cast_precision_loss, reason = "there are ten thousand resamples")]
    let place = share.clamp(0.0, 1.0) * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is the place of a resample")]
    let below = place.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    low + (high - low) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `stats.norm.cdf(-sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))` with scipy 1.17.
    #[test]
    fn tails_are_wider_for_few_documents() {
        let tails = [
            (2, 0.0),
            (3, 0.000_000_068_341),
            (10, 0.008_550_639_024),
            (40, 0.020_257_536_363),
            (1000, 0.024_804_305_906),
        ];
        for (documents, expected) in tails {
            assert!((expanded_tail(documents) - expected).abs() < 2e-9, "{documents}: {}", expanded_tail(documents));
        }
    }

    /// `numpy.quantile([1, 2, 4, 8], q)`.
    #[test]
    fn quantiles_lie_between_values() {
        let found = [0.0, 0.1, 0.5, 0.9, 1.0].map(|share| quantile(&[1.0, 2.0, 4.0, 8.0], share));
        for (found, expected) in found.into_iter().zip([1.0, 1.3, 3.0, 6.8, 8.0]) {
            assert!((found - expected).abs() < ROUNDING, "{found} {expected}");
        }
    }
}
