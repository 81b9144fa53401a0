//! Words recognised in the picture of a page, with their places on it, and the agreement of two readings of a page.
//!
//! Two independent readers seldom make the same mistake: words that both have read are on the page. A word that only
//! one has read may be invented, or contain a "corrected" digit.

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};
use unicode_normalization::UnicodeNormalization;

/// How often the rest of both readings is compared again: columns and cells may come in another order.
const ROUNDS: usize = 4;
/// The time for a comparison. Words that weren't compared by then count as read by one reading only.
const MOST_TIME: Duration = Duration::from_secs(5);
/// The number of letters and digits from which on a word with a digit is evidence by itself, even elsewhere.
const TELLING: usize = 4;
/// The number of words around another that show its place, and of words that may stand there in the other reading.
const NEAR: usize = 3;
const IN_PLACE: usize = 4;

/// A word on the picture of a page: parts of its width and height, from the left and from the top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecognisedWord {
    /// The word as it was read.
    pub text: String,
    /// The left edge, 0 to 1.
    pub x: f32,
    /// The upper edge, 0 to 1.
    pub y: f32,
    /// The width, as a part of the page's.
    pub width: f32,
    /// The height, as a part of the page's.
    pub height: f32,
}

/// The words that a program recognised on one page, in reading order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecognisedPage {
    /// The page, from 1.
    pub page: u64,
    /// All words that were found.
    pub words: Vec<RecognisedWord>,
}

/// Steps between words that are longer than this, as parts of the page, are ignored: a new line, another column.
const MOST_STEP: f32 = 0.2;
/// The minimum number of steps that show the direction of words.
const LEAST_STEPS: usize = 8;

/// The quarter turns clockwise, 0 to 3, after which the words on a picture run from left to right: most of them do so then.
pub fn quarter_turns(words: &[RecognisedWord]) -> u8 {
    let middle = |word: &RecognisedWord| (word.x + word.width / 2.0, word.y + word.height / 2.0);
    let mut steps = [0_usize; 4];
    for pair in words.windows(2) {
        let [(from_x, from_y), (to_x, to_y)] = [middle(&pair[0]), middle(&pair[1])];
        let (right, down) = (to_x - from_x, to_y - from_y);
        if right.abs().max(down.abs()) <= MOST_STEP {
            let is_across = right.abs() >= down.abs();
            steps[if is_across {
                if right >= 0.0 { 0 } else { 2 }
            } else if down < 0.0 {
                1
            } else {
                3
            }] += 1;
        }
    }
    let all: usize = steps.iter().sum();
    let turns = (0..4_u8).max_by_key(|turns| (steps[usize::from(*turns)], 4 - turns)).unwrap_or_default();
    if all >= LEAST_STEPS && steps[usize::from(turns)] * 2 > all { turns } else { 0 }
}

/// A word of a text, and which words of the other reading are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedWord {
    /// Its first byte in the text, and the byte behind it.
    pub from: usize,
    /// See `from`.
    pub to: usize,
    /// It contains a digit: an amount, a date, a number.
    pub has_digit: bool,
    /// The words of the other reading, half open; empty if only this reading has it.
    pub others: std::ops::Range<usize>,
}

/// The words of `text`, with the equal words of `other`, another reading of the page; and the agreement: twice the
/// number of common words, divided by all words. It is 1 without any words on both sides.
pub fn compare(text: &str, other: &[&str]) -> (Vec<ComparedWord>, f64) {
    let own = words(text);
    let others = other_words(other);
    let mut compared: Vec<ComparedWord> = own
        .iter()
        .map(|word| ComparedWord { from: word.from, to: word.to, has_digit: word.has_digit(), others: 0..0 })
        .collect();
    let mut left = [(0..own.len()).collect::<Vec<_>>(), (0..others.len()).collect::<Vec<_>>()];
    let deadline = Instant::now() + MOST_TIME;
    let mut agreed = 0;
    let mut is_in_order = vec![false; own.len()];
    for round in 0..ROUNDS {
        let of_own: Vec<&str> = left[0].iter().map(|at| own[*at].plain.as_str()).collect();
        let of_others: Vec<&str> = left[1].iter().map(|at| others[*at].plain.as_str()).collect();
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &of_own, &of_others, Some(deadline));
        let mut found: [BTreeSet<usize>; 2] = Default::default();
        for op in ops {
            let DiffOp::Equal { old_index, new_index, len } = op else { continue };
            // After the first round, only runs and numbers count: a short word stands everywhere.
            let is_telling = |at: &usize| {
                let plain = &own[left[0][*at]];
                plain.has_digit() && plain.plain.chars().filter(|letter| letter.is_alphanumeric()).count() >= TELLING
            };
            if round > 0 && len < 3 && !(old_index..old_index + len).any(|at| is_telling(&at)) {
                continue;
            }
            for step in 0..len {
                let (at, of) = (left[0][old_index + step], left[1][new_index + step]);
                compared[at].others = others[of].of.clone();
                is_in_order[at] = round == 0;
                found[0].insert(at);
                found[1].insert(of);
            }
        }
        if found[0].is_empty() {
            break;
        }
        agreed += found[0].len();
        for (left, found) in left.iter_mut().zip(&found) {
            left.retain(|at| !found.contains(at));
        }
    }
    // Words that changed places are not read alike.
    let exchanged: Vec<usize> =
        (0..own.len()).filter(|at| !is_in_order[*at] && is_exchanged(*at, &compared, &is_in_order, other)).collect();
    agreed -= exchanged.len();
    for at in exchanged {
        compared[at].others = 0..0;
    }
    let all = own.len() + others.len();
    #[expect(clippy::cast_precision_loss, reason = "words of a page")]
    let share = if all == 0 { 1.0 } else { (2 * agreed) as f64 / all as f64 };
    (compared, share)
}

