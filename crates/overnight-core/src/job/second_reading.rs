//! Compares two readers of the same documents: which records are the same by the places of their quotes, an estimate of
//! all records from those that both found, and which parts of the documents are read twice.

use super::{read_unit::ReadUnit, spec::DocumentEntry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

/// The place of a record's quote: a half-open range of bytes of its document's text, with at least one byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuoteSpan {
    /// The document's name.
    pub document: String,
    /// The byte at which its first character begins.
    pub start: u64,
    /// The byte after its last character.
    pub end: u64,
}

/// Whether two quotes share at least half of the shorter one.
pub fn overlaps(one: &QuoteSpan, other: &QuoteSpan) -> bool {
    fn place(span: &QuoteSpan) -> SharedSpan<'_> {
        SharedSpan { document: &span.document, start: span.start, end: span.end, records: Default::default() }
    }
    place(one).is_like(&place(other))
}

/// The matching records of two lists, by the places of their quotes. Numbers are places in the lists, from 0.
///
/// Every record is in one pair, or in one of the `only` lists, or left over in an ambiguous group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// A record of the first list and the same of the second, sorted.
    pub pairs: Vec<(usize, usize)>,
    /// Records of the first list where the second has nothing like them, sorted.
    pub only_first: Vec<usize>,
    /// Records of the second list where the first has nothing like them, sorted.
    pub only_second: Vec<usize>,
    /// Parts of documents with records in both lists, but without a partner for each; by document and place.
    pub ambiguous: Vec<AmbiguousGroup>,
}

/// All records of one part of a document, sorted. Those in no pair are left over: both readers have seen that part, so
/// they are neither missed nor certainly found by both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmbiguousGroup {
    /// Records of the first list, including those in pairs.
    pub first: Vec<usize>,
    /// Records of the second list, including those in pairs.
    pub second: Vec<usize>,
}

/// Matches the records of `first` with those of `second`.
///
/// Two records are candidates if their quotes share at least half of the shorter one. Records that candidates connect,
/// directly or not, are a group. In a group, pairs that share most of the text that either quotes come first, and of
/// equals the earlier ones. If a group has equally many records of both lists, and pairing them in order gives only
/// candidates that share no less text in all, that pairing is taken. Records without a partner are left over.
///
/// Swapping the lists swaps the sides of the result, and changes nothing else.
///
/// ```
/// use overnight_core::job::second_reading::{QuoteSpan, align};
///
/// let span = |start, end| QuoteSpan { document: "contract.md".to_owned(), start, end };
/// let found = align(&[span(0, 40), span(90, 120)], &[span(5, 40), span(200, 230)]);
/// assert_eq!((found.pairs, found.only_first, found.only_second), (vec![(0, 0)], vec![1], vec![1]));
/// ```
pub fn align(first: &[QuoteSpan], second: &[QuoteSpan]) -> Alignment {
    let places = places(first, second);
    let mut left: Vec<_> = places.iter().map(|place| place.records.each_ref().map(Vec::as_slice)).collect();
    let mut alignment = Alignment::default();
    for group in groups(&places) {
        let [of_first, of_second] = [0, 1].map(|reader| group.records(&places, reader));
        let numbers = |records: &[(usize, usize)]| {
            let mut numbers: Vec<usize> = records.iter().map(|&(number, _)| number).collect();
            numbers.sort_unstable();
            numbers
        };
        if of_first.is_empty() || of_second.is_empty() {
            alignment.only_first.extend(numbers(&of_first));
            alignment.only_second.extend(numbers(&of_second));
            continue;
        }
        let nearest = nearest(&group.candidates, &mut left);
        let pairs = match in_order(&places, &of_first, &of_second) {
            Some(in_order) if nearest.len() < in_order.len() || shared(&nearest) <= shared(&in_order) => in_order,
            Some(_) | None => nearest,
        };
        if pairs.len() < of_first.len().max(of_second.len()) {
            alignment.ambiguous.push(AmbiguousGroup { first: numbers(&of_first), second: numbers(&of_second) });
        }
        alignment.pairs.extend(pairs.iter().map(|pair| (pair.first, pair.second)));
    }
    alignment.pairs.sort_unstable();
    alignment.only_first.sort_unstable();
    alignment.only_second.sort_unstable();
    alignment
}

/// A span, and the records of both lists whose quotes are exactly there.
#[derive(Debug)]
struct SharedSpan<'s> {
    document: &'s str,
    start: u64,
    end: u64,
    records: [Vec<usize>; 2],
}

