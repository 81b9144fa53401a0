//! Where sentences end. A full stop also ends abbreviations, initials and numbers; in technical prose it stands in
//! names and paths too. Needed by everything that quotes: a quote is one sentence.

use std::ops::Range;

use super::marker::BULLETS;
use super::notes::marks;
use super::quotations::quotations;

/// The sentences of a paragraph, in order, without the white space around them. Nothing but white space is left out.
pub fn sentences(paragraph: &str) -> Vec<&str> {
    spans(paragraph, &quotations(paragraph)).into_iter().map(|span| &paragraph[span]).collect()
}

/// As [`sentences`], as byte ranges; `quoted` are the paragraph's quotations, inside which no sentence ends.
pub(super) fn spans(text: &str, quoted: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut from = 0;
    let mut ahead = quoted.iter().peekable();
    while let Some(offset) = text[from..].find(['.', '!', '?', '。', '！', '？', '…']) {
        let at = from + offset;
        let mark = text[at..].chars().next().unwrap_or('.');
        // a run of marks ends together: "?!", "..."
        let marks_end = at
            + text[at..].find(|c| !matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？')).unwrap_or(text.len() - at);
        let end = marks_end
            + text[marks_end..]
                .find(|c| !matches!(c, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '*' | '_' | '`'))
                .unwrap_or(text.len() - marks_end);
        from = marks_end;
        while ahead.peek().is_some_and(|quote| quote.end <= at) {
            ahead.next();
        }
        // a mark that is spoken of: "."
        let before = text[start..at].chars().next_back();
        if end > marks_end && before.is_some_and(|c| matches!(c, '"' | '“' | '‘' | '`' | '\'' | '(' | '[')) {
            from = end;
            continue;
        }
        // inside a quotation nothing ends, unless the quotation ends here too
        if ahead.peek().is_some_and(|quote| quote.contains(&at) && quote.end > end) {
            continue;
        }
        if let Some(noted) = noted(text, start, at, end) {
            push(text, start..noted, &mut found);
            start = noted;
            from = noted;
            continue;
        }
        let wide = matches!(mark, '。' | '！' | '？');
        if wide || ends_here(text, start, at, marks_end, end) {
            push(text, start..end, &mut found);
            start = end;
            from = end;
        }
    }
    push(text, start..text.len(), &mut found);
    found
}

/// Where a sentence with a footnote's mark behind its full stop ends, the mark included: "as most do.5 See".
fn noted(text: &str, start: usize, at: usize, end: usize) -> Option<usize> {
    let marks = marks(&text[end..]);
    let word = last_word(text.get(start..at)?);
    let closes = word.is_empty() && end > at + 1 || text[..at].ends_with([')', '”', '"', '’', ']']);
    let plain = word.len() > 1 && word.ends_with(char::is_alphabetic) && !is_abbreviation(word);
    let rest = &text[end + marks..];
    let long = word.len() > 4 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let opens = rest.is_empty()
        || rest.starts_with(char::is_whitespace) && (long || !rest.trim_start().starts_with(char::is_lowercase));
    (marks > 0 && opens && (plain || closes)).then_some(end + marks)
}

fn push(text: &str, span: Range<usize>, found: &mut Vec<Range<usize>>) {
    let piece = &text[span.clone()];
    let trimmed = piece.trim();
    if !trimmed.is_empty() {
        let start = span.start + (piece.len() - piece.trim_start().len());
        found.push(start..start + trimmed.len());
    }
}

/// Whether the mark at `at` ends a sentence that began at `start`; `end` is after closing quotes and brackets.
fn ends_here(text: &str, start: usize, at: usize, marks_end: usize, end: usize) -> bool {
    let rest = &text[end..];
    if !rest.starts_with(char::is_whitespace) {
        return rest.is_empty();
    }
    let next = rest.trim_start().trim_start_matches(['"', '\'', '(', '[', '“', '‘', '«', '*', '_', '`', '<', '{']);
    let opened = next.len() < rest.trim_start().len();
    let Some(first) = next.chars().next() else { return true };
    let word = last_word(&text[start..at]);
    let next_word = next.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    // an item's mark, or a prompt's
    let is_mark = BULLETS.contains(first) || matches!(first, '-' | '$');
    if !(first.is_uppercase() || first.is_numeric() || opened || is_mark) {
        // a lower-case name may open a sentence ("systemd must …"), but an abbreviation is likelier
        if first.is_lowercase() || !first.is_alphabetic() {
            let identifier = next
                .split_whitespace()
                .next()
                .is_some_and(|token| token.contains(['_', '(', '`']) || token.chars().skip(1).any(char::is_uppercase));
            let plain =
                word.len() >= 4 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') && !is_abbreviation(word);
            let single_stop = marks_end == at + 1 && text[at..].starts_with('.');
            return single_stop && (plain || (identifier && word.len() >= 3 && !is_abbreviation(word)));
        }
    }
    if !text[at..].starts_with('.') {
        return true;
    }
    if marks_end - at > 1 {
        // "ALTER TABLE ... NO INHERIT" leaves something out, "it waits... Then" ends
        return first.is_uppercase() && !text[..at].ends_with(char::is_whitespace);
    }
    if word.is_empty() {
        return true;
    }
    // "1. Open the door": the number of an item, not a sentence
    let whole = text[start..at].trim();
    if whole.len() <= 3 && (whole.bytes().all(|b| b.is_ascii_digit()) || whole.len() == 1) {
        return false;
    }
    if end > marks_end {
        return true;
    }
    // an identifier or a constant: O_EXCL, MAX
    if word.contains('_') || (word.len() > 2 && word.bytes().all(|b| b.is_ascii_uppercase())) {
        return true;
    }
    let lower = word.to_lowercase();
    if NEVER.contains(&lower.as_str()) {
        return false;
    }
    if BEFORE_NUMBER.contains(&lower.as_str()) {
        return !(first.is_numeric() || (next_word.len() == 1 && first.is_uppercase()) || is_roman(next_word));
    }
    if BEFORE_NAME.contains(&lower.as_str()) {
        return !first.is_uppercase();
    }
    if is_initial(word) && is_label_or_unit(&text[start..at - word.len()]) {
        return true;
    }
    if MAY_END.contains(&lower.as_str()) || is_initial(word) {
        return STARTERS.contains(&next_word) || opened && first.is_uppercase() && !is_initial(word);
    }
    true
}

fn is_initial(word: &str) -> bool {
    // "J", "U.S"
    let mut letters = word.split('.');
    letters.all(|part| part.len() == 1 && part.bytes().all(|b| b.is_ascii_uppercase()))
}

/// Whether what stands before a single letter makes it a label or a unit and no initial: "class A", "18 °C", "5 V".
fn is_label_or_unit(before: &str) -> bool {
    if before.ends_with(['°', '/', '-']) {
        return true;
    }
    let word = last_word(before.trim_end()).to_lowercase();
    word.ends_with(|c: char| c.is_ascii_digit()) || LABELLED.contains(&word.as_str())
}

fn is_roman(word: &str) -> bool {
    !word.is_empty() && word.len() < 6 && word.bytes().all(|b| matches!(b, b'I' | b'V' | b'X' | b'L')) && word != "I"
}

fn is_abbreviation(word: &str) -> bool {
    let lower = word.to_lowercase();
    let lower = lower.as_str();
    NEVER.contains(&lower) || BEFORE_NUMBER.contains(&lower) || BEFORE_NAME.contains(&lower) || MAY_END.contains(&lower)
}

/// The word before a full stop, with inner full stops: "e.g", "U.S", "sec".
fn last_word(text: &str) -> &str {
    let start = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_alphanumeric() || matches!(c, '.' | '-' | '\'' | '_'))
        .last()
        .map_or(text.len(), |(at, _)| at);
    text[start..].trim_start_matches(['.', '-', '\''])
}

