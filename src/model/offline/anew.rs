//! Where a paragraph begins without a blank line before it. Text that a page's converter wrote has no indentation and
//! few blank lines; what is left to see is a line that ended early and one that begins anew, or code next to prose.

use super::blocks::{ends_sentence, hangs_open, indentation};
use super::furniture::Place;
use super::marker::marker;
use super::plain_look::{is_code, is_prose};
use super::statements::Line;

/// Lines on either side that tell how wide the text is.
const NEAR: usize = 30;
/// Lines that are told it of the text around them, and on either side of these as many tell it: a page may be short.
const AROUND: usize = 100;
/// A line with so many characters could have gone on.
const FULL: usize = 60;
/// Words that name what stands in a display behind them.
const NAMING: [&str; 10] =
    ["option", "form", "command", "function", "call", "statement", "syntax", "like", "as", "using"];
/// Words that are more than a label.
const SENTENCE_WORDS: usize = 6;

/// For each line whether it begins anew. Only pages are looked at: elsewhere lines may end wherever their writer liked.
pub(super) fn begins_anew(lines: &[Line<'_>], places: &[Place]) -> Vec<bool> {
    let mut found = vec![false; lines.len()];
    let widths: Vec<usize> = lines.iter().map(|line| indentation(line.text).1.chars().count()).collect();
    let in_text = |i: usize| matches!(places[i], Place::Text | Place::Note) && widths[i] > 0;
    let around: Vec<usize> = (0..lines.len().div_ceil(AROUND))
        .map(|at| (at.saturating_sub(1) * AROUND)..lines.len().min((at + 2) * AROUND))
        .map(|these| width_of(these.filter(|&j| in_text(j)).map(|j| widths[j]).collect(), 5))
        .collect();
    let mut start = 0;
    for i in 1..lines.len() {
        if !in_text(i) || widths[i - 1] == 0 || !matches!(places[i - 1], Place::Text | Place::Note | Place::PageStart) {
            start = i;
            continue;
        }
        if lines[i].page.is_none() {
            continue;
        }
        let end = (i..lines.len().min(i + NEAR)).take_while(|&j| in_text(j)).last().unwrap_or(i);
        let block = width_of(widths[start.max(i.saturating_sub(NEAR))..=end].to_vec(), 8);
        let (before, text) = (indentation(lines[i - 1].text).1, indentation(lines[i].text).1);
        let above = if i >= start + 2 { indentation(lines[i - 2].text).1 } else { "" };
        let below = lines.get(i + 1).filter(|_| in_text(i + 1)).map_or("", |line| indentation(line.text).1);
        let width = Width { block, around: around[i / AROUND].max(block) };
        found[i] = is_anew(above, before, text, width) || stands_alone(before, text, below, width);
    }
    found
}

/// How many characters a full line has.
#[derive(Clone, Copy)]
struct Width {
    /// Where no blank line stands between: a table's cell may be narrow.
    block: usize,
    /// In the text around.
    around: usize,
}

/// One line in `but` may be wider: code, or two lines that were taken for one because a word was broken between them.
fn width_of(mut widths: Vec<usize>, but: usize) -> usize {
    widths.sort_unstable();
    widths.iter().rev().nth(widths.len() / but).copied().unwrap_or(0)
}

fn is_anew(above: &str, before: &str, text: &str, width: Width) -> bool {
    if marker(text).is_some() {
        return false;
    }
    if is_section_title(text) {
        return true;
    }
    let opens = text.starts_with(|c: char| c.is_uppercase() || matches!(c, '“' | '"')) && !begins_with_name(text);
    if is_code(before) && !before.ends_with(['\\', ',']) {
        return opens && is_prose(text) && !is_code(text);
    }
    let is_over = ends_sentence(before);
    // lines that end early in the middle of a sentence say nothing
    let is_ragged = above.split(' ').count() >= SENTENCE_WORDS
        && !ends_sentence(above)
        && before.starts_with(char::is_lowercase)
        && ![above, before].into_iter().any(is_command)
        && needed(above, before) <= width.around * 8;
    if is_ragged && !is_over {
        return false;
    }
    let (needed, small) = (needed(before, text), is_small(text));
    let is_ended = is_over && !before.ends_with(';') && !is_abbreviated(before);
    // what stands in a narrow cell goes on with a small letter: there the cell's own width counts
    let led_to = if small && !is_typed(text) { width.block.max(width.around * 3 / 4) } else { width.around };
    if needed <= led_to * room_for(before, text)
        || small && is_ended && needed <= (width.block * 9).max(width.around * 7)
    {
        return true;
    }
    if is_code(text) || text.starts_with(['%', '#', '@']) {
        return is_over;
    }
    if opens && is_caption(before) && !is_over {
        return true;
    }
    // so many words are a sentence that goes on, wherever its writer ended the line
    let is_begun = small && before.split_whitespace().count() >= SENTENCE_WORDS;
    let full = if is_prose(text) { width.block.max(text.chars().count().min(width.around)) } else { width.block };
    let room = if opens || is_over { full * 7 } else { full * 5 };
    (opens || small) && needed <= room && (is_over || !goes_on(before) && !is_begun)
}

/// Whether a line of its own stands behind a line that may be full: it ends early itself, and the next begins anew. It is
/// a word, what leads to the next list, a command, or code.
fn stands_alone(before: &str, text: &str, below: &str, width: Width) -> bool {
    let is_word =
        !text.contains(' ') && !ends_sentence(text) && !goes_on(text) && !is_number(text) && marker(text).is_none();
    if is_word && ends_sentence(before) && !is_abbreviated(before) {
        return (before.ends_with(':') || !below.is_empty()) && needed(text, below) <= width.block * 7;
    }
    if text.ends_with(':') {
        let is_short = text.starts_with(char::is_uppercase) && text.chars().count() * 2 < width.around;
        return is_short
            && ends_sentence(before)
            && marker(below).is_some()
            && needed(before, text) <= width.around * 9;
    }
    is_display(before, text, below, width)
}

/// Whether a line is a display: a command or a call that stands behind the words which name it, and on its own.
fn is_display(before: &str, text: &str, below: &str, width: Width) -> bool {
    // the mark of LaTeX's listings at the beginning of a line that was broken
    if is_called(text) && below.starts_with(",→") {
        return true;
    }
    // "by using the" may be all that stands before a call, and "then the command is" before a command
    let is_led_to = || match before.rsplit(' ').next().unwrap_or("") {
        "is" | "are" | "with" | "by" if is_command(text) => true,
        _ => is_call(text) && !before.ends_with([',', '-', '(', '/', '\u{2010}']),
    };
    if goes_on(before) && !is_led_to() {
        return false;
    }
    let is_machine = |line: &str| is_typed(line) || is_call(line);
    let is_ended = below.is_empty() || is_machine(below) || below.starts_with(char::is_uppercase) && is_prose(below);
    let is_closed = is_call(text) && text.trim_end_matches('.').ends_with(");");
    is_machine(text) && is_ended && marker(text).is_none() && (is_closed || needed(text, below) <= width.around * 7)
}

/// `f(`, `f=`: a name right before its mark.
fn is_called(line: &str) -> bool {
    line.find(['(', '=']).is_some_and(|at| at > 0 && !line[..at].ends_with(' '))
}

/// `f(a, b);`, with the full stop of its sentence or without.
fn is_call(line: &str) -> bool {
    let line = line.strip_suffix('.').unwrap_or(line);
    is_code(line) && line.ends_with(';') && is_called(line) && !is_prose(line)
}

/// Tenths of characters that a line would have needed for the next one's first word too.
fn needed(before: &str, text: &str) -> usize {
    let word = text.split_whitespace().next().map_or(0, |word| word.chars().count());
    (before.chars().count() + 1 + word) * 10
}

/// Up to how many tenths of its width a line may be filled for the next to be what it was written for: an example behind
/// a colon, a command, code, or the text behind them.
fn room_for(before: &str, text: &str) -> usize {
    match () {
        () if is_typed(before) && !goes_on(before) && text.starts_with(char::is_uppercase) && is_prose(text) => 9,
        () if before.ends_with(':') => 8,
        () if is_typed(text) && !goes_on(before) => 7,
        () if is_typed(text) => 5,
        () => 0,
    }
}

/// Whether a line is for a machine.
fn is_typed(line: &str) -> bool {
    (is_command(line) || is_code(line)) && !ends_sentence(line) && !is_prose(line)
}

/// `NULL character`: what begins so goes on with a sentence as well.
fn begins_with_name(text: &str) -> bool {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    word.len() > 1 && !word.chars().any(char::is_lowercase) && rest.starts_with(char::is_lowercase)
}

/// Whether a line ends with a stop that ends no sentence.
fn is_abbreviated(line: &str) -> bool {
    let word = line.rsplit(' ').next().unwrap_or("");
    matches!(word.trim_start_matches('('), "e.g." | "i.e." | "etc." | "cf." | "No." | "Art." | "Fig." | "vs." | "ca.")
}

/// Whether a line begins as a sentence does not.
fn is_small(text: &str) -> bool {
    text.starts_with(|c: char| c.is_lowercase() || c == '/') || is_number(text)
}

/// `10.2.1`, alone on its line.
pub(super) fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// `Section 8 – Interpretation.`: "as in" may stand before "Section 8", but no dash behind it.
fn is_section_title(text: &str) -> bool {
    let mut words = text.split(' ');
    let named = words.next().is_some_and(|word| matches!(word, "Section" | "Article" | "Chapter" | "Appendix"));
    let mut numbered = || words.next().is_some_and(|word| word.len() <= 4 && word.chars().all(char::is_alphanumeric));
    named
        && numbered()
        && words.next().is_some_and(|word| matches!(word, "–" | "—" | "-" | "{" | ":"))
        && words.next().is_some_and(|word| word.starts_with(char::is_uppercase))
}

/// `Table 1.1: List of packages`
fn is_caption(text: &str) -> bool {
    let mut words = text.split(' ');
    let named = words.next().is_some_and(|word| matches!(word, "Table" | "Figure" | "Fig." | "Listing" | "Example"));
    let number = words.next().unwrap_or("");
    named && number.starts_with(|c: char| c.is_ascii_digit()) && number.ends_with([':', '.'])
}

/// Whether a sentence goes on behind a blank line, up to which it filled its line: a page's converter parted it.
pub(super) fn is_bridged(last: &str, rest: &[&str]) -> bool {
    let next = rest.first().copied().unwrap_or("");
    let is_in_a_word = last.strip_suffix(['-', '\u{2010}']).is_some_and(|word| word.ends_with(char::is_lowercase));
    (last.chars().count() >= FULL || is_in_a_word)
        && last.ends_with(|c: char| c.is_lowercase() || matches!(c, ',' | '-' | '\u{2010}'))
        && next.starts_with(char::is_lowercase)
        && (rest.last().is_some_and(|end| ends_sentence(end.trim_end())) || !is_command(next))
        && marker(next).is_none()
        && !is_code(last)
        && !is_code(next)
}

/// Whether a sentence goes on behind a line for a machine: "the option", "-dOpen = 0 / 1", "which opens the doors".
pub(super) fn is_cut_by_display(before: &str, display: &str, rest: &[&str]) -> bool {
    let next = rest.first().map_or("", |line| indentation(line).1);
    let last = before.split_whitespace().next_back().unwrap_or("");
    (goes_on(before) && before.ends_with(char::is_lowercase) || NAMING.contains(&last))
        && is_typed(display)
        && next.starts_with(char::is_lowercase)
        && next.split_whitespace().nth(3).is_some()
        && !is_typed(next)
        && marker(next).is_none()
        && rest.last().is_some_and(|end| ends_sentence(end.trim_end()))
}

/// Whether a line could be typed at a prompt: options, places to fill in, names with marks in them.
pub(super) fn is_command(line: &str) -> bool {
    let marked = |word: &str| {
        word.starts_with('-') || word.contains("://") || word.contains(['_', '<', '>', '=', '|', '$', '\\'])
    };
    line.starts_with("sudo ") || line.split_whitespace().any(marked)
}

/// Whether a line can't be the end of what it says.
pub(super) fn goes_on(line: &str) -> bool {
    line.ends_with([',', '-', '(', '/', '\u{2010}'])
        || hangs_open(line)
        || line.rsplit(' ').next().is_some_and(|word| {
            matches!(
                word,
                "the" | "a" | "an" | "of" | "and" | "or" | "in" | "is" | "are" | "by" | "for" | "with" | "from" | "on"
            )
        })
}

#[cfg(test)]
#[path = "anew_tests.rs"]
mod tests;
