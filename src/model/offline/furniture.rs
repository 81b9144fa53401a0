//! The furniture of pages: running headers and footers, page numbers, form feeds. They stand in the middle of sentences
//! without belonging to them.

use super::blocks::indentation;
use super::statements::{Line, PAGE, Style};
use super::strength::hinted;
use crate::job::running::{Extent, running};
use std::collections::HashMap;

/// What a line is to the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Text,
    /// A page begins with this line.
    PageStart,
    /// Header, footer, page number, or a blank line between them and the text.
    Furniture,
    /// The same, and a quote may run over it.
    Running,
    /// A footnote at the page's foot.
    Note,
}

/// One place per line.
pub(super) fn furniture(lines: &[Line<'_>], style: Style) -> Vec<Place> {
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
    mark_running(lines, style, &mut places);
    // a chapter in Markdown has its notes in their place
    if style == Style::Plain {
        super::notes::mark_notes(lines, &mut places);
    }
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

/// The first and last lines of pages that run through the document.
fn mark_running(lines: &[Line<'_>], style: Style, places: &mut [Place]) {
    let texts: Vec<&str> = lines.iter().map(|line| line.text).collect();
    let begins = |i: usize| i > 0 && (lines[i].page != lines[i - 1].page || lines[i].text.contains('\u{c}'));
    // lines are numbered from 1 on each page
    let from_top = lines.first().is_none_or(|line| line.page.is_none() || line.number % PAGE <= 1);
    let running = running(&texts, &begins, Extent::Part { from_top });
    let mut alike: HashMap<&str, usize> = HashMap::new();
    for (text, _) in texts.iter().zip(&running).filter(|(_, runs)| **runs) {
        *alike.entry(text.trim()).or_default() += 1;
    }
    for ((line, place), runs) in lines.iter().zip(places.iter_mut()).zip(running) {
        // what opens and closes code is alike on every page that begins or ends with some
        let is_fence = matches!(style, Style::Markdown | Style::Web) && is_fence(line.text);
        if runs && !is_fence && alike.get(line.text.trim()).is_some_and(|&count| count >= least_alike(line.text)) {
            // where there are no pages, a quote can't run over it
            *place = if line.page.is_some() { Place::Running } else { Place::Furniture };
        }
    }
}

fn is_fence(text: &str) -> bool {
    let text = indentation(text).1;
    text.starts_with("```") || text.starts_with("~~~")
}

/// On how many pages a line must stand letter for letter: forms say the same on each page but for a number, and a
/// statement must not be lost for that.
fn least_alike(text: &str) -> usize {
    if hinted(text) {
        3
    } else if text.trim_end().ends_with(['.', ';', ':', '!', '?']) {
        2
    } else {
        1
    }
}

/// Blank lines next to a page's end are no paragraph's end.
fn swallow_blanks(lines: &[Line<'_>], places: &mut [Place]) {
    let blank = |i: usize| indentation(lines[i].text).1.is_empty();
    let mut near = false;
    for (i, place) in places.iter_mut().enumerate() {
        match *place {
            Place::Furniture | Place::Running => near = true,
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
            Place::Furniture | Place::Running | Place::PageStart => near = true,
            Place::Text if near && blank(i) => places[i] = Place::Furniture,
            Place::Text | Place::Note => near = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::statements::{Start, statements};
    use super::*;

    /// Chapters of a book that end with code.
    #[test]
    fn code_at_the_end_of_pages_is_closed() {
        let texts: Vec<String> =
            (1..=4).map(|page| format!("# {page}\n\nAll must go {page} times.\n\n```\n$ go {page}\n```")).collect();
        let lines = (1..).zip(&texts).flat_map(|(page, text)| {
            (1..).zip(text.lines()).map(move |(number, text)| Line {
                number: page * PAGE + number,
                page: Some(page),
                text,
            })
        });
        let found = statements(&lines.collect::<Vec<_>>(), Style::Markdown, &Start::default());
        let quotes: Vec<&str> = found.statements.iter().map(|statement| statement.quote.as_str()).collect();
        assert_eq!(
            quotes,
            ["All must go 1 times.", "All must go 2 times.", "All must go 3 times.", "All must go 4 times."]
        );
    }
}