impl SharedSpan<'_> {
    /// Bytes that both have.
    fn shared(&self, other: &Self) -> u64 {
        if self.document != other.document {
            return 0;
        }
        self.end.min(other.end).saturating_sub(self.start.max(other.start))
    }

    fn is_like(&self, other: &Self) -> bool {
        let shorter = (self.end - self.start).min(other.end - other.start);
        self.shared(other) >= shorter.div_ceil(2).max(1)
    }

    /// Whether one list has records here, and the other has some there.
    fn has_other_reader(&self, other: &Self) -> bool {
        let has = |place: &Self, reader: usize| !place.records[reader].is_empty();
        (has(self, 0) && has(other, 1)) || (has(self, 1) && has(other, 0))
    }
}

/// The spans of both lists, by document, start and end.
fn places<'s>(first: &'s [QuoteSpan], second: &'s [QuoteSpan]) -> Vec<SharedSpan<'s>> {
    let mut places: BTreeMap<(&str, u64, u64), [Vec<usize>; 2]> = BTreeMap::new();
    for (reader, spans) in [first, second].into_iter().enumerate() {
        for (number, span) in spans.iter().enumerate() {
            places.entry((&span.document, span.start, span.end)).or_default()[reader].push(number);
        }
    }
    let whole = |((document, start, end), records)| SharedSpan { document, start, end, records };
    places.into_iter().map(whole).collect()
}

/// Two places, by number, whose records may be the same; or one that both lists have.
#[derive(Clone, Copy, Debug)]
struct CandidatePlaces {
    earlier: usize,
    later: usize,
    /// Bytes that both have.
    shared: u64,
    /// Bytes that at least one has.
    either: u64,
}

impl CandidatePlaces {
    /// Orders candidates with the largest shared part first.
    fn order(&self, other: &Self) -> Ordering {
        let share = |this: &Self, that: &Self| u128::from(this.shared) * u128::from(that.either);
        share(other, self).cmp(&share(self, other)).then((self.earlier, self.later).cmp(&(other.earlier, other.later)))
    }
}

