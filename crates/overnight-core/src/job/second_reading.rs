//! The mathematics of reading twice: which parts are read, which records of two lists are the same, and how many there are in
//! all.
//!
//! ```
//! use overnight_core::job::second_reading::{QuoteSpan, align, chapman};
//!
//! let at = |start, end| QuoteSpan { document: "a.md".to_owned(), start, end };
//! let aligned = align(&[at(0, 10), at(50, 60)], &[at(2, 12), at(90, 99)]);
//! assert_eq!((aligned.pairs, aligned.only_first, aligned.only_second), (vec![(0, 0)], vec![1], vec![1]));
//!
//! // The one found 50 records, the other 52, and 42 of them are the same.
//! assert_eq!(chapman(50, 52, 42).records.round(), 62.0);
//! ```

use super::spec::DocumentEntry;
use serde::{Deserialize, Serialize};

/// Where the quote of a record stands: bytes of its document's text, half open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuoteSpan {
    /// The document's name in the job.
    pub document: String,
    /// Of the first character.
    pub start: u64,
    /// Behind the last one.
    pub end: u64,
}

/// A part of a document that is read a second time, in pages or lines, both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadUnit {
    /// The document's name in the job.
    pub document: String,
    /// From 1.
    pub from: u64,
    /// The last one.
    pub to: u64,
    /// Estimated: its share of the document's.
    pub tokens: u64,
}

/// Which records of two lists are the same; numbers are places in the lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// The same record in both.
    pub pairs: Vec<(usize, usize)>,
    /// Records of the first list at places where the second has nothing.
    pub only_first: Vec<usize>,
    /// Records of the second list at places where the first has nothing.
    pub only_second: Vec<usize>,
    /// Places at which both have records, but not equally many.
    pub ambiguous: Vec<AmbiguousGroup>,
}

/// Records at one place of which some have no partner of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmbiguousGroup {
    /// All of the first list there.
    pub first: Vec<usize>,
    /// All of the second list there.
    pub second: Vec<usize>,
}

/// How many records there are in all, with the 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordEstimate {
    /// The estimate.
    pub records: f64,
    /// Its lower bound; never under what was seen.
    pub low: f64,
    /// Its upper bound.
    pub high: f64,
}

/// The standard deviations on each side of the mean that hold 95 % of a normal distribution.
const NORMAL_95: f64 = 1.96;

/// Chapman's estimate from two independent samples of `first` and `second` records, of which `both` are the same, with the
/// normal interval from Seber's variance. Sources: D. G. Chapman, Some properties of the hypergeometric distribution with
/// applications to zoological sample censuses (1951); G. A. F. Seber, The Estimation of Animal Abundance (1982), 3.1.1.
#[expect(clippy::cast_precision_loss, reason = "counts of records, far under 2^52")]
pub fn chapman(first: u64, second: u64, both: u64) -> RecordEstimate {
    let (n, k, m) = (first as f64, second as f64, both as f64);
    let seen = n + k - m;
    let records = ((n + 1.0) * (k + 1.0) / (m + 1.0) - 1.0).max(seen);
    let variance = (n + 1.0) * (k + 1.0) * (n - m) * (k - m) / ((m + 1.0).powi(2) * (m + 2.0));
    let reach = NORMAL_95 * variance.max(0.0).sqrt();
    RecordEstimate { records, low: (records - reach).max(seen), high: records + reach }
}

/// Whether two quotes overlap by at least half of the shorter one.
pub fn overlaps(one: &QuoteSpan, other: &QuoteSpan) -> bool {
    one.document == other.document && overlap(one, other) * 2 >= length(one).min(length(other)).max(1)
}

fn overlap(one: &QuoteSpan, other: &QuoteSpan) -> u64 {
    one.end.min(other.end).saturating_sub(one.start.max(other.start))
}

fn length(span: &QuoteSpan) -> u64 {
    span.end.saturating_sub(span.start)
}