/// After these a sentence always goes on.
const NEVER: &[&str] = &[
    "e.g", "eg", "i.e", "ie", "vs", "cf", "viz", "approx", "resp", "incl", "excl", "esp", "namely", "a.k.a", "aka",
    "w.r.t", "ca", "et",
];
/// After these a number follows; without one they are words of their own ("No.").
const BEFORE_NUMBER: &[&str] = &[
    "no", "nos", "nr", "sec", "sect", "secs", "fig", "figs", "ch", "chap", "vol", "art", "eq", "eqs", "p", "pp",
    "para", "paras", "par", "cl", "ver", "v", "ref", "refs", "tab", "app", "appx", "ex", "rev", "pt", "ed", "item",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "min", "max", "op", "col",
    "std", "doc",
];
/// After these a name follows.
const BEFORE_NAME: &[&str] = &[
    "dr", "mr", "mrs", "ms", "prof", "st", "sr", "jr", "gen", "capt", "hon", "rev", "messrs", "dipl", "ing", "al",
    "eds",
];
/// These stand within or at the end of a sentence.
const MAY_END: &[&str] =
    &["inc", "ltd", "corp", "co", "llc", "a.m", "p.m", "u.s", "u.k", "ph.d", "dept", "est", "tel", "addr", "misc"];
