//! Lines that belong to a page and not to its text: running headers and footers, page numbers. They interrupt sentences
//! without being a part of them, so the rules skip them, and a quote may continue across them.

use std::{collections::HashMap, ops::Range};

/// The maximum number of letters in a running line.
const LONGEST: usize = 120;

/// A line with fewer letters could have been continued.
const FULL: usize = 60;

/// How the given lines relate to the pages of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// Some pages of a document; the first one may lack its top.
    Part {
        from_top: bool,
    },
}

/// Whether each line is a running one: one of the first two or last two lines with text on its page, and a page number,
/// or beside one and a section number or a title of the same page, or repeated, numbers apart, on other pages: beside a
/// page number on one, else in a part of a document on several. No text of the page stands on both sides of it.
/// `begins`: a page begins with the line. A line that runs in a part runs in the whole document.
pub(crate) fn running(lines: &[&str], begins: &dyn Fn(usize) -> bool, extent: Extent) -> Vec<bool> {
    let mut edges: Vec<(usize, usize)> = Vec::new();
    let mut titled: Vec<usize> = Vec::new();
    let mut numbered: Vec<usize> = Vec::new();
    let (mut start, mut pages) = (0, 0);
    for i in 1..=lines.len() {
        if i < lines.len() && !begins(i) {
            continue;
        }
        let filled = |i: &usize| !bare(lines[*i]).is_empty();
        let top: Vec<usize> = (start..i).filter(filled).take(2).collect();
        let bottom: Vec<usize> = (start..i).rev().filter(filled).take(2).collect();
        let number = |i: usize| is_page_number(lines[i]);
        let title = |i: usize| is_numbered_title(lines[i]) || is_said_again(&lines[start..=i]);
        let topless = start == 0 && extent == Extent::Part { from_top: false };
        if top.len() == 2 && top[1] < *bottom.last().unwrap_or(&0) {
            for pair in [&top, &bottom].into_iter().filter(|pair| !topless || *pair == &bottom) {
                let [one, other] = pair[..] else { continue };
                if number(one) && title(other) || number(other) && title(one) {
                    titled.extend(pair);
                } else if number(one) != number(other) {
                    numbered.extend(pair);
                }
            }
            edges.extend(top.into_iter().filter(|_| !topless).chain(bottom).map(|i| (pages, i)));
        } else {
            // On a page of a few lines, each line is an edge once; if it lacks its top, only the last lines are.
            let is_edge = |i: &usize| !topless && top.contains(i) || bottom.contains(i);
            edges.extend((start..i).filter(is_edge).map(|i| (pages, i)));
        }
        start = i;
        pages += 1;
    }
    let mut found = vec![false; lines.len()];
    if pages < 2 {
        return found;
    }
    edges.retain(|&(_, i)| lines[i].len() <= 2 * LONGEST);
    // On how many pages a line stands, and the last of them.
    let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
    for &(page, i) in &edges {
        let (count, last) = counts.entry(without_numbers(lines[i])).or_insert((0, usize::MAX));
        *count += usize::from(*last != page);
        *last = page;
    }
    let least = match extent {
        Extent::Whole => 2,
        Extent::Part { .. } => 2.max(pages.min(12_usize).div_ceil(4)),
    };
    numbered.sort_unstable();
    for (_, i) in edges {
        let enough = if numbered.binary_search(&i).is_ok() { 2 } else { least };
        let repeated = counts.get(&without_numbers(lines[i])).is_some_and(|&(count, _)| count >= enough);
        found[i] = is_page_number(lines[i]) || repeated && bare(lines[i]).len() <= LONGEST;
    }
    for i in titled {
        found[i] = true;
    }
    let mut page = 0..0;
    for i in 1..=lines.len() {
        if i == lines.len() || begins(i) {
            let next = page.end..i;
            keep_between(&lines[next.clone()], &mut found[next.clone()]);
            keep_unfinished(lines, page, next.clone(), &mut found);
            page = next;
        }
    }
    found
}

/// Whether the last of `lines` repeats a title above it on the page: `Changing Fonts`, at its foot.
fn is_said_again(lines: &[&str]) -> bool {
    let Some((last, above)) = lines.split_last() else { return false };
    let text = bare(last);
    let is_title = text.len() <= LONGEST
        && text.starts_with(char::is_uppercase)
        && text.contains(char::is_lowercase)
        && !ends_sentence(text);
    is_title && above.iter().any(|line| bare(line) == text)
}

/// Lines between lines of a page's text are text too: the head of a table under its caption, a note's number.
fn keep_between(page: &[&str], found: &mut [bool]) {
    let is_text = |i: &usize| !found[*i] && !bare(page[*i]).is_empty();
    let (first, last) = ((0..page.len()).find(is_text), (0..page.len()).rev().find(is_text));
    if let Some((first, last)) = first.zip(last) {
        found[first..=last].fill(false);
    }
}

