//! Whether several runs on the same document find the same values. Values that all runs find may still be wrong.

use crate::{compare::compare, comparison::RecordPlaces, plan::ComparisonPlan, statistics::DocumentScore};
use serde_json::Value;

/// How many values are the same (`right`) of those compared (`total`) in two runs of a document, as the mean over all pairs of
/// runs; its [share](DocumentScore::share) is the agreement. Records are paired by their values.
///
/// Each run is compared as if the other one were right, in both directions, so that a record that only one run has
/// counts as different. Where the plan leaves the comparison of a field to the expected value, the other run's value
/// decides. A failed run (`None`) differs in all values; two failed runs are not compared.
pub fn agreement(repeats: &[Option<&Value>], plan: &ComparisonPlan) -> DocumentScore {
    let mut sum = DocumentScore::default();
    let mut pairs = 0.0;
    let places = RecordPlaces::default();
    for (at, one) in repeats.iter().enumerate() {
        for other in &repeats[at + 1..] {
            pairs += 1.0;
            for (expected, found) in [(one, other), (other, one)] {
                if let Some(expected) = expected {
                    sum += compare(expected, *found, plan, &places, None).score();
                }
            }
        }
    }
    if pairs == 0.0 {
        return sum;
    }
    DocumentScore { right: sum.right / pairs / 2.0, total: sum.total / pairs / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn runs_agree_in_a_share_of_their_values() {
        let plan = ComparisonPlan::default();
        let [one, other] = [json!({"a": 1, "b": ["x"]}), json!({"a": 1.0, "b": ["x", "y"]})];
        // In one direction 2 of 2 values are the same, in the other one 2 of 3.
        assert_eq!(agreement(&[Some(&one), Some(&other)], &plan), DocumentScore { right: 2.0, total: 2.5 });
        assert_eq!(agreement(&[Some(&one), Some(&one), Some(&one)], &plan), DocumentScore { right: 2.0, total: 2.0 });
        // Against the failed run each value differs, in one direction only.
        assert_eq!(agreement(&[Some(&one), None], &plan), DocumentScore { right: 0.0, total: 1.0 });
        assert_eq!(agreement(&[None, None], &plan).share(), None);
        assert_eq!(agreement(&[Some(&one)], &plan).share(), None);
    }
}
