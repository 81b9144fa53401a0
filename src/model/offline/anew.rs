//! Where a paragraph begins without a blank line before it. Text that a page's converter wrote has no indentation and
//! few blank lines; what is left to see is a line that ended early and one that begins anew, or code next to prose.

use super::blocks::{ends_sentence, hangs_open, indentation};
use super::furniture::Place;
use super::marker::marker;
use super::plain_look::{is_code, is_prose};
use super::statements::Line;

/// Lines on either side that tell how wide the text is.
const NEAR: usize = 30;
/// A line with so many characters could have gone on.
const FULL: usize = 60;
/// Words that are more than a label.
const SENTENCE_WORDS: usize = 6;

/// For each line whether it begins anew. Only pages are looked at: elsewhere lines may end wherever their writer liked.
pub(super) fn begins_anew(lines: &[Line<'_>], places: &[Place]) -> Vec<bool> {
    let mut found = vec![false; lines.len()];
    let widths: Vec<usize> = lines.iter().map(|line| indentation(line.text).1.chars().count()).collect();
    let in_text = |i: usize| matches!(places[i], Place::Text | Place::Note) && widths[i] > 0;
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
        let mut near = widths[start.max(i.saturating_sub(NEAR))..=end].to_vec();
        near.sort_unstable();
        // one line in eight may be wider: code, or two lines that were taken for one
        let width = near.iter().rev().nth(near.len() / 8).copied().unwrap_or(0);
        found[i] = is_anew(indentation(lines[i - 1].text).1, indentation(lines[i].text).1, width);
    }
    found
}

fn is_anew(before: &str, text: &str, width: usize) -> bool {
    if marker(text).is_some() {
        return false;
    }
    let opens = text.starts_with(|c: char| c.is_uppercase() || matches!(c, '“' | '"'));
    if is_code(before) && !before.ends_with(['\\', ',']) {
        return opens && is_prose(text) && !is_code(text);
    }
    let is_over = ends_sentence(before);
    if is_code(text) {
        return is_over;
    }
    let word = text.split_whitespace().next().map_or(0, |word| word.chars().count());
    let taken = (before.chars().count() + 1 + word) * 10;
    let small = text.starts_with(|c: char| c.is_lowercase() || c == '/') || is_number(text);
    let room = if opens || is_over { width * 7 } else { width * 5 };
    if opens && is_caption(before) && !is_over {
        return true;
    }
    // so many words are a sentence that goes on, wherever its writer ended the line
    let is_begun = small && before.split_whitespace().count() >= SENTENCE_WORDS;
    (opens || small) && taken <= room && (is_over || !goes_on(before) && !is_begun)
}

/// `10.2.1`, alone on its line.
fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || c == '.')
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
    last.chars().count() >= FULL
        && last.ends_with(|c: char| c.is_lowercase() || c == ',')
        && next.starts_with(char::is_lowercase)
        && (rest.last().is_some_and(|end| ends_sentence(end.trim_end())) || !is_command(next))
        && marker(next).is_none()
        && !is_code(last)
        && !is_code(next)
}

/// Whether a line could be typed at a prompt: options, places to fill in, names with marks in them.
fn is_command(line: &str) -> bool {
    let marked = |word: &str| word.starts_with('-') || word.contains(['_', '<', '>', '=', '|', '$', '\\']);
    line.split_whitespace().any(marked)
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
