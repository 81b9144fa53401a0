//! Checks the assignment against all possible assignments, and records by the place of their quotes.

use super::*;
use proptest::prelude::*;

/// The largest total share of all assignments, by trying each.
fn best(shares: &[Vec<f64>], row: usize, taken: &mut Vec<bool>) -> f64 {
    if row == shares.len() {
        return 0.0;
    }
    let mut most = best(shares, row + 1, taken);
    for column in 0..taken.len() {
        if !taken[column] {
            taken[column] = true;
            most = most.max(shares[row][column] + best(shares, row + 1, taken));
            taken[column] = false;
        }
    }
    most
}

fn matrix(columns: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    // Some fine shares, and many that are the same or nothing.
    let share = prop_oneof![0.0..=1.0, (0..=4_u8).prop_map(|quarters| f64::from(quarters) / 4.0), Just(0.0)];
    prop::collection::vec(prop::collection::vec(share, columns), 0..=7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_other_assignment_has_more_in_common(shares in (0..=7_usize).prop_flat_map(matrix)) {
        let columns = shares.first().map_or(0, Vec::len);
        let pairs = assign(shares.len(), columns, |row, column| shares[row][column]);
        let (rows, of_columns): (BTreeSet<usize>, BTreeSet<usize>) = pairs.iter().copied().unzip();
        prop_assert_eq!((rows.len(), of_columns.len()), (pairs.len(), pairs.len()));
        prop_assert!(pairs.iter().all(|(row, column)| shares[*row][*column] > 0.0));
        let total: f64 = pairs.iter().map(|(row, column)| shares[*row][*column]).sum();
        let best = best(&shares, 0, &mut vec![false; columns]);
        prop_assert!((total - best).abs() < 1e-8, "{total} instead of {best}: {pairs:?}");
    }
}

fn place(document: &str, start: u64, end: u64) -> RecordPlace {
    RecordPlace { document: document.to_owned(), start, end }
}

#[test]
fn the_largest_overlap_comes_first() {
    let expected = [place("a", 0, 100), place("a", 100, 200), place("b", 0, 100), place("a", 300, 310)];
    let found = [place("a", 90, 190), place("a", 0, 60), place("c", 0, 100), place("a", 305, 320), place("a", 95, 195)];
    let [expected, found] = [&expected[..], &found[..]].map(|places| places.iter().map(Some).collect::<Vec<_>>());
    // The last record of either side overlaps by exactly half of the shorter one.
    assert_eq!(pair_by_place(&expected, &found), [(1, 4), (0, 1), (3, 3)]);
    let without: Vec<Option<&RecordPlace>> = vec![None; 4];
    assert_eq!(pair_by_place(&without, &found), []);
    let same = [place("a", 0, 10), place("a", 0, 10)];
    let same: Vec<Option<&RecordPlace>> = same.iter().map(Some).collect();
    assert_eq!(pair_by_place(&same, &same), [(0, 0), (1, 1)]);
    let [less, empty] = [place("a", 6, 16), place("a", 3, 3)];
    assert_eq!(pair_by_place(&same[..1], &[Some(&less), Some(&empty)]), []);
}