/// These are followed by a letter that names: "class A".
const LABELLED: &[&str] = &[
    "annex", "appendix", "block", "box", "building", "category", "class", "column", "exhibit", "figure", "grade",
    "group", "layer", "level", "line", "mode", "option", "part", "phase", "plan", "point", "port", "room", "row",
    "schedule", "section", "series", "shelf", "step", "table", "team", "type", "variant", "vitamin", "zone",
];
/// Words that open a sentence, capitalised, where a name could follow too.
const STARTERS: &[&str] = &[
    "The",
    "A",
    "An",
    "It",
    "This",
    "That",
    "These",
    "Those",
    "If",
    "In",
    "When",
    "Where",
    "While",
    "Each",
    "Every",
    "All",
    "Any",
    "No",
    "For",
    "To",
    "On",
    "At",
    "As",
    "There",
    "They",
    "We",
    "You",
    "He",
    "She",
    "Its",
    "Their",
    "Such",
    "Some",
    "Both",
    "However",
    "But",
    "And",
    "Or",
    "So",
    "Then",
    "After",
    "Before",
    "During",
    "Once",
    "Unless",
    "Until",
    "With",
    "Without",
    "Only",
    "Not",
    "Do",
    "See",
    "Use",
    "Set",
    "Note",
    "One",
    "By",
    "From",
    "Otherwise",
    "Clients",
    "Servers",
    "Users",
    "Operators",
    "Implementations",
    "Applications",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_full_stop_ends_a_sentence_only_where_one_ends() {
        let cases: &[(&str, &[&str])] = &[
            ("One. Two! Three? Four", &["One.", "Two!", "Three?", "Four"]),
            ("Use TLS, e.g. version 1.3. Log it.", &["Use TLS, e.g. version 1.3.", "Log it."]),
            ("See sec. 3.2 and Fig. 4. It applies.", &["See sec. 3.2 and Fig. 4.", "It applies."]),
            ("Room No. 4 is open. No. It is not.", &["Room No. 4 is open.", "No.", "It is not."]),
            ("Ask Dr. Weber vs. Mr. Smith. Done.", &["Ask Dr. Weber vs. Mr. Smith.", "Done."]),
            ("J. R. Hartley wrote it. The U.S. The end.", &["J. R. Hartley wrote it.", "The U.S.", "The end."]),
            (
                "Hold 4 °C and 18 °C. Humidity is 5 V. Keep class A. Records go to J. Smith.",
                &["Hold 4 °C and 18 °C.", "Humidity is 5 V.", "Keep class A.", "Records go to J. Smith."],
            ),
            ("Keep keys, certificates, etc. The rest may go.", &["Keep keys, certificates, etc.", "The rest may go."]),
            (
                "It waits … and goes on. It waits... Then it stops.",
                &["It waits … and goes on.", "It waits...", "Then it stops."],
            ),
            (
                "He said \"Stop. Now.\" and left. \"Go.\" It went.",
                &["He said \"Stop. Now.\" and left.", "\"Go.\"", "It went."],
            ),
            ("It is closed. foo_bar() must be called.", &["It is closed.", "foo_bar() must be called."]),
            (
                "The service has stopped. systemd must start it.",
                &["The service has stopped.", "systemd must start it."],
            ),
            ("(See above.) The door must close.", &["(See above.)", "The door must close."]),
            ("**Note.** The door must close. *It* may open.", &["**Note.**", "The door must close.", "*It* may open."]),
            ("Edit example.com/a.b then go. 3 items follow.", &["Edit example.com/a.b then go.", "3 items follow."]),
            ("これは必要です。次です。", &["これは必要です。", "次です。"]),
            ("Use O_EXCL. If not, use MAX. Then stop.", &["Use O_EXCL.", "If not, use MAX.", "Then stop."]),
            ("  ", &[]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(&sentences(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_but_white_space_is_left_out(text in "\\PC{0,200}") {
            let whole: String = text.split_whitespace().collect();
            let parts: String = sentences(&text).concat().split_whitespace().collect();
            prop_assert_eq!(whole, parts);
        }

        #[test]
        fn marks_and_quotes_in_any_order_are_cut_somewhere(text in "[a-zA-Z.!?\"'`“”‘’() …é\n]{0,200}") {
            let whole: String = text.split_whitespace().collect();
            let parts: String = sentences(&text).concat().split_whitespace().collect();
            prop_assert_eq!(whole, parts);
        }
    }
}
