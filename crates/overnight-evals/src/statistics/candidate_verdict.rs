//! The conclusion about two candidates, where several of them are compared.

use super::difference::Difference;
use serde::{Deserialize, Serialize};

/// The adjusted p-value below which a difference is not due to chance.
pub const SIGNIFICANCE: f64 = 0.05;

/// Whether candidate b is better than candidate a.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum CandidateVerdict {
    /// Candidate b is better.
    Better,
    /// Candidate a is better.
    Worse,
    /// Chance explains the difference.
    CannotTell {
        /// The number of documents that were compared.
        documents: u64,
        /// The approximate number of documents that show a difference of this size; none if there is no difference.
        enough: Option<u64>,
    },
}

impl CandidateVerdict {
    /// The verdict on a difference, with its p-value adjusted for all `comparisons` that were made ([`holm`]). A
    /// candidate is only called better or worse if the interval agrees.
    pub fn of(difference: &Difference, adjusted_p: f64, comparisons: u32) -> Self {
        let is_clear = difference.low > 0.0 || difference.high < 0.0;
        if adjusted_p >= SIGNIFICANCE || adjusted_p.is_nan() || !is_clear {
            Self::CannotTell { documents: difference.documents, enough: difference.enough(comparisons) }
        } else if difference.value > 0.0 {
            Self::Better
        } else {
            Self::Worse
        }
    }
}

/// P-values adjusted for how many there are, in their order, each in 0..=1 (Holm 1979, "A Simple Sequentially Rejective
/// Multiple Test Procedure"): the smallest times n, the next one times n−1 and at least as large, and so on.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut by_size: Vec<usize> = (0..p.len()).collect();
    by_size.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let mut adjusted = vec![0.0; p.len()];
    let mut largest: f64 = 0.0;
    for (place, left) in by_size.into_iter().zip((1..=p.len()).rev()) {
        #[expect(clippy::cast_precision_loss, reason = "a number of comparisons")]
        let factor = left as f64;
        largest = largest.max((p[place] * factor).min(1.0));
        adjusted[place] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `multipletests([0.01, 0.04, 0.03, 0.005], method="holm")` of statsmodels; by hand: 4·0.005, 3·0.01, 2·0.03,
    /// 1·0.04, none smaller than the one before.
    #[test]
    fn p_values_are_adjusted() {
        let close = |found: &[f64], expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12), "{found:?}");
        };
        close(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        close(&holm(&[0.6, 0.5]), &[1.0, 1.0]);
        close(&holm(&[0.02]), &[0.02]);
        close(&holm(&[]), &[]);
    }

    #[test]
    fn only_what_is_no_chance_is_told() {
        let difference =
            |low: f64, high: f64| Difference { value: 0.1, low, high, p: 0.04, documents: 9, variance: Some(0.025) };
        let cannot_tell = CandidateVerdict::CannotTell { documents: 9, enough: Some(20) };
        assert_eq!(CandidateVerdict::of(&difference(0.05, 0.2), 0.04, 1), CandidateVerdict::Better);
        let worse = Difference { value: -0.1, ..difference(-0.2, -0.05) };
        assert_eq!(CandidateVerdict::of(&worse, 0.04, 1), CandidateVerdict::Worse);
        assert_eq!(CandidateVerdict::of(&difference(0.05, 0.2), 0.05, 1), cannot_tell);
        assert_eq!(CandidateVerdict::of(&difference(-0.01, 0.2), 0.04, 1), cannot_tell);
        let told = serde_json::to_string(&cannot_tell).unwrap();
        assert_eq!(told, r#"{"verdict":"cannot_tell","documents":9,"enough":20}"#);
    }
}
