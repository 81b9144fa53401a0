//! Whole numbers as ranges: sorted, disjoint and not adjacent, both ends included.

/// The set of numbers that were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds `from` to `to`; returns whether any of it was new.
    pub fn add(&mut self, mut from: u64, mut to: u64) -> bool {
        if self.has(from, to) {
            return false;
        }
        self.0.retain(|&(start, end)| {
            let touches = start <= to.saturating_add(1) && from <= end.saturating_add(1);
            if touches {
                from = from.min(start);
                to = to.max(end);
            }
            !touches
        });
        let place = self.0.partition_point(|&(start, _)| start < from);
        self.0.insert(place, (from, to));
        true
    }

    /// Whether all of `from` to `to` was added.
    pub fn has(&self, from: u64, to: u64) -> bool {
        self.0.iter().any(|&(start, end)| start <= from && to <= end)
    }

    /// The ranges, sorted.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// The ranges from 1 to `end` that were not added, in order.
    pub fn missing(&self, end: u64) -> Vec<(u64, u64)> {
        let mut next = 1;
        let mut gaps = Vec::new();
        for &(from, to) in &self.0 {
            if from > next {
                gaps.push((next, from - 1));
            }
            next = to.saturating_add(1);
        }
        if next <= end {
            gaps.push((next, end));
        }
        gaps
    }
}
