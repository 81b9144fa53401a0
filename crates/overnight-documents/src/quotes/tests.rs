use super::super::units::Unit;
use super::index::flow;
use super::{QuoteIndex, QuotePlace, TextPosition};
use crate::headers_footers::Extent;
use proptest::prelude::*;

const PAGES: &str =
    "The parties agree\nas follows:\n\x0c\x0c\nThe fee is due\n\nwithin 30 days,\nand on page\x0cfour it ends. The fee";

fn at(page: u64, line: u64, character: u64) -> TextPosition {
    TextPosition { page: (page > 0).then_some(page), line, character }
}

#[expect(clippy::unnecessary_wraps, reason = "it is compared with what `find` answers")]
fn place(from: TextPosition, to: TextPosition) -> Option<QuotePlace> {
    Some(QuotePlace { from, to })
}

fn stands(text: &str, quote: &str) -> bool {
    QuoteIndex::new(Unit::Line, text).find(quote, None).is_some()
}

#[test]
fn a_quote_is_found_however_its_lines_were_broken() {
    let index = QuoteIndex::new(Unit::Page, PAGES);
    assert_eq!(index.find("parties agree as follows", None), place(at(1, 1, 5), at(1, 2, 10)));
    assert_eq!(index.find("as\u{a0}follo\u{ad}ws :", None), place(at(1, 2, 1), at(1, 2, 11)));
    assert_eq!(index.find("within\n30   days", None), place(at(3, 4, 1), at(3, 4, 14)));
    assert_eq!(index.find("within 31 days", None), None);
    assert_eq!(index.find(" \n\u{200b}", None), None);
}

#[test]
fn a_quote_with_a_page_begins_there_or_ends_there() {
    let index = QuoteIndex::new(Unit::Page, PAGES);
    assert_eq!(index.find("The fee", None), place(at(3, 2, 1), at(3, 2, 7)));
    assert_eq!(index.find("The fee", Some(4)), place(at(4, 1, 15), at(4, 1, 21)));
    for page in [3, 4] {
        let over = place(at(3, 5, 5), at(4, 1, 12));
        assert_eq!(index.find("on page four it ends", Some(page)), over, "page {page}");
    }
    assert_eq!(index.find("as follows: The fee", Some(2)), None);
    for page in [0, 1, 2, 4, 5, u64::MAX] {
        assert_eq!(index.find("within 30 days", Some(page)), None, "page {page}");
    }
}

#[test]
fn a_bar_in_a_cell_is_found_however_it_is_written() {
    let row = "| a\u{ff5c}b | yes \u{ff5c} no |";
    assert!(stands(row, "a|b") && stands(row, "a\u{ff5c}b") && stands(row, "yes | no"));
    assert!(!stands(row, "a b") && !stands(row, "ab"));
}

#[test]
fn a_quote_with_a_line_covers_that_line() {
    let index = QuoteIndex::new(Unit::Line, "one two\nthree\n\nfour\none two\n");
    assert_eq!(index.find("one two", Some(1)), place(at(0, 1, 1), at(0, 1, 7)));
    assert_eq!(index.find("one two", Some(5)), place(at(0, 5, 1), at(0, 5, 7)));
    for line in 1..=4 {
        assert_eq!(index.find("two three four", Some(line)), place(at(0, 1, 5), at(0, 4, 4)), "line {line}");
    }
    assert_eq!(index.find("two three four", Some(5)), None);
    assert_eq!(index.find("one two", Some(2)), None);
    assert_eq!(index.find("three", Some(3)), None);
    assert_eq!(index.find("one", Some(0)), None);
    assert_eq!(index.find("one", Some(99)), None);
}