fn candidates(places: &[SharedSpan<'_>]) -> Vec<CandidatePlaces> {
    let mut found = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (later, place) in places.iter().enumerate() {
        open.retain(|&before| places[before].document == place.document && places[before].end > place.start);
        open.push(later);
        for &earlier in &open {
            let other = &places[earlier];
            if place.is_like(other) && place.has_other_reader(other) {
                let shared = place.shared(other);
                let either = (place.end - place.start) + (other.end - other.start) - shared;
                found.push(CandidatePlaces { earlier, later, shared, either });
            }
        }
    }
    found
}

/// Places that are connected by candidates, and these candidates.
#[derive(Debug, Default)]
struct JoinedPlaces {
    places: Vec<usize>,
    /// The candidates, with the largest shared part first.
    candidates: Vec<CandidatePlaces>,
}

impl JoinedPlaces {
    /// The records of one reader, each with the number of its place, by place and then by number.
    fn records(&self, places: &[SharedSpan<'_>], reader: usize) -> Vec<(usize, usize)> {
        let of_place = |&place: &usize| places[place].records[reader].iter().map(move |&record| (record, place));
        self.places.iter().flat_map(of_place).collect()
    }
}

/// The groups of connected places; every place is in one of them.
fn groups(places: &[SharedSpan<'_>]) -> Vec<JoinedPlaces> {
    let mut candidates = candidates(places);
    candidates.sort_unstable_by(CandidatePlaces::order);
    let mut parents: Vec<usize> = (0..places.len()).collect();
    for candidate in &candidates {
        let roots = [candidate.earlier, candidate.later].map(|place| root(&mut parents, place));
        parents[roots[0].max(roots[1])] = roots[0].min(roots[1]);
    }
    let mut groups: BTreeMap<usize, JoinedPlaces> = BTreeMap::new();
    for place in 0..places.len() {
        groups.entry(root(&mut parents, place)).or_default().places.push(place);
    }
    for candidate in candidates {
        groups.entry(root(&mut parents, candidate.earlier)).or_default().candidates.push(candidate);
    }
    groups.into_values().collect()
}

/// The first of the places that are joined with `place` so far.
fn root(parents: &mut [usize], mut place: usize) -> usize {
    while parents[place] != place {
        parents[place] = parents[parents[place]];
        place = parents[place];
    }
    place
}

/// A record of each list, by number, and the bytes that both quote.
#[derive(Clone, Copy, Debug)]
struct RecordPair {
    first: usize,
    second: usize,
    shared: u64,
}

fn shared(pairs: &[RecordPair]) -> u64 {
    pairs.iter().map(|pair| pair.shared).sum()
}

/// Pairs the records that are `left` at each place, one candidate after the other.
fn nearest(candidates: &[CandidatePlaces], left: &mut [[&[usize]; 2]]) -> Vec<RecordPair> {
    let mut pairs = Vec::new();
    for &CandidatePlaces { earlier, later, shared, .. } in candidates {
        for (of_first, of_second) in [(earlier, later), (later, earlier)] {
            let (first, second) = (left[of_first][0], left[of_second][1]);
            let taken = first.len().min(second.len());
            pairs.extend(first.iter().zip(second).map(|(&first, &second)| RecordPair { first, second, shared }));
            left[of_first][0] = &first[taken..];
            left[of_second][1] = &second[taken..];
        }
    }
    pairs
}

/// Pairs the records in order, with their places; `None` unless every pair is a candidate.
fn in_order(places: &[SharedSpan<'_>], first: &[(usize, usize)], second: &[(usize, usize)]) -> Option<Vec<RecordPair>> {
    let pair = |(&(first, here), &(second, there)): (&(usize, usize), &(usize, usize))| {
        let (here, there) = (&places[here], &places[there]);
        here.is_like(there).then(|| RecordPair { first, second, shared: here.shared(there) })
    };
    if first.len() == second.len() { first.iter().zip(second).map(pair).collect() } else { None }
}

/// An estimate of the number of all records, with its interval of 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordEstimate {
    /// The most likely number.
    pub records: f64,
    /// The lower bound; never fewer than were seen.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// Chapman's estimate of all records, if one reader finds `first`, another `second`, and `both` the same: for `n1`,
/// `n2`, `m` it is (n1 + 1)(n2 + 1)/(m + 1) − 1, unlike n1 n2/m defined and hardly biased for small m (D. G. Chapman,
/// "Some properties of the hypergeometric distribution with applications to zoological sample censuses", 1951).
///
/// Its variance is (n1 + 1)(n2 + 1)(n1 − m)(n2 − m)/((m + 1)²(m + 2)) (G. A. F. Seber, "The effects of trap response on
/// tag recapture estimates", 1970; "The Estimation of Animal Abundance", 2nd edition, 1982, section 3.1), the interval
/// 1.96 standard deviations to either side. It assumes independent readers, and records equally easy to find: it can't
/// count what both miss for one reason. If one reader found nothing that the other did not, the interval has no width.
///
/// ```
/// use overnight_core::job::second_reading::chapman;
///
/// let all = chapman(50, 52, 42);
/// assert_eq!(format!("{:.2}, {:.0} to {:.2}", all.records, all.low, all.high), "61.86, 60 to 65.06");
/// ```
#[expect(clippy::cast_precision_loss, reason = "an estimate, of far fewer than 2^52 records")]
pub fn chapman(first: u64, second: u64, both: u64) -> RecordEstimate {
    let both = both.min(first).min(second) as f64;
    let (first, second) = (first as f64, second as f64);
    let seen = first + second - both;
    let product = (first + 1.0) * (second + 1.0);
    let records = (product / (both + 1.0) - 1.0).max(seen);
    let variance = product * (first - both) * (second - both) / ((both + 1.0).powi(2) * (both + 2.0));
    let margin = 1.96 * variance.sqrt();
    RecordEstimate { records, low: (records - margin).max(seen), high: records + margin }
}

/// The units of `documents` that are read twice, in order: all for a `share` of 1 or more, else units drawn at random
/// with `seed` until they have that share of all tokens, and at least one.
///
/// A document of more than `most_tokens` is divided into units of nearly equally many whole pages or lines, each of at
/// most `most_tokens` unless a single page or line has more.
///
/// The same documents, numbers and seed give the same units; but another version of the random generator may draw
/// others, so the drawn units are stored as a fact.
#[expect(clippy::cast_precision_loss, reason = "a share of far fewer than 2^52 tokens")]
pub fn units(documents: &[DocumentEntry], most_tokens: u64, share: f64, seed: u64) -> Vec<ReadUnit> {
    let with_text = documents.iter().filter(|document| document.units > 0 && document.tokens > 0);
    let all: Vec<ReadUnit> = with_text.flat_map(|document| units_of(document, most_tokens)).collect();
    if share >= 1.0 {
        return all;
    }
    let wanted = share * all.iter().map(|unit| unit.tokens).sum::<u64>() as f64;
    let mut order: Vec<usize> = (0..all.len()).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    let (mut drawn, mut tokens) = (BTreeSet::new(), 0);
    for number in order {
        if !drawn.is_empty() && tokens as f64 >= wanted {
            break;
        }
        drawn.insert(number);
        tokens += all[number].tokens;
    }
    let is_drawn = |(number, unit)| drawn.contains(&number).then_some(unit);
    all.into_iter().enumerate().filter_map(is_drawn).collect()
}

fn units_of(document: &DocumentEntry, most_tokens: u64) -> impl Iterator<Item = ReadUnit> {
    let DocumentEntry { name, units, tokens, .. } = document;
    let parts = if *tokens > most_tokens { units.div_ceil((most_tokens * units / tokens).max(1)) } else { 1 };
    (0..parts).map(move |part| {
        let [before, to] = [part, part + 1].map(|part| part * units / parts);
        let tokens = to * tokens / units - before * tokens / units;
        ReadUnit { document: name.clone(), from: before + 1, to, tokens }
    })
}

#[cfg(test)]
mod tests;
