//! Where a text only mentions words and doesn't use them: inside quotation marks and backticks.

use std::ops::Range;

/// A quotation longer than this (in characters) is taken for an unclosed one, so that a hostile text costs linear time.
const LONGEST: usize = 2_000;

/// A quotation of more bytes, with more ends of sentences in it, is a passage.
const PASSAGE: usize = 80;
const PASSAGE_ENDS: usize = 2;

/// Where a text only mentions words: inside quotation marks and backticks. In order, not overlapping.
pub(super) fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text.contains(['"', '`', '“', '”', '‘', '«', '„', '\'']) {
        return found;
    }
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut straight = Vec::new();
    let mut single = Vec::new();
    for (i, (_, c)) in chars.iter().enumerate() {
        match c {
            '"' if closes(&chars, i) => straight.push(i),
            '\'' if closes(&chars, i) => single.push(i),
            _ => {}
        }
    }
    let mut i = 0;
    while i < chars.len() {
        let (start, c) = chars[i];
        let end = match c {
            '`' => {
                let run = chars[i..].iter().take_while(|(_, c)| *c == '`').count();
                let code = backticks_end(&chars, i + run, run);
                // man pages write `word' and ``word'': whichever ends first
                let quote = (i + run..chars.len().min(i + 60)).find(|&j| chars[j].1 == '\'' && closes(&chars, j));
                match (code, quote) {
                    (Some(code), Some(quote)) if quote + 1 < code => Some(quote),
                    (None, Some(quote)) => Some(quote),
                    (code, _) => code,
                }
            }
            '"' if opens(&chars, i) => after(&straight, i),
            '\'' if opens(&chars, i) => after(&single, i).filter(|&j| j - i < 40),
            '“' | '„' => (i + 1..chars.len().min(i + LONGEST))
                .find(|&j| matches!(chars[j].1, '”') || (c == '„' && chars[j].1 == '“')),
            // a typesetter that has one mark for both ends
            '”' if opens(&chars, i) => {
                (i + 1..chars.len().min(i + LONGEST)).find(|&j| chars[j].1 == '”' && closes(&chars, j))
            }
            '‘' => (i + 1..chars.len().min(i + 400)).find(|&j| chars[j].1 == '’' && closes(&chars, j)),
            '«' => (i + 1..chars.len().min(i + LONGEST)).find(|&j| chars[j].1 == '»'),
            _ => None,
        };
        if let Some(end) = end.filter(|&end| !is_passage(&text[start..chars[end].0])) {
            found.push(start..chars[end].0 + chars[end].1.len_utf8());
            i = end + 1;
        } else {
            i += 1;
        }
    }
    found
}

/// Whether so much is quoted that it is said: a licence, or what stands between the end of one quotation and the next, where
/// the marks are the wrong way round.
fn is_passage(quoted: &str) -> bool {
    let ends = quoted.match_indices(['.', '!', '?']).filter(|(at, _)| {
        let behind = &quoted[at + 1..];
        behind.starts_with(char::is_whitespace) && behind.trim_start().starts_with(char::is_uppercase)
    });
    quoted.len() > PASSAGE && ends.count() >= PASSAGE_ENDS
}

fn after(places: &[usize], i: usize) -> Option<usize> {
    let next = places.partition_point(|&place| place <= i);
    places.get(next).copied()
}

fn opens(chars: &[(usize, char)], i: usize) -> bool {
    let before = i.checked_sub(1).map(|j| chars[j].1);
    let next = chars.get(i + 1).map(|(_, c)| *c);
    before.is_none_or(|c| !c.is_alphanumeric()) && next.is_some_and(|c| !c.is_whitespace())
}

fn closes(chars: &[(usize, char)], i: usize) -> bool {
    let before = i.checked_sub(1).map(|j| chars[j].1);
    let next = chars.get(i + 1).map(|(_, c)| *c);
    before.is_some_and(|c| !c.is_whitespace()) && next.is_none_or(|c| !c.is_alphanumeric())
}

fn backticks_end(chars: &[(usize, char)], from: usize, run: usize) -> Option<usize> {
    let mut i = from;
    while i < chars.len().min(from + LONGEST) {
        if chars[i].1 == '`' {
            let found = chars[i..].iter().take_while(|(_, c)| *c == '`').count();
            if found == run {
                return Some(i + run - 1);
            }
            i += found;
        } else {
            i += 1;
        }
    }
    None
}