/// Each text of the second part stands in the first one.
const SAME: &[(&str, &[&str])] = &[
    ("the docu-\nment says", &["the document says", "the docu-ment says", "docu-\nment", "docu-\u{a0}\r\n ment says"]),
    ("the document says", &["docu-\nment", "the docu\u{ad}\nment says", "docu\u{2010}\nment"]),
    ("a well-\nknown and well-made", &["well-known", "wellknown", "well-\nknown and well-\nmade"]),
    ("a well-known", &["well-\nknown", "well\u{2011}known", "well\u{2010}known", "well\u{2212}known", "known", "well"]),
    ("Nord-\nSüd, DOCU-\nMENT", &["Nord-Süd", "DOCUMENT", "DOCU-MENT", "Nord-\nSüd"]),
    ("10-\n20 pages, COVID-\n19", &["10-20 pages", "10- 20 pages", "COVID-19", "10-\n20"]),
    ("the oﬃce ﬁles ﬂow oﬀ ſtill aﬄuent", &["the office files flow off still affluent", "o\u{fb00}ice", "oﬀ"]),
    ("the office files flow", &["the oﬃce ﬁles ﬂow"]),
    ("Ａ１ ｔｏ ｚ（％）", &["A1 to z(%)"]),
    ("A1 to z(%)", &["Ａ１ ｔｏ ｚ（％）"]),
    ("le café crème", &["le cafe\u{301} cre\u{300}me", "café"]),
    ("le cafe\u{301} cre\u{300}me", &["le café crème", "café", "cafe\u{ad}\u{301}"]),
    ("ガラス 한국어", &["ｶﾞﾗｽ", "\u{1112}\u{1161}\u{11ab}국어", "ラ"]),
    ("人⽤語", &["人用語", "用"]),
    ("a thin\u{2009}line\u{200b}up\u{a0}to", &["a thin line up to", "athinlineupto", "a th in line up to"]),
    (
        "he said “it’s ‘so’” and „ja“ « oui » ‹non›",
        &["he said \"it's 'so'\" and \"ja\" \"oui\" 'non'", "«it`s ´so´»", "it's", "“ja”"],
    ),
    ("wait… for it", &["wait... for it", "wait . . . for"]),
    ("wait. . . for it...", &["wait… for it…"]),
    ("on 1\u{202f}000 or 10 20", &["1 000", "1\u{a0}000 or", "10\n20", "10  20"]),
    ("not exceed 10 % or 10%", &["not exceed 10%", "10 %", "10"]),
    ("agree1 or 1The sum", &["agree1 or", "agree", "The sum"]),
    ("𝐴 is 𝟏", &["A is 1"]),
    ("القانون", &["ﺍﻟﻘﺎﻧﻮﻥ"]),
    ("at −5 °C, 10–20", &["−5 °C", "10–20", "10 – 20"]),
    ("- 20 items\nx - 20", &["20 items", "- 20 items", "- 20\u{a0}items"]),
    ("見積書を提出する", &["書を提"]),
    ("----", &["-", "----"]),
    (
        "10⁵ units of H₂O for EUR 250⁴ a cm⁻¹",
        &["10^5 units", "H_2O", "EUR 250", "EUR 250^4 a", "cm^-1", "cm^−1", "units of H₂O"],
    ),
    ("| Total | | 3,022.50 |\n| Seal | 14 |", &["Total 3,022.50", "| Total | | 3,022.50 |", "3,022.50\nSeal 14"]),
    ("x^(n+1) and 2^12", &["xⁿ⁺¹", "2¹²"]),
    (
        "The rules (https://example.org/r?a=1) apply, see annex (mailto:a@example.org).",
        &["The rules apply, see annex.", "rules (https://example.org/r?a=1) apply", "https://example.org/r?a=1"],
    ),
];

