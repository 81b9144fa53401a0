//! Pairs found with expected records: first by the place of their quotes, the rest so that all together differ least.

use crate::{
    comparison::{PairedRecords, RecordPlace},
    form,
    tree::{TreeContent, ValueTree},
};
use pathfinding::{kuhn_munkres::kuhn_munkres, matrix::Matrix};
use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, BTreeSet},
    ops::AddAssign,
};

/// The weight of a pair that agrees in everything: the Hungarian algorithm is exact with whole numbers.
const WHOLE: f64 = 1e9;

/// Pairs records, in the order of the expected ones. `places` are the places of the records that have one.
pub(crate) fn pair(
    (expected, found): (&[ValueTree], &[ValueTree]),
    places: (&[Option<&RecordPlace>], &[Option<&RecordPlace>]),
) -> Vec<PairedRecords> {
    let by_place = pair_by_place(places.0, places.1);
    let (of_expected, of_found): (BTreeSet<usize>, BTreeSet<usize>) = by_place.iter().copied().unzip();
    let rest = |all: usize, taken: &BTreeSet<usize>| (0..all).filter(|at| !taken.contains(at)).collect::<Vec<_>>();
    let (rows, columns) = (rest(expected.len(), &of_expected), rest(found.len(), &of_found));
    let share = |row: usize, column: usize| Agreement::of(&expected[rows[row]], &found[columns[column]]).share();
    let assigned = assign(rows.len(), columns.len(), share);
    let pair = |expected_at: usize, found_at: usize, by_place: bool| PairedRecords {
        expected: expected_at,
        found: found_at,
        by_place,
        difference: 1.0 - Agreement::of(&expected[expected_at], &found[found_at]).share(),
    };
    let mut pairs: Vec<PairedRecords> = by_place.into_iter().map(|(one, other)| pair(one, other, true)).collect();
    pairs.extend(assigned.into_iter().map(|(row, column)| pair(rows[row], columns[column], false)));
    pairs.sort_by_key(|pair| pair.expected);
    pairs
}

/// Pairs records whose quotes overlap by at least half of the shorter one: largest overlaps first, then in order.
fn pair_by_place(expected: &[Option<&RecordPlace>], found: &[Option<&RecordPlace>]) -> Vec<(usize, usize)> {
    let mut by_document: BTreeMap<&str, Vec<(usize, &RecordPlace)>> = BTreeMap::new();
    for (at, place) in found.iter().enumerate().filter_map(|(at, place)| Some((at, (*place)?))) {
        by_document.entry(&place.document).or_default().push((at, place));
    }
    let mut candidates = Vec::new();
    for (at, place) in expected.iter().enumerate().filter_map(|(at, place)| Some((at, (*place)?))) {
        for (found_at, other) in by_document.get(place.document.as_str()).into_iter().flatten() {
            let overlap = place.end.min(other.end).saturating_sub(place.start.max(other.start));
            let shorter = place.end.saturating_sub(place.start).min(other.end.saturating_sub(other.start));
            if overlap > 0 && overlap >= shorter.div_ceil(2) {
                candidates.push((Reverse(overlap), at, *found_at));
            }
        }
    }
    candidates.sort_unstable();
    let (mut of_expected, mut of_found) = (BTreeSet::new(), BTreeSet::new());
    let mut is_free = |at: usize, found_at: usize| {
        let is_free = !of_expected.contains(&at) && !of_found.contains(&found_at);
        is_free && of_expected.insert(at) && of_found.insert(found_at)
    };
    candidates
        .into_iter()
        .filter(|(_, at, found_at)| is_free(*at, *found_at))
        .map(|(_, one, other)| (one, other))
        .collect()
}

