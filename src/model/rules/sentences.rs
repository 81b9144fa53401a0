//! Finds where sentences end: as `unicode-segmentation` breaks them, except that line ends count as spaces, and that
//! breaks after a few abbreviations, initials and numbers are undone.

use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Words, in small letters, whose full stop does not end a sentence.
const ABBREVIATIONS: &str = "approx art ca cf ch co dept dr e.g ed eq fig figs i.e incl jr ltd max min mr mrs ms no nos par \
    pp prof sec st vol vs viz";

/// The sentences of `text`, as byte ranges without the white space around them.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    // The library ends a sentence at every line feed; each replacement is as long as the text that it replaces.
    let flat: String =
        text.chars().map(|c| if matches!(c, '\n' | '\r' | '\t' | '\x0b' | '\x0c') { ' ' } else { c }).collect();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut open: Option<usize> = None;
    for (start, part) in flat.split_sentence_bound_indices() {
        let from = *open.get_or_insert(start);
        let end = start + part.len();
        if !is_abbreviated(&flat[from..end]) {
            found.extend(trimmed(&flat, from..end));
            open = None;
        }
    }
    found.extend(open.and_then(|from| trimmed(&flat, from..flat.len())));
    found
}

/// Without white space at its ends, and without the number of a note: `[2]`.
fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = text[range.clone()].trim_end().trim_end_matches('[').trim_end();
    let is_note = |note: &str| !note.is_empty() && note.chars().all(|c| c.is_ascii_digit());
    let rest = part.split_once(']').filter(|(note, _)| is_note(note.trim_start())).map_or(part, |(_, rest)| rest);
    let rest = rest.trim_start();
    let end = range.start + part.len();
    (!rest.is_empty()).then(|| end - rest.len()..end)
}

/// Whether the full stop at the end of `text` belongs to its last word.
fn is_abbreviated(text: &str) -> bool {
    let Some(before) = text.trim_end().strip_suffix('.') else { return false };
    let word =
        before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“')).next().unwrap_or_default();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    // "1. The list": a number that has no text before it.
    let is_ordinal = word.chars().all(|c| c.is_ascii_digit() || c == '.') && word.len() == before.trim_start().len();
    is_initial || is_ordinal || ABBREVIATIONS.split(' ').any(|one| one == word.to_lowercase())
}
