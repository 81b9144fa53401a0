//! The parts of each document that the model was really shown: ranges of pages or lines, counted once the model has
//! answered the prompt that contained them. A page shown in pieces counts when all its lines were shown. Parts from
//! which no text was extracted can't be shown, and are not required.

use super::{event::ShownPart, pages::PageRange, ranges::Ranges, spec::DocumentEntry};
use std::collections::BTreeMap;

/// The shown parts of one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct DocumentParts {
    /// The pages or lines that were shown.
    units: Ranges,
    /// Lines of the pages that were shown in part so far, by page.
    lines: BTreeMap<u64, Ranges>,
}

/// Parts shown, by document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    shown: BTreeMap<String, DocumentParts>,
}

impl Coverage {
    /// Adds a part; returns whether any of it was new.
    pub fn add(&mut self, part: &ShownPart) -> bool {
        self.shown.entry(part.document.clone()).or_default().add(part)
    }

    /// Pages or lines of `document` that have text and were shown.
    pub fn units(&self, document: &DocumentEntry) -> u64 {
        let shown = self.shown.get(&document.name).map_or(&[][..], |parts| parts.units.as_slice());
        let within = shown.iter().map(|&(from, to)| (from, to.min(document.units)));
        length(&without(within, &document.unreadable))
    }

    /// Share of `document` that was shown, 0 to 1; a document without text is covered.
    #[expect(clippy::cast_precision_loss, reason = "a share for people, of far fewer than 2^52 lines")]
    pub fn share(&self, document: &DocumentEntry) -> f64 {
        let readable = length(&without([(1, document.units)], &document.unreadable));
        if readable == 0 { 1.0 } else { self.units(document) as f64 / readable as f64 }
    }

    /// Share of all documents' text, weighted by their tokens.
    #[expect(clippy::cast_precision_loss, reason = "a share for people, of far fewer than 2^52 tokens")]
    pub fn total(&self, documents: &[DocumentEntry]) -> f64 {
        let tokens: u64 = documents.iter().map(|document| document.tokens).sum();
        if tokens == 0 {
            return 1.0;
        }
        documents.iter().map(|document| self.share(document) * document.tokens as f64).sum::<f64>() / tokens as f64
    }

    /// The parts of `document` that have text and were not shown yet, in order.
    pub fn gaps(&self, document: &DocumentEntry) -> Vec<(u64, u64)> {
        let missing = self.shown.get(&document.name).map(|parts| parts.units.missing(document.units));
        without(missing.unwrap_or_else(|| Ranges::default().missing(document.units)), &document.unreadable)
    }

    /// The parts of `document` that are missing for a coverage of `wanted`, as the refusal of `job_complete` names
    /// them: `contract.pdf pages 4-6`, `book.epub page 4 from line 141`.
    pub fn missing(&self, document: &DocumentEntry, wanted: f64) -> Option<String> {
        if self.share(document) >= wanted {
            return None;
        }
        let gaps = self.gaps(document);
        let unit = document.unit();
        let mut parts: Vec<String> = gaps
            .iter()
            .take(5)
            .map(|&(from, to)| match self.next_line(document, from) {
                Some(line) if from == to => format!("{unit} {from} from line {line}"),
                Some(line) => format!("{unit}s {from}-{to} (page {from} from line {line})"),
                None if from == to => format!("{unit} {from}"),
                None => format!("{unit}s {from}-{to}"),
            })
            .collect();
        if gaps.len() > parts.len() {
            parts.push(format!("and {} more parts", gaps.len() - parts.len()));
        }
        Some(format!("{} {}", document.name, parts.join(", ")))
    }

    /// The first line that was not shown of a page that was shown in part.
    fn next_line(&self, document: &DocumentEntry, page: u64) -> Option<u64> {
        let lines = self.shown.get(&document.name)?.lines.get(&page)?;
        lines.missing(u64::MAX).first().map(|&(from, _)| from)
    }
}

impl DocumentParts {
    fn add(&mut self, part: &ShownPart) -> bool {
        let Some(lines) = part.lines else {
            self.lines.retain(|page, _| !(part.from..=part.to).contains(page));
            return self.units.add(part.from, part.to);
        };
        let page = part.from;
        let after = part.to > page && self.units.add(page + 1, part.to);
        if self.units.has(page, page) {
            return after;
        }
        let of_page = self.lines.entry(page).or_default();
        let is_new = of_page.add(lines.from, lines.to);
        if of_page.has(1, lines.of) {
            self.lines.remove(&page);
            self.units.add(page, page);
        }
        is_new || after
    }
}

/// The rest of `ranges` without `holes`, both sorted and disjoint.
fn without(ranges: impl IntoIterator<Item = (u64, u64)>, holes: &[PageRange]) -> Vec<(u64, u64)> {
    let mut left = Vec::new();
    for (mut from, to) in ranges {
        let first = holes.partition_point(|hole| hole.to < from);
        for hole in holes[first..].iter().take_while(|hole| hole.from <= to) {
            if from < hole.from {
                left.push((from, hole.from - 1));
            }
            from = hole.to.saturating_add(1);
        }
        if from <= to {
            left.push((from, to));
        }
    }
    left
}