/// Which records are the same, by the places of their quotes. Those that overlap by at least half of the shorter quote may
/// be; of several, those are that overlap most, and the earlier ones of equals. Where the lists have not equally many
/// records at a place, nothing is guessed of those that are left over.
pub fn align(first: &[QuoteSpan], second: &[QuoteSpan]) -> Alignment {
    let mut edges = edges(first, second);
    let mut groups = Groups::new(first.len() + second.len());
    let mut is_alone = vec![true; first.len() + second.len()];
    for edge in &edges {
        let (one, other) = (edge.first, first.len() + edge.second);
        (is_alone[one], is_alone[other]) = (false, false);
        groups.join(one, other);
    }
    // The greatest overlap first; among equals the order in the documents, then in the lists.
    edges.sort_by_key(|edge| (std::cmp::Reverse(edge.overlap), edge.distance, edge.first, edge.second));
    let (mut of_first, mut of_second) = (vec![None; first.len()], vec![None; second.len()]);
    for edge in &edges {
        if of_first[edge.first].is_none() && of_second[edge.second].is_none() {
            of_first[edge.first] = Some(edge.second);
            of_second[edge.second] = Some(edge.first);
        }
    }
    let mut aligned = Alignment::default();
    let mut unpaired = Vec::new();
    for (place, partner) in of_first.iter().enumerate() {
        match partner {
            Some(partner) => aligned.pairs.push((place, *partner)),
            None if is_alone[place] => aligned.only_first.push(place),
            None => unpaired.push(place),
        }
    }
    for (place, partner) in of_second.iter().enumerate() {
        let node = first.len() + place;
        if partner.is_none() {
            if is_alone[node] { aligned.only_second.push(place) } else { unpaired.push(node) }
        }
    }
    let mut roots: Vec<usize> = unpaired.iter().map(|node| groups.root(*node)).collect();
    roots.sort_unstable();
    roots.dedup();
    let members = groups.members();
    aligned.ambiguous = roots
        .iter()
        .map(|root| {
            let (ours, theirs): (Vec<usize>, Vec<usize>) = members[*root].iter().partition(|node| **node < first.len());
            AmbiguousGroup { first: ours, second: theirs.iter().map(|node| node - first.len()).collect() }
        })
        .collect();
    aligned
}

/// Two records that may be the same.
struct Edge {
    first: usize,
    second: usize,
    overlap: u64,
    /// Between their beginnings.
    distance: u64,
}

/// All pairs that overlap enough, found by going through both lists in the order of the documents.
fn edges(first: &[QuoteSpan], second: &[QuoteSpan]) -> Vec<Edge> {
    let by_place = |list: &[QuoteSpan]| {
        let mut order: Vec<usize> = (0..list.len()).collect();
        order.sort_by(|a, b| (&list[*a].document, list[*a].start, a).cmp(&(&list[*b].document, list[*b].start, b)));
        order
    };
    let (firsts, seconds) = (by_place(first), by_place(second));
    let longest = second.iter().map(length).max().unwrap_or_default();
    let mut edges = Vec::new();
    let mut from = 0;
    for one in firsts {
        let span = &first[one];
        let is_before =
            |other: &QuoteSpan| (&other.document, other.start.saturating_add(longest)) < (&span.document, span.start);
        while from < seconds.len() && is_before(&second[seconds[from]]) {
            from += 1;
        }
        let reached = seconds[from..].iter().take_while(|place| {
            (&second[**place].document, second[**place].start) < (&span.document, span.end.max(span.start + 1))
        });
        edges.extend(reached.filter(|place| overlaps(span, &second[**place])).map(|place| Edge {
            first: one,
            second: *place,
            overlap: overlap(span, &second[*place]),
            distance: span.start.abs_diff(second[*place].start),
        }));
    }
    edges
}

/// Which records hang together by overlaps: disjoint sets.
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn new(size: usize) -> Self {
        Self { parents: (0..size).collect() }
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.parents[one.max(other)] = one.min(other);
    }

    /// By root.
    fn members(&mut self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.parents.len()];
        for node in 0..self.parents.len() {
            let root = self.root(node);
            members[root].push(node);
        }
        members
    }
}

/// The documents in parts of at most `most_tokens`, and of those a random draw of about `share` of all tokens, by `seed`; in
/// the order of the documents.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of tokens, of far fewer than 2^52"
)]
pub fn units(documents: &[DocumentEntry], most_tokens: u64, share: f64, seed: u64) -> Vec<ReadUnit> {
    let all: Vec<ReadUnit> = documents.iter().flat_map(|document| parts(document, most_tokens.max(1))).collect();
    if share >= 1.0 {
        return all;
    }
    let wanted = (all.iter().map(|unit| unit.tokens).sum::<u64>() as f64 * share).ceil() as u64;
    let mut order: Vec<usize> = (0..all.len()).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    let mut drawn = Vec::new();
    let mut tokens = 0;
    for place in order {
        if tokens >= wanted && !drawn.is_empty() {
            break;
        }
        tokens += all[place].tokens;
        drawn.push(place);
    }
    drawn.sort_unstable();
    drawn.into_iter().map(|place| all[place].clone()).collect()
}