/// The assignment with the largest total share (Kuhn 1955, Munkres 1957), without pairs that share nothing: such a pair
/// differs by as much as a missing and an extra record do.
fn assign(rows: usize, columns: usize, share: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    if rows == 0 || columns == 0 {
        return Vec::new();
    }
    #[expect(clippy::cast_possible_truncation, reason = "shares are in 0..=1")]
    let weight = |row: usize, column: usize| (share(row, column) * WHOLE).round() as i64;
    // The algorithm assigns every row, so that there may be no more rows than columns.
    let is_turned = rows > columns;
    let weights = if is_turned {
        Matrix::from_fn(columns, rows, |(column, row)| weight(row, column))
    } else {
        Matrix::from_fn(rows, columns, |(row, column)| weight(row, column))
    };
    let (_, assigned) = kuhn_munkres(&weights);
    let pairs = assigned.into_iter().enumerate().filter(|place| weights[*place] > 0);
    pairs.map(|(one, other)| if is_turned { (other, one) } else { (one, other) }).collect()
}

/// How much of two values is the same, among the values that aren't null in both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Agreement {
    same: f64,
    compared: f64,
}

impl Agreement {
    fn of(expected: &ValueTree, found: &ValueTree) -> Self {
        match (&expected.content, &found.content) {
            (TreeContent::Single { kind, form: Some(one), .. }, TreeContent::Single { form: Some(other), .. }) => {
                Self { same: form::similarity(*kind, one, other), compared: 1.0 }
            }
            (TreeContent::Object(one), TreeContent::Object(other)) => {
                let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
                let mut all = Self::default();
                // Both are in the order of their keys.
                loop {
                    let order = match (one.peek(), other.peek()) {
                        (None, None) => return all,
                        (Some(_), None) => Ordering::Less,
                        (None, Some(_)) => Ordering::Greater,
                        (Some(one), Some(other)) => one.key.cmp(&other.key),
                    };
                    let left = one.next_if(|_| order != Ordering::Greater);
                    let right = other.next_if(|_| order != Ordering::Less);
                    all += match (left, right) {
                        (Some(left), Some(right)) => Self::of(&left.tree, &right.tree),
                        (left, right) => left.into_iter().chain(right).map(|field| Self::of_one(&field.tree)).sum(),
                    };
                }
            }
            (TreeContent::List(one), TreeContent::List(other)) => Self::of_lists(one, other),
            (_, _) => [expected, found].into_iter().map(Self::of_one).sum(),
        }
    }

    /// In records without a partner, nothing is the same.
    fn of_lists(expected: &[ValueTree], found: &[ValueTree]) -> Self {
        let pairs = assign(expected.len(), found.len(), |row, column| Self::of(&expected[row], &found[column]).share());
        let (rows, columns): (BTreeSet<usize>, BTreeSet<usize>) = pairs.iter().copied().unzip();
        let alone = |records: &[ValueTree], taken: &BTreeSet<usize>| -> Self {
            records
                .iter()
                .enumerate()
                .filter(|(at, _)| !taken.contains(at))
                .map(|(_, record)| Self::of_one(record))
                .sum()
        };
        let mut all: Self = pairs.iter().map(|(row, column)| Self::of(&expected[*row], &found[*column])).sum();
        all += alone(expected, &rows);
        all += alone(found, &columns);
        all
    }

    /// Compares a value with nothing.
    fn of_one(tree: &ValueTree) -> Self {
        match &tree.content {
            TreeContent::Single { form, .. } => Self { same: 0.0, compared: f64::from(u8::from(form.is_some())) },
            TreeContent::Object(fields) => fields.iter().map(|field| Self::of_one(&field.tree)).sum(),
            TreeContent::List(items) => items.iter().map(Self::of_one).sum(),
        }
    }

    /// The share in 0..=1; two records of nothing but nulls are the same.
    fn share(self) -> f64 {
        if self.compared > 0.0 { self.same / self.compared } else { 1.0 }
    }
}

impl AddAssign for Agreement {
    fn add_assign(&mut self, other: Self) {
        self.same += other.same;
        self.compared += other.compared;
    }
}

impl std::iter::Sum for Agreement {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

#[cfg(test)]
mod tests;