/// No text of the second part stands in the first one.
const OTHER: &[(&str, &[&str])] = &[
    (
        "must not be shared",
        &["must be shared", "must not be share", "Must not be shared", "ust not", "must nor be shared"],
    ),
    ("an unlawful act; un-\nlawful; well-\nknown", &["known", "lawful act", "lawful", "un"]),
    ("we can't go, we cannot stay", &["we can", "t go", "we cannot stay on", "not stay"]),
    ("10-\n20", &["1020", "10 20", "102", "10–20"]),
    ("10–20 and 10—20", &["1020", "10 20", "10-20"]),
    ("10 20 and 1 000 and 1\u{202f}000", &["1020", "1000", "102", "10 2"]),
    ("30 days, 300 days, 30.5 days, 30k", &["30 day", "3 days", "0 days", "5 days", "300 days, 30 days"]),
    ("at most 100", &["at most 10", "at most 1"]),
    ("1,000.50 or 1/2", &["000.50", "1,000", "50", "1", "2"]),
    ("at -5 °C, −7 °C and ±3", &["5 °C", "7 °C", "+5 °C", "3"]),
    ("x -20 or 10 -20", &["x - 20", "10-20", "10 - 20"]),
    ("10² or 1½", &["102", "10", "11⁄2", "11/2", "1"]),
    ("10⁵ units of H₂O for EUR 250⁴", &["105 units", "10 5", "5 units", "10", "H2O", "EUR 2504", "10⁵²"]),
    ("see 1. 5 apples, in 2020, 15 people", &["1.5 apples", "2020,15 people"]),
    ("a well-known one", &["wellknown", "well known", "well–known"]),
    ("pre- and post-war", &["preand", "postwar"]),
    ("5' or 5\"", &["5\" or"]),
    ("café", &["cafe", "caf", "cafè"]),
    ("cafe\u{323}\u{301}", &["cafe", "café"]),
    ("the office", &["the oﬃces", "ﬁce", "the oﬀ"]),
    ("a. b", &["a, b", "a b"]),
    ("", &["a"]),
    ("a|b or c |d", &["a b", "c d", "ab"]),
    ("| 10 | 20 |", &["1020", "10,20"]),
    ("docu-\nment", &["docu--ment", "docu-ments", "docu—ment", "docu.ment"]),
];