/// Whether the other reading has a word elsewhere, and other words in its place, between words common to both.
fn is_exchanged(at: usize, compared: &[ComparedWord], is_in_order: &[bool], other: &[&str]) -> bool {
    let is_placed = |at: &usize| is_in_order.get(*at).copied().unwrap_or_default();
    let before = (at.saturating_sub(NEAR)..at).rev().find(is_placed);
    let behind = (at + 1..=at + NEAR).find(is_placed);
    let (Some(before), Some(behind)) = (before, behind) else { return false };
    let place = compared[before].others.end..compared[behind].others.start;
    let own = &compared[at].others;
    let has_word =
        || other.get(place.clone()).is_some_and(|words| words.iter().any(|word| word.contains(char::is_alphanumeric)));
    !own.is_empty() && place.len() <= IN_PLACE && !place.contains(&own.start) && has_word()
}

/// A word in the form in which it is compared.
struct PlainWord {
    plain: String,
    from: usize,
    to: usize,
    /// The words of the reading that it is made of.
    of: std::ops::Range<usize>,
}

impl PlainWord {
    fn has_digit(&self) -> bool {
        self.plain.chars().any(char::is_numeric)
    }
}

/// The words of a text in Markdown, each with a letter or a digit. A word that continues in the next line is one.
fn words(text: &str) -> Vec<PlainWord> {
    let mut found: Vec<PlainWord> = Vec::new();
    let mut is_open = false;
    let mut from = None;
    let ends =
        text.char_indices().map(|(at, letter)| (at, is_between(letter), letter)).chain([(text.len(), true, '\n')]);
    for (at, is_between, letter) in ends {
        match (from, is_between) {
            (None, false) => from = Some(at),
            (Some(start), true) => {
                from = None;
                let word = &text[start..at];
                push(&mut found, word, (start, at), 0..0, is_open);
                is_open = letter == '\n' && word.ends_with('-');
            }
            _ => {}
        }
    }
    found
}

fn other_words(other: &[&str]) -> Vec<PlainWord> {
    let mut found: Vec<PlainWord> = Vec::new();
    let mut is_open = false;
    for (at, word) in other.iter().enumerate() {
        for part in word.split(is_between).filter(|part| !part.is_empty()) {
            push(&mut found, part, (0, 0), at..at + 1, is_open && part.starts_with(char::is_lowercase));
            is_open = part.ends_with('-') && part.len() > 2;
        }
    }
    found
}

fn is_between(letter: char) -> bool {
    letter.is_whitespace() || letter == '|'
}

fn push(found: &mut Vec<PlainWord>, word: &str, (from, to): (usize, usize), of: std::ops::Range<usize>, goes_on: bool) {
    let plain = plain(word);
    if plain.is_empty() {
        return;
    }
    match found.last_mut() {
        Some(last) if goes_on && plain.starts_with(char::is_alphabetic) => {
            last.plain.push_str(&plain);
            last.to = to;
            last.of.end = of.end;
        }
        _ => found.push(PlainWord { plain, from, to, of }),
    }
}

