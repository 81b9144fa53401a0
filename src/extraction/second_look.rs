//! Checks with a few lines of one page whether the text of a PDF is what its pages show: the words recognised in their
//! picture must be in the text. A font may name other letters than it paints, a scan may have another page's text.

use super::{extractor::Extractor, helper_programs::recognise, use_mode::UseMode};
use crate::table_query::DocumentReader;
use overnight_documents::{Extracted, Format, PaintedPlace, PictureOptions, RecognisedPage, compare, is_gibberish};

/// Words of a page that is taken as the sample, at least, and of its lines.
const LEAST_WORDS: usize = 40;
const LEAST_SEEN: usize = 12;
/// The fewest of 100 seen words that the text must have. Measured on the 63 PDFs of two public test suites that have a
/// sample: 54 have 74 and more; against the text of another PDF it is 45 at most, and 3 in the middle.
const LEAST_SHARE: usize = 55;
/// The fewest Latin letters of 100: programs that recognise characters know few others.
const LEAST_LATIN: usize = 90;

impl Extractor {
    /// Whether a model looks at all pages of a document: if configured, or if the recognised words in a few lines of a
    /// PDF's picture differ from its text.
    pub fn looks_at_all(&self, format: &str, bytes: &[u8], text: &str) -> bool {
        match self.vision() {
            UseMode::Always => true,
            UseMode::Auto if format == Format::Pdf.as_str() => self.is_other_text(bytes, text).unwrap_or_default(),
            UseMode::Auto | UseMode::Never => false,
        }
    }

    /// The words recognised in the picture of a page, for a page with a text of unknown origin; none if that fails.
    pub fn recognised_words(&self, bytes: &[u8], page: u64) -> Option<RecognisedPage> {
        let key = self.key(&format!("words of page {page}"), bytes);
        let kept = self.cache.as_ref().and_then(|cache| cache.get(&key));
        let words = kept.and_then(|kept| kept.words.into_iter().next());
        words.or_else(|| {
            let place = PaintedPlace::Page(page);
            let (_, png) = self.page_picture(bytes, &place, &[], PictureOptions::FOR_RECOGNITION).ok()?;
            let found = RecognisedPage { page, words: recognise(&self.tools, &png)?.words };
            self.keep(&key, String::new(), vec![found.clone()]);
            Some(found)
        })
    }

    /// Stores data other than a document's text, best effort.
    pub(super) fn keep(&self, key: &str, text: String, words: Vec<RecognisedPage>) {
        if let Some(cache) = &self.cache {
            let nothing = Extracted { format: Format::Image, gaps: Vec::new(), ..Extracted::unread(String::new()) };
            cache.put(key, &Extracted { text, words, ..nothing });
        }
    }

    fn is_other_text(&self, bytes: &[u8], text: &str) -> Option<bool> {
        self.tools.installed().tesseract.as_ref()?;
        let (page, text) = sampled(text)?;
        let key = self.key("sample", bytes);
        let seen = self.kept_text(&key).or_else(|| {
            let place = PaintedPlace::Page(page);
            let (_, png) = self.page_picture(bytes, &place, &[], PictureOptions::FOR_SAMPLE).ok()?;
            let seen = recognise(&self.tools, &png)?.text;
            self.keep_text(&key, &seen);
            Some(seen)
        })?;
        Some(is_other(text, &seen))
    }
}

/// The page with the most words, from 1, and its text; none if the words are too few, or have other letters.
fn sampled(text: &str) -> Option<(u64, &str)> {
    let pages = (1..).zip(text.split('\u{c}'));
    let (words, page, text) =
        pages.map(|(page, text)| (text.split_whitespace().count(), page, text)).max_by_key(|(words, ..)| *words)?;
    let letters = text.chars().filter(|letter| letter.is_alphabetic());
    let (latin, all) = letters.fold((0, 0), |(latin, all), letter| (latin + usize::from(letter < '\u{250}'), all + 1));
    (words >= LEAST_WORDS && latin * 100 >= all * LEAST_LATIN).then_some((page, text))
}

/// Whether `seen`, recognised in a picture of a page's lines, is something else than the `text` of that page.
fn is_other(text: &str, seen: &str) -> bool {
    let of_text: Vec<&str> = text.split_whitespace().collect();
    let (words, _) = compare(seen, &of_text);
    let agreed = words.iter().filter(|word| !word.others.is_empty()).count();
    words.len() >= LEAST_SEEN && !is_gibberish(seen) && agreed * 100 < words.len() * LEAST_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_lines_tell_whether_a_text_is_that_of_its_page() {
        let page = "The tenant pays a rent of EUR 9,000 a month on the third working day, and the landlord keeps the roof, the \
                    windows and the walls in repair. Notice is six months to the end of a quarter, in writing, and is \
                    sent to the address that the other party has named last.";
        let text = format!("short\u{c}{page}");
        assert_eq!(sampled(&text), Some((2, page)));
        assert_eq!((sampled("short"), sampled(&"Ο μισθωτής πληρώνει. ".repeat(40))), (None, None));
        let seen = "on the third working day, and the landlord keeps the r00f, the windows and the wa11s in repair.";
        assert!(!is_other(page, seen), "slips of a reader");
        let other = "The parties met on the first floor and agreed that all the keys were lost by a former guest.";
        assert!(is_other(page, other));
        assert!(!is_other(page, "too few words"));
    }
}