/// One document in even parts.
fn parts(document: &DocumentEntry, most_tokens: u64) -> Vec<ReadUnit> {
    let units = document.units;
    let count = document.tokens.div_ceil(most_tokens).clamp(1, units.max(1));
    let at = |part: u64| units * part / count;
    (0..count)
        .filter(|part| at(*part) < at(part + 1))
        .map(|part| ReadUnit {
            document: document.name.clone(),
            from: at(part) + 1,
            to: at(part + 1),
            tokens: document.tokens * (at(part + 1) - at(part)) / units.max(1),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: u64, end: u64) -> QuoteSpan {
        QuoteSpan { document: "a".to_owned(), start, end }
    }

    #[test]
    fn equal_and_near_quotes_are_pairs_and_the_rest_is_named() {
        // Twice the same sentence, one that is longer in one list, one that only touches, and one in three parts.
        let first = [at(0, 10), at(0, 10), at(20, 40), at(50, 60), at(100, 130), at(200, 210)];
        let second = [at(0, 10), at(0, 10), at(25, 40), at(58, 80), at(100, 110), at(110, 120)];
        let aligned = align(&first, &second);
        let expected = Alignment {
            pairs: vec![(0, 0), (1, 1), (2, 2), (4, 4)],
            only_first: vec![3, 5],
            only_second: vec![3],
            ambiguous: vec![AmbiguousGroup { first: vec![4], second: vec![4, 5] }],
        };
        assert_eq!(aligned, expected);
        let mirrored = align(&second, &first);
        assert_eq!((mirrored.only_first, mirrored.only_second), (aligned.only_second, aligned.only_first));
    }

    #[test]
    fn every_record_is_somewhere_and_lists_of_a_book_are_quick() {
        let mut random = fastrand::Rng::with_seed(7);
        for size in [0, 1, 5, 40, 20_000] {
            let mut list = || -> Vec<QuoteSpan> {
                (0..size)
                    .map(|_| {
                        let start = random.u64(0..size as u64 * 60 + 1);
                        at(start, start + random.u64(1..120))
                    })
                    .collect()
            };
            let (first, second) = (list(), list());
            let aligned = align(&first, &second);
            let paired = aligned.pairs.len();
            let of_groups = |of: fn(&AmbiguousGroup) -> &Vec<usize>| -> Vec<usize> {
                aligned.ambiguous.iter().flat_map(|group| of(group).clone()).collect()
            };
            let left = |pairs: Vec<usize>, only: &[usize], groups: Vec<usize>| {
                let known: std::collections::BTreeSet<usize> =
                    pairs.into_iter().chain(only.iter().copied()).chain(groups).collect();
                size - known.len()
            };
            let firsts = aligned.pairs.iter().map(|pair| pair.0).collect();
            let seconds = aligned.pairs.iter().map(|pair| pair.1).collect();
            assert_eq!(left(firsts, &aligned.only_first, of_groups(|group| &group.first)), 0);
            assert_eq!(left(seconds, &aligned.only_second, of_groups(|group| &group.second)), 0);
            assert_eq!(align(&first, &first).pairs.len(), size);
            assert!(paired <= size);
        }
    }

    #[test]
    fn estimates() {
        let rounded = |estimate: RecordEstimate| {
            [estimate.records, estimate.low, estimate.high].map(|number| (number * 100.0).round() / 100.0)
        };
        assert_eq!(rounded(chapman(50, 52, 42)), [61.86, 60.0, 65.06]);
        assert_eq!(rounded(chapman(0, 0, 0)), [0.0, 0.0, 0.0]);
        assert_eq!(rounded(chapman(20, 20, 20)), [20.0, 20.0, 20.0]);
        assert_eq!(rounded(chapman(3, 4, 0)), [19.0, 7.0, 40.47]);
    }
}
