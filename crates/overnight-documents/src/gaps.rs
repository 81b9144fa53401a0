//! Parts of a document without text: which pages, and why.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Pages (or lines, where a document has no pages) from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageSpan {
    /// The first page.
    pub from: u64,
    /// The last page.
    pub to: u64,
}

impl PageSpan {
    /// Adds a page to `ranges`, which are sorted; a page after the last range extends it.
    pub fn push(ranges: &mut Vec<Self>, page: u64) {
        match ranges.last_mut() {
            Some(last) if last.to + 1 == page => last.to = page,
            Some(_) | None => ranges.push(Self { from: page, to: page }),
        }
    }

    /// The pages without text in `gaps`, sorted, for a document of `pages` pages.
    pub fn without_text(gaps: &[Gap], pages: u64, has_text: impl Fn(u64) -> bool) -> Vec<Self> {
        let within = |gap: &Gap| gap.pages.map(|range| range.from..=range.to.min(pages));
        let mut empty: Vec<u64> = gaps.iter().filter_map(within).flatten().filter(|&page| !has_text(page)).collect();
        empty.sort_unstable();
        empty.dedup();
        let mut ranges = Vec::new();
        for page in empty {
            Self::push(&mut ranges, page);
        }
        ranges
    }
}

/// `page 3`, `pages 3-7`.
impl fmt::Display for PageSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        if from == to { write!(f, "page {from}") } else { write!(f, "pages {from}-{to}") }
    }
}

/// A part of a document whose text couldn't be extracted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// The pages; none if their place in the document isn't known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageSpan>,
    /// A fragment: `no text on it, probably a scan`.
    pub why: String,
}

/// The reason for a page whose text is in no language.
pub(crate) const GIBBERISH: &str = "its text has hardly a word of any language: its fonts give wrong letters";
/// The reason for a scanned page that has a line of letters at its edge. It has text, but should be recognised anyway.
pub const SCAN_BEHIND_TEXT: &str = "nearly all of it is an image, probably a scan";

/// The reason for a page of a text or a slide with nothing but pictures.
pub(crate) const ONLY_IMAGE: &str = "nothing but an image on it";

/// Advice about gaps, written behind a colon.
pub const AGAINST_GAPS: &str =
    "save it again in its own program, give its text, or for scans use a model that takes images, or install tesseract";

impl Gap {
    /// Adds a page to `gaps`, which are sorted; a page after the last gap with the same reason extends it.
    pub fn push(gaps: &mut Vec<Self>, page: u64, why: &str) {
        match gaps.last_mut() {
            Some(Self { pages: Some(pages), why: last }) if pages.to + 1 == page && last == why => pages.to = page,
            Some(_) | None => {
                gaps.push(Self { pages: Some(PageSpan { from: page, to: page }), why: why.to_owned() });
            }
        }
    }
}

/// `pages 3-7: no text on them, probably a scan`.
impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pages {
            Some(pages) => write!(f, "{pages}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_with_one_reason_are_one_gap() {
        let mut gaps = Vec::new();
        for (page, why) in [(1, "a scan"), (2, "a scan"), (3, "damaged"), (5, "damaged")] {
            Gap::push(&mut gaps, page, why);
        }
        let told: Vec<String> = gaps.iter().map(Gap::to_string).collect();
        assert_eq!(told, ["pages 1-2: a scan", "page 3: damaged", "page 5: damaged"]);
    }

    #[test]
    fn a_gap_on_a_page_with_text_leaves_something_to_show() {
        let gap = |from, to| Gap { pages: Some(PageSpan { from, to }), why: "a scan".to_owned() };
        let gaps = [gap(2, 4), gap(3, 3), Gap { pages: None, why: "cut off".to_owned() }, gap(6, u64::MAX)];
        let ranges = PageSpan::without_text(&gaps, 7, |page| page == 4);
        let expected = [(2, 3), (6, 7)].map(|(from, to)| PageSpan { from, to });
        assert_eq!(ranges, expected);
    }
}