/// The end of a `page` is text if the `next` one can only continue from it: releases are announced in the same words,
/// page after page.
fn keep_unfinished(lines: &[&str], page: Range<usize>, next: Range<usize>, found: &mut [bool]) {
    let is_filled = |i: &usize| !bare(lines[*i]).is_empty();
    let is_unfinished = |i: usize| {
        let text = bare(lines[i]);
        text.chars().count() >= FULL && text.ends_with(|c: char| c.is_lowercase() || c == ',')
    };
    let goes_on = next.clone().filter(is_filled).find(|&i| !found[i]);
    let Some(last) = page.clone().rev().filter(is_filled).find(|&i| !is_page_number(lines[i])) else { return };
    let above = page.clone().rev().filter(is_filled).find(|&i| !found[i]);
    if found[last]
        && is_unfinished(last)
        && goes_on.is_some_and(|i| bare(lines[i]).starts_with(char::is_lowercase))
        && above.is_none_or(|i| !is_unfinished(i))
    {
        for i in page.rev().skip_while(|&i| i > last).take_while(is_filled) {
            found[i] = false;
        }
    }
}

fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{c}' | '\u{feff}'))
}

/// The words of the line, with each number as a single 0.
fn without_numbers(line: &str) -> String {
    let mut key = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        for c in word.chars() {
            let c = if c.is_ascii_digit() { '0' } else { c };
            if c != '0' || !key.ends_with('0') {
                key.push(c);
            }
        }
        key.push(' ');
    }
    key
}

/// `12`, `- 12 -`, `xii`
fn is_page_number(text: &str) -> bool {
    let text = bare(text);
    let roman = text.len() <= 6 && text.bytes().all(|b| matches!(b, b'i' | b'v' | b'x' | b'l'));
    let digits = |c: char| c.is_ascii_digit() || c.is_whitespace() || matches!(c, '-' | '–' | '|' | '/');
    !text.is_empty() && (roman || text.len() <= 12 && text.chars().all(digits))
}

/// `2.5. Priorities`, `Chapter 2. The archive`: beside a page number it names the page's section.
fn is_numbered_title(text: &str) -> bool {
    let text = bare(text);
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

/// Whether a text ends as a sentence does.
fn ends_sentence(text: &str) -> bool {
    text.ends_with(['.', '!', '?', ':', ';'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(pages: &[&str], extent: Extent) -> Vec<String> {
        let mut lines = Vec::new();
        let mut begins = Vec::new();
        for page in pages {
            begins.push(lines.len());
            lines.extend(page.lines());
        }
        let found = running(&lines, &|i| begins.contains(&i), extent);
        lines.iter().zip(found).filter(|(_, runs)| *runs).map(|(line, _)| (*line).to_owned()).collect()
    }

    #[test]
    fn what_pages_share_at_their_edges_runs() {
        let first = "Book 3\n\nThe fee is\ndue when\n\n2.1. Fees\n\n12";
        let second = "Book 4\n\nBook 3\nthe door\nis shut.\nIt is.\nIt stays\nso.\n\nxiii";
        assert_eq!(run(&[first, second], Extent::Whole), ["Book 3", "2.1. Fees", "12", "Book 4", "Book 3", "xiii"]);
        let part = Extent::Part { from_top: false };
        assert_eq!(run(&[first, second], part), ["2.1. Fees", "12", "xiii"]);
        assert_eq!(run(&[first, second, second], part)[2..4], ["Book 4", "Book 3"]);
        assert_eq!(run(&["2.1. Fees\n\n12", second], part), ["12", "xiii"]);
        let page = |n: usize| format!("Head {n}\nOne\nTwo {n} is\nso\n\n{}\n{n}", if n < 3 { "Locks" } else { "is" });
        let pages: Vec<String> = (1..=12).map(page).collect();
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        assert_eq!(run(&pages, part).iter().filter(|line| *line == "Locks").count(), 2);
        assert_eq!(run(&[first], Extent::Whole), [""; 0]);
        // under a caption of this page alone
        let tables =
            ["Table: Keys\nName\n\nThe key\nis here.\nIt is.\n3", "Table: Doors\nName\n\nThe door\nis here.\n4"];
        assert_eq!(run(&tables, Extent::Whole), ["3", "4"]);
        // The title of the section that the page belongs to.
        let titled = [
            "Keys of the House\nThe key is here. If the\nKeys of the House\n3",
            "Doors\ndoor is shut\nso. It is\nso.\n4",
        ];
        assert_eq!(run(&titled, Extent::Part { from_top: true }), ["Keys of the House", "3", "4"]);
        // Words of one page that the next page continues, though they stand on others too.
        let foot = "We are happy to announce release 3, which has a number of\nchanges: you will now have access to the very latest and best\n";
        let release = |name: &str| format!("News\n7\nLate in {name}.\nIn {name}.\n\nRelease of {name}\n\n{foot}");
        let rest = |name: &str| format!("News\n8\nfeatures of {name}.\nOthers: {name}.\n\nOld {name}.\nEnd of {name}.");
        let pages: Vec<String> = ["May", "June", "July"].iter().flat_map(|name| [release(name), rest(name)]).collect();
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        assert_eq!(run(&pages, Extent::Whole), ["News", "7", "News", "8"].repeat(3));
        // twice on one page
        assert_eq!(run(&["Keys\nOne\nTwo\nKeys", "Doors\nIt is\nso."], Extent::Whole), [""; 0]);
        assert_eq!(run(&["", "one", ""], Extent::Whole), [""; 0]);
    }
}
