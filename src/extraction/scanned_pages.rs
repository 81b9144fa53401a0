//! Which pages of a document a model looks at, where one does.

use overnight_documents::{EmbeddedPicture, PaintedPlace, embedded_pictures, is_painted, is_pictures_only};
use std::collections::BTreeMap;

/// Scanned pages of one job that are read by eyes; those behind them stay as they are.
pub const MOST_SCANNED_PAGES: usize = 1_000;

/// What is looked at of each page of these ranges, both ends included, which are gaps, or have characters that were recognised.
/// Of a document whose pages can't be painted it is the largest picture of a page that has nothing else: `text` is the text
/// of its pages.
pub fn pages_for_eyes(
    format: &str,
    text: &str,
    ranges: impl Iterator<Item = (u64, u64)>,
) -> BTreeMap<u64, PaintedPlace> {
    let pages = ranges.flat_map(|(from, to)| from..=to.min(from + MOST_SCANNED_PAGES as u64));
    if is_painted(format) {
        return pages.map(|page| (page, PaintedPlace::Page(page))).collect();
    }
    let texts: Vec<&str> = text.split('\u{c}').collect();
    let largest = |page: u64| {
        let text = texts.get(usize::try_from(page.checked_sub(1)?).ok()?)?;
        let pixels = |picture: &EmbeddedPicture| u64::from(picture.width) * u64::from(picture.height);
        embedded_pictures(text).max_by_key(pixels).filter(|_| is_pictures_only(text))
    };
    pages.filter_map(|page| Some((page, PaintedPlace::Embedded(largest(page)?.name)))).collect()
}
