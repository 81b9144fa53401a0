//! Compares a page's own text with what a model sees on it. A text that differs from the page is wrong: a font's
//! letters may have been exchanged. Additional words that the model sees are in pictures: letterheads, stamps.

use overnight_documents::{ComparedWord, compare};

/// The fewest words that are added to a text: fewer are a reader's slips.
const LEAST_ADDED: usize = 2;

/// The result of the comparison.
#[derive(Debug, PartialEq)]
pub(super) struct SeenText {
    /// The share on which both agree, 0 to 1.
    pub(super) share: f64,
    /// The number of words seen, and of those that the text has.
    pub(super) words: u64,
    pub(super) agreed: u64,
    /// The text, followed by the words that were only seen.
    pub(super) text: String,
    /// The seen words without those: the other reading of the text's own words.
    pub(super) other: String,
}

impl SeenText {
    pub(super) fn new(own: &str, seen: &str) -> Self {
        let of_own: Vec<&str> = own.split_whitespace().collect();
        let (words, share) = compare(seen, &of_own);
        let agreed = words.iter().filter(|word| !word.others.is_empty()).count() as u64;
        let (mut added, mut other, mut from) = (String::new(), String::new(), 0);
        for run in words.chunk_by(|one, next| one.others.is_empty() == next.others.is_empty()) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let is_added = first.others.is_empty() && run.len() >= LEAST_ADDED && is_beside(&words, first, last);
            if let Some(text) = seen.get(first.from..last.to).filter(|_| is_added) {
                added.extend([text.trim(), "\n"]);
                other += seen.get(from..first.from).unwrap_or_default();
                from = last.to;
            }
        }
        other += seen.get(from..).unwrap_or_default();
        let text = if added.is_empty() {
            own.to_owned()
        } else {
            format!("{}\n\n[seen on the page, and not in its text:]\n{added}", own.trim_end())
        };
        Self { share, words: words.len() as u64, agreed, text, other }
    }
}

/// Whether the text has nothing in place of the words from `first` to `last`.
fn is_beside(words: &[ComparedWord], first: &ComparedWord, last: &ComparedWord) -> bool {
    let is_placed = |word: &&ComparedWord| !word.others.is_empty();
    let before = words.iter().rev().filter(|word| word.to <= first.from).find(is_placed);
    let behind = words.iter().filter(|word| word.from >= last.to).find(is_placed);
    match (before, behind) {
        (Some(before), Some(behind)) => behind.others.start <= before.others.end,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_beside_a_text_is_added_and_what_is_in_its_place_is_the_other_reading() {
        let own = "The rent is EUR 9,000 a month.\nIt is due on 3 May.\n";
        let seen = "Harbour Mill Ltd.\n\nThe rent is EUR 1,000 a month. PAID IN FULL\n\nIt is due on 3 May.";
        let SeenText { share, words, agreed, text, other } = SeenText::new(own, seen);
        assert_eq!((words, agreed), (19, 12));
        assert!((0.7..0.8).contains(&share), "{share}");
        assert_eq!(text, format!("{own}\n[seen on the page, and not in its text:]\nHarbour Mill Ltd.\nPAID IN FULL\n"));
        assert_eq!(
            other.split_whitespace().collect::<Vec<_>>().join(" "),
            "The rent is EUR 1,000 a month. It is due on 3 May."
        );
        let same = SeenText::new(own, own);
        assert_eq!((same.text.as_str(), same.other.as_str(), same.share.to_bits()), (own, own, 1_f64.to_bits()));
    }
}
