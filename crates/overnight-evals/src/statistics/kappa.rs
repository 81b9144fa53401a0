//! The agreement of two people who judged the same things, beyond what chance gives: Cohen's kappa (Cohen 1960, "A
//! coefficient of agreement for nominal scales", Educational and Psychological Measurement 20).

/// Cohen's kappa of pairs of judgements, from -1 to 1; none if there are no pairs, or if both people always gave one
/// and the same judgement, because chance alone would give that.
///
/// ```
/// use overnight_evals::statistics::cohens_kappa;
///
/// let pairs = [vec![(true, true); 20], vec![(true, false); 5], vec![(false, true); 10], vec![(false, false); 15]].concat();
/// assert!((cohens_kappa(&pairs).unwrap() - 0.4).abs() < 1e-12);
/// assert_eq!(cohens_kappa(&[(true, true)]), None);
/// ```
pub fn cohens_kappa(pairs: &[(bool, bool)]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 people read a result")]
    let share = |count: usize| count as f64 / pairs.len() as f64;
    let count = |is_it: fn(&(bool, bool)) -> bool| share(pairs.iter().filter(|pair| is_it(pair)).count());
    let agreed = count(|(one, other)| one == other);
    let (first, second) = (count(|pair| pair.0), count(|pair| pair.1));
    let by_chance = first * second + (1.0 - first) * (1.0 - second);
    (!pairs.is_empty() && by_chance < 1.0).then(|| (agreed - by_chance) / (1.0 - by_chance))
}