/// A word without marks around it, and with one form of each letter, dash and apostrophe.
fn plain(word: &str) -> String {
    let folded = word.nfkc().flat_map(char::to_lowercase).map(|letter| match letter {
        '\u{2018}' | '\u{2019}' | '\u{b4}' | '`' => '\'',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        letter => letter,
    });
    let folded: String = folded.collect();
    folded.trim_matches(|letter: char| !letter.is_alphanumeric()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_turned_until_its_words_run_from_left_to_right() {
        let word = |x: f32, y: f32| RecognisedWord { text: "a".to_owned(), x, y, width: 0.05, height: 0.01 };
        let words: Vec<RecognisedWord> =
            (0..20_u8).map(|at| word(0.1 + 0.1 * f32::from(at % 5), 0.1 + 0.02 * f32::from(at / 5))).collect();
        let turned = |turns: u8| -> Vec<RecognisedWord> {
            let place = |RecognisedWord { x, y, .. }: &RecognisedWord| match turns {
                1 => word(1.0 - y, *x),
                2 => word(1.0 - x, 1.0 - y),
                3 => word(*y, 1.0 - x),
                _ => word(*x, *y),
            };
            words.iter().map(place).collect()
        };
        assert_eq!([0, 1, 2, 3].map(|turns| quarter_turns(&turned(turns))), [0, 3, 2, 1]);
        assert_eq!(quarter_turns(&words[..3]), 0);
    }

    /// The words that only `text` has, and the agreement.
    fn of_one(text: &str, other: &str) -> (Vec<String>, f64) {
        let other: Vec<&str> = other.split_whitespace().collect();
        let (words, share) = compare(text, &other);
        let of_one = words.iter().filter(|word| word.others.is_empty());
        (of_one.map(|word| text[word.from..word.to].to_owned()).collect(), (share * 100.0).round() / 100.0)
    }

    #[test]
    fn what_both_have_is_agreed() {
        assert_eq!(of_one("", ""), (vec![], 1.0));
        assert_eq!(of_one("# The **rent** is 1,250.00.", "THE rent ‘is’ 1,250.00"), (vec![], 1.0));
        // A digit that was corrected, a sentence that was added.
        assert_eq!(of_one("The rent is 1,260.00.", "The rent is 1,250.00."), (vec!["1,260.00.".to_owned()], 0.75));
        let (added, share) = of_one("Pay now. No interest is due.", "Pay now.");
        assert_eq!((added.join(" "), share), ("No interest is due.".to_owned(), 0.5));
    }

    #[test]
    fn order_and_line_ends_do_not_matter() {
        assert_eq!(of_one("The agree-\nment ends.", "The agree- ment ends."), (vec![], 1.0));
        assert_eq!(of_one("The agreement ends.", "The agree- ment ends."), (vec![], 1.0));
        // A table by rows, and by columns.
        let table = "| Item | Amount |\n|---|---|\n| Pump set large | 1,200.50 |\n| Seal of rubber | 17.25 |";
        let (left, _) = of_one(table, "Item Pump set large Seal of rubber Amount 1,200.50 17.25");
        assert_eq!(left, Vec::<String>::new());
        // A little word elsewhere proves nothing.
        assert_eq!(of_one("is left over here", "here is").0, ["left", "over", "here"]);
    }

    #[test]
    fn what_changed_places_is_of_one_reading() {
        let (left, _) = of_one(
            "from EUR 51,900.00 to EUR 48,250.00 with effect",
            "from EUR 48,250.00 to EUR 51,900.00 with effect",
        );
        assert_eq!(left, ["51,900.00", "48,250.00"]);
        let rows = "| Pump set large | 2 | 241.50 |\n| Seal of rubber | 14 | 2,401.00 |\n| Fitting | 1 | 380.00 |";
        let (left, _) = of_one(rows, "Pump set large 2,401.00 Seal of rubber 241.50 Fitting 380.00");
        assert_eq!(left, ["2", "241.50", "14", "2,401.00", "1"]);
    }

    #[test]
    fn names_that_changed_places_are_of_one_reading() {
        let own = "The landlord, North Quay Cooperative, lets the works to Harbour Mill Ltd for ten years.";
        let other = "The landlord, Harbour Mill Ltd, lets the works to North Quay Cooperative for ten years.";
        assert_eq!(of_one(own, other).0.join(" "), "North Quay Cooperative, Harbour Mill Ltd");
    }

    #[test]
    fn words_of_the_other_reading_are_named() {
        let (words, _) = compare("a agreement b", &["a", "agree-", "ment", "b"]);
        let others: Vec<_> = words.iter().map(|word| word.others.clone()).collect();
        assert_eq!(others, [0..1, 1..3, 3..4]);
    }
}
