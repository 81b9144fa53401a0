//! The furniture of pages: running headers and footers, page numbers, form feeds. They stand in the middle of sentences
//! without belonging to them.

use std::collections::HashMap;

use super::blocks::{ends_sentence, indentation};
use super::statements::Line;

/// What a line is to the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Text,
    /// A page begins with this line.
    PageStart,
    /// Header, footer, page number, or a blank line between them and the text.
    Furniture,
    /// A footnote at the page's foot.
    Note,
}

/// One place per line.
pub(super) fn furniture(lines: &[Line<'_>]) -> Vec<Place> {
    let mut places = vec![Place::Text; lines.len()];
    for i in 0..lines.len() {
        let fed = lines[i].text.contains('\u{c}');
        if i > 0 && (fed || lines[i].page != lines[i - 1].page) {
            places[i] = Place::PageStart;
        }
        let text = lines[i].text.trim();
        if is_footer(text) {
            places[i] = Place::Furniture;
        }
    }
    mark_headers(lines, &mut places);
    mark_repeated(lines, &mut places);
    super::notes::mark_notes(lines, &mut places);
    swallow_blanks(lines, &mut places);
    places
}

/// `Fielding, et al.   Standards Track   [Page 12]`, `Page 3 of 40`.
fn is_footer(text: &str) -> bool {
    if text.len() > 120 || text.len() < 5 {
        return false;
    }
    if let Some(rest) = text.strip_suffix(']') {
        let number = rest.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, 'i' | 'v' | 'x'));
        return number.len() < rest.len() && (number.ends_with("[Page ") || number.ends_with("[page "));
    }
    let Some(rest) = text.strip_prefix("Page ").or_else(|| text.strip_prefix("page ")) else {
        return false;
    };
    rest.split_whitespace()
        .all(|word| matches!(word, "of" | "/" | "|") || word.bytes().all(|b| b.is_ascii_digit() || b == b'/'))
}

/// `RFC 9110   HTTP Semantics   June 2022`: the first text after a page's end, in columns.
fn mark_headers(lines: &[Line<'_>], places: &mut [Place]) {
    for (line, place) in lines.iter().zip(places.iter_mut()) {
        let text = line.text.trim_matches(|c: char| c.is_whitespace() || c == '\u{c}');
        let named =
            text.starts_with("RFC ") || text.starts_with("Internet-Draft") || text.starts_with("INTERNET-DRAFT");
        if !named || text.len() > 100 || text.split("  ").filter(|part| !part.trim().is_empty()).count() < 2 {
            continue;
        }
        let year =
            text.rsplit(' ').next().is_some_and(|word| word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit()));
        if year {
            *place = Place::Furniture;
        }
    }
}

/// The first and last lines of pages that are the same, page numbers aside, on two pages or more.
fn mark_repeated(lines: &[Line<'_>], places: &mut [Place]) {
    let mut edges: Vec<usize> = Vec::new();
    let mut page_start = 0;
    let mut pages = 0;
    let mut feet: Vec<usize> = Vec::new();
    for i in 0..=lines.len() {
        if i < lines.len() && (i == 0 || lines[i].page == lines[i - 1].page && !lines[i].text.contains('\u{c}')) {
            continue;
        }
        let filled = |i: &usize| !indentation(lines[*i].text).1.is_empty();
        let top: Vec<usize> = (page_start..i).filter(filled).take(2).collect();
        let bottom: Vec<usize> = (page_start..i).rev().filter(filled).take(2).collect();
        if let [last, before] = bottom[..]
            && (is_page_number(lines[last].text) && is_numbered_title(lines[before].text)
                || is_page_number(lines[before].text) && is_numbered_title(lines[last].text))
        {
            feet.extend(&bottom);
        }
        if top.len() == 2 && top[1] < *bottom.last().unwrap_or(&0) {
            edges.extend(top);
            edges.extend(bottom);
        } else {
            // a page of a few lines: each line is an edge once
            edges.extend(top.first());
        }
        page_start = i;
        pages += 1;
    }
    if pages < 2 {
        return;
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    let key = |i: usize| {
        let text = indentation(lines[i].text).1;
        let key: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        super::blocks::fold(&key).replace("00", "0").replace("00", "0")
    };
    for &i in &edges {
        if lines[i].text.len() <= 200 {
            *counts.entry(key(i)).or_default() += 1;
        }
    }
    for i in edges {
        let text = indentation(lines[i].text).1;
        if text.len() > 200 {
            continue;
        }
        let page_number = is_page_number(text);
        let repeated = counts.get(&key(i)).is_some_and(|&count| count >= 2 && count * 4 >= pages.min(12));
        if page_number || (repeated && text.len() <= 120) {
            places[i] = Place::Furniture;
        }
    }
    for i in feet {
        places[i] = Place::Furniture;
    }
}

/// `12`, `- 12 -`, `xii`
fn is_page_number(text: &str) -> bool {
    let text = indentation(text).1;
    let roman = text.len() <= 6 && text.bytes().all(|b| matches!(b, b'i' | b'v' | b'x' | b'l'));
    let digits = |c: char| c.is_ascii_digit() || c.is_whitespace() || matches!(c, '-' | '–' | '|' | '/');
    !text.is_empty() && (roman || text.len() <= 12 && text.chars().all(digits))
}

/// `2.5. Priorities`, `Chapter 2. The archive`: beside a page's number it names the section that the page is of.
fn is_numbered_title(text: &str) -> bool {
    let text = indentation(text).1;
    let label = ["Chapter ", "Appendix ", "Section ", "CHAPTER ", "APPENDIX "];
    let body = label.into_iter().find_map(|label| text.strip_prefix(label));
    let number = body.unwrap_or(text).split_whitespace().next().unwrap_or("");
    let numbered = number.starts_with(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase())
        && number
            .trim_end_matches(['.', ':'])
            .split('.')
            .all(|part| part.len() <= 3 && part.bytes().all(|b| b.is_ascii_alphanumeric()));
    let dotted = number.ends_with('.') || number.contains('.');
    numbered && (body.is_some() || dotted) && text.len() <= 100 && !ends_sentence(text)
}

/// Blank lines next to a page's end are no paragraph's end.
fn swallow_blanks(lines: &[Line<'_>], places: &mut [Place]) {
    let blank = |i: usize| indentation(lines[i].text).1.is_empty();
    let mut near = false;
    for (i, place) in places.iter_mut().enumerate() {
        match *place {
            Place::Furniture => near = true,
            Place::PageStart => {
                near = blank(i);
                if near {
                    *place = Place::Furniture;
                }
            }
            Place::Text if near && blank(i) => *place = Place::Furniture,
            Place::Text | Place::Note => near = false,
        }
    }
    let mut near = false;
    for i in (0..lines.len()).rev() {
        match places[i] {
            Place::Furniture | Place::PageStart => near = true,
            Place::Text if near && blank(i) => places[i] = Place::Furniture,
            Place::Text | Place::Note => near = false,
        }
    }
}