fn length(ranges: &[(u64, u64)]) -> u64 {
    ranges.iter().map(|&(from, to)| to - from + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::pages::PageLines;
    use proptest::prelude::*;

    fn document(units: u64) -> DocumentEntry {
        DocumentEntry {
            name: "a.md".to_owned(),
            sha256: String::new(),
            bytes: 0,
            dated: None,
            format: "markdown".to_owned(),
            paged: false,
            units,
            tokens: units,
            text_sha256: String::new(),
            reader: String::new(),
            gaps: Vec::new(),
            unreadable: Vec::new(),
            recognised: Vec::new(),
            notes: Vec::new(),
            scan_sha256: None,
        }
    }

    fn part(from: u64, to: u64) -> ShownPart {
        ShownPart { document: "a.md".to_owned(), from, to, lines: None }
    }

    #[test]
    fn gaps_are_named() {
        let mut coverage = Coverage::default();
        assert!(coverage.add(&part(1, 3)));
        assert!(coverage.add(&part(7, 9)));
        assert!(!coverage.add(&part(2, 3)));
        assert_eq!(coverage.missing(&document(10), 1.0).as_deref(), Some("a.md lines 4-6, line 10"));
        assert!(coverage.add(&part(4, 6)));
        assert_eq!(coverage.missing(&document(9), 1.0), None);
        assert_eq!(coverage.missing(&document(10), 0.9), None);
    }

    #[test]
    fn a_page_in_parts_counts_when_all_of_it_was_shown() {
        let mut coverage = Coverage::default();
        let document = DocumentEntry { paged: true, ..document(3) };
        let lines =
            |page, to_page, from, to| ShownPart { lines: Some(PageLines { from, to, of: 9 }), ..part(page, to_page) };
        assert!(coverage.add(&part(1, 1)));
        assert!(coverage.add(&lines(2, 2, 1, 4)));
        assert!(!coverage.add(&lines(2, 2, 2, 3)));
        assert_eq!(coverage.units(&document), 1);
        assert_eq!(coverage.missing(&document, 1.0).as_deref(), Some("a.md pages 2-3 (page 2 from line 5)"));
        assert!(coverage.add(&part(3, 3)));
        assert_eq!(coverage.missing(&document, 1.0).as_deref(), Some("a.md page 2 from line 5"));
        assert!(coverage.add(&lines(2, 3, 5, 9)));
        assert_eq!(coverage.missing(&document, 1.0), None);
        assert!(!coverage.add(&lines(2, 3, 5, 9)));
        let whole = {
            let mut whole = Coverage::default();
            whole.add(&part(1, 3));
            whole
        };
        assert_eq!(coverage, whole);
    }

    #[test]
    fn what_has_no_text_is_not_asked_for() {
        let mut coverage = Coverage::default();
        let scan = |ranges: &[(u64, u64)]| DocumentEntry {
            paged: true,
            unreadable: ranges.iter().map(|&(from, to)| PageRange { from, to }).collect(),
            ..document(10)
        };
        let half = scan(&[(3, 4), (8, 10)]);
        assert_eq!(coverage.missing(&half, 1.0).as_deref(), Some("a.md pages 1-2, pages 5-7"));
        assert!(coverage.add(&part(1, 5)));
        assert!((coverage.share(&half) - 0.6).abs() < f64::EPSILON, "{}", coverage.share(&half));
        assert!(coverage.add(&part(6, 7)));
        assert_eq!(coverage.missing(&half, 1.0), None);
        assert!((Coverage::default().share(&scan(&[(1, 10)])) - 1.0).abs() < f64::EPSILON);
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_units(
            parts in proptest::collection::vec((1_u64..40, 0_u64..10), 0..20),
            empty in proptest::collection::btree_set(1_u64..40, 0..10),
        ) {
            let mut coverage = Coverage::default();
            let mut units = std::collections::BTreeSet::new();
            for (from, length) in parts {
                let to = (from + length).min(40);
                let new = (from..=to).filter(|unit| units.insert(*unit)).count() > 0;
                prop_assert_eq!(coverage.add(&part(from, to)), new);
            }
            let unreadable = empty.iter().map(|&page| PageRange { from: page, to: page }).collect();
            let document = DocumentEntry { unreadable, ..document(40) };
            prop_assert_eq!(coverage.units(&document), units.difference(&empty).count() as u64);
            let missing: Vec<u64> = coverage.gaps(&document).into_iter().flat_map(|(from, to)| from..=to).collect();
            let is_missing = |unit: &u64| !units.contains(unit) && !empty.contains(unit);
            prop_assert_eq!(missing, (1..=40).filter(is_missing).collect::<Vec<u64>>());
        }
    }
}