#[test]
fn what_differs_from_one_extraction_to_the_next_is_found() {
    let mut missed = Vec::new();
    for (text, quotes) in SAME {
        missed.extend(quotes.iter().filter(|quote| !stands(text, quote)).map(|quote| (text, quote)));
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn nothing_else_is_found() {
    let mut wrong = Vec::new();
    for (text, quotes) in OTHER {
        wrong.extend(quotes.iter().filter(|quote| stands(text, quote)).map(|quote| (text, quote)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_thousand_quotes_that_share_their_beginning_are_no_trouble() {
    let text = "a ".repeat(200_000);
    let index = QuoteIndex::new(Unit::Line, &text);
    for n in 0..1_000 {
        let quote = format!("{}b{n}", "a".repeat(2_000));
        assert_eq!(index.find(&quote, None), None);
    }
}

#[test]
fn quotes_that_are_nearly_there_everywhere_come_to_an_end() {
    let text = "a-a-a-b-".repeat(100_000);
    let index = QuoteIndex::new(Unit::Line, &text);
    let quote = format!("{}c", "a-a-a-b-".repeat(1_000));
    assert_eq!(index.find(&quote, None), None);
    let index = QuoteIndex::new(Unit::Line, "a".repeat(4 << 20));
    assert_eq!(index.find("aa", None), None);
}

/// A word, a number or a sign, and possible separators.
fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-d]{1,4}",
        1 => "[A-D][a-d]{1,3}",
        1 => "[1-3]{1,3}",
        1 => prop::sample::select(vec!["oﬃce", "café", "it’s", "wait…", "Größe", "well-known", "1.5", "-2", "§", "(a)"])
            .prop_map(str::to_owned),
    ]
}

fn between() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![" ", " ", " ", "\n", "\n\n", "\u{a0}", "\x0c", "\x0c\n", " \t"])
}

/// Changes a word in a way that still matches; `how` is the number of the change.
fn same(word: &str, how: u8) -> String {
    use unicode_normalization::UnicodeNormalization;
    let is_word = word.chars().all(char::is_alphabetic) && word.chars().count() > 1;
    let middle = word.char_indices().nth(1).map_or(0, |(at, _)| at);
    let is_small = word[middle..].chars().next().is_some_and(char::is_lowercase);
    match how {
        0 => word.nfd().collect(),
        1 => word.replace('ﬃ', "ffi").replace('…', "...").replace('’', "'"),
        2 if is_word => format!("{}\u{ad}{}", &word[..middle], &word[middle..]),
        3 if is_word && is_small => format!("{}-\n{}", &word[..middle], &word[middle..]),
        4 if is_word => format!("{} {}", &word[..middle], &word[middle..]),
        5 => word.replace('-', "\u{2010}").replace('’', "`"),
        6 => word
            .chars()
            .map(|c| if c.is_ascii_lowercase() { char::from_u32(c as u32 + 0xfee0).unwrap_or(c) } else { c })
            .collect(),
        _ => word.to_owned(),
    }
}

/// Changes a word so that it no longer matches; `how` is the number of the change.
fn other(word: &str, how: u8) -> String {
    match how {
        0 => word
            .chars()
            .map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
            .collect(),
        1 => word.chars().map(|c| if c.is_ascii_digit() { '7' } else { c }).collect(),
        2 => format!("{word}x"),
        3 => format!("x{word}"),
        4 => word.replace(|c: char| c.is_alphabetic(), "z"),
        5 => word.replace('-', "+").replace('.', ",").replace('§', "$").replace('(', "["),
        _ => String::new(),
    }
}

fn position_of(text: &str, unit: Unit, at: usize) -> TextPosition {
    let before = &text[..at];
    let (page, rest) = match unit {
        Unit::Page => (Some(before.matches('\x0c').count() as u64 + 1), before.rsplit('\x0c').next().unwrap_or("")),
        Unit::Line => (None, before),
    };
    let line = rest.matches('\n').count() as u64 + 1;
    let character = rest.rsplit('\n').next().unwrap_or("").chars().count() as u64 + 1;
    TextPosition { page, line, character }
}

proptest! {
    /// Words of a text are found at their place in every allowed spelling; if one is changed, they aren't.
    #[test]
    fn any_part_of_a_text_is_found_and_nothing_else(
        words in prop::collection::vec((token(), between(), 0_u8..12), 2..30),
        from in 0_usize..30,
        len in 1_usize..8,
        wrong in 0_usize..8,
        how in 0_u8..7,
        paged in any::<bool>(),
    ) {
        let unit = if paged { Unit::Page } else { Unit::Line };
        let from = from % words.len();
        let taken = &words[from..words.len().min(from + len)];
        let mut text = String::new();
        let mut starts = Vec::new();
        for (word, between, _) in &words {
            starts.push(text.len());
            text.push_str(word);
            text.push_str(between);
        }
        let end = starts[from + taken.len() - 1] + taken[taken.len() - 1].0.len();
        let quote: Vec<String> = taken.iter().map(|(word, _, how)| same(word, *how)).collect();
        let index = QuoteIndex::new(unit, &text);

        // Its words stand only here, if a number before the first word separates it from the others.
        let found = index.find(&quote.join(" "), None);
        prop_assert!(found.is_some(), "{:?} in {:?}", quote, text);
        let start = position_of(&text, unit, starts[from]);
        let last = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
        let here = Some(QuotePlace { from: start, to: position_of(&text, unit, last) });
        // White space between letters doesn't count: "b d a" is "bda".
        let bare = |text: &str| text.split_whitespace().collect::<String>().into_bytes();
        let own = bare(&text[starts[from]..end]);
        if bare(&text).windows(own.len()).filter(|bytes| *bytes == own).count() == 1 && found != here {
            // In another spelling, it stands earlier.
            prop_assert!(found.is_some_and(|found| (found.from.page, found.from.line) <= (start.page, start.line)));
            prop_assert!(taken.len() < 3, "{:?} in {:?}: {:?}, not {:?}", quote, text, found, here);
        }
        prop_assert!(index.find(&quote.join("\n"), Some(start.unit_number())).is_some());

        let wrong = wrong % taken.len();
        let mut changed: Vec<String> = taken.iter().map(|(word, ..)| word.clone()).collect();
        let made = other(&changed[wrong], how);
        if made != changed[wrong] {
            let dropped = made.is_empty();
            changed[wrong] = made;
            let changed = changed.join(" ");
            // By chance it may stand elsewhere, which is checked word by word.
            let words: Vec<&str> = text.split_whitespace().collect();
            let wanted: Vec<&str> = changed.split_whitespace().collect();
            // Running lines may stand between two halves of a quote.
            let flows = [Extent::Whole, Extent::Part { from_top: true }]
                .map(|extent| flow(&text, extent).unwrap_or_default().split_whitespace().collect::<String>());
            let elsewhere = wanted.is_empty()
                || (paged && text.contains('\x0c') && flows.iter().any(|flow| flow.contains(&wanted.concat())))
                || words.windows(wanted.len()).any(|window| window == wanted.as_slice())
                || text.split_whitespace().collect::<String>().contains(&changed.split_whitespace().collect::<String>());
            prop_assert!(elsewhere || index.find(&changed, None).is_none(), "{:?} in {:?} ({})", changed, text, dropped);
        }
    }

    #[test]
    fn nothing_panics(text in "[ab1\\-\u{ad}\u{301}ﬁ½ \n\x0c.,'’…が゙ﾞ\u{1161}]{0,60}", quote in "[ab1\\-\u{ad}\u{301}ﬁ \n.]{0,6}", at in prop::option::of(0_u64..9)) {
        for unit in [Unit::Page, Unit::Line] {
            let index = QuoteIndex::new(unit, &text);
            let found = index.find(&quote, at);
            if let Some(place) = found {
                prop_assert!((place.from.page, place.from.line) <= (place.to.page, place.to.line));
                prop_assert!(index.find(&quote, None).is_some());
            }
        }
    }

    /// The whole text is found in itself, from its first character to its last.
    #[test]
    fn a_text_stands_in_itself(text in "[ab1 \n\x0c\\-ﬁé\u{301}\u{ad}.,']{1,80}") {
        for unit in [Unit::Page, Unit::Line] {
            let place = QuoteIndex::new(unit, &text).find(&text, None);
            let seen = |c: &char| !c.is_whitespace() && *c != '\u{ad}';
            prop_assert_eq!(place.is_some(), text.chars().any(|c| seen(&c)), "{:?}", text);
            if let (Some(place), Some(first)) = (place, text.find(|c: char| seen(&c))) {
                let first = position_of(&text, unit, first);
                prop_assert_eq!((place.from.page, place.from.line), (first.page, first.line));
            }
        }
    }
}

#[test]
fn a_quote_runs_over_a_header_and_a_footer() {
    let text = "Book\n\nDoors must be shut and the re-\n\n1\n\x0cBook\n\nquirement is kept\nby all.\n\n2\n";
    let index = QuoteIndex::new(Unit::Page, text);
    assert!(index.find("and the requirement is kept", Some(1)).is_some());
    assert!(index.find("Doors must be shut and the re- quirement is kept by all.", Some(1)).is_some());
    assert!(index.find("Book quirement is kept", Some(2)).is_some());
    assert!(index.find("Doors requirement", None).is_none());
}

#[test]
fn a_quote_holds_what_two_pages_begin_with_by_chance() {
    let chance = "Book\n\nOne.\nIt rains.\nIn the header, declare\n\x0cBook\n\n#include <R.h>\nbefore all else.\nIt is dry.\nTwo.\n\x0c\
                  Book\n\n#include <R.h>\nis written.\nBy whom?\nThree.\n";
    let others = ["a", "b", "c", "d", "e", "f"]
        .map(|name| format!("\x0cBook\n\n{name} one\n{name} two\n{name} three\n{name} four\n"));
    let text = format!("{chance}{}", others.concat());
    let index = QuoteIndex::new(Unit::Page, text);
    let found = index.find("In the header, declare #include <R.h> before all", Some(1)).unwrap();
    assert_eq!((found.from.page, found.to.page), (Some(1), Some(2)));
    // It can't be known whether the line runs, so it may be left out as well.
    assert!(index.find("In the header, declare before all", Some(1)).is_some());
    assert!(index.find("In the header, declare all", Some(1)).is_none());
}
