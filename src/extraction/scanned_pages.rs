//! Which pages of a document a model looks at, where one does.

use std::collections::BTreeSet;

/// Scanned pages of one job that are read by eyes; those behind them stay as they are.
pub const MOST_SCANNED_PAGES: usize = 1_000;

/// The pages of these ranges, both ends included: those that are gaps, and those whose characters were recognised.
pub fn pages_for_eyes(ranges: impl Iterator<Item = (u64, u64)>) -> BTreeSet<u64> {
    ranges.flat_map(|(from, to)| from..=to.min(from + MOST_SCANNED_PAGES as u64)).collect()
}
