//! The spread of some numbers.

use serde::Serialize;

/// The minimum, median and maximum of some numbers. Each is one of the numbers: for an even count, the lower median.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The number of values.
    pub jobs: u64,
    pub least: f64,
    pub middle: f64,
    pub most: f64,
}

impl Spread {
    /// `None` if there is no number.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut numbers: Vec<f64> = numbers.into_iter().filter(|number| number.is_finite()).collect();
        numbers.sort_by(f64::total_cmp);
        let middle = *numbers.get(numbers.len().checked_sub(1)? / 2)?;
        Some(Self { jobs: numbers.len() as u64, least: *numbers.first()?, middle, most: *numbers.last()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_a_number_that_is_there() {
        let spread = |numbers: &[f64]| Spread::of(numbers.iter().copied());
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[f64::NAN]), None);
        assert_eq!(spread(&[0.5]), Some(Spread { jobs: 1, least: 0.5, middle: 0.5, most: 0.5 }));
        assert_eq!(spread(&[0.9, 0.1]), Some(Spread { jobs: 2, least: 0.1, middle: 0.1, most: 0.9 }));
        assert_eq!(spread(&[0.9, 0.1, 0.3]), Some(Spread { jobs: 3, least: 0.1, middle: 0.3, most: 0.9 }));
    }
}
