//! A page as Markdown, with tables as GitHub and most others read them. Every letter with a meaning in Markdown is
//! escaped: a model's text is shown exactly as written, and never becomes a link, a picture, HTML or another cell. All
//! links are the report's own.

use super::{
    cell::PageCell,
    page::{Column, Page, ReportTable, Section},
};
use std::fmt::Write;

/// The page as a Markdown document.
pub fn markdown(page: &Page) -> String {
    let mut text = format!("# {}\n\n", escaped(&page.title));
    for line in &page.lines {
        let _ = write!(text, "{}\n\n", paragraph(line));
    }
    for section in &page.sections {
        text.push_str(&self::section(section));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn section(section: &Section) -> String {
    let mut text = format!("## {}\n\n", escaped(section.title));
    for line in &section.lines {
        let _ = write!(text, "{}\n\n", paragraph(line));
    }
    if let Some(table) = &section.table {
        text.push_str(&self::table(table));
        text.push('\n');
        if let Some(line) = table.more_line() {
            let _ = write!(text, "{}\n\n", paragraph(&line));
        }
    }
    text
}

fn table(table: &ReportTable) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = row(table.columns.iter().map(|(name, _)| escaped(&name.to_lowercase())).collect());
    let marks = table.columns.iter().map(|(_, side)| match side {
        Column::Words | Column::Name | Column::Sentence | Column::Command => "---".to_owned(),
        Column::Number => "---:".to_owned(),
    });
    text.push_str(&row(marks.collect()));
    for cells in &table.rows {
        let cells = cells.iter().zip(&table.columns).map(|(cell, (_, side))| match side {
            Column::Words | Column::Name | Column::Sentence | Column::Number => linked(cell),
            Column::Command => code(&cell.text),
        });
        text.push_str(&row(cells.collect()));
    }
    text
}

fn linked(cell: &PageCell) -> String {
    let text = escaped(&cell.text);
    match &cell.link {
        Some(address) if !text.is_empty() => format!("[{text}]({address})"),
        Some(_) | None => text,
    }
}

/// A line that can't be read as a heading, list item or rule, whatever its beginning.
fn paragraph(line: &str) -> String {
    let escaped = escaped(line);
    let digits = escaped.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if digits.len() < escaped.len() && digits.starts_with(['.', ')']) {
        let (number, rest) = escaped.split_at(escaped.len() - digits.len());
        return format!("{number}\\{rest}");
    }
    if escaped.starts_with(['+', '-', '=', ':']) { format!("\\{escaped}") } else { escaped }
}

/// Characters that Markdown or a dialect may interpret anywhere; `:` and `.` are in addresses, which some dialects make links.
fn is_mark(letter: char) -> bool {
    matches!(
        letter,
        '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '!' | '$' | '@' | '^'
    )
}

/// `text`, one line, shown literally.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        let is_address = match letter {
            ':' => text[at..].starts_with("://"),
            '.' => text[..at].to_ascii_lowercase().ends_with("www"),
            _ => false,
        };
        if is_mark(letter) || is_address {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// A command, as code. Backslashes don't escape within code: the marks around it are longer than any in it, and the one
/// letter that would end a table's cell is escaped for the table.
fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", text.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::{super::words::one_line, *};
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    /// The text that a Markdown reader shows: each cell of the page's only table, and its paragraphs.
    fn rendered(markdown: &str) -> (Vec<Vec<String>>, Vec<String>) {
        let (mut rows, mut paragraphs): (Vec<Vec<String>>, Vec<String>) = (Vec::new(), Vec::new());
        let mut text = String::new();
        for event in Parser::new_ext(markdown, Options::all() - Options::ENABLE_SMART_PUNCTUATION) {
            match event {
                Event::Text(part) | Event::Code(part) => text.push_str(&part),
                Event::Start(Tag::TableHead | Tag::TableRow) => rows.push(Vec::new()),
                Event::Start(Tag::TableCell | Tag::Paragraph | Tag::Heading { .. }) => text.clear(),
                Event::End(TagEnd::TableCell) => rows.last_mut().unwrap().push(text.clone()),
                Event::End(TagEnd::Paragraph) => paragraphs.push(text.clone()),
                Event::Start(Tag::Table(_)) | Event::End(_) => {}
                other => panic!("nothing else is on the page: {other:?} in {markdown}"),
            }
        }
        (rows, paragraphs)
    }

    fn page(line: &str, words: &str, command: &str) -> Page {
        Page {
            title: "Report".to_owned(),
            lines: vec![line.to_owned()],
            sections: vec![Section {
                title: "Jobs",
                lines: Vec::new(),
                table: Some(ReportTable {
                    columns: vec![("WHAT", Column::Sentence), ("TYPE", Column::Command)],
                    minor: &[],
                    rows: vec![vec![words.to_owned().into(), command.to_owned().into()]],
                    more: 0,
                }),
            }],
        }
    }

    #[track_caller]
    fn check(line: &str, words: &str, command: &str) {
        let (rows, paragraphs) = rendered(&markdown(&page(line, words, command)));
        let heading = ["what", "type"].map(str::to_owned).to_vec();
        assert_eq!(rows, [heading, vec![words.to_owned(), command.to_owned()]]);
        assert_eq!(paragraphs, [line.to_owned()].map(|line| line).to_vec());
    }

    #[test]
    fn marks_are_shown_as_they_stand() {
        let hostile =
            "a|b `c` **d** <script>alert(1)</script> [e](http://x) ![f](g) ~~h~~ \\| &amp; $i$ # _j_ www.k.org l@m.n";
        check(hostile, hostile, "overnight resume 0193 --turns N");
        for begins in
            ["# a", "- a", "+ a", "1. a", "1) a", "=== a", "> a", "--- a", "``` a", "| a |", "~~~ a", "* a", "[a]: b"]
        {
            check(begins, begins, "x");
        }
        check("a", "b", "`x` ``y``");
    }

    proptest! {
        #[test]
        fn whatever_is_written_stands_in_its_cell(line in "\\PC{1,40}|[-#|`*_<>\\[\\]()!\\\\ ~:a1.]{1,20}",
                                                  words in "\\PC{0,40}|[-#|`*_<>\\[\\]()!\\\\ ~:a1.]{1,20}") {
            let (line, words) = (one_line(&line), one_line(&words));
            prop_assume!(!line.is_empty());
            let (rows, paragraphs) = rendered(&markdown(&page(&line, &words, "x")));
            prop_assert_eq!(&rows[1][0], &words);
            prop_assert_eq!(&paragraphs, &[line]);
        }
    }
}
