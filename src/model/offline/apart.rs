//! Bullets that stand apart from their items: a converter wrote the column of marks first, and then the column of texts.

use super::anew::goes_on;
use super::blocks::{ends_sentence, indentation};
use super::furniture::Place;
use super::marker::BULLETS;
use super::statements::Line;

/// What a line is to such a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    /// Nothing.
    No,
    /// A bullet without its text.
    Mark,
    /// The first line of an item, whose bullet stands above.
    Item,
}

/// One for each line. Only pages are looked at: elsewhere a bullet alone is an empty item.
pub(super) fn apart(lines: &[Line<'_>], places: &[Place]) -> Vec<Apart> {
    let mut found = vec![Apart::No; lines.len()];
    let text = |i: usize| indentation(lines[i].text).1;
    let is_text = |i: usize| matches!(places[i], Place::Text | Place::PageStart);
    let mut i = 0;
    while i < lines.len() {
        let mut marks = 0;
        while i < lines.len() && is_text(i) && (is_mark(text(i)) || marks > 0 && text(i).is_empty()) {
            if is_mark(text(i)) && lines[i].page.is_some() {
                found[i] = Apart::Mark;
                marks += 1;
            }
            i += 1;
        }
        if marks == 0 {
            i += 1;
            continue;
        }
        // items may have blank lines between them
        while marks > 0 {
            let first = i;
            while i < lines.len() && is_text(i) && !text(i).is_empty() && !is_mark(text(i)) {
                i += 1;
            }
            let items: Vec<&str> = (first..i).map(text).collect();
            let begun = starts(&items, marks);
            for at in &begun {
                found[first + at] = Apart::Item;
            }
            marks -= begun.len();
            let is_blank = i + 1 < lines.len() && is_text(i) && text(i).is_empty();
            if begun.is_empty() || !is_blank || !is_text(i + 1) || places[i + 1] == Place::PageStart {
                break;
            }
            i += 1;
        }
    }
    found
}

/// `•`, `• C.`
fn is_mark(text: &str) -> bool {
    let label = text.trim_start_matches(|c| BULLETS.contains(c)).trim_start();
    let is_label = label.chars().count() == 2
        && label.starts_with(|c: char| c.is_ascii_alphanumeric())
        && label.ends_with(['.', ')']);
    label.len() < text.len() && (label.is_empty() || is_label)
}

/// At which of `lines` up to `marks` items begin: at the first, and behind lines that end a sentence or had room for more.
fn starts(lines: &[&str], marks: usize) -> Vec<usize> {
    let capital = |line: &&str| line.starts_with(char::is_uppercase);
    let are_alike = lines.iter().skip(1).all(|line| capital(line) == lines.first().is_some_and(capital));
    if lines.len() == marks && are_alike {
        return (0..marks).collect();
    }
    let length = |line: &str| line.chars().count();
    let width = lines.iter().map(|line| length(line)).max().unwrap_or(0);
    // a line that is filled up to so many hundredths had room
    let behind = |full: usize| {
        let begins = |at: &usize| {
            let Some(before) = at.checked_sub(1).map(|before| lines[before]) else { return true };
            let word = lines[*at].split_whitespace().next().map_or(0, length);
            let had_room = (length(before) + 1 + word) * 100 < width * full;
            ends_sentence(before) || had_room && !goes_on(before)
        };
        (0..lines.len()).filter(begins).take(marks).collect::<Vec<_>>()
    };
    let sure = behind(80);
    if sure.len() < marks { behind(100) } else { sure }
}
