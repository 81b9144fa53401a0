//! Footnotes: marks in running text ("as most do.5 See", "freely [2]"), and the notes at a page's foot. A mark after a
//! sentence's end belongs to no sentence, and a note stands between the halves of a sentence that runs over the page.

use std::collections::BTreeSet;
use std::ops::Range;

use super::blocks::indentation;
use super::furniture::Place;
use super::plain_look::is_code;
use super::statements::Line;
use super::strength::hinted;

/// A line with more characters than this could have gone on.
const FULL: usize = 60;
/// Notes of one page that are looked for.
const MOST_MARKS: usize = 200;

/// How many bytes of footnote marks open `text`: `5`, `[5]`, `[5][6]`, `⁵`. A bare number counts only where white space or
/// the end follows.
pub(super) fn marks(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let bare = (1..=3).contains(&digits)
        && !text.starts_with('0')
        && text[digits..].chars().next().is_none_or(char::is_whitespace);
    if bare {
        return digits;
    }
    let raised = text.chars().take_while(|c| is_raised(*c)).map(char::len_utf8).sum();
    let mut end: usize = raised;
    while let Some(length) = bracketed(&text[end..]) {
        end += length;
    }
    end
}

fn is_raised(c: char) -> bool {
    matches!(c, '¹' | '²' | '³' | '⁰' | '⁴'..='⁹' | '†' | '‡')
}

/// `[5]`, `^[5]`
fn bracketed(text: &str) -> Option<usize> {
    let raised = usize::from(text.starts_with('^'));
    let inner = text[raised..].strip_prefix('[')?;
    let length = inner.bytes().take_while(u8::is_ascii_digit).count();
    ((1..=3).contains(&length) && inner[length..].starts_with(']')).then_some(raised + length + 2)
}

/// A sentence without the marks around it: "[6] The fee is due.5" is "The fee is due."
pub(super) fn without_marks(text: &str) -> Range<usize> {
    let mut whole = 0..text.len();
    let clause = clause(text);
    if clause > 0 {
        whole.start = clause;
    }
    let text_from = whole.start;
    let text = &text[text_from..];
    let lead = label(text).max(marks(text)).max(glued(text));
    let rest = text[lead..].trim_start();
    // "[0] must be zero" speaks of a place in a list
    let spoken = rest.split_whitespace().next().is_none_or(hinted);
    // "3 members must agree" counts, "3 The fee is due" has a note's number before it
    let counts = glued(text) == 0
        && text.starts_with(|c: char| c.is_ascii_digit())
        && !(rest.starts_with(char::is_uppercase) && rest[1..].starts_with(|c: char| c.is_lowercase() || c == ' '));
    if lead > 0 && !counts && !spoken {
        whole.start = text_from + text.len() - rest.len();
    }
    let Some(stop) = rest.rfind(['.', '!', '?', '”', '"', ')', ':']) else { return whole };
    let end = stop + rest[stop..].chars().next().map_or(1, char::len_utf8);
    let before = rest[..stop].chars().next_back();
    let tail = rest[end..].trim_start();
    if !tail.is_empty() && marks(tail) == tail.len() && before.is_some_and(|c| !c.is_ascii_digit()) {
        whole.end = text_from + text.len() - rest.len() + end;
    }
    whole
}

/// How many bytes of a clause's number open a sentence: "9.1.1 libc may", "4.4 debian/changelog must". "2.5 seconds" has
/// none.
fn clause(text: &str) -> usize {
    let Some((number, rest)) = text.split_once(' ') else { return 0 };
    let parts = number.split('.').count();
    let digits =
        number.split('.').all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
    let word = rest.split(' ').next().unwrap_or("");
    let name = word.len() >= 6 && word.is_ascii() && word[1..word.len() - 1].contains(['/', '.']);
    let named = parts == 2 && name && word.starts_with(|c: char| c.is_ascii_lowercase() || c == '/');
    let deep = parts > 2 && word.starts_with(char::is_alphabetic) && !hinted(word);
    if digits && (deep || named) { number.len() + 1 } else { 0 }
}

/// How many bytes of a note's number stand right before its text: "13This rule", "1⁵Version".
fn glued(text: &str) -> usize {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || is_raised(c));
    let mut letters = rest.chars();
    let opens = letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase);
    let number = text.len() - rest.len();
    if opens && (1..=6).contains(&number) { number } else { 0 }
}

