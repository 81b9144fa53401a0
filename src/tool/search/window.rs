//! The hits from an offset on. All hits have one order: by group, and in a group by their places. The hits shown are a
//! window of that order.

use super::{
    hit::{Hit, TextHits},
    run::MOST_HITS,
};
use std::{collections::BTreeMap, ops::Range};

/// The hits of one kind in one text, of which there are `total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupInText<K> {
    pub(super) text: usize,
    pub(super) kind: K,
    pub(super) total: u64,
}

/// A hit with the number of its text, and its own number in its group, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownHit<K> {
    pub(super) text: usize,
    pub(super) kind: K,
    pub(super) number: u64,
    pub(super) hit: Hit,
}

/// All groups, in no order.
pub(super) fn groups<K: Copy>(found: &[TextHits<K>]) -> Vec<GroupInText<K>> {
    let of = |(text, hits): (usize, &TextHits<K>)| {
        hits.iter().map(|(kind, group)| GroupInText { text, kind: *kind, total: group.total }).collect::<Vec<_>>()
    };
    found.iter().enumerate().flat_map(of).collect()
}

/// The hits of each group that lie in the window which begins after `offset` hits.
pub(super) fn window<K: Copy>(groups: &[GroupInText<K>], offset: u64) -> Vec<(GroupInText<K>, Range<u64>)> {
    let end = offset.saturating_add(MOST_HITS);
    let mut before = 0;
    let mut window = Vec::new();
    for group in groups {
        let inside = |place: u64| place.saturating_sub(before).min(group.total);
        let range = inside(offset)..inside(end);
        if !range.is_empty() {
            window.push((*group, range));
        }
        before += group.total;
    }
    window
}

/// The part of each text that lies in the window.
pub(super) fn by_text<K: Copy + Ord>(
    window: &[(GroupInText<K>, Range<u64>)],
) -> BTreeMap<usize, BTreeMap<K, Range<u64>>> {
    let mut texts: BTreeMap<usize, BTreeMap<K, Range<u64>>> = BTreeMap::new();
    for (group, range) in window {
        texts.entry(group.text).or_default().insert(group.kind, range.clone());
    }
    texts
}

/// The hits of the window, in their order. Those must have been kept.
pub(super) fn hits<K: Copy + Ord>(
    window: &[(GroupInText<K>, Range<u64>)],
    found: &BTreeMap<usize, TextHits<K>>,
) -> Vec<ShownHit<K>> {
    let mut shown = Vec::new();
    for (GroupInText { text, kind, .. }, range) in window {
        let Some(kept) = found.get(text).and_then(|hits| hits.get(kind)) else { continue };
        let numbered = (kept.first..).zip(&kept.hits).filter(|(number, _)| range.contains(number));
        shown.extend(numbered.map(|(number, hit)| ShownHit { text: *text, kind: *kind, number, hit: hit.clone() }));
    }
    shown
}
