//! Which pages of a document a model looks at, where one does: those without usable text, or all that can be painted.

use overnight_core::{job::digest::sha256, prompt::compose::TRANSCRIBE};
use overnight_documents::{EmbeddedPicture, PaintedPlace, embedded_pictures, is_painted, is_pictures_only};
use std::collections::BTreeMap;

/// The most scanned pages of one job that a model reads; later ones stay as they are.
pub const MOST_SCANNED_PAGES: usize = 1_000;

/// The part of a page to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageForEyes {
    pub place: PaintedPlace,
    /// It has a text of its own.
    pub has_text: bool,
}

/// The pages to look at: those of the ranges `unread`, both ends included, which are gaps or have recognised
/// characters; and with `all`, the `count` pages of a document that can be rendered. If its pages can't be rendered, it
/// is the largest picture of each page that has nothing else: `text` is the text of its pages.
pub fn pages_for_eyes(
    (format, text, count): (&str, &str, u64),
    unread: impl Iterator<Item = (u64, u64)>,
    all: bool,
) -> BTreeMap<u64, PageForEyes> {
    let unread = unread.flat_map(|(from, to)| from..=to.min(from + MOST_SCANNED_PAGES as u64));
    if is_painted(format) {
        let page = |page, has_text| (page, PageForEyes { place: PaintedPlace::Page(page), has_text });
        let read = (1..=count.min(MOST_SCANNED_PAGES as u64)).filter(|_| all).map(|number| page(number, true));
        return read.chain(unread.map(|number| page(number, false))).collect();
    }
    let texts: Vec<&str> = text.split('\u{c}').collect();
    let largest = |page: u64| {
        let text = texts.get(usize::try_from(page.checked_sub(1)?).ok()?)?;
        let pixels = |picture: &EmbeddedPicture| u64::from(picture.width) * u64::from(picture.height);
        embedded_pictures(text).max_by_key(pixels).filter(|_| is_pictures_only(text))
    };
    let embedded = |name| PageForEyes { place: PaintedPlace::Embedded(name), has_text: false };
    unread.filter_map(|page| Some((page, embedded(largest(page)?.name)))).collect()
}

/// The cache key of a picture's transcription: made of the model, the picture's hash, and the prompt.
pub fn transcription_key(model: &str, image: &str) -> String {
    sha256(format!("transcription\n{model}\n{image}\n{}", sha256(TRANSCRIBE.as_bytes())).as_bytes())
}

/// The cache key of the number of pages of a document, by its hash, that have a stored transcription.
pub fn transcribed_pages_key(model: &str, document: &str) -> String {
    transcription_key(model, &format!("pages of {document}"))
}