/// How many bytes of a label open a sentence: "Note The fee is due.", "Warning: unpaid fees".
fn label(text: &str) -> usize {
    const LABELS: [&str; 6] = ["note", "tip", "caution", "warning", "important", "hint"];
    let Some((word, rest)) = text.split_once(' ') else { return 0 };
    let name = word.strip_suffix(':').unwrap_or(word);
    let capital = name.starts_with(char::is_uppercase) && LABELS.contains(&name.to_lowercase().as_str());
    let first = rest.split(' ').next().unwrap_or("");
    let opens = first.starts_with(|c: char| c.is_uppercase() || matches!(c, '”' | '“' | '"')) || first.contains('(');
    if capital && (opens || word.len() > name.len()) { word.len() + 1 } else { 0 }
}

/// Marks the lines of notes at the foot of pages. They are told by their number: it stands as a mark in the page's text,
/// or follows on the note before.
pub(super) fn mark_notes(lines: &[Line<'_>], places: &mut [Place]) {
    let mut page = 0;
    let mut last = 0;
    for i in 1..=lines.len() {
        if i < lines.len() && lines[i].page == lines[i - 1].page && !lines[i].text.contains('\u{c}') {
            continue;
        }
        // a text without pages has no page's foot
        if page > 0 || i < lines.len() || lines[page].page.is_some() {
            mark_page(&lines[page..i], &mut places[page..i], &mut last);
        }
        page = i;
    }
}

/// `last`: the number of the last note before this page.
fn mark_page(lines: &[Line<'_>], places: &mut [Place], last: &mut u64) {
    let mut seen: BTreeSet<u64> = BTreeSet::new();
    for line in lines {
        marks_within(indentation(line.text).1, &mut seen);
        if seen.len() > MOST_MARKS {
            return;
        }
    }
    let foot = lines.len() / 4;
    let mut first = None;
    let mut before = *last;
    for (i, line) in lines.iter().enumerate().skip(foot.max(1)) {
        let text = indentation(line.text).1;
        if places[i] == Place::Text && first.is_none() && is_lone_number(lines, i, &seen) {
            places[i] = Place::Furniture;
            first = Some(i + 1);
            before = text.parse().unwrap_or(before);
            continue;
        }
        let Some(number) = opens_note(text).filter(|_| places[i] == Place::Text) else { continue };
        if is_section(number, &lines[i + 1..]) {
            continue;
        }
        let fresh = indentation(lines[i - 1].text).1.is_empty();
        let follows = number == before + 1 && (fresh || first.is_some());
        let marked = seen.contains(&number) && (fresh || first.is_some()) && number > before.min(number - 1);
        let opens = text.trim_start_matches(['[', ']']).trim_start_matches(|c: char| c.is_ascii_digit());
        let lower = opens.trim_start_matches(']').trim_start().starts_with(char::is_lowercase);
        // right under the text, where a converter left no blank line between: the mark and the order must both agree
        let next_in_order = number == before + 1 || number == 1;
        let tight = seen.contains(&number) && next_in_order && i * 2 > lines.len();
        // between the halves of a sentence, which the page's end cuts
        let between = fresh && i * 2 > lines.len() && is_unfinished(&lines[..i]);
        if (follows && (*last > 0 || seen.contains(&number)) || marked || tight || between) && (!lower || fresh) {
            first.get_or_insert(i);
            before = number;
        }
    }
    let Some(first) = first else { return };
    *last = before;
    for place in &mut places[first..] {
        if *place == Place::Text {
            *place = Place::Note;
        }
    }
}

/// Whether what this `number` opens is a section and no note: `rest` of the page has its first part, or the note.
fn is_section(number: u64, rest: &[Line<'_>]) -> bool {
    let part = format!("{number}.1 ");
    let mut texts = rest.iter().map(|line| indentation(line.text).1);
    texts.any(|text| text.starts_with(&part) || opens_note(text) == Some(number))
}

/// Whether line `i` is nothing but a note's number over the note: the page's end cuts the sentence before it, or its mark
/// was `seen` and a blank line parts it from the note. Numbers below each other are a table's.
fn is_lone_number(lines: &[Line<'_>], i: usize, seen: &BTreeSet<u64>) -> bool {
    let Some(number) = lone_number(lines[i].text) else { return false };
    let Some(next) = lines[i + 1..].iter().position(|line| !indentation(line.text).1.is_empty()) else { return false };
    let columns = lone_number(lines[i - 1].text).is_some() || lone_number(lines[i + 1 + next].text).is_some();
    let is_told = next > 0 && seen.contains(&number) && !columns;
    i * 2 > lines.len() && (is_told || is_unfinished(&lines[..i]))
}

/// The number that a line is, from 1 to 999.
fn lone_number(line: &str) -> Option<u64> {
    let text = indentation(line).1;
    let digits = (1..=3).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|number| digits && *number > 0)
}

/// Whether the last line with text stops within a sentence, at the line's end.
fn is_unfinished(lines: &[Line<'_>]) -> bool {
    let text = lines.iter().rev().map(|line| indentation(line.text).1).find(|text| !text.is_empty()).unwrap_or("");
    text.chars().count() > FULL && text.ends_with(|c: char| c.is_lowercase() || c == ',') && !is_code(text)
}

/// The number of a note that begins with this line: `5 Licenses that are`, `[5] Licenses`, `19Deciding`.
pub(super) fn opens_note(text: &str) -> Option<u64> {
    let bare = text.strip_prefix('[').unwrap_or(text);
    let length = bare.bytes().take_while(u8::is_ascii_digit).count();
    let number = bare[..length].parse().ok().filter(|number| (1..=3).contains(&length) && *number > 0)?;
    let rest = &bare[length..];
    let rest = if bare.len() < text.len() { rest.strip_prefix(']')? } else { rest };
    let body = rest.trim_start();
    let opens = body.starts_with(|c: char| c.is_alphabetic() || matches!(c, '“' | '"' | '‘' | '/' | '<' | '`' | '’'));
    let glued = body.len() == rest.len() && !body.starts_with(char::is_uppercase);
    (opens && !glued && body.split_whitespace().nth(2).is_some()).then_some(number)
}

/// Numbers that stand right behind a word or its full stop: "conversant.1", "freely2", and behind a sentence: "scripts. 1".
fn marks_within(text: &str, seen: &mut BTreeSet<u64>) {
    let mut before = "";
    for word in text.split_whitespace() {
        let bare = word.trim_end_matches(['.', ',', ';', ':', ')']);
        let head = bare.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &bare[head.len()..];
        let behind =
            before.ends_with(['.', ')', '”', '"', ',', ';', ':']) && head.is_empty() && word.len() == bare.len();
        before = word;
        if number.is_empty() || number.len() > 3 {
            continue;
        }
        let stem = head.trim_end_matches(['.', ',', ';', ':', ')', '”', '"', '’']);
        let pointed = stem.len() < head.len() && stem.ends_with(char::is_alphabetic);
        let plain = stem.len() == head.len() && head.len() >= 4 && head.chars().all(char::is_lowercase);
        if pointed || plain || behind {
            seen.extend(number.parse::<u64>().ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_around_a_sentence_are_no_part_of_it() {
        for (text, expected) in [
            ("[6] The fee is due.5", "The fee is due."),
            ("The fee is due. [2]", "The fee is due."),
            ("The fee is due.”12", "The fee is due.”"),
            ("The fee is 3.5", "The fee is 3.5"),
            ("Pay 5", "Pay 5"),
            ("5 members must agree.", "5 members must agree."),
            ("5 The fee is due.", "The fee is due."),
            ("5 GB must be free.", "5 GB must be free."),
            ("Note The fee is due.", "The fee is due."),
            ("Note that it is due.", "Note that it is due."),
            ("Warning: it is due.", "it is due."),
            ("Tip open(2) may help.", "open(2) may help."),
            ("[0] must be zero", "[0] must be zero"),
            ("9.1.1 libc may go. 3", "libc may go."),
            ("4.4 debian/changelog must exist", "debian/changelog must exist"),
            ("2.5 seconds must pass", "2.5 seconds must pass"),
            ("1.2.3 must be used", "1.2.3 must be used"),
            ("13This rule must help.", "This rule must help."),
            ("1⁵Version strings may be", "Version strings may be"),
            ("5GHz must be", "5GHz must be"),
            ("[5]", "[5]"),
            ("", ""),
        ] {
            assert_eq!(&text[without_marks(text)], expected, "{text}");
        }
    }
}
