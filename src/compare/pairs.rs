//! Which documents of two runs, and which records of a document, are the same.

use super::{
    run_records::{RunDocument, RunRecord},
    same_value::{folded, key},
};
use overnight_core::job::second_reading::{QuoteSpan, align};
use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

/// The matching elements of two lists, by their indexes from 0.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs {
    /// In the order of the first list.
    pub(super) both: Vec<(usize, usize)>,
    pub(super) only_a: Vec<usize>,
    pub(super) only_b: Vec<usize>,
}

impl Pairs {
    /// Pairs documents with the same content, those with the same name first; then those with the same name but
    /// different content.
    pub(super) fn of_documents(a: &[RunDocument], b: &[RunDocument]) -> Self {
        let mut pairs = Self::none(a.len(), b.len());
        pairs.pair(a, b, |document| Some((document.is_document, &document.content, &document.name)));
        pairs.pair(a, b, |document| Some((document.is_document, &document.content)));
        pairs.pair(a, b, |document| Some((document.is_document, &document.name)));
        pairs.both.sort_unstable();
        pairs
    }

    /// Pairs the records of one list in one document: a single one on each side always matches; else those with quotes
    /// at the same place, if both documents have the same text; then those with the same quote; then equal records.
    pub(super) fn of_records(a: &[&RunRecord], b: &[&RunRecord], has_same_text: bool) -> Self {
        let mut pairs = Self::none(a.len(), b.len());
        if a.len() == 1 && b.len() == 1 {
            pairs.pair(a, b, |_| Some(()));
            return pairs;
        }
        if has_same_text {
            pairs.pair_by_place(a, b);
        }
        pairs.pair(a, b, |record| record.quote.as_deref().map(folded));
        pairs.pair(a, b, |record| Some(key(&record.record)));
        pairs.both.sort_unstable();
        pairs
    }

    fn none(a: usize, b: usize) -> Self {
        Self { both: Vec::new(), only_a: (0..a).collect(), only_b: (0..b).collect() }
    }

    /// Pairs the remaining elements with the same key, in their order.
    fn pair<'d, T, K: Hash + Eq>(&mut self, a: &'d [T], b: &'d [T], key: impl Fn(&'d T) -> Option<K>) {
        let mut by_key: HashMap<K, VecDeque<usize>> = HashMap::new();
        for &place in &self.only_b {
            if let Some(key) = key(&b[place]) {
                by_key.entry(key).or_default().push_back(place);
            }
        }
        let partner = |place: &usize| Some((*place, by_key.get_mut(&key(&a[*place])?)?.pop_front()?));
        let found = self.only_a.iter().filter_map(partner).collect();
        self.add(found);
    }

    /// Pairs records whose quotes overlap in most of their range.
    fn pair_by_place(&mut self, a: &[&RunRecord], b: &[&RunRecord]) {
        let spans = |records: &[&RunRecord]| -> (Vec<usize>, Vec<QuoteSpan>) {
            let span = |(place, record): (usize, &&RunRecord)| {
                let (start, end) = record.span.filter(|(start, end)| start < end)?;
                Some((place, QuoteSpan { document: String::new(), start, end }))
            };
            records.iter().enumerate().filter_map(span).unzip()
        };
        let ((of_a, spans_a), (of_b, spans_b)) = (spans(a), spans(b));
        let found = align(&spans_a, &spans_b).pairs;
        self.add(found.into_iter().map(|(a, b)| (of_a[a], of_b[b])).collect());
    }

    fn add(&mut self, found: Vec<(usize, usize)>) {
        let (taken_a, taken_b): (Vec<usize>, Vec<usize>) = {
            let (mut a, mut b): (Vec<usize>, Vec<usize>) = found.iter().copied().unzip();
            a.sort_unstable();
            b.sort_unstable();
            (a, b)
        };
        self.only_a.retain(|place| taken_a.binary_search(place).is_err());
        self.only_b.retain(|place| taken_b.binary_search(place).is_err());
        self.both.extend(found);
    }
}
