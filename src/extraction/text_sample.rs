//! Whether the text of a PDF is what its pages show, told from a few lines of one page: what is recognised in their picture stands
//! in a text that does not lie. A font may give other letters than it paints, and a scan may have another page's text behind it.

use overnight_documents::{compare, is_gibberish};

/// Words of a page that is taken as the sample, at least, and of its lines.
const LEAST_WORDS: usize = 40;
const LEAST_SEEN: usize = 12;
/// Of 100 words that are seen, those that the text has, at least. Measured on the 63 PDFs of two public test suites that a sample
/// can be taken of: 54 have 74 and more; against the text of another one it is 45 at most, and 3 in the middle.
const LEAST_SHARE: usize = 55;
/// Of 100 letters, those that are Latin ones, at least: programs that recognise characters know few others.
const LEAST_LATIN: usize = 90;

/// The page with the most words, from 1, and its text; none where that is too few to tell, or of other letters.
pub(super) fn sampled(text: &str) -> Option<(u64, &str)> {
    let pages = (1..).zip(text.split('\u{c}'));
    let (words, page, text) =
        pages.map(|(page, text)| (text.split_whitespace().count(), page, text)).max_by_key(|(words, ..)| *words)?;
    let letters = text.chars().filter(|letter| letter.is_alphabetic());
    let (latin, all) = letters.fold((0, 0), |(latin, all), letter| (latin + usize::from(letter < '\u{250}'), all + 1));
    (words >= LEAST_WORDS && latin * 100 >= all * LEAST_LATIN).then_some((page, text))
}

/// Whether `seen`, recognised in a picture of a page's lines, is something else than the `text` of that page.
pub(super) fn is_other(text: &str, seen: &str) -> bool {
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
