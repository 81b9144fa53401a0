//! The number of right values in a document.

use serde::{Deserialize, Serialize};
use std::ops::{AddAssign, SubAssign};

/// The right values of a document, and all compared values. Neither must be an integer: several runs may be averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DocumentScore {
    /// From 0 to `total`.
    pub right: f64,
    /// At least 0.
    pub total: f64,
}

impl DocumentScore {
    /// The share of right values, in 0..=1; none if nothing was compared.
    pub fn share(self) -> Option<f64> {
        (self.total > 0.0).then(|| self.right / self.total)
    }

    /// The share of right values, or 1 if nothing was compared.
    pub(super) fn share_or_whole(self) -> f64 {
        self.share().unwrap_or(1.0)
    }
}

impl AddAssign for DocumentScore {
    fn add_assign(&mut self, other: Self) {
        self.right += other.right;
        self.total += other.total;
    }
}

impl SubAssign for DocumentScore {
    fn sub_assign(&mut self, other: Self) {
        self.right -= other.right;
        self.total -= other.total;
    }
}

impl std::iter::Sum for DocumentScore {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}
